"""Figures of the blockage study."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from fadeout._thinning import thin
from fadeout.plot.panels import MOST_POINTS, rebin, shade_blockages
from fadeout.plot.style import (
    BLACK,
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
from fadeout.studies.blockage.moved import Moved
from fadeout.studies.blockage.paper import CASES, LENGTHS
from fadeout.study import Estimate, exactly
from fadeout.study.figures import grouped_bars, line_with_intervals

PAPER_COLOR = BLACK
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


def bars(found: Mapping[str, Sequence[Estimate]]) -> Figure:
    """Draws the paper's losses and those found here as bars."""
    paper = [exactly(case["degradation_pct"]) for case in CASES]
    # The legend has one line for each name.
    height = COLUMN_INCHES * 0.5 + 0.14 * (len(found) + 1)
    with new_figure(height=height) as (figure, (ax,)):
        colors = [PAPER_COLOR, *(COLORS[name] for name in found)]
        grouped_bars(ax, {"paper": paper, **found}, colors)
        ax.set_xticks(range(len(CASES)), LENGTHS)
        ax.set_xlabel("Blocked every 5 s")
        ax.set_ylabel("Loss of goodput (%)")
        ax.set_ylim(bottom=0)
        legend_above(ax, columns=2)
    return figure


def tornado(moved: Moved) -> Figure:
    """Draws the effect of each assumption as a group of bars, with one panel for each depth."""
    count = len(moved.changes)
    size = (2 * COLUMN_INCHES, 0.29 * count + 0.8)
    with new_grid(1, len(moved.base), size=size, share_y=True) as (figure, panels):
        for ax, depth in zip(panels, moved.base, strict=True):
            by_change = [rows.get(depth) for rows in moved.changes.values()]
            series = {
                length: [values[index] if values else None for values in by_change]
                for index, length in enumerate(LENGTHS)
            }
            grouped_bars(ax, series, PALETTE, across=True)
            ax.axvline(0, color="black", linewidth=0.6)
            ax.set_title(depth)
            ax.set_xlabel("Change of the loss (percentage points)")
        panels[0].set_yticks(range(count), [change.name for change in moved.changes])
        panels[0].set_ylim(count - 0.4, -0.6)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=len(labels),
            title="Blocked every 5 s for",
            title_fontsize=7,
        )
    return figure


def curve(
    lengths_s: Sequence[float],
    found: Mapping[str, Sequence[Estimate]],
) -> Figure:
    """Draws the loss by length of a blockage."""
    with new_figure(height=COLUMN_INCHES * 0.75) as (figure, (ax,)):
        ax.plot(
            lengths_s,
            [20 * length for length in lengths_s],
            color="#888888",
            linestyle=(0, (1, 1)),
            label="time blocked",
        )
        for name, values in found.items():
            marker = "o" if name == "Linux" else "s"
            line_with_intervals(
                ax, lengths_s, values, color=COLORS[name], marker=marker, label=name
            )
        ax.plot(
            [case["block_s"] for case in CASES],
            [case["degradation_pct"] for case in CASES],
            linestyle="none",
            marker="D",
            color=PAPER_COLOR,
            label="paper",
        )
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
            throughput.plot(
                rates["time_s"],
                rates["rate_mbps"],
                color=COLORS[name],
                drawstyle="steps-post",
                linewidth=0.8,
                label=name,
            )
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
