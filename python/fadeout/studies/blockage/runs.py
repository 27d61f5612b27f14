"""The study's runs, over a link and over a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fadeout.results import Results
from fadeout.studies.blockage.assumptions import Values
from fadeout.study import Batch, Job
from fadeout.study.batch import overrides

Item = TypeVar("Item")

Point = tuple[Values, float]
"""Overrides, and the length of the blockages in seconds."""

QUIET = {
    "probe.congestion": "false",
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
}
"""Nothing is recorded over time where only totals are read."""


@dataclass(frozen=True)
class Level:
    """Where a scenario has its blockage, and what it need not record."""

    blockage: str
    """The table that is left out for a run without blockages."""
    length: str
    """The key of a blockage's length."""
    fixed_phase: Mapping[str, str]
    """Overrides for figures that show the same instants."""
    quiet: Mapping[str, str] = field(default_factory=lambda: QUIET)

    def blocked(self, length_s: float) -> dict[str, str]:
        """Overrides that set the length of the blockages."""
        return {self.length: f"{length_s:g} s"}

    def clear(self, values: Values) -> dict[str, str]:
        """The overrides that concern something else than the blockage."""
        return {
            key: value
            for key, value in values.items()
            if key != self.blockage and not key.startswith(f"{self.blockage}.")
        }


LINK = Level(
    blockage="blockage",
    length="blockage.vehicle.schedule.duration",
    fixed_phase={"blockage.vehicle.schedule.phase": "4 s"},
)
"""A link with a link budget."""

CELL_BLOCKAGE = "cell.base-station.channel.blockage"

CELL = Level(
    blockage=CELL_BLOCKAGE,
    length=f"{CELL_BLOCKAGE}.duration",
    fixed_phase={f"{CELL_BLOCKAGE}.phase": "fixed", f"{CELL_BLOCKAGE}.first": "4 s"},
    quiet=QUIET | {"probe.bearers": "false"},
)
"""A cell of New Radio."""


@dataclass(frozen=True)
class Found:
    """What a run of a point lost."""

    loss_pct: float
    """Goodput lost against the same overrides without blockages."""
    goodput_mbps: float
    timeouts: int


class Runner:
    """Runs points of the study and keeps what each loses."""

    def __init__(self, batch: Batch, duration_s: int, level: Level = LINK) -> None:
        self._batch = batch
        self._level = level
        self._common = {"duration": f"{duration_s} s", **level.quiet}
        self._unblocked: dict[Job, float] = {}

    def unblocked(self, values: Sequence[Values]) -> list[float]:
        """Goodput in Mbit/s without blockages; equal overrides run once."""
        # A blockage that is left out cannot be overridden.
        jobs = [
            Job(overrides(self._level.clear(each) | self._common), without=(self._level.blockage,))
            for each in values
        ]
        missing = [job for job in dict.fromkeys(jobs) if job not in self._unblocked]
        results = self._batch.run(missing)
        self._unblocked |= dict(zip(missing, map(goodput_mbps, results), strict=True))
        return [self._unblocked[job] for job in jobs]

    def found(self, points: Sequence[Point], seeds: int) -> list[list[Found]]:
        """What each point loses, a list over the seeds.

        The loss is against the same overrides without blockages. The seed draws the phase and
        the vehicle's distances, and a seed's draws are the same at every point.
        """
        references = self.unblocked([values for values, _ in points])
        jobs = [
            Job(overrides({**values, **self._level.blocked(length_s), **self._common}), seed=seed)
            for values, length_s in points
            for seed in range(1, seeds + 1)
        ]
        results = self._batch.run(jobs)
        return [
            [
                Found(
                    loss_pct=100 * (1 - goodput_mbps(result) / reference),
                    goodput_mbps=goodput_mbps(result),
                    timeouts=int(result.flows["timeouts"][0]),
                )
                for result in results[i * seeds : (i + 1) * seeds]
            ]
            for i, reference in enumerate(references)
        ]

    def losses(self, points: Sequence[Point], seeds: int) -> list[list[float]]:
        """Loss of goodput in percent, a list over the seeds for each point."""
        return [[run.loss_pct for run in runs] for runs in self.found(points, seeds)]

    def traces(self, points: Sequence[Point], seed: int) -> list[Results]:
        """One run of each point, with its tables."""
        return self._batch.run(
            [
                Job(
                    overrides(
                        {**values, **self._level.blocked(length_s), **self._level.fixed_phase}
                    ),
                    seed=seed,
                    with_tables=True,
                )
                for values, length_s in points
            ]
        )


def chunks(values: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """`values` in pieces of `size`."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def goodput_mbps(results: Results) -> float:
    """Goodput of the one flow over the whole run."""
    return float(results.flows["goodput_mbps"][0])
