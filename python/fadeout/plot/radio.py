"""Panels of the radio access: signal, buffers, and the parts of a packet's delay."""

from typing import TYPE_CHECKING

import polars as pl

from fadeout import _reading
from fadeout._thinning import broken
from fadeout.plot.cells import cell_colors
from fadeout.plot.panels import (
    LONGEST_GAP_S,
    MOST_LINES,
    Canvas,
    Panel,
    collect,
    has_rows,
    line_style,
)
from fadeout.plot.style import HATCHES, PALETTE, STAMP

if TYPE_CHECKING:
    from fadeout.results import Results

PARTS = (
    ("queue_s", "queue"),
    ("sr_wait_s", "SR wait"),
    ("grant_wait_s", "grant"),
    ("transmission_s", "transmission"),
    ("harq_s", "HARQ"),
    ("rlc_s", "RLC"),
    ("reordering_s", "reordering"),
)
"""The parts of a packet's delay on a bearer, in the order in which they occur."""

DELAY_BINS = 120
"""Number of time bins in which delays are averaged."""

SINR_BINS = 250
"""Number of time bins for percentiles of the SINR."""


CAP_DB = 30.0
"""Largest effective SINR of a transport block. Distortion of the receiver limits it."""

LONGEST_PAUSE_S = 0.2
"""Longest time without a transport block that a line of the SINR bridges."""

LEAST_RANGE_DB = 10.0
"""Smallest range of the vertical axis of the SINR."""


def _sinr(canvas: Canvas) -> None:
    """Draws the SINR of each UE's downlink transport blocks, for each cell.

    With many blocks, a line shows the median of each bin, and a band the 5th to the 95th
    percentile. The cap of the receiver is marked if a block reaches it.
    """
    blocks = canvas.read("transport_blocks", "time_s", "ue", "cell", "direction", "sinr_db")
    blocks = blocks.filter(pl.col("direction") == "downlink").drop("direction")
    links = _links(canvas, blocks)
    palette = cell_colors(canvas.results)
    is_one_ue = len({ue for ue, _ in links}) == 1
    for number, (ue, cell) in enumerate(links):
        own = blocks.filter(pl.col("ue") == ue)
        name = ue
        if cell is not None:
            own = own.filter(pl.col("cell") == cell)
            name = cell if is_one_ue else f"{ue} ← {cell}"
        color = PALETTE[number % len(PALETTE)]
        if cell is not None and is_one_ue:
            color = palette.get(cell, color)
        _draw_sinr(canvas, own.select("time_s", "sinr_db"), color, name)
    share = float((blocks["sinr_db"] >= CAP_DB).mean() or 0.0)  # type: ignore[arg-type]
    if share > 0:
        style = {"color": STAMP, "linestyle": (0, (2, 2)), "linewidth": 0.8, "zorder": 1.5}
        digits = 0 if share >= 0.01 else 2
        label = f"receiver's cap: {100 * share:.{digits}f} % of blocks"
        canvas.ax.axhline(CAP_DB, label=label, **style)
    low, high = canvas.ax.get_ylim()
    missing = LEAST_RANGE_DB - (high - low)
    if missing > 0:
        # Below the cap, the room is below the line.
        below = missing if share > 0 else missing / 2
        canvas.ax.set_ylim(low - below, high + missing - below)
    canvas.finish_x("SINR (dB)", columns=3)


def _links(canvas: Canvas, blocks: pl.DataFrame) -> list[tuple[str, str | None]]:
    """Returns the lines: a UE and its cell. The cell is `None` if all cells are one line."""
    found = blocks.select("ue", "cell").unique(maintain_order=True)
    rows = found.with_columns(pl.col("ue", "cell").cast(pl.String)).rows()
    ues = list(dict.fromkeys(ue for ue, _ in rows))
    if len(ues) < len(rows) <= MOST_LINES:
        return rows
    return [(ue, None) for ue in canvas.first(ues, "UEs")]


def _draw_sinr(canvas: Canvas, rows: pl.DataFrame, color: str, name: str) -> None:
    if len(rows) <= 2 * SINR_BINS:
        rows = broken(rows, "sinr_db", LONGEST_PAUSE_S)
        canvas.ax.plot(rows["time_s"], rows["sinr_db"], color=color, linewidth=0.7, label=name)
        return
    bins = percentiles(rows, canvas.end_s / SINR_BINS).drop_nulls("median")
    bins = broken(bins, "median", LONGEST_PAUSE_S)
    times, median = bins["time_s"], bins["median"]
    canvas.ax.plot(times, median, color=color, linewidth=0.9, label=name)
    is_shown = median.is_not_nan().to_numpy()
    band = {"color": color, "alpha": 0.25, "linewidth": 0}
    canvas.ax.fill_between(times, bins["low"], bins["high"], where=is_shown, **band)


def percentiles(rows: pl.DataFrame, width_s: float) -> pl.DataFrame:
    """Returns `low`, `median` and `high` of `sinr_db` in bins of `width_s`. Empty bins are null.

    `low` and `high` are the 5th and 95th percentiles. `time_s` is the middle of the bin.
    """
    number = (pl.col("time_s") / width_s).floor().cast(pl.Int64).alias("bin")
    value = pl.col("sinr_db")
    found = rows.group_by(number).agg(
        value.quantile(0.05).alias("low"),
        value.median().alias("median"),
        value.quantile(0.95).alias("high"),
    )
    first, last = int(found["bin"].min() or 0), int(found["bin"].max() or 0)  # type: ignore[arg-type]
    grid = pl.DataFrame({"bin": range(first, last + 1)}, schema={"bin": pl.Int64})
    found = grid.join(found, on="bin", how="left").sort("bin")
    return found.with_columns(((pl.col("bin") + 0.5) * width_s).alias("time_s"))


def _buffer(canvas: Canvas) -> None:
    """Draws the downlink bytes in the RLC buffer of each bearer."""
    parts = ("rlc_new_bytes", "rlc_retransmission_bytes")
    table = canvas.read("bearers", "time_s", "bearer", "direction", *parts)
    table = table.filter(pl.col("direction") == "downlink")
    waiting = pl.col("rlc_new_bytes") + pl.col("rlc_retransmission_bytes")
    table = table.with_columns((waiting / 1000).alias("waiting_kb"))
    names = table["bearer"].cast(pl.String).unique(maintain_order=True).to_list()
    names = canvas.first(names, "bearers")
    for number, name in enumerate(names):
        rows = table.filter(pl.col("bearer") == name).select("time_s", "waiting_kb")
        # A bearer that does not exist has no rows, which is a gap.
        rows = broken(rows, "waiting_kb", LONGEST_GAP_S)
        canvas.draw_steps(rows, "waiting_kb", label=name, **line_style(number))
    canvas.finish("RLC buffer (kB)")


def delay_parts(direction: str) -> Panel:
    """Returns a panel of the mean delay of packets over time, with its parts stacked."""

    def draw(canvas: Canvas) -> None:
        columns = ("time_s", "direction", *(part for part, _ in PARTS))
        table = _reading.select(canvas.results, "radio_delay", columns)
        table = table.filter(pl.col("direction") == direction)
        width = canvas.end_s / DELAY_BINS
        bins = (pl.col("time_s") / width).floor().cast(pl.Int64).clip(0, DELAY_BINS - 1)
        means = collect(
            table.group_by(bins.alias("bin")).agg(pl.col(part).mean() for part, _ in PARTS)
        )
        grid = pl.DataFrame({"bin": range(DELAY_BINS)}, schema={"bin": pl.Int64})
        means = grid.join(means, on="bin", how="left").sort("bin").fill_null(0.0)
        # Colour and hatch of a part are fixed, so that figures with other parts can be compared.
        seen = [
            (part, name, color, hatch)
            for (part, name), color, hatch in zip(PARTS, PALETTE, HATCHES, strict=False)
            if (means[part] > 0).any()
        ]
        canvas.ax.stackplot(
            ((means["bin"] + 0.5) * width).to_list(),
            [(means[part] * 1e3).to_list() for part, *_ in seen],
            labels=[name for _, name, *_ in seen],
            colors=[color for *_, color, _ in seen],
            hatch=[hatch for *_, hatch in seen],
            edgecolor="white",
            step="mid",
            linewidth=0,
        )
        canvas.finish(f"{direction.capitalize()} delay (ms)", columns=3)

    return Panel(
        draw,
        "radio_delay",
        lambda results: has_rows(results, "radio_delay", pl.col("direction") == direction),
        f"no packet crossed the radio in the {direction}",
    )


def _has_waiting(results: "Results") -> bool:
    waiting = pl.col("rlc_new_bytes") + pl.col("rlc_retransmission_bytes")
    return has_rows(results, "bearers", pl.col("direction") == "downlink", waiting > 0)


SINR = Panel(
    _sinr,
    "transport_blocks",
    lambda results: has_rows(results, "transport_blocks", pl.col("direction") == "downlink"),
    "no transport block in the downlink",
    height=0.8,
)
BUFFER = Panel(_buffer, "bearers", _has_waiting, "no data waited in an RLC buffer")
DELAY = (delay_parts("downlink"), delay_parts("uplink"))
