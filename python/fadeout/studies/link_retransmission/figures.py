"""Figures of the study of retransmissions on the link."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure, new_grid
from fadeout.studies.link_retransmission.runs import MODES
from fadeout.study import FoundInPlaces
from fadeout.study.figures import WIDE_INCHES, legend_over
from fadeout.study.found import Point


def delay_parts(found: FoundInPlaces, parts: Sequence[str]) -> Figure:
    """Draws the stacked parts of the delay, with a panel for each distance."""
    letters = dict(zip((mode.name for mode in MODES), "NHA", strict=True))
    distances = found.parts("distance_m")
    size = (WIDE_INCHES, 0.75 * COLUMN_INCHES)
    with new_grid(1, len(distances), size=size, share_y=True) as (figure, panels):
        for ax, distance in zip(panels, distances, strict=True):
            bottom = [0.0] * len(MODES)
            for index, part in enumerate(parts):
                heights = [found.plain_mean((distance, mode), part) for mode in MODES]
                ax.bar(
                    range(len(MODES)),
                    heights,
                    0.7,
                    bottom=bottom,
                    color=PALETTE[index],
                    label={"harq": "HARQ", "rlc": "RLC"}.get(part, part),
                )
                bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
            ax.set_xticks(range(len(MODES)), list(letters.values()))
            ax.set_xlim(-0.5, len(MODES) - 0.5)
            ax.set_title(f"{distance} m", loc="left")
            ax.grid(visible=False, axis="x")
        panels[0].set_ylabel("Mean delay on the radio (ms)")
        meant = ", ".join(f"{letter}: {name}" for name, letter in letters.items())
        figure.supxlabel(meant, fontsize=7)
        legend_over(figure, panels[0])
    return figure


def download_times(medians: Mapping[Point, float]) -> Figure:
    """Draws download time by size, with a panel for each distance."""
    distances, _, sizes = (list(dict.fromkeys(parts)) for parts in zip(*medians, strict=True))
    size = (WIDE_INCHES, 0.75 * COLUMN_INCHES)
    with new_grid(1, len(distances), size=size, share_y=True) as (figure, panels):
        for ax, distance in zip(panels, distances, strict=True):
            for mode, marker, color in zip(MODES, "os^", PALETTE, strict=False):
                ax.plot(
                    sizes,
                    [medians[distance, mode, size_mb] for size_mb in sizes],
                    color=color,
                    marker=marker,
                    markersize=3,
                    label=mode.name,
                )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xticks(sizes, [f"{size_mb}" for size_mb in sizes])
            ax.minorticks_off()
            ax.set_title(f"{distance} m", loc="left")
        panels[0].set_ylabel("Median download time (s)")
        figure.supxlabel("File (MB)", fontsize=8)
        legend_over(figure, panels[0])
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
