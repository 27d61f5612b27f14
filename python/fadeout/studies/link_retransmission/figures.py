"""Figures of the study of retransmissions on the link."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure, new_grid
from fadeout.studies.link_retransmission.setups import DISTANCES_M, MODES, SIZES_MB, Mode
from fadeout.study.figures import grouped_bars

COLORS = {mode.name: PALETTE[index] for index, mode in enumerate(MODES)}


def goodput_and_rtt(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws goodput above round-trip time, with a group of bars for each distance."""
    with new_figure(height=COLUMN_INCHES, rows=2) as (figure, axes):
        for ax, name in zip(axes, ("goodput_mbps", "rtt_ms"), strict=True):
            series = {
                mode: [record[name] for record in records if record["mode"] == mode]
                for mode in COLORS
            }
            grouped_bars(ax, series, tuple(COLORS.values()))
            ax.set_ylim(bottom=0)
        axes[0].set_ylabel("Goodput (Mbit/s)")
        axes[1].set_ylabel("Mean RTT (ms)")
        axes[1].set_xticks(range(len(DISTANCES_M)), [f"{d} m" for d in DISTANCES_M])
        axes[1].set_xlabel("Distance")
        legend_above(axes[0])
        figure.align_ylabels()
    return figure


def delay_parts(
    means: Mapping[tuple[int, str], Mapping[str, float]], parts: Sequence[str]
) -> Figure:
    """Draws the stacked parts of the delay, with a panel for each distance."""
    letters = dict(zip((mode.name for mode in MODES), "NHA", strict=True))
    size = (2.05 * COLUMN_INCHES, 0.75 * COLUMN_INCHES)
    with new_grid(1, len(DISTANCES_M), size=size, share_y=True) as (figure, panels):
        for ax, distance in zip(panels, DISTANCES_M, strict=True):
            bottom = [0.0] * len(MODES)
            for index, part in enumerate(parts):
                heights = [means[distance, mode.name][part] for mode in MODES]
                ax.bar(
                    range(len(MODES)),
                    heights,
                    0.7,
                    bottom=bottom,
                    color=PALETTE[index],
                    label={"harq": "HARQ", "rlc": "RLC"}.get(part, part),
                )
                bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
            ax.set_xticks(range(len(MODES)), [letters[mode.name] for mode in MODES])
            ax.set_xlim(-0.5, len(MODES) - 0.5)
            ax.set_title(f"{distance} m", loc="left")
            ax.grid(visible=False, axis="x")
        panels[0].set_ylabel("Mean delay on the radio (ms)")
        meant = ", ".join(f"{letter}: {name}" for name, letter in letters.items())
        figure.supxlabel(meant, fontsize=7)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(parts))
    return figure


def download_times(medians: Mapping[tuple[int, Mode, int], float]) -> Figure:
    """Draws download time by size, with a panel for each distance."""
    size = (2.05 * COLUMN_INCHES, 0.75 * COLUMN_INCHES)
    with new_grid(1, len(DISTANCES_M), size=size, share_y=True) as (figure, panels):
        for ax, distance in zip(panels, DISTANCES_M, strict=True):
            for mode, marker in zip(MODES, "os^", strict=True):
                ax.plot(
                    SIZES_MB,
                    [medians[distance, mode, size_mb] for size_mb in SIZES_MB],
                    color=COLORS[mode.name],
                    marker=marker,
                    markersize=3,
                    label=mode.name,
                )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xticks(SIZES_MB, [f"{size_mb}" for size_mb in SIZES_MB])
            ax.minorticks_off()
            ax.set_title(f"{distance} m", loc="left")
        panels[0].set_ylabel("Median download time (s)")
        figure.supxlabel("File (MB)", fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(MODES))
    return figure


def sinr_over_time(traces: Mapping[str, pl.DataFrame]) -> Figure:
    """Draws the SINR of the walk, with a line for each link."""
    with new_figure(height=COLUMN_INCHES * 0.66) as (figure, (ax,)):
        for index, (name, rows) in enumerate(traces.items()):
            ax.plot(
                rows["time_s"], rows["sinr_db"], color=PALETTE[index], linewidth=0.7, label=name
            )
        ax.set_xlim(0, 5)
        ax.set_xlabel("Time (s)")
        ax.set_ylabel("SINR (dB)")
        legend_above(ax)
    return figure
