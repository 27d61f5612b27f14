"""Panels of the radio access: signal, buffers, and the parts of a packet's delay."""

import polars as pl

from fadeout.plot.panels import Canvas, Panel, collect, line_style, thin
from fadeout.plot.style import HATCHES, PALETTE

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


def _sinr(canvas: Canvas) -> None:
    """Draws the SINR of each UE's downlink transport blocks.

    With many blocks, a line shows the median of each bin, and a band the 5th to the 95th
    percentile.
    """
    blocks = canvas.read("transport_blocks", "time_s", "ue", "direction", "sinr_db")
    blocks = blocks.filter(pl.col("direction") == "downlink")
    names = canvas.first(blocks["ue"].cast(pl.String).unique(maintain_order=True).to_list(), "UEs")
    for number, name in enumerate(names):
        rows = blocks.filter(pl.col("ue") == name).select("time_s", "sinr_db")
        color = PALETTE[number % len(PALETTE)]
        if len(rows) <= 2 * SINR_BINS:
            canvas.ax.plot(rows["time_s"], rows["sinr_db"], color=color, linewidth=0.7, label=name)
            continue
        bins = percentiles(rows, canvas.end_s / SINR_BINS)
        canvas.ax.plot(bins["time_s"], bins["median"], color=color, linewidth=0.9, label=name)
        canvas.ax.fill_between(
            bins["time_s"], bins["low"], bins["high"], color=color, alpha=0.25, linewidth=0
        )
    canvas.finish_x("SINR (dB)")


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
        rows = thin(table.filter(pl.col("bearer") == name), "waiting_kb")
        canvas.ax.plot(
            rows["time_s"],
            rows["waiting_kb"],
            drawstyle="steps-post",
            label=name,
            **line_style(number),
        )
    canvas.finish("RLC buffer (kB)")


def delay_parts(direction: str) -> Panel:
    """Returns a panel of the mean delay of packets over time, with its parts stacked."""

    def draw(canvas: Canvas) -> None:
        table = canvas.results.scan("radio_delay").filter(pl.col("direction") == direction)
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

    return Panel(draw, "radio_delay")


SINR = Panel(_sinr, "transport_blocks")
BUFFER = Panel(_buffer, "bearers")
DELAY = (delay_parts("downlink"), delay_parts("uplink"))
