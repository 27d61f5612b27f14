"""The runs of the study, and the numbers read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.link_retransmission.setups import (
    BASE,
    BOTH,
    CHANGES,
    DISTANCES_M,
    FOLDER,
    MODES,
    SIZES_MB,
    UPLINK_CHANGES,
    Mode,
    place,
    seen,
)
from fadeout.study import QUIET_CELL, Change, Job, Places, Runs, Values, overrides, side_by_side

SCENARIO = FOLDER / "scenario.toml"
UPLINK = FOLDER / "uplink.toml"

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

Numbers = Mapping[str, float | None]
"""Numbers of a run, by the name of their column. None if the run has no value."""

ByMode = Mapping[str, Numbers]
"""Numbers of a place by mode. All modes share the place's channel."""

Times = Mapping[tuple[str, int], float]
"""Times of a place's downloads in seconds, by mode and size."""

Point = tuple[int, Mode]
"""A distance in metres, and the retransmissions of the link."""

MAIN: list[Point] = [(distance, mode) for distance in DISTANCES_M for mode in MODES]
SWEPT: list[Point] = [(distance, mode) for distance in SWEPT_M for mode in MODES]


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
    """Returns the run of a point in a place."""
    distance, mode = point
    length = {"duration": f"{length_s:g} s"}
    given = {**QUIET_CELL, **length, **place(distance, length_s), **seen(sight)}
    given |= {**mode.values, **values}
    return Job(SCENARIO, overrides(given), seed=seed, with_tables=with_tables)


def length_s(effort: Effort) -> float:
    """Returns the length of a run in seconds."""
    return effort.duration_s or 20


def bulk(runs: Runs[Effort]) -> dict[int, Places[ByMode]]:
    """Returns the numbers of long transfers in each place, by distance."""
    return places(runs, [BASE], MAIN, runs.effort)[BASE]


def sweep(runs: Runs[Effort]) -> dict[Change, dict[int, Places[ByMode]]]:
    """Returns the numbers of long transfers with one assumption changed at a time."""
    return places(runs, (BASE, *CHANGES), SWEPT, runs.effort.of_sweep())


def places(
    runs: Runs[Effort], changes: Sequence[Change], points: Sequence[Point], effort: Effort
) -> dict[Change, dict[int, Places[ByMode]]]:
    """Returns the numbers of long transfers in each place, by change and distance."""
    length = length_s(effort)
    found = runs.places(
        [(change, point) for change in changes for point in points],
        lambda at, sight, seed: job(at[1], sight, seed, at[0].values, length),
        measure,
        effort.seeds,
    )
    distances = dict.fromkeys(distance for distance, _ in points)
    return {
        change: {
            distance: side_by_side({mode.name: found[change, (distance, mode)] for mode in MODES})
            for distance in distances
        }
        for change in changes
    }


def uplink(runs: Runs[Effort]) -> dict[tuple[Change, Mode], list[Numbers]]:
    """Returns the numbers of the walk past a building, as lists over the seeds.

    Changed assumptions are run with all retransmissions and fewer seeds.
    """
    common = {**QUIET_CELL, "duration": f"{length_s(runs.effort):g} s"}
    both = [(BASE, mode) for mode in MODES]
    changed = [(BOTH, change) for change in UPLINK_CHANGES]
    found = runs.combinations(both, UPLINK, measure, common)
    others = runs.combinations(changed, UPLINK, measure, common, seeds=runs.effort.swept)
    return found | {(change, mode): numbers for (mode, change), numbers in others.items()}


def downloads(runs: Runs[Effort]) -> dict[int, Places[Times]]:
    """Returns the times of downloads in each place, by distance."""

    def sized_job(at: tuple[Point, int], sight: str, seed: int) -> Job:
        point, size = at
        transfer = f'{{ kind = "transfer", size = "{size} MB" }}'
        values = {"flow.download.application": transfer, "duration": f"{DOWNLOAD_LIMIT_S} s"}
        return job(point, sight, seed, values, length_s(runs.effort))

    sizes = [(point, size) for point in MAIN for size in SIZES_MB]
    found = runs.places(sizes, sized_job, completion_s)
    return {
        distance: side_by_side(
            {
                (mode.name, size): found[(distance, mode), size]
                for mode in MODES
                for size in SIZES_MB
            }
        )
        for distance in DISTANCES_M
    }


def delays(runs: Runs[Effort]) -> dict[Point, Places[dict[str, float]]]:
    """Returns the mean parts of the downlink's delay in ms, for places with a packet."""
    probe = {"probe.radio-delay": "true"}
    length = delay_length_s(runs.effort)
    found = runs.places(
        MAIN,
        lambda point, sight, seed: job(point, sight, seed, probe, length, with_tables=True),
        parts_ms,
        runs.effort.delay_seeds,
    )
    return {
        point: {sight: [parts for parts in each if parts] for sight, each in places.items()}
        for point, places in found.items()
    }


def delay_length_s(effort: Effort) -> float:
    """Returns the length of the runs in which delays are recorded, in seconds."""
    return min(effort.duration_s or DELAY_S, DELAY_S)


def measure(results: Results) -> Numbers:
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
