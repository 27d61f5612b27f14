"""Setups of the study, its runs, and the numbers read from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET_CELL,
    Change,
    Choice,
    Data,
    FoundInPlaces,
    Job,
    Page,
    Runs,
    Values,
    claims_of,
    overrides,
    published,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

SCENARIO = FOLDER / "scenario.toml"
UPLINK = FOLDER / "uplink.toml"

DISTANCES_M = (50, 75, 100, 150)
SIZES_MB = (1, 2, 5, 10)
SPEED_MPS = 2
"""Walking speed in m/s, as in the scenario."""

MODES = DATA.all("mode", Choice)
"""Retransmissions that the link uses."""
NONE, HARQ, BOTH = MODES

CHANGES = DATA.all("change", Change)
BASE = CHANGES[0]

SWEPT_M = (50, 150)
"""Distances at which assumptions are changed, metres."""

DOWNLOAD_LIMIT_S = 30
"""Time after which a download is stopped and counted with this time, seconds."""

DELAY_S = 2
"""Length of the runs in which the delay of every packet is recorded, seconds."""

PARTS = ("queue", "sr_wait", "grant_wait", "transmission", "harq", "rlc", "reordering")
"""The parts of the delay on the radio."""

MEASURED = ("goodput_mbps", "rtt_ms", "retransmitted_pct", "timeouts")
"""The numbers read from a long transfer."""

Point = tuple[int, Choice]
"""A distance in metres, and the retransmissions of the link."""

MAIN: list[Point] = [(distance, mode) for distance in DISTANCES_M for mode in MODES]


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs. `seeds` is the number of places of each stratum."""

    delay_seeds: int
    walk_seeds: int


def job(
    point: Point,
    sight: str,
    seed: int,
    values: Values,
    length_s: float,
    *,
    with_tables: bool = False,
) -> Job:
    """Returns the run of a point in a place. The walk passes its distance half-way."""
    distance_m, mode = point
    given = {
        **QUIET_CELL,
        "duration": f"{length_s:g} s",
        "ue.phone.position": f'["{distance_m:g} m", "{-SPEED_MPS * length_s / 2:g} m"]',
        "cell.small-cell.channel.line-of-sight": sight,
        **mode.values,
        **values,
    }
    return Job(SCENARIO, overrides(given), seed=seed, with_tables=with_tables)


def length_s(effort: Effort) -> float:
    """Returns the length of a run in seconds."""
    return effort.duration_s or 20


def bulk(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the numbers of long transfers, by distance and mode."""
    return transfers(runs, [(BASE, *point) for point in MAIN], runs.effort).along("change")[BASE]


def sweep(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the numbers of long transfers with one assumption changed at a time."""
    points = [(change, at_m, mode) for change in CHANGES for at_m in SWEPT_M for mode in MODES]
    return transfers(runs, points, runs.effort.of_sweep())


def transfers(
    runs: Runs[Effort], points: Sequence[tuple[Change, int, Choice]], effort: Effort
) -> FoundInPlaces:
    """Returns the numbers of long transfers, by change, distance and mode."""

    def job_of(at: tuple[Change, int, Choice], sight: str, seed: int) -> Job:
        change, distance_m, mode = at
        return job((distance_m, mode), sight, seed, change.values, length_s(effort))

    return runs.in_places("change distance_m mode", points, job_of, measure, effort.seeds)


def downloads(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the times of downloads, by distance, mode and size."""

    def job_of(at: tuple[int, Choice, int], sight: str, seed: int) -> Job:
        distance_m, mode, size = at
        transfer = f'{{ kind = "transfer", size = "{size} MB" }}'
        values = {"flow.download.application": transfer, "duration": f"{DOWNLOAD_LIMIT_S} s"}
        return job((distance_m, mode), sight, seed, values, length_s(runs.effort))

    points = [(*point, size) for point in MAIN for size in SIZES_MB]
    found = runs.in_places("distance_m mode size_mb", points, job_of, completion_s)
    return with_each(found, lambda places: [{"time_s": time_s} for time_s in places])


def delays(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the mean parts of the downlink's delay in ms, for places with a packet."""
    probe = {"probe.radio-delay": "true"}
    length = delay_length_s(runs.effort)
    found = runs.in_places(
        "distance_m mode",
        MAIN,
        lambda point, sight, seed: job(point, sight, seed, probe, length, with_tables=True),
        parts_ms,
        runs.effort.delay_seeds,
    )
    return with_each(found, lambda places: [parts for parts in places if parts])


def with_each(found: FoundInPlaces, edit: Callable[[Sequence[Any]], list[Any]]) -> FoundInPlaces:
    """Returns points whose lists of places are edited."""
    numbers = {
        point: {sight: edit(each) for sight, each in found[point].items()} for point in found
    }
    return replace(found, numbers=numbers)


def delay_length_s(effort: Effort) -> float:
    """Returns the length of the runs in which delays are recorded, in seconds."""
    return min(effort.duration_s or DELAY_S, DELAY_S)


def measure(results: Results) -> dict[str, float | None]:
    """Returns the numbers of a long transfer."""
    flow = results.flows.row(0, named=True)
    rtt_s = flow["mean_rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": None if rtt_s is None else 1e3 * rtt_s,
        "timeouts": flow["timeouts"],
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / max(1, flow["sent_segments"]),
    }


def completion_s(results: Results) -> float:
    """Returns the time of the download, or the limit, in seconds."""
    time_s = results.flows["flow_completion_time_s"][0]
    return DOWNLOAD_LIMIT_S if time_s is None else float(time_s)


def parts_ms(results: Results) -> dict[str, float]:
    """Returns the mean parts of the downlink packets' delay in ms. Empty if no packet arrived."""
    rows = results.table("radio_delay").filter(pl.col("direction") == "downlink")
    if rows.is_empty():
        return {}
    return {part: 1e3 * float(rows[f"{part}_s"].mean()) for part in PARTS}  # pyright: ignore[reportArgumentType]
