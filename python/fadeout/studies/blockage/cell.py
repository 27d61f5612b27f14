"""The experiment over the full stack: a cell of New Radio in place of the link."""

import warnings

from fadeout.studies.blockage import cell_figures, figures
from fadeout.studies.blockage.cell_assumptions import DEPTHS, MODEL_B_DB, blocked_by
from fadeout.studies.blockage.moved import compare
from fadeout.studies.blockage.paper import CASES, LENGTHS
from fadeout.studies.blockage.runs import CELL, Effort, Point
from fadeout.study import Runs, Section, Table, estimate, percent

MOMENT_S = 1.0
"""Length of the blockage that is shown over time, seconds."""

TRACED = {
    "duration": "8 s",
    "probe.transport-blocks": "true",
    "probe.bearers": "2 ms",
    "probe.throughput": "10 ms",
}


def one_at_a_time(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each assumption of the full stack."""
    effort = runs.effort
    with warnings.catch_warnings():
        # A buffer that is too small is one of the assumptions, so its warning is ignored.
        warnings.filterwarnings("ignore", message=".*the RLC buffer")
        moved = compare(runs, CELL, effort.cell_changes, DEPTHS, effort.cell_seeds)
    return moved.section(
        "cell_assumptions",
        "What each assumption of the full stack moves",
        "The first row shows the loss of goodput of the unchanged cell, with the stated vehicle "
        "(model B) and with a total blockage. The other rows show the change of this loss, in "
        f"percentage points, when one assumption changes. Runs of {effort.cell_seeds} seeds are "
        "compared seed by seed. Each loss is relative to a run with the same assumption and "
        "without blockages. A dash means that the assumption cannot have an effect.",
        {
            "Change of the loss over the full stack when one assumption changes, in percentage "
            "points. Left: the stated vehicle (model B). Right: a total blockage.": (
                figures.tornado(moved)
            )
        },
    )


def depth_curve(runs: Runs[Effort]) -> Section:
    """Returns the section on the loss of goodput by depth of the blockages."""
    losses_db, seeds = runs.effort.losses_db, runs.effort.cell_seeds
    points = [Point(blocked_by(loss), case["block_s"]) for case in CASES for loss in losses_db]
    losses = iter(CELL.losses(runs, points, seeds))
    found = {length: [estimate(next(losses)) for _ in losses_db] for length in LENGTHS}
    table = Table.of(
        [
            {"depth_db": loss, **{length: values[index] for length, values in found.items()}}
            for index, loss in enumerate(losses_db)
        ],
        {"depth": "{depth_db} dB", **{length: percent(length) for length in LENGTHS}},
        unit="_pct",
    )
    near, far = MODEL_B_DB
    return Section(
        name="depth",
        title="How deep must a blockage be?",
        text=(
            "The table shows the loss of goodput over the full stack by the depth of the "
            f"blockages in dB, with {seeds} seeds a point. These blockages begin and end with a "
            f"step. For the stated vehicle, model B gives {near:g} to {far:g} dB at distances of "
            "1 to 0.5 m. Without blockage the SINR is 39.5 dB, and the receiver uses at most 30 "
            "dB. If the depth is more than 46 dB, the beam fails and nothing passes."
        ),
        table=table,
        figures={
            "Loss of goodput over the full stack against the depth of a blockage. Grey: the depth "
            "of the stated vehicle by model B. Dotted: the share of time in which the path is "
            "blocked.": (cell_figures.depth_curve(losses_db, found, MODEL_B_DB))
        },
    )


def moment(runs: Runs[Effort], seed: int) -> Section:
    """Returns the section with one blockage over time in every layer."""
    points = [Point({**values, **TRACED}, MOMENT_S) for values in DEPTHS.values()]
    shown = dict(zip(DEPTHS, CELL.traces(runs, points, seed), strict=True))
    return Section(
        name="moment",
        title="One blockage through the stack",
        text=(
            f"A blockage of {MOMENT_S:g} s begins at 4 s. In one run the vehicle blocks the path, "
            "and in the other the blockage is total. The panels show the SINR of the downlink's "
            "transport blocks as means over 5 ms. They also show the base station's RLC queue, "
            "TCP's window and the goodput. The upper two lines have gaps where nothing is sent."
        ),
        figures={
            "One blockage (grey) through the full stack. Left: the vehicle, with the loss of "
            "model B. Right: a total blockage. Crosses: retransmission timeouts. Triangles: "
            "packets that the full RLC buffer drops.": cell_figures.moment(
                shown, (4.0, 4.0 + MOMENT_S)
            )
        },
    )
