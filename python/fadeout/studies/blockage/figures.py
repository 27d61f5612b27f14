"""Figures of the blockage study."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout._thinning import thin
from fadeout.plot.panels import MOST_POINTS, rebin, shade_blockages
from fadeout.plot.style import (
    BLACK,
    BLOCKED,
    BLUE,
    BROWN,
    COLUMN_INCHES,
    GREEN,
    ORANGE,
    PALETTE,
    PURPLE,
    SKY,
    VERMILION,
    legend_above,
    new_figure,
    new_grid,
)
from fadeout.results import Results
from fadeout.studies.blockage.runs import CASES, CASES_S, LENGTHS, PAPER_PCT, PERIOD_S, Change
from fadeout.study import Estimate
from fadeout.study.figures import MARKERS, grouped_bars, legend_over, line_with_intervals

COLORS = {
    "Linux": BLUE,
    "nearest": ORANGE,
    "link, nothing passes": BLUE,
    "link, vehicle": SKY,
    "full stack, nothing passes": VERMILION,
    "full stack, vehicle": PURPLE,
    "paper's sender": GREEN,
    "paper's sender, window to 20 %": BROWN,
}
WINDOW_S = 0.1
SINR_BIN_S = 0.005
GOODPUT_BIN_S = 0.02
GAP_S = 0.01
"""Longest time between transmissions for which the line is drawn through, seconds."""
SHOWN_S = (3.8, 7.0)
STEPS: Mapping[str, Any] = {"drawstyle": "steps-post", "linewidth": 0.8}
"""Style of a line whose values hold until the next one."""


def tornado(
    moves: Mapping[Change, Mapping[str, Mapping[str, Estimate]]], depths: Sequence[str]
) -> Figure:
    """Draws the effect of each assumption as a group of bars, with one panel for each depth."""
    size = (2 * COLUMN_INCHES, 0.29 * len(moves) + 0.8)
    with new_grid(1, len(depths), size=size, share_y=True) as (figure, panels):
        for ax, depth in zip(panels, depths, strict=True):
            by_change = [by_depth.get(depth, {}) for by_depth in moves.values()]
            series = {at: [values.get(at) for values in by_change] for at in LENGTHS}
            grouped_bars(ax, series, PALETTE, across=True)
            ax.axvline(0, color="black", linewidth=0.6)
            ax.set_title(depth)
            ax.set_xlabel("Change of the loss (percentage points)")
        panels[0].set_yticks(range(len(moves)), [change.name for change in moves])
        panels[0].set_ylim(len(moves) - 0.4, -0.6)
        legend_over(figure, panels[0], title="Blocked every 5 s for", title_fontsize=7)
    return figure


def curve(
    lengths_s: Sequence[float],
    found: Mapping[str, Sequence[Estimate]],
) -> Figure:
    """Draws the loss by length of a blockage."""
    with new_figure(height=COLUMN_INCHES * 0.75) as (figure, (ax,)):
        ax.plot(
            lengths_s,
            [100 * length / PERIOD_S for length in lengths_s],
            color="#888888",
            linestyle=(0, (1, 1)),
            label="time blocked",
        )
        for name, values in found.items():
            style = {"color": COLORS[name], "marker": "o" if name == "Linux" else "s"}
            line_with_intervals(ax, lengths_s, values, label=name, **style)
        ax.plot(CASES_S, list(PAPER_PCT.values()), "D", color=BLACK, label="paper")
        ax.set_xscale("log")
        ax.set_xticks(
            [0.01, 0.03, 0.1, 0.3, 1, 2], ["10 ms", "30 ms", "0.1 s", "0.3 s", "1 s", "2 s"]
        )
        ax.minorticks_off()
        ax.set_xlabel("Length of a blockage, every 5 s")
        ax.set_ylabel("Loss of goodput (%)")
        ax.set_ylim(0, 100)
        legend_above(ax)
    return figure


def window_and_throughput(runs: Mapping[str, Results]) -> Figure:
    """Draws the throughput above the congestion window, with one line for each stack."""
    with new_figure(height=COLUMN_INCHES, rows=2) as (figure, (throughput, window)):
        for name, results in runs.items():
            rates = rebin(results.throughput, WINDOW_S, results.duration_s)
            style = {"color": COLORS[name], "label": name, **STEPS}
            throughput.plot(rates["time_s"], rates["rate_mbps"], **style)
            rows = thin(results.congestion, "cwnd_segments", MOST_POINTS)
            window.plot(rows["time_s"], rows["cwnd_segments"], color=COLORS[name], linewidth=0.8)
            timeouts = results.timeouts.select("time_s", pl.lit(0.02).alias("height"))
            window.plot(
                timeouts["time_s"],
                timeouts["height"],
                transform=window.get_xaxis_transform(),
                linestyle="none",
                marker="x",
                color=COLORS[name],
                label=f"RTO ({name})" if len(timeouts) else None,
            )
        for ax in (throughput, window):
            shade_blockages(ax, next(iter(runs.values())), label=ax is throughput)
            ax.set_ylim(bottom=0)
            ax.set_xlim(0, max(results.duration_s for results in runs.values()))
        throughput.set_ylabel("Goodput (Mbit/s)")
        window.set_ylabel("Window (segments)")
        window.set_xlabel("Time (s)")
        legend_above(throughput)
        legend_above(window)
        figure.align_ylabels()
    return figure


def depth_curve(
    losses_db: Sequence[float],
    found: Mapping[str, Sequence[Estimate]],
    model_b_db: tuple[float, float],
) -> Figure:
    """Draws the loss of goodput by depth, with one line for each length of the blockages."""
    with new_figure(height=COLUMN_INCHES * 0.75) as (figure, (ax,)):
        ax.axvspan(*model_b_db, color=BLOCKED, alpha=0.6, linewidth=0, label="vehicle (model B)")
        for case, (length, values), color, marker in zip(
            CASES, found.items(), PALETTE, MARKERS, strict=False
        ):
            share = case["blockage_ratio_pct"]
            ax.axhline(share, color=color, linestyle=(0, (1, 2)), linewidth=0.8)
            line_with_intervals(
                ax, losses_db, values, color=color, marker=marker, label=f"{length} every 5 s"
            )
        ax.set_xlabel("Depth of the blockage (dB)")
        ax.set_ylabel("Loss of goodput (%)")
        ax.set_ylim(0, 100)
        legend_above(ax, columns=2)
    return figure


def moment(runs: Mapping[str, Results], blocked_s: tuple[float, float]) -> Figure:
    """Draws SINR, RLC buffer, window and goodput during one blockage, with one column for each
    depth.
    """
    drawers = (draw_sinr, draw_buffer, draw_window, draw_goodput)
    size = (2 * COLUMN_INCHES, 1.6 * COLUMN_INCHES)
    with new_grid(len(drawers), len(runs), size=size) as (figure, axes):
        for column, (depth, results) in enumerate(runs.items()):
            mine = axes[column :: len(runs)]
            for ax, draw in zip(mine, drawers, strict=True):
                ax.axvspan(*blocked_s, color=BLOCKED, alpha=0.6, linewidth=0, zorder=0)
                draw(ax, results)
                ax.set_xlim(SHOWN_S)
                if ax is not mine[-1]:
                    ax.tick_params(labelbottom=False)
            mine[0].set_title(depth)
            mine[-1].set_xlabel("Time (s)")
        for row in range(len(drawers)):
            left, *others = axes[row * len(runs) : (row + 1) * len(runs)]
            limits = [ax.get_ylim() for ax in (left, *others)]
            for ax in (left, *others):
                ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
            for ax in others:
                ax.set_ylabel("")
                ax.tick_params(labelleft=False)
        figure.align_ylabels()
    return figure


def shown(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows in the time that is shown."""
    return rows.filter(pl.col("time_s").is_between(*SHOWN_S))


def draw_sinr(ax: Axes, results: Results) -> None:
    """Draws the mean SINR of the downlink's blocks in bins, with gaps where nothing was sent."""
    blocks = shown(results.table("transport_blocks")).filter(pl.col("direction") == "downlink")
    bins = (pl.col("time_s") / SINR_BIN_S).floor().cast(pl.Int64)
    means = blocks.group_by(bins.alias("bin")).agg(pl.col("sinr_db").mean())
    first, last = (int(at / SINR_BIN_S) for at in SHOWN_S)
    grid = pl.DataFrame({"bin": range(first, last + 1)}, schema={"bin": pl.Int64})
    means = grid.join(means, on="bin", how="left").sort("bin")
    ax.plot(means["bin"] * SINR_BIN_S, means["sinr_db"], color=BLUE, linewidth=0.7)
    ax.set_ylabel("SINR (dB)")


def draw_buffer(ax: Axes, results: Results) -> None:
    """Draws the bytes in RLC at the base station, and marks a full buffer.

    The backlog is recorded when a block is filled. The line is therefore interrupted while nothing
    is sent.
    """
    rows = shown(results.table("bearers")).filter(pl.col("direction") == "downlink")
    waiting = pl.col("rlc_new_bytes") + pl.col("rlc_retransmission_bytes")
    is_after_gap = pl.col("time_s").diff() > GAP_S
    rows = rows.select(
        "time_s", pl.when(is_after_gap).then(None).otherwise(waiting / 1e6).alias("waiting_mb")
    )
    ax.plot(rows["time_s"], rows["waiting_mb"], color=GREEN, linewidth=0.8)
    drops = shown(results.table("radio_drops")).filter(pl.col("cause") == "buffer-full")
    marks(ax, drops["time_s"], "v", 0.95)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("RLC buffer (MB)")


def draw_window(ax: Axes, results: Results) -> None:
    """Draws TCP's congestion window, and its timeouts."""
    rows = shown(results.congestion)
    ax.plot(rows["time_s"], rows["cwnd_segments"], color=VERMILION, **STEPS)
    marks(ax, shown(results.timeouts)["time_s"], "x", 0.05)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("Window (segments)")


def draw_goodput(ax: Axes, results: Results) -> None:
    """Draws the goodput in bins."""
    rates = shown(rebin(results.throughput, GOODPUT_BIN_S, results.duration_s))
    ax.plot(rates["time_s"], rates["rate_mbps"], color=PURPLE, **STEPS)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("Goodput (Mbit/s)")


def marks(ax: Axes, times: pl.Series, marker: str, height: float) -> None:
    """Marks instants. Several close together become one mark."""
    seen = (times / SINR_BIN_S).floor().unique().sort() * SINR_BIN_S
    ax.plot(
        seen,
        [height] * len(seen),
        transform=ax.get_xaxis_transform(),
        linestyle="none",
        marker=marker,
        markersize=3,
        color="black",
        clip_on=True,
    )
