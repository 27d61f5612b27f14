"""Search of a grid of open assumptions for the paper's numbers."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from fadeout.studies.blockage.assumptions import Candidate, candidates
from fadeout.studies.blockage.paper import CASES, LENGTHS, UNBLOCKED_MBPS
from fadeout.studies.blockage.runs import LINK, Effort, Point
from fadeout.study import Runs, Section, Table


def search(runs: Runs[Effort]) -> tuple[Candidate, Section]:
    """Returns the assumptions that come nearest to the published losses, and the section
    on them.
    """
    effort = runs.effort
    grid = list(candidates(effort.grid_reductions, effort.grid_lengths_s))
    unblocked = LINK.unblocked(runs, [point.values() for point in grid])
    rows = ranked(runs, list(zip(grid, unblocked, strict=True)), effort.grid_seeds)
    # With few seeds the best points may be the best by chance. They are compared again with more.
    best_kept = [(row.point, row.unblocked_mbps) for row in rows[: effort.refined]]
    rows = ranked(runs, best_kept, effort.refined_seeds) + rows[effort.refined :]
    table = Table(
        columns=[
            *("stack", "RTT", "buffer", "packets", "window after a loss", "run"),
            *("unblocked Mbit/s", *LENGTHS, "RMS error"),
        ],
        rows=[
            [
                row.point.stack,
                row.point.round_trip,
                row.point.buffer,
                row.point.effect,
                f"{row.point.reduction:.0%}",
                f"{row.point.length_s:g} s",
                f"{row.unblocked_mbps:.0f}",
                *(f"{loss:.0f} %" for loss in row.losses),
                f"{row.rms:.1f}",
            ]
            for row in rows[: effort.refined]
        ],
        data=[
            vars(row.point)
            | {"unblocked_mbps": row.unblocked_mbps, "seeds": row.seeds}
            | {f"loss_{length}": loss for length, loss in zip(LENGTHS, row.losses, strict=True)}
            | {"rms_error": row.rms}
            for row in rows
        ],
    )
    published = " / ".join(f"{case['degradation_pct']:.0f}" for case in CASES)
    best_rms, best = rows[0].rms, rows[0].point
    section = Section(
        name="grid",
        title=f"Which assumptions of the link come nearest to {published} %?",
        text=(
            f"The grid has all {len(grid)} combinations of stack, base round trip, buffer, effect "
            "on packets, CUBIC's window after a loss, and length of a run. The number of seeds of "
            f"each combination is {effort.grid_seeds}. The nearest {effort.refined} combinations "
            f"are run again with {effort.refined_seeds} seeds. The distance from the paper is the "
            "root mean square of four errors in percentage points. Three of them are the errors of "
            "the losses. The fourth is the error of the rate without blockages, in percent of the "
            "paper's rate. The file `tables/grid.csv` has all combinations."
        ),
        table=table,
        conclusion=(
            f"The nearest combination differs by {best_rms:.1f} points. It is in the first row, "
            "and in the first table of the report over all seeds."
        ),
        is_headline=True,
    )
    return best, section


class Ranked(NamedTuple):
    """A point of the grid with its losses."""

    rms: float
    point: Candidate
    unblocked_mbps: float
    seeds: int
    losses: list[float]


def ranked(
    runs: Runs[Effort], points: Sequence[tuple[Candidate, float]], seeds: int
) -> list[Ranked]:
    """Returns the points of the grid, with their unblocked rates, by distance from the paper."""
    cases = [Point(point.values(), case["block_s"]) for point, _ in points for case in CASES]
    means = [math.fsum(values) / seeds for values in LINK.losses(runs, cases, seeds)]
    rows = []
    for index, (point, unblocked_mbps) in enumerate(points):
        losses = means[index * len(CASES) : (index + 1) * len(CASES)]
        rows.append(Ranked(rms_error(losses, unblocked_mbps), point, unblocked_mbps, seeds, losses))
    return sorted(rows, key=lambda row: row.rms)


def rms_error(losses: Sequence[float], unblocked_mbps: float) -> float:
    """Returns the distance from the published losses and the unblocked rate, in
    percentage points.
    """
    squares = [
        (ours - case["degradation_pct"]) ** 2 for ours, case in zip(losses, CASES, strict=True)
    ]
    squares.append((100 * (unblocked_mbps / UNBLOCKED_MBPS - 1)) ** 2)
    return math.sqrt(math.fsum(squares) / len(squares))
