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
    """Number of seeds and length of the runs."""

    knee_seeds: int
    """Seeds for each sender and each length of a run, in the sections on the knee."""
    fine_seeds: int
    """Seeds for each round trip and window on the fine grid."""
    lengths_s: Sequence[float]
    """Lengths of a run that are compared, seconds."""
    grid_seeds: int
    """Seeds for each point of the grid of assumptions."""
    grid_reductions: Sequence[float]
    """Windows of CUBIC after a loss in the grid, as shares of the window before."""
    grid_lengths_s: Sequence[float]
    """Lengths of a run in the grid, seconds."""
    refined: int
    """Number of points of the grid that are compared again with more seeds."""
    refined_seeds: int
    curve_seeds: int
    """Seeds for each length on the curve."""
    cell_seeds: int
    """Seeds for the assumptions and depths of the full stack, whose runs take longer than the
    link's.
    """
    cell_changes: Sequence[Change]
    losses_db: Sequence[float]
    """Depths of a blockage over the full stack, dB."""


@dataclass(frozen=True, eq=False)
class Point:
    """Overrides of a scenario, and the length of its blockages."""

    values: Values
    block_s: float
    """Length of the blockages, seconds."""


@dataclass(frozen=True)
class Found:
    """Loss and counts of a run."""

    loss_pct: float
    """Lost goodput in percent, relative to the same overrides without blockages."""
    goodput_mbps: float
    timeouts: float
    recoveries: float = 0
    """Number of recoveries: duplicate ACKs or SACK caused a retransmission and a smaller window."""


@dataclass(frozen=True)
class Level:
    """A scenario, with the keys of its blockage and the tables that it need not record."""

    scenario: Path
    blockage: str
    """The table that is removed for a run without blockages."""
    length: str
    """The key of a blockage's length."""
    fixed_phase: Values
    """Overrides that fix the blockages' phase, for figures that show the same instants."""
    quiet: Values

    def blocked(self, length_s: float) -> Values:
        """Returns overrides that set the length of the blockages."""
        return {self.length: f"{length_s:g} s"}

    def clear(self, values: Values) -> Values:
        """Returns the overrides that do not concern the blockage."""
        return {
            key: value
            for key, value in values.items()
            if key != self.blockage and not key.startswith(f"{self.blockage}.")
        }

    def unblocked(self, runs: Runs[Effort], values: Sequence[Values]) -> list[float]:
        """Returns the goodput without blockages in Mbit/s."""
        common = {**self.quiet, **runs.effort.duration}
        # Keys of a blockage that was removed cannot be overridden.
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
        """Returns the runs of each point, as a list over the seeds.

        The loss is relative to the same overrides without blockages. The seed draws the phase and
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
        """Returns the loss of goodput in percent, as a list over the seeds for each point."""
        return [[run.loss_pct for run in found] for found in self.found(runs, points, seeds)]

    def traces(self, runs: Runs[Effort], points: Sequence[Point], seed: int) -> list[Results]:
        """Returns one run of each point, with its tables."""
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
    """Returns goodput, timeouts and recoveries of the only flow over the whole run."""
    flow = results.flows.row(0, named=True)
    return {name: flow[name] for name in ("goodput_mbps", "timeouts", "recoveries")}
