"""The study's runs, over a link and over a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.results import Results
from fadeout.studies.blockage.assumptions import Change
from fadeout.studies.blockage.paper import FOLDER
from fadeout.study import QUIET, QUIET_CELL, Job, Numbers, Runs, Values, overrides


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs, and how long."""

    knee_seeds: int
    """Of each sender and each length of a run, where the knee is looked for."""
    fine_seeds: int
    """Of each round trip and window on the fine grid."""
    lengths_s: Sequence[float]
    """Lengths of a run that are tried."""
    grid_seeds: int
    """Of each point of the grid of assumptions."""
    refined: int
    """Points of the grid that are compared again."""
    refined_seeds: int
    curve_seeds: int
    """Of each length on the curve."""
    cell_seeds: int
    """Of the full stack's assumptions and depths; its runs take longer than the link's."""
    cell_changes: Sequence[Change]
    losses_db: Sequence[float]
    """Depths of a blockage over the full stack."""


@dataclass(frozen=True, eq=False)
class Point:
    """Something to run with blockages."""

    values: Values
    block_s: float
    """Length of the blockages."""


@dataclass(frozen=True)
class Found:
    """What a run of a point lost."""

    loss_pct: float
    """Goodput lost against the same overrides without blockages."""
    goodput_mbps: float
    timeouts: float
    recoveries: float = 0
    """Times that duplicate ACKs, or SACK, had it send again and reduce its window."""


@dataclass(frozen=True)
class Level:
    """Where a scenario has its blockage, and what it need not record."""

    scenario: Path
    blockage: str
    """The table that is left out for a run without blockages."""
    length: str
    """The key of a blockage's length."""
    fixed_phase: Values
    """Overrides for figures that show the same instants."""
    quiet: Values

    def blocked(self, length_s: float) -> Values:
        """Overrides that set the length of the blockages."""
        return {self.length: f"{length_s:g} s"}

    def clear(self, values: Values) -> Values:
        """The overrides that concern something else than the blockage."""
        return {
            key: value
            for key, value in values.items()
            if key != self.blockage and not key.startswith(f"{self.blockage}.")
        }

    def unblocked(self, runs: Runs[Effort], values: Sequence[Values]) -> list[float]:
        """Goodput in Mbit/s without blockages."""
        common = {**self.quiet, **runs.effort.duration}
        # A blockage that is left out cannot be overridden.
        jobs = [
            Job(
                self.scenario,
                overrides({**common, **self.clear(each)}),
                without=(self.blockage,),
            )
            for each in values
        ]
        return [found["goodput_mbps"] for found in runs.each(jobs, totals)]

    def found(self, runs: Runs[Effort], points: Sequence[Point], seeds: int) -> list[list[Found]]:
        """What each point loses, a list over the seeds.

        The loss is against the same overrides without blockages. The seed draws the phase and
        the vehicle's distances, and a seed's draws are the same at every point.
        """
        references = self.unblocked(runs, [point.values for point in points])
        common = {**self.quiet, **runs.effort.duration}

        def job(point: Point, seed: int) -> Job:
            values = {**common, **point.values, **self.blocked(point.block_s)}
            return Job(self.scenario, overrides(values), seed=seed)

        return [
            [Found(loss_pct=100 * (1 - each["goodput_mbps"] / reference), **each) for each in found]
            for found, reference in zip(
                runs.over_seeds(points, job, totals, seeds).values(), references, strict=True
            )
        ]

    def losses(self, runs: Runs[Effort], points: Sequence[Point], seeds: int) -> list[list[float]]:
        """Loss of goodput in percent, a list over the seeds for each point."""
        return [[run.loss_pct for run in found] for found in self.found(runs, points, seeds)]

    def traces(self, runs: Runs[Effort], points: Sequence[Point], seed: int) -> list[Results]:
        """One run of each point, with its tables."""
        return runs.whole(
            [
                Job(
                    self.scenario,
                    overrides({**point.values, **self.blocked(point.block_s), **self.fixed_phase}),
                    seed=seed,
                    with_tables=True,
                )
                for point in points
            ]
        )


LINK = Level(
    scenario=FOLDER / "scenario.toml",
    blockage="blockage",
    length="blockage.vehicle.schedule.duration",
    fixed_phase={"blockage.vehicle.schedule.phase": "4 s"},
    quiet=QUIET,
)
"""A link with a link budget."""

CELL_BLOCKAGE = "cell.base-station.channel.blockage"

CELL = Level(
    scenario=FOLDER / "cell.toml",
    blockage=CELL_BLOCKAGE,
    length=f"{CELL_BLOCKAGE}.duration",
    fixed_phase={f"{CELL_BLOCKAGE}.phase": "fixed", f"{CELL_BLOCKAGE}.first": "4 s"},
    quiet=QUIET_CELL,
)
"""A cell of New Radio."""


def totals(results: Results) -> Numbers:
    """What is read from a run: goodput of the one flow over the whole run, timeouts, recoveries."""
    flow = results.flows.row(0, named=True)
    return {name: flow[name] for name in ("goodput_mbps", "timeouts", "recoveries")}
