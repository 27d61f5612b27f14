"""The runs of the study, and the numbers read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    VARIANTS,
    Change,
    Setup,
    Variant,
    job,
)
from fadeout.study import IN_SIGHT, Job, Numbers, Places, Runs, Values

Point = tuple[int, Setup]
"""A distance in metres and the setup there."""

SWEPT_M = (NEAR, FAR)
"""Distances in the paper's text, at which assumptions are changed, metres."""

PROBES: Values = {"probe.congestion": "20 ms", "probe.throughput": "100 ms"}

FULL_WINDOW = 0.9
"""Share of the window in flight from which a path counts as sending all it may."""

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
"""Points at other distances, and with couplings that the paper does not mention."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs. `seeds` is the number of places of each stratum."""

    other_seeds: int
    """Places of each stratum at other distances and with other couplings."""


Found = Mapping[Point, Places[Numbers]]
"""Numbers of each place, by point."""


def main(runs: Runs[Effort]) -> Found:
    """Returns the numbers of the claims' points, and those of other points with fewer places."""
    effort = runs.effort
    return {
        **collect(runs, [(BASE, point) for point in MAIN], effort)[BASE],
        **collect(
            runs, [(BASE, point) for point in OTHERS], replace(effort, seeds=effort.other_seeds)
        )[BASE],
    }


def sweep(runs: Runs[Effort]) -> Mapping[Change, Found]:
    """Returns the numbers of the claims' setups with one assumption changed at a time."""
    points = [(change, point) for change in (BASE, *CHANGES) for point in MAIN]
    return collect(runs, points, runs.effort.of_sweep())


def collect(
    runs: Runs[Effort], points: Sequence[tuple[Change, Point]], effort: Effort
) -> Mapping[Change, Found]:
    """Returns the numbers of points with a change, by change."""
    found = runs.places(points, partial(swept_job, effort), measure, effort.seeds)
    by_change: dict[Change, dict[Point, Places[Numbers]]] = {change: {} for change, _ in points}
    for (change, point), places in found.items():
        by_change[change][point] = places
    return by_change


def variants(runs: Runs[Effort]) -> dict[tuple[int, Variant], Places[Numbers]]:
    """Returns the numbers of the variants at the nearest and at the farthest distance."""
    points = [(distance, variant) for distance in SWEPT_M for variant in VARIANTS]
    job_of = partial(variant_job, runs.effort)
    return runs.places(points, job_of, look_inside, runs.effort.swept)


def traces(runs: Runs[Effort], variants: Sequence[Variant]) -> list[Results]:
    """Returns one run of each variant with its tables, at the nearest distance with line
    of sight.
    """
    jobs = [variant_job(runs.effort, (NEAR, variant), IN_SIGHT, 1) for variant in variants]
    return runs.whole(jobs)


def swept_job(effort: Effort, at: tuple[Change, Point], sight: str, seed: int) -> Job:
    """Returns the run of a setup at a place, with an assumption changed."""
    change, (distance_m, setup) = at
    return job(setup, (distance_m, sight), effort.duration, seed, change)


def variant_job(effort: Effort, at: tuple[int, Variant], sight: str, seed: int) -> Job:
    """Returns the run of a variant with tables of congestion and throughput."""
    distance_m, variant = at
    place = (distance_m, sight)
    return job(variant.setup, place, effort.duration, seed, variant.change, PROBES)


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run. Those of a missing second path are zero."""
    flow = results.flows.row(0, named=True)
    second = paths(results)[1] if len(results.paths) else {}
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": 1e3 * (flow["mean_rtt_s"] or 0.0),
        "second_mbps": second.get("goodput_mbps", 0.0),
        "second_rtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
    }


def paths(results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the rows of the 28 GHz path and of the second path, whichever opened the
    connection.
    """
    opened_by = results.manifest["scenario"]["flow"]["download"]["multipath"]["paths"][0]
    one, other = results.paths.to_dicts()
    return (one, other) if "ue-28" in opened_by["links"] else (other, one)


def look_inside(results: Results) -> Numbers:
    """Returns the traffic of both paths, and the data that wait at the receiver at the end."""
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
