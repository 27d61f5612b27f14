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
        "The first row is the loss of the unchanged cell, with the vehicle's depth by model B and "
        "with a total blockage. The others are changes of the loss, in percentage points, when one "
        f"assumption changes. Runs of {effort.cell_seeds} seeds are compared seed by seed. Each "
        "loss is against the same assumption without blockages. A dash means that the assumption "
        "cannot matter.",
        {
            "Change of the loss over the full stack when one assumption changes, in percentage "
            "points. Left: the vehicle's depth by model B; right: nothing passes.": (
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
            "Loss over the full stack against the depth of blockages that begin and end with a "
            f"step, with {seeds} seeds a point. Model B has {near:g} to {far:g} dB for the stated "
            "vehicle, a metre to half a metre away. In the clear the SINR is 39.5 dB, of which the "
            "receiver uses 30. Beyond 46 dB beams fail and nothing passes."
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
            f"A blockage of {MOMENT_S:g} s from 4 s on, by the vehicle and with nothing passing. "
            "The panels have the SINR of the downlink's transport blocks (mean of 5 ms), the RLC "
            "queue of the base station, TCP's window, and goodput. The upper two lines break where "
            "nothing is sent."
        ),
        figures={
            "One blockage (grey) through the full stack. Left: the vehicle, depth by model B; "
            "right: nothing passes. Crosses: retransmission timeouts; triangles: packets that the "
            "full RLC buffer drops.": cell_figures.moment(shown, (4.0, 4.0 + MOMENT_S))
        },
    )
