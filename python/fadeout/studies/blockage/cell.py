"""The experiment over the full stack: a cell of New Radio in place of the link."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fadeout.studies.blockage import cell_figures
from fadeout.studies.blockage.cell_assumptions import (
    CELL_CHANGES,
    DEPTHS,
    LOSSES_DB,
    MODEL_B_DB,
    CellChange,
    blocked_by,
)
from fadeout.studies.blockage.runs import Runner, chunks
from fadeout.study import Estimate, Section, Table, estimate, paired_difference

Moved = tuple[CellChange, dict[str, list[Estimate]]]
"""A change, and by how much it moves each row, for the depths that it can matter for."""

MOMENT_S = 1.0
"""Length of the blockage that is shown over time."""

TRACED = {
    "duration": "8 s",
    "probe.transport-blocks": "true",
    "probe.bearers": "2 ms",
    "probe.throughput": "10 ms",
}


@dataclass(frozen=True)
class CellEffort:
    """How much of the full stack is run; its runs take longer than the link's."""

    seeds: int
    changes: Sequence[CellChange] = CELL_CHANGES
    losses_db: Sequence[float] = LOSSES_DB

    def count_runs(self, cases: int) -> int:
        """How many simulations these sections take at most."""
        points = sum(len(change.depths) for change in self.changes) + len(DEPTHS)
        return (
            (points + len(self.losses_db)) * cases * self.seeds
            + len(self.changes)
            + 1
            + len(DEPTHS)
        )


def one_at_a_time(runner: Runner, cases: Sequence[dict[str, Any]], effort: CellEffort) -> Section:
    """How much each assumption of the full stack moves each row."""
    changes = (CellChange("as in the scenario", ""), *effort.changes)
    keys = [(index, depth) for index, change in enumerate(changes) for depth in change.depths]
    points = [
        ({**DEPTHS[depth], **changes[index].values}, case["block_s"])
        for index, depth in keys
        for case in cases
    ]
    with warnings.catch_warnings():
        # A buffer that is too small is one of the assumptions.
        warnings.filterwarnings("ignore", message=".*the RLC buffer")
        losses = runner.losses(points, effort.seeds)
    by_key = dict(zip(keys, chunks(losses, len(cases)), strict=True))
    base = {depth: by_key[0, depth] for depth in DEPTHS}
    moved: list[Moved] = [
        (
            change,
            {
                depth: [
                    paired_difference(ours, was)
                    for ours, was in zip(by_key[index, depth], base[depth], strict=True)
                ]
                for depth in change.depths
            },
        )
        for index, change in enumerate(changes)
        if index > 0
    ]
    lengths = [f"{case['block_s']:g} s" for case in cases]
    blank = ["-"] * len(cases)
    table = Table(
        columns=[
            "assumption",
            "changed to",
            *(f"{depth}, {length}" for depth in DEPTHS for length in lengths),
        ],
        rows=[
            [
                changes[0].assumption,
                "",
                *(f"{estimate(losses):.1f} %" for depth in DEPTHS for losses in base[depth]),
            ],
            *(
                [
                    change.assumption,
                    change.value,
                    *(
                        text
                        for depth in DEPTHS
                        for text in (
                            [f"{value:+.1f}" for value in by_depth[depth]]
                            if depth in by_depth
                            else blank
                        )
                    ),
                ]
                for change, by_depth in moved
            ),
        ],
        data=[
            {
                "assumption": change.assumption,
                "value": change.value,
                "depth": depth,
                **{
                    f"{length}_{key}": number
                    for length, value in zip(lengths, values, strict=True)
                    for key, number in (("mean_pct", value.mean), ("ci95_pct", value.half_width))
                },
            }
            for change, by_depth in moved
            for depth, values in by_depth.items()
        ],
    )
    return Section(
        name="cell_assumptions",
        title="What each assumption of the full stack moves",
        text=(
            "The first row is the loss of the cell as it stands, with the vehicle's depth by "
            "model B and with a blockage through which nothing passes; the others are changes of "
            f"the loss, in percentage points, when one assumption changes. {effort.seeds} seeds, "
            "compared seed by seed; each loss is against the same assumption without blockages. A "
            "dash where an assumption cannot matter."
        ),
        table=table,
        figures={
            "Change of the loss over the full stack when one assumption changes, in percentage "
            "points. Left: the vehicle's depth by model B; right: nothing passes.": (
                cell_figures.tornado(lengths, moved)
            )
        },
        conclusion=largest(lengths, moved),
        is_headline=True,
    )


def largest(lengths: Sequence[str], moved: Sequence[Moved]) -> str:
    """What moves each row most."""

    def most(depth: str, index: int) -> str:
        rows = [(change, by_depth[depth][index]) for change, by_depth in moved if depth in by_depth]
        change, value = max(rows, key=lambda row: abs(row[1].mean))
        return f"{change.assumption} ({change.value}, {value:+.1f})"

    return " ".join(
        f"Moves most, {depth}: "
        + "; ".join(f"at {length} {most(depth, i)}" for i, length in enumerate(lengths))
        + "."
        for depth in DEPTHS
    )


def depth_curve(runner: Runner, cases: Sequence[dict[str, Any]], effort: CellEffort) -> Section:
    """Loss of goodput against the depth of the blockages."""
    losses_db = effort.losses_db
    points = [(blocked_by(loss), case["block_s"]) for case in cases for loss in losses_db]
    found = [
        [estimate(losses) for losses in by_case]
        for by_case in chunks(runner.losses(points, effort.seeds), len(losses_db))
    ]
    lengths = [f"{case['block_s']:g} s" for case in cases]
    table = Table(
        columns=["depth", *lengths],
        rows=[
            [f"{loss} dB", *(f"{values[index]:.1f} %" for values in found)]
            for index, loss in enumerate(losses_db)
        ],
        data=[
            {"depth_db": loss}
            | {
                f"{length}_{key}": number
                for length, values in zip(lengths, found, strict=True)
                for key, number in (
                    ("mean_pct", values[index].mean),
                    ("ci95_pct", values[index].half_width),
                )
            }
            for index, loss in enumerate(losses_db)
        ],
    )
    near, far = MODEL_B_DB
    return Section(
        name="depth",
        title="How deep must a blockage be?",
        text=(
            "Loss over the full stack against the depth of blockages that begin and end with a "
            f"step; {effort.seeds} seeds a point. Model B has {near:g} to {far:g} dB for the "
            "stated vehicle, a metre to half a metre away. In the clear the SINR is 39.5 dB, of "
            "which the receiver uses 30; beyond 46 dB beams fail and nothing passes."
        ),
        table=table,
        figures={
            "Loss of goodput over the full stack against the depth of a blockage. Grey: the depth "
            "of the stated vehicle by model B. Dotted: the share of time in which the path is "
            "blocked.": (cell_figures.depth_curve(cases, losses_db, found, MODEL_B_DB))
        },
    )


def moment(runner: Runner, seed: int) -> Section:
    """One blockage, layer by layer."""
    points = [({**values, **TRACED}, MOMENT_S) for values in DEPTHS.values()]
    runs = dict(zip(DEPTHS, runner.traces(points, seed), strict=True))
    return Section(
        name="moment",
        title="One blockage through the stack",
        text=(
            f"A blockage of {MOMENT_S:g} s from 4 s on, by the vehicle and with nothing passing. "
            "SINR of the downlink's transport blocks (mean of 5 ms), what waits in RLC at the base "
            "station, TCP's window, and goodput. The upper two lines break where nothing is sent."
        ),
        figures={
            "One blockage (grey) through the full stack. Left: the vehicle, depth by model B; "
            "right: nothing passes. Crosses: retransmission timeouts; triangles: packets that the "
            "full RLC buffer drops.": cell_figures.moment(runs, (4.0, 4.0 + MOMENT_S))
        },
    )
