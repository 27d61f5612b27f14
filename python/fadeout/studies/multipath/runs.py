"""The runs of the study, and what is read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.multipath.setups import (
    BASE,
    CHANGES,
    CLAIMED,
    DISTANCES_M,
    FAR,
    NEAR,
    SETUPS,
    SHOWN,
    VARIANTS,
    Change,
    Setup,
    Variant,
    job,
)
from fadeout.study import IN_SIGHT, SIGHTS, Job, Numbers, Places, Runs, Values

Point = tuple[int, Setup]
"""A distance in metres and what is used there."""

SWEPT_M = (NEAR, FAR)
"""Distances that the paper speaks of, at which assumptions are changed."""

PROBES: Values = {"probe.congestion": "20 ms", "probe.throughput": "100 ms"}

FULL_WINDOW = 0.9
"""From this share on of its window in flight a path counts as sending all it may."""

MAIN: list[Point] = [(distance, setup) for distance in SWEPT_M for setup in CLAIMED]
OTHERS: list[Point] = [
    *(
        (distance, setup)
        for distance in DISTANCES_M
        if distance not in SWEPT_M
        for setup in CLAIMED
    ),
    *((distance, setup) for distance in SWEPT_M for setup in SETUPS if setup not in CLAIMED),
]
"""Distances between, and couplings of which the paper says nothing."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs, and how long. `seeds` are places of each sight."""

    other_seeds: int
    """Of each sight, at other distances and with other couplings."""


Found = Mapping[Point, Places[Numbers]]
"""What was found in each place."""


def main(runs: Runs[Effort]) -> Found:
    """What the claims are about, and the rest with fewer places."""
    effort = runs.effort
    return {
        **collect(runs, [(BASE, point) for point in MAIN], effort.seeds)[BASE],
        **collect(runs, [(BASE, point) for point in OTHERS], effort.other_seeds)[BASE],
    }


def sweep(runs: Runs[Effort]) -> Mapping[Change, Found]:
    """The setups of the claims with one assumption changed at a time."""
    points = [(change, point) for change in (BASE, *CHANGES) for point in MAIN]
    return collect(runs, points, runs.effort.swept)


def collect(
    runs: Runs[Effort], points: Sequence[tuple[Change, Point]], seeds: int
) -> Mapping[Change, Found]:
    """The numbers of points with a change, by change."""
    found = runs.over_seeds(
        [(change, sight, point) for change, point in points for sight in SIGHTS],
        partial(swept_job, runs.effort),
        measure,
        seeds,
    )
    by_change: dict[Change, dict[Point, Places[Numbers]]] = {change: {} for change, _ in points}
    for change, point in points:
        by_change[change][point] = {sight: found[change, sight, point] for sight in SIGHTS}
    return by_change


def variants(runs: Runs[Effort]) -> dict[tuple[int, Variant], Places[Numbers]]:
    """What the variants do at the nearest and at the farthest distance."""
    keys = [(distance, variant) for distance in SWEPT_M for variant in VARIANTS]
    found = runs.over_seeds(
        [(distance, sight, variant) for distance, variant in keys for sight in SIGHTS],
        partial(variant_job, runs.effort),
        look_inside,
        runs.effort.swept,
    )
    return {
        (distance, variant): {sight: found[distance, sight, variant] for sight in SIGHTS}
        for distance, variant in keys
    }


def traces(runs: Runs[Effort], variants: Sequence[Variant]) -> list[Results]:
    """One run of each variant at the nearest distance, in sight, with its tables."""
    jobs = [variant_job(runs.effort, (NEAR, IN_SIGHT, variant), 1) for variant in variants]
    return runs.whole(jobs)


def swept_job(effort: Effort, point: tuple[Change, str, Point], seed: int) -> Job:
    """A run of a setup at a place, with an assumption changed."""
    change, sight, (distance_m, setup) = point
    return job(setup, (distance_m, sight), effort.duration, seed, change)


def variant_job(effort: Effort, point: tuple[int, str, Variant], seed: int) -> Job:
    """A run of a variant that can be looked into."""
    distance_m, sight, variant = point
    place = (distance_m, sight)
    return job(variant.setup, place, effort.duration, seed, variant.change, PROBES)


def count(effort: Effort) -> int:
    """How many simulations the study takes: a change does not concern every setup."""
    points = [(point, effort.seeds) for point in MAIN]
    points += [(point, effort.other_seeds) for point in OTHERS]
    main = {
        swept_job(effort, (BASE, sight, point), seed)
        for point, seeds in points
        for sight in SIGHTS
        for seed in range(seeds)
    }
    swept = {
        swept_job(effort, (change, sight, point), seed)
        for change in CHANGES
        for point in MAIN
        for sight in SIGHTS
        for seed in range(effort.swept)
    }
    return len(main | swept) + 2 * len(SWEPT_M) * len(VARIANTS) * effort.swept + len(SHOWN)


def measure(results: Results) -> Numbers:
    """The numbers of a run; those of the second path are zero where there is none."""
    flow = results.flows.row(0, named=True)
    second = paths(results)[1] if len(results.paths) else {}
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": 1e3 * (flow["mean_rtt_s"] or 0.0),
        "second_mbps": second.get("goodput_mbps", 0.0),
        "second_rtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
    }


def paths(results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
    """What 28 GHz did and what the second path did, whichever opened the connection."""
    opened_by = results.manifest["scenario"]["flow"]["download"]["multipath"]["paths"][0]
    one, other = results.paths.to_dicts()
    return (one, other) if "ue-28" in opened_by["links"] else (other, one)


def look_inside(results: Results) -> Numbers:
    """What each of two paths carries, and what waits at the receiver when the run ends."""
    first, second = paths(results)
    rows = results.congestion.filter(pl.col("flow").cast(pl.String) == first["path"])
    is_idle = rows["in_flight_segments"] < FULL_WINDOW * rows["cwnd_segments"]
    arrived_mb = (first["arrived_bytes"] + second["arrived_bytes"]) / 1e6
    numbers = measure(results)
    return {
        **numbers,
        "first_mbps": first["goodput_mbps"],
        "first_idle_pct": 100 * int(is_idle.sum()) / max(1, len(is_idle)),
        "waiting_mb": arrived_mb - numbers["goodput_mbps"] * results.duration_s / 8,
    }
