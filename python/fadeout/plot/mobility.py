"""Panels of a change of cell: levels, steps on lanes, and the gap in the data."""

import polars as pl

from fadeout._thinning import broken
from fadeout.plot.cells import COLORS, cell_colors
from fadeout.plot.panels import LONGEST_GAP_S, Canvas, Panel, has_rows, line_style
from fadeout.plot.style import STAMP, VERMILION

LANES = {
    "core": (
        "bicast-began",
        "bicast-ended",
        "path-switched",
        "authentication-request",
        "nas-security-command",
        "context-setup-request",
        "session-setup-request",
    ),
    "target": (
        "timing-acquired",
        "access-done",
        "complete-received",
        "path-switch-request",
        "context-request",
        "end-marker",
        "reestablished",
        "candidate-cancelled",
        "setup-complete",
        "security-command",
        "registration-accept",
        "reconfiguration-sent",
    ),
    "source": (
        "report-received",
        "handover-request",
        "handover-refused",
        "preparation-expired",
        "candidate-prepared",
        "candidates-sent",
        "handover-success",
        "command-sent",
        "source-resumed",
        "context-released",
    ),
    "UE": (
        "condition-entered",
        "condition-left",
        "report-sent",
        "command-received",
        "candidates-received",
        "conditions-met",
        "source-released",
        "preamble-sent",
        "contention-lost",
        "first-uplink",
        "out-of-sync",
        "in-sync",
        "beam-failure",
        "beam-recovery-expired",
        "beam-recovered",
        "access-problem",
        "link-failure",
        "access-failure",
        "cell-selected",
        "released",
        "attach-begun",
        "attached",
        "attach-failed",
    ),
}
"""Entities and the steps of the table `rrc` on their lanes, from top to bottom."""

TROUBLE = (
    "out-of-sync",
    "beam-failure",
    "access-problem",
    "contention-lost",
    "link-failure",
    "access-failure",
    "released",
    "attach-failed",
    "handover-refused",
    "preparation-expired",
)
"""Steps that are drawn in red."""


def levels(ue: str | None = None) -> Panel:
    """Returns a panel of the filtered RSRP of each cell as a UE measured it.

    Default of `ue`: the UE with the first change of cell.
    """

    def draw(canvas: Canvas) -> None:
        table = canvas.read("measurements", "time_s", "ue", "cell", "filtered_dbm")
        names = table["ue"].cast(pl.String).unique(maintain_order=True).to_list()
        name = ue or _ue_of(canvas) or (names[0] if names else "")
        table = table.filter(pl.col("ue") == name)
        cells = table["cell"].cast(pl.String).unique(maintain_order=True).to_list()
        palette = cell_colors(canvas.results)
        chosen = canvas.first(cells, "cells")
        if ue is None and len(names) > 1:
            canvas.note = "; ".join(filter(None, (f"{name}, 1 of {len(names)} UEs", canvas.note)))
        for number, cell in enumerate(chosen):
            rows = table.filter(pl.col("cell") == cell).select("time_s", "filtered_dbm")
            rows = canvas.visible(broken(rows, "filtered_dbm", LONGEST_GAP_S))
            style = line_style(number)
            if len(chosen) <= len(COLORS):
                style["color"] = palette.get(cell, style["color"])
            canvas.ax.plot(rows["time_s"], rows["filtered_dbm"], label=cell, **style)
        if canvas.window is None:
            _shade(canvas, name)
        canvas.finish_x("RSRP (dBm)")

    return Panel(
        draw, "measurements", lambda results: has_rows(results, "measurements"), height=0.7
    )


def _ue_of(canvas: Canvas) -> str | None:
    """Returns the UE with the first change of cell."""
    names = canvas.read("handovers", "ue")["ue"].cast(pl.String).to_list()
    return names[0] if names else None


def _shade(canvas: Canvas, name: str | None) -> None:
    """Shades the times between leaving a cell and entering another."""
    if name is None:
        return
    changes = canvas.read("handovers", "ue", "left_s", "entered_s")
    for left, entered in changes.filter(pl.col("ue") == name).select("left_s", "entered_s").rows():
        if left == left and entered == entered:  # NaN is not itself.
            canvas.ax.axvspan(left, entered, color=STAMP, alpha=0.3, linewidth=0)


def _lanes(canvas: Canvas) -> None:
    """Draws each step of radio resource control on the lane of the entity that takes it."""
    table = canvas.read("rrc", "time_s", "ue", "cell", "event")
    name = _ue_of(canvas)
    if name is not None:
        count = table["ue"].n_unique()
        table = table.filter(pl.col("ue") == name)
        canvas.note = f"{name}, 1 of {count} UEs" if count > 1 else ""
    for height, steps in enumerate(reversed(LANES.values())):
        rows = table.filter(pl.col("event").cast(pl.String).is_in(steps))
        bad = pl.col("event").cast(pl.String).is_in(TROUBLE)
        for part, color in ((rows.filter(~bad), "black"), (rows.filter(bad), VERMILION)):
            times = part["time_s"].to_list()
            canvas.ax.plot(times, [height] * len(times), linestyle="none", marker="|", color=color)
    _shade(canvas, name)
    canvas.finish_x("")
    canvas.ax.set_yticks(range(len(LANES)), list(reversed(LANES)))
    canvas.ax.set_ylim(-0.5, len(LANES) - 0.2)


LINK_LANES = {
    "anchor": {"bicast_s": "sends to both", "switched_s": "path switch"},
    "target": {"resumed_s": "sends", "end_marker_s": "end marker"},
    "source": {"decided_s": "decides", "commanded_s": "stops"},
}
"""Entities, and the steps of the table `link_handovers` on their lanes, from top to bottom."""


def _shade_link(canvas: Canvas) -> None:
    """Shades the times in which neither source nor target sends, if the figure has several."""
    if canvas.gap is not None:
        return
    for row in canvas.read("link_handovers", "commanded_s", "resumed_s").rows():
        if row[0] == row[0] and row[1] == row[1]:
            canvas.ax.axvspan(*row, color=STAMP, alpha=0.3, linewidth=0)


def _link_lanes(canvas: Canvas) -> None:
    """Draws each step of all handovers between links on the lane of its entity."""
    table = canvas.results.table("link_handovers")
    for height, steps in enumerate(reversed(LINK_LANES.values())):
        for key in steps:
            times = table[key].drop_nans().to_list()
            heights = [height] * len(times)
            canvas.ax.plot(times, heights, linestyle="none", marker="|", color="black")
    _shade_link(canvas)
    canvas.finish_x("")
    canvas.ax.set_yticks(range(len(LINK_LANES)), list(reversed(LINK_LANES)))
    canvas.ax.set_ylim(-0.5, len(LINK_LANES) - 0.2)


def _sequence(canvas: Canvas) -> None:
    """Draws acknowledged data and retransmissions of each flow."""
    table = canvas.read("congestion", "time_s", "flow", "acked_bytes")
    has_again = canvas.results.has_table("retransmissions")
    for number, name in enumerate(canvas.flow_names(by_path=True)):
        rows = table.filter(pl.col("flow") == name)
        rows = canvas.visible(rows)
        style = line_style(number)
        canvas.ax.plot(
            rows["time_s"],
            rows["acked_bytes"] / 1e6,
            drawstyle="steps-post",
            label=f"{name} acknowledged",
            **style,
        )
        if not has_again:
            continue
        again = canvas.read("retransmissions", "time_s", "flow", "offset_bytes")
        again = again.filter(pl.col("flow") == name)
        if canvas.window is not None:
            again = again.filter(pl.col("time_s").is_between(*canvas.window))
        if again.is_empty():
            continue
        canvas.ax.plot(
            again["time_s"],
            again["offset_bytes"] / 1e6,
            linestyle="none",
            marker="x",
            markersize=2.5,
            color=VERMILION,
            label="sent again",
        )
    _shade_link(canvas)
    canvas.finish_x("Data (MB)")


LANE = Panel(_lanes, "rrc", lambda results: has_rows(results, "rrc"), "no step of RRC")
LINK_LANE = Panel(_link_lanes, "link_handovers")
SEQUENCE = Panel(_sequence, "congestion", lambda results: has_rows(results, "congestion"))
