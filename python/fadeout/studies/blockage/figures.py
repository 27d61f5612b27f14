"""Figures of the blockage study."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.panels import rebin, shade_blockages, thin
from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure
from fadeout.results import Results
from fadeout.studies.blockage.assumptions import Change
from fadeout.study import Estimate

PAPER_COLOR = "#000000"
COLORS = {
    "Linux": PALETTE[0],
    "nearest": PALETTE[1],
    "link, nothing passes": PALETTE[0],
    "link, vehicle": PALETTE[5],
    "full stack, nothing passes": PALETTE[2],
    "full stack, vehicle": PALETTE[4],
}
WINDOW_S = 0.1


def bars(cases: Sequence[dict[str, Any]], found: Mapping[str, Sequence[Estimate]]) -> Figure:
    """The paper's losses beside ours."""
    with new_figure(height=COLUMN_INCHES * 0.66) as (figure, (ax,)):
        width = 0.8 / (1 + len(found))
        places = range(len(cases))
        ax.bar(
            [place - 0.4 + width / 2 for place in places],
            [case["degradation_pct"] for case in cases],
            width * 0.92,
            color=PAPER_COLOR,
            label="paper",
        )
        for number, (name, values) in enumerate(found.items(), start=1):
            ax.bar(
                [place - 0.4 + width * (number + 0.5) for place in places],
                [value.mean for value in values],
                width * 0.92,
                yerr=[value.half_width for value in values],
                error_kw={"linewidth": 0.8, "capsize": 2},
                color=COLORS[name],
                label=name,
            )
        ax.set_xticks(list(places), [f"{case['block_s']:g} s" for case in cases])
        ax.set_xlabel("Blocked every 5 s")
        ax.set_ylabel("Loss of goodput (%)")
        ax.set_ylim(bottom=0)
        ax.grid(visible=False, axis="x")
        legend_above(ax, columns=2)
    return figure


def tornado(lengths: Sequence[str], moved: Sequence[tuple[Change, Sequence[Estimate]]]) -> Figure:
    """What each assumption moves, a group of bars each."""
    names = [f"{change.assumption}: {change.value}" for change, _ in moved]
    height = 0.8 / len(lengths)
    with new_figure(width=2 * COLUMN_INCHES, height=0.33 * len(moved) + 0.8) as (figure, (ax,)):
        for index, length in enumerate(lengths):
            ax.barh(
                [row - 0.4 + height * (index + 0.5) for row in range(len(moved))],
                [values[index].mean for _, values in moved],
                height * 0.9,
                xerr=[values[index].half_width for _, values in moved],
                error_kw={"linewidth": 0.7, "capsize": 1.5},
                color=PALETTE[index],
                label=length,
            )
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set_yticks(range(len(moved)), names)
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        ax.set_xlabel("Change of the loss (percentage points)")
        legend_above(ax)
    return figure


def curve(
    lengths_s: Sequence[float],
    found: Mapping[str, Sequence[Estimate]],
    cases: Sequence[dict[str, Any]],
) -> Figure:
    """Loss against the length of a blockage."""
    with new_figure(height=COLUMN_INCHES * 0.75) as (figure, (ax,)):
        ax.plot(
            lengths_s,
            [20 * length for length in lengths_s],
            color="#888888",
            linestyle=(0, (1, 1)),
            label="time blocked",
        )
        for name, values in found.items():
            ax.errorbar(
                lengths_s,
                [value.mean for value in values],
                yerr=[value.half_width for value in values],
                color=COLORS[name],
                marker="o" if name == "Linux" else "s",
                markersize=3,
                capsize=1.5,
                elinewidth=0.8,
                label=name,
            )
        ax.plot(
            [case["block_s"] for case in cases],
            [case["degradation_pct"] for case in cases],
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
    """Throughput above the congestion window, one line a stack."""
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
            rows = thin(results.congestion, "cwnd_segments")
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
