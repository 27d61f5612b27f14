"""The runs of the study, and what is read from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.link_retransmission.setups import (
    BASE,
    CHANGES,
    DISTANCES_M,
    MODES,
    SIZES_MB,
    Mode,
    place,
)
from fadeout.study import QUIET_CELL, Change, Job, Runs, Values, overrides

SCENARIO = Path(__file__).parent / "scenario.toml"

SWEPT_M = (50, 100, 150)
"""Distances at which assumptions are changed."""

DOWNLOAD_LIMIT_S = 30
"""A download that is not done by then counts with this time."""

DELAY_S = 2
"""Longest run in which the delay of every packet is recorded."""

PARTS = ("queue", "sr_wait", "grant_wait", "transmission", "harq", "rlc", "reordering")
"""What a radio delay is made of."""

MEASURED = ("goodput_mbps", "rtt_ms", "retransmitted_pct", "timeouts")
"""What is read from a long transfer."""

Numbers = Mapping[str, float | None]
"""What a run found, by the name of the column."""

Point = tuple[int, Mode]
"""A distance in metres, and what the link repeats."""

MAIN: list[Point] = [(distance, mode) for distance in DISTANCES_M for mode in MODES]
SWEPT: list[Point] = [(distance, mode) for distance in SWEPT_M for mode in MODES]
SIZED = [(*point, size) for point in MAIN for size in SIZES_MB]


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs, and how long."""

    delay_seeds: int
    walk_seeds: int


def job(point: Point, seed: int, values: Values, *, with_tables: bool = False) -> Job:
    """A run at a point."""
    distance, mode = point
    given = {**QUIET_CELL, **place(distance), **mode.values, **values}
    return Job(SCENARIO, overrides(given), seed=seed, with_tables=with_tables)


def bulk(runs: Runs[Effort]) -> dict[Point, list[Numbers]]:
    """The numbers of a long transfer at each point, a list over the seeds."""
    duration = runs.effort.duration
    return runs.over_seeds(MAIN, lambda point, seed: job(point, seed, duration), measure)


def sweep(runs: Runs[Effort]) -> dict[Change, dict[Point, list[Numbers]]]:
    """The same with one assumption changed at a time."""
    duration = runs.effort.duration
    changes = (BASE, *CHANGES)
    found = runs.over_seeds(
        [(change, point) for change in changes for point in SWEPT],
        lambda at, seed: job(at[1], seed, {**at[0].values, **duration}),
        measure,
        runs.effort.swept,
    )
    return {change: {point: found[change, point] for point in SWEPT} for change in changes}


def downloads(runs: Runs[Effort]) -> dict[tuple[int, Mode, int], list[float]]:
    """Times of a download at each point in seconds, a list over the seeds."""

    def sized_job(point: tuple[int, Mode, int], seed: int) -> Job:
        distance, mode, size = point
        transfer = f'{{ kind = "transfer", size = "{size} MB" }}'
        values = {"duration": f"{DOWNLOAD_LIMIT_S} s", "flow.download.application": transfer}
        return job((distance, mode), seed, values)

    return runs.over_seeds(SIZED, sized_job, completion_s)


def delays(runs: Runs[Effort]) -> dict[Point, list[dict[str, float]]]:
    """Mean parts of the downlink's delay in ms at each point, of the seeds with a packet."""
    probe = {"probe.radio-delay": "true", "duration": f"{delay_length_s(runs.effort):g} s"}
    found = runs.over_seeds(
        MAIN,
        lambda point, seed: job(point, seed, probe, with_tables=True),
        parts_ms,
        runs.effort.delay_seeds,
    )
    return {point: [parts for parts in of_seeds if parts] for point, of_seeds in found.items()}


def delay_length_s(effort: Effort) -> float:
    """Length of the runs in which delays are recorded."""
    return min(effort.duration_s or DELAY_S, DELAY_S)


def measure(results: Results) -> Numbers:
    """The numbers of a long transfer."""
    flow = results.flows.row(0, named=True)
    rtt_s = flow["mean_rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": None if rtt_s is None else 1e3 * rtt_s,
        "timeouts": flow["timeouts"],
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / max(1, flow["sent_segments"]),
    }


def completion_s(results: Results) -> float:
    """Time of the download, or the limit."""
    time_s = results.flows["flow_completion_time_s"][0]
    return DOWNLOAD_LIMIT_S if time_s is None else float(time_s)


def parts_ms(results: Results) -> dict[str, float]:
    """Mean parts of the delay of the downlink's packets; nothing when none arrived."""
    rows = results.table("radio_delay").filter(pl.col("direction") == "downlink")
    if rows.is_empty():
        return {}
    return {part: 1e3 * float(rows[f"{part}_s"].mean()) for part in PARTS}  # pyright: ignore[reportArgumentType]


def count(effort: Effort) -> int:
    """How many simulations the study takes at most."""
    return (
        len(MAIN) * effort.seeds * (1 + len(SIZES_MB))
        + len(MAIN) * effort.delay_seeds
        + len(CHANGES) * len(SWEPT) * effort.swept
        + effort.walk_seeds
    )
