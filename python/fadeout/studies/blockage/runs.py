"""The setups and runs of the study, over a link and over a cell."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET,
    QUIET_CELL,
    Choice,
    Data,
    Found,
    Job,
    Numbers,
    Page,
    Runs,
    Values,
    claims_of,
    overrides,
    published,
)
from fadeout.study.found import Point

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

CASES: list[dict[str, Any]] = [case for case in PUBLISHED["case"] if case["block_s"] > 0]
"""The rows of the paper's table with a blockage, from the shortest on."""
CASES_S = tuple(float(case["block_s"]) for case in CASES)
PAPER_PCT = {f"{case['block_s']:g} s": float(case["degradation_pct"]) for case in CASES}
"""The paper's losses in percent, by length of the blockages."""
LENGTHS = tuple(PAPER_PCT)
PERIOD_S: float = PUBLISHED["setup"]["stated"]["blockage_period_s"]
UNBLOCKED_MBPS: float = PUBLISHED["case"][0]["throughput_mbps"]


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs."""

    knee_seeds: int
    """Seeds for each sender and each length of a run, in the sections on the knee."""
    fine_seeds: int
    """Seeds for each round trip and window on the fine grid."""
    lengths_s: tuple[int, ...]
    """Lengths of a run that are compared, seconds."""
    grid_seeds: int
    """Seeds for each point of the grid of assumptions."""
    grid_reductions: tuple[float, ...]
    """Windows of CUBIC after a loss in the grid, as shares of the window before."""
    grid_lengths_s: tuple[int, ...]
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
    cell_changes: int
    """Number of assumptions of the full stack that are changed, from the first on."""
    losses_db: tuple[int, ...]
    """Depths of a blockage over the full stack, dB."""


@dataclass(frozen=True)
class Points:
    """Points of the curve and of both grids."""

    curve_s: tuple[float, ...]
    """Lengths of a blockage on the curve, seconds."""
    grid_round_trips_ms: tuple[int, ...]
    round_trips_ms: tuple[int, ...]
    windows_mb: tuple[float, ...]
    """Receive windows, MB."""
    papers_window_mb: float
    reductions: tuple[float, ...]
    """Windows of CUBIC after a loss, as shares of the window before."""
    reduced_senders: tuple[str, ...]
    """Senders whose window after a loss is varied."""


@dataclass(frozen=True)
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario."""

    depths: tuple[str, ...] = ()
    """Depths of the blockage at which the assumption can matter. Empty for all."""


def rms_error(found: Found, point: Point) -> float:
    """Returns the distance from the published losses and the unblocked rate, percentage points.

    The last part of `point` is the length of the blockages, and the error is over all lengths.
    """
    points = [(*point[:-1], length) for length in LENGTHS]
    errors = [found.mean(each, "loss_pct").mean - PAPER_PCT[each[-1]] for each in points]
    errors.append(100 * (found[point][0]["clear_mbps"] / UNBLOCKED_MBPS - 1))
    return math.sqrt(fmean([error**2 for error in errors]))


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
        # Keys of a blockage that was removed cannot be overridden.
        removed = f"{self.blockage}."
        return {key: value for key, value in values.items() if not f"{key}.".startswith(removed)}

    def clear_mbps(self, runs: Runs[Effort], setups: Mapping[Point, Values]) -> dict[Point, float]:
        """Returns the goodput of each setup without blockages."""
        common = {**self.quiet, **runs.effort.duration}
        jobs = [
            Job(self.scenario, overrides({**common, **self.clear(values)}), (self.blockage,))
            for values in setups.values()
        ]
        found = runs.each(jobs, totals)
        return {at: numbers["goodput_mbps"] for at, numbers in zip(setups, found, strict=True)}

    def found(
        self,
        runs: Runs[Effort],
        axes: str,
        setups: Mapping[Point, Values],
        seeds: int,
        lengths_s: Sequence[float] = CASES_S,
    ) -> Found:
        """Returns the numbers of each setup and length of the blockages, which is the last axis.

        The loss is relative to the same setup without blockages. The seed draws the phase and the
        vehicle's distances, and a seed's draws are the same in every setup.
        """
        common = {**self.quiet, **runs.effort.duration}
        clear_mbps = self.clear_mbps(runs, setups)

        def job(point: tuple[Point, float], seed: int) -> Job:
            setup, length_s = point
            values = {**common, **setups[setup], **self.blocked(length_s)}
            return Job(self.scenario, overrides(values), seed=seed)

        points = [(setup, length_s) for setup in setups for length_s in lengths_s]
        numbers = {
            (*setup, f"{length_s:g} s"): [
                {
                    **each,
                    "loss_pct": 100 * (1 - each["goodput_mbps"] / clear_mbps[setup]),
                    "clear_mbps": clear_mbps[setup],
                }
                for each in of_seeds
            ]
            for (setup, length_s), of_seeds in runs.over_seeds(points, job, totals, seeds).items()
        }
        return Found((*axes.split(), "blocked"), numbers)

    def traces(
        self, runs: Runs[Effort], setups: Mapping[str, Values], length_s: float
    ) -> dict[str, Results]:
        """Returns one run of each setup, with its tables."""
        fixed = {**self.blocked(length_s), **self.fixed_phase}
        made = [
            Job(self.scenario, overrides({**values, **fixed}), with_tables=True)
            for values in setups.values()
        ]
        return dict(zip(setups, runs.whole(made), strict=True))


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

MODEL_B_DB = (22.6, 25.0)
"""Depth of the stated vehicle at 1 m and at 0.5 m from the receiver, dB.

The depth follows TR 38.901 clause 7.6.4.2. The receiver has a height of 1 m. The base station has a
height of 5 m and is 50 m away.
"""

LINUX_REDUCTION = 0.7
"""CUBIC's window after a loss in the scenario."""

POINTS = DATA.one("points", Points)
PAGE = Page.read(
    FOLDER,
    {
        "window_mb": POINTS.papers_window_mb,
        "unblocked_mbps": UNBLOCKED_MBPS,
        "paper_pct": PAPER_PCT,
        "lengths": LENGTHS,
        "shortest": LENGTHS[0],
    },
)
SETUPS = DATA.all("setup", Choice)
SENDERS, BUFFERS, EFFECTS, LENGTH_SETUPS, DEPTHS = (
    {one.name: one.values for one in DATA.all(table, Choice)}
    for table in ("sender", "buffer", "effect", "length-setup", "depth")
)
LINUX, _, SACK, GUARDED, *_, NO_GUARD = SENDERS
CHANGES, CELL_CHANGES = (DATA.all(table, Change) for table in ("change", "cell-change"))


def round_trip(milliseconds: float) -> Values:
    """Returns overrides for a base round-trip time.

    The core has most of the delay. The radio link has 1 ms in each direction.
    """
    return {"link.core.delay": f"{milliseconds / 2 - 1:g} ms"}


def window(megabytes: float) -> Values:
    """Returns overrides for a fixed receive window."""
    return {"flow.tcp.receive-window": f"{round(1e6 * megabytes)}"}


def reduction(share: float) -> Values:
    """Returns overrides for CUBIC's window after a loss, as a share of the window before."""
    if share == LINUX_REDUCTION:
        return {}
    return {"flow.congestion-control": f'{{ name = "cubic", beta = {share:g} }}'}


def length(seconds: float) -> Values:
    """Returns overrides for the length of a run."""
    return {"duration": f"{seconds:g} s"}


def blocked_by(loss_db: float) -> Values:
    """Returns overrides for a blockage of this loss in place of the vehicle. It has
    sudden edges.
    """
    schedule = 'model = "periodic", period = "5 s", phase = "random"'
    return {CELL_BLOCKAGE: f"{{ {schedule}, loss = {loss_db:g} }}"}


def totals(results: Results) -> Numbers:
    """Returns goodput, timeouts and recoveries of the only flow over the whole run.

    In a recovery, duplicate ACKs or SACK cause a retransmission and a smaller window.
    """
    flow = results.flows.row(0, named=True)
    return {name: flow[name] for name in ("goodput_mbps", "timeouts", "recoveries")}
