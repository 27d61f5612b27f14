"""The runs of the study, and what is read from them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

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
from fadeout.study import Effort, Job, Numbers, Runs, Values, common_seeds

Point = tuple[int, Setup]
"""A distance in metres and what is used there."""

SWEPT_M = (NEAR, FAR)
"""Distances at which assumptions are changed."""

PROBES: Values = {"probe.congestion": "20 ms", "probe.throughput": "100 ms"}

FULL_WINDOW = 0.9
"""From this share on of its window in flight a path counts as sending all it may."""

MAIN: list[Point] = [(distance, setup) for distance in DISTANCES_M for setup in SETUPS]
SWEPT: list[Point] = [(distance, setup) for distance in SWEPT_M for setup in CLAIMED]


def main(runs: Runs[Effort]) -> dict[Point, list[Numbers]]:
    """Every setup at every distance, a list over the seeds, of two seeds at least."""
    found = common_seeds(runs.by_seed(MAIN, partial(main_job, runs.effort), measure))
    if len(found[MAIN[0]]) < 2:
        raise KeyboardInterrupt
    return found


def sweep(runs: Runs[Effort]) -> dict[Change, dict[Point, list[Numbers]]]:
    """The setups of the claims with one assumption changed at a time."""
    points = [(change, point) for change in (BASE, *CHANGES) for point in SWEPT]
    effort = runs.effort
    found = runs.over_seeds(points, partial(swept_job, effort), measure, effort.swept)
    return {change: {point: found[change, point] for point in SWEPT} for change, _ in points}


def variants(runs: Runs[Effort]) -> dict[tuple[int, Variant], list[Numbers]]:
    """What the variants do at the nearest and at the farthest distance."""
    return runs.over_seeds(
        [(distance, variant) for distance in SWEPT_M for variant in VARIANTS],
        partial(variant_job, runs.effort),
        look_inside,
        runs.effort.swept,
    )


def traces(runs: Runs[Effort], variants: Sequence[Variant]) -> list[Results]:
    """One run of each variant at the nearest distance, with its tables."""
    return runs.whole([variant_job(runs.effort, (NEAR, variant), 1) for variant in variants])


def main_job(effort: Effort, point: Point, seed: int) -> Job:
    """A run of a setup at a distance."""
    distance_m, setup = point
    return job(setup, distance_m, effort.duration, seed)


def swept_job(effort: Effort, point: tuple[Change, Point], seed: int) -> Job:
    """The same with an assumption changed."""
    change, (distance_m, setup) = point
    return job(setup, distance_m, effort.duration, seed, change)


def variant_job(effort: Effort, point: tuple[int, Variant], seed: int) -> Job:
    """A run of a variant that can be looked into."""
    distance_m, variant = point
    return job(variant.setup, distance_m, effort.duration, seed, variant.change, PROBES)


def count(effort: Effort) -> int:
    """How many simulations the study takes: a change does not concern every setup."""
    main = {main_job(effort, point, seed) for point in MAIN for seed in range(effort.seeds)}
    swept = {
        swept_job(effort, (change, point), seed)
        for change in CHANGES
        for point in SWEPT
        for seed in range(effort.swept)
    }
    return len(main | swept) + len(SWEPT_M) * len(VARIANTS) * effort.swept + len(SHOWN)


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
