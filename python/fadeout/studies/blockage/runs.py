"""The setups and runs of the study, over a link and over a cell."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET,
    QUIET_CELL,
    UNCHANGED,
    At,
    Choice,
    Data,
    Found,
    Grid,
    Job,
    Numbers,
    Page,
    Runs,
    Values,
    claims_of,
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
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario."""

    depths: tuple[str, ...] = ()
    """Depths of the blockage at which the assumption can matter. Empty for all."""


CELL_BLOCKAGE = "cell.base-station.channel.blockage"

MODEL_B_DB = (22.6, 25.0)
"""Depth of the stated vehicle at 1 m and at 0.5 m from the receiver, dB.

The depth follows TR 38.901 clause 7.6.4.2. The receiver has a height of 1 m. The base station has a
height of 5 m and is 50 m away.
"""

PAGE = Page.read(
    FOLDER,
    {
        "window_mb": int(DATA.values["papers-window"]["flow.tcp.receive-window"]) / 1e6,
        "unblocked_mbps": UNBLOCKED_MBPS,
        "paper_pct": PAPER_PCT,
        "lengths": LENGTHS,
        "shortest": LENGTHS[0],
    },
)
SENDERS, DEPTHS = DATA.all("sender", Choice), DATA.all("depth", Choice)
LINUX, _, SACK, GUARDED, *_, NO_GUARD = SENDERS
BASE = Change(UNCHANGED)
CHANGES, CELL_CHANGES = (DATA.all(table, Change) for table in ("change", "cell-change"))
CLEAR = {choice.tags: choice for choice in DATA.all("clear", Choice)}
"""Setups without blockages, by the tags of the blockages on the same level."""
NEAREST = "nearest"
"""Name of the combination in the grid that is nearest to the paper, in tables."""


class Plan(Grid):
    """The runs of the study over a link and over a cell. The last axis is `blocked`.

    The seed draws the phase and the vehicle's distances, and a seed's draws are the same in every
    setup.
    """

    def __init__(self, runs: Runs[Effort], nearest: Values | None = None) -> None:
        """Describes the runs. Some are of the assumptions that are nearest to the paper."""
        effort = runs.effort
        lists: dict[str, Sequence[Any]] = {
            "linux": [LINUX],
            "nearest": [Choice(NEAREST, nearest or {})],
            "lengths": effort.lengths_s,
            "first-length": effort.lengths_s[:1],
            "second-length": effort.lengths_s[1:2],
            "grid-lengths": effort.grid_lengths_s,
            "grid-reductions": effort.grid_reductions,
            "losses": effort.losses_db,
            "changes": [BASE, *CHANGES],
            "cell-changes": [BASE, *CELL_CHANGES[: effort.cell_changes]],
            "any-depth": [Choice("")],
        }
        super().__init__(DATA, runs, [totals], lists, [over_link, over_cell])

    def found(
        self, name: str, points: Sequence[Point] | None = None, *, seeds: int | None = None
    ) -> Found:
        """Returns the numbers of a set, with the loss relative to the setup without blockages."""
        found = super().found(name, points, seeds=seeds)
        clear = {point: (*point[:-1], CLEAR[point[-1].tags]) for point in found}
        unblocked = super().found(name, list(dict.fromkeys(clear.values())), seeds=1)

        def relative(point: Point, numbers: Mapping[str, Any]) -> Numbers:
            clear_mbps = unblocked[clear[point]][0]["goodput_mbps"]
            loss_pct = 100 * (1 - numbers["goodput_mbps"] / clear_mbps)
            return {"loss_pct": loss_pct, "clear_mbps": clear_mbps}

        return found.with_numbers(relative)


def over_link(at: At) -> Job:
    """Returns a run over a link with a link budget."""
    return at.job(FOLDER / "scenario.toml", {**QUIET, **of_amounts(at.parts)})


def over_cell(at: At) -> Job:
    """Returns a run over a cell of New Radio."""
    return at.job(FOLDER / "cell.toml", {**QUIET_CELL, **of_amounts(at.parts)})


def rms_error(found: Found, point: Point) -> float:
    """Returns the distance from the published losses and the unblocked rate, percentage points.

    The last part of `point` is the length of the blockages, and the error is over all lengths.
    """
    points = {at: found.moved(point, {"blocked": at}) for at in LENGTHS}
    errors = [found.mean(each, "loss_pct").mean - PAPER_PCT[at] for at, each in points.items()]
    errors.append(100 * (found[point][0]["clear_mbps"] / UNBLOCKED_MBPS - 1))
    return math.sqrt(fmean([error**2 for error in errors]))


def reduction(share: float) -> Values:
    """Returns overrides for CUBIC's window after a loss, as a share of the window before.

    The scenario has Linux's share.
    """
    if share == 0.7:
        return {}
    return {"flow.congestion-control": f'{{ name = "cubic", beta = {share:g} }}'}


def blocked_by(loss_db: float) -> Values:
    """Returns overrides for a blockage of this loss in place of the vehicle. It has
    sudden edges.
    """
    schedule = 'model = "periodic", period = "5 s", phase = "random"'
    return {CELL_BLOCKAGE: f"{{ {schedule}, loss = {loss_db:g} }}"}


def of_amounts(parts: Mapping[str, Any]) -> Values:
    """Returns overrides for the numbers on the axes of a point."""
    return {
        key: value
        for axis, values_of in AMOUNTS.items()
        if axis in parts
        for key, value in values_of(parts[axis]).items()
    }


AMOUNTS: Mapping[str, Callable[[float], Values]] = {
    # The core has most of the delay. The radio link has 1 ms in each direction.
    "round_trip_ms": lambda ms: {"link.core.delay": f"{ms / 2 - 1:g} ms"},
    "window_mb": lambda mb: {"flow.tcp.receive-window": f"{round(1e6 * mb)}"},
    "window_after_a_loss": reduction,
    "reduction": reduction,
    "length_s": lambda seconds: {"duration": f"{seconds:g} s"},
    "depth_db": blocked_by,
}
"""Functions that return overrides for a number, by the axis of the number."""


def totals(results: Results) -> Numbers:
    """Returns goodput, timeouts and recoveries of the only flow over the whole run.

    In a recovery, duplicate ACKs or SACK cause a retransmission and a smaller window.
    """
    flow = results.flows.row(0, named=True)
    return {name: flow[name] for name in ("goodput_mbps", "timeouts", "recoveries")}
