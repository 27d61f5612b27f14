"""The runs of the study, each done once, and what is read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    VARIANTS,
    Change,
    Setup,
    Values,
    Variant,
    job,
)
from fadeout.study import Batch, Job

Numbers = Mapping[str, float]
"""What a run found, by the name of the column."""

Point = tuple[int, Setup]
"""A distance in metres and what is used there."""

SWEPT_M = (NEAR, FAR)
"""Distances at which assumptions are changed."""

PROBES: Values = {"probe.congestion": "20 ms", "probe.throughput": "100 ms"}

FULL_WINDOW = 0.9
"""From this share on of its window in flight a path counts as sending all it may."""


@dataclass(frozen=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    swept_seeds: int
    duration_s: float


FULL = Effort(seeds=6, swept_seeds=4, duration_s=4)
QUICK = Effort(seeds=2, swept_seeds=2, duration_s=2)


class Runner:
    """Runs points of the study; what two tables need is run once."""

    def __init__(self, batch: Batch, effort: Effort, seeds: int) -> None:
        self._batch = batch
        self._effort = effort
        self._found: dict[Job, Numbers | None] = {}
        self.seeds = seeds
        self.swept_seeds = min(seeds, effort.swept_seeds)
        batch.expect(len({*self._of_main(), *self._of_sweep()}) + len(self._of_variants()))

    def main(self) -> dict[Point, list[Numbers]]:
        """Every setup at every distance, a list over the seeds."""
        self._run(self._of_main())
        points = [(distance, setup) for distance in DISTANCES_M for setup in SETUPS]
        found = self._paired(points, BASE, self.seeds)
        if found is None:
            raise KeyboardInterrupt
        return found

    def sweep(self) -> dict[Change, dict[Point, list[Numbers]]]:
        """The setups of the claims with one assumption changed at a time."""
        self._run(self._of_sweep())
        points = [(distance, setup) for distance in SWEPT_M for setup in CLAIMED]
        found = {
            change: self._paired(points, change, self.swept_seeds) for change in (BASE, *CHANGES)
        }
        return {change: values for change, values in found.items() if values is not None}

    def variants(self) -> dict[tuple[int, Variant], list[Numbers]]:
        """What the variants do at the nearest and at the farthest distance; less than that when
        the batch was stopped.
        """
        jobs = self._of_variants()
        found = self._batch.collect(jobs, look_inside)
        keys = [(distance, variant) for distance in SWEPT_M for variant in VARIANTS]
        per = self.swept_seeds
        return {
            key: [item for item in found[index * per : (index + 1) * per] if item is not None]
            for index, key in enumerate(keys)
        }

    def traces(self, variants: Sequence[Variant]) -> list[Results]:
        """One run of each variant at the nearest distance, with its tables."""
        return self._batch.run(
            [
                job(each.setup, NEAR, self._effort.duration_s, 1, each.change, PROBES)
                for each in variants
            ]
        )

    def _job(self, point: Point, change: Change, seed: int) -> Job:
        distance, setup = point
        return job(setup, distance, self._effort.duration_s, seed, change)

    def _of_main(self) -> list[Job]:
        return [
            self._job((distance, setup), BASE, seed)
            for distance in DISTANCES_M
            for setup in SETUPS
            for seed in range(1, self.seeds + 1)
        ]

    def _of_sweep(self) -> list[Job]:
        return [
            self._job((distance, setup), change, seed)
            for change in (BASE, *CHANGES)
            for distance in SWEPT_M
            for setup in CLAIMED
            for seed in range(1, self.swept_seeds + 1)
        ]

    def _of_variants(self) -> list[Job]:
        return [
            job(each.setup, distance, self._effort.duration_s, seed, each.change, PROBES)
            for distance in SWEPT_M
            for each in VARIANTS
            for seed in range(1, self.swept_seeds + 1)
        ]

    def _run(self, jobs: Sequence[Job]) -> None:
        missing = [each for each in dict.fromkeys(jobs) if each not in self._found]
        found = self._batch.collect(missing, measure) if missing else []
        self._found |= dict(zip(missing, found, strict=True))

    def _paired(
        self, points: Sequence[Point], change: Change, seeds: int
    ) -> dict[Point, list[Numbers]] | None:
        """The numbers at `points` of those seeds that were run at all of them; None of too few."""
        whole = []
        for seed in range(1, seeds + 1):
            found = [self._found.get(self._job(point, change, seed)) for point in points]
            if None not in found:
                whole.append(found)
        if len(whole) < 2:
            return None
        columns = zip(*whole, strict=True)
        return {
            point: [each for each in column if each is not None]
            for point, column in zip(points, columns, strict=True)
        }


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
