"""Ours beside Linux's: what is compared, and both in one figure."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout.plot.panels import shade_blockages
from fadeout.plot.style import BLUE, VERMILION, legend_above, new_figure
from fadeout.results import Results


@dataclass(frozen=True)
class Quantity:
    """Something that is compared."""

    name: str
    key: str
    form: str


def draw_beside(
    path: Path,
    linux: pl.DataFrame,
    ours: pl.DataFrame,
    results: Results,
    *,
    kernel: str,
    end_s: float,
) -> None:
    """Draw our window and round-trip time over Linux's into the file `path`.

    Args:
        path: the file.
        linux: Linux's values over time, columns `time_s`, `cwnd_segments` and `srtt_s`.
        ours: the same of ours.
        results: the run that is ours; its blockages are shaded.
        kernel: the version of Linux.
        end_s: where the time axis ends.
    """
    with new_figure(height=3.4, rows=2) as (figure, (window, rtt)):
        for rows, label, style in (
            (linux, f"Linux {kernel}", {"color": VERMILION, "linewidth": 1.6}),
            (ours, "fadeout", {"color": BLUE, "linewidth": 0.9, "drawstyle": "steps-post"}),
        ):
            window.plot(rows["time_s"], rows["cwnd_segments"], label=label, **style)
            rtt.plot(rows["time_s"], rows["srtt_s"] * 1e3, label=label, **style)
        for ax, axis in ((window, "Window (segments)"), (rtt, "Smoothed RTT (ms)")):
            ax.set_ylabel(axis)
            ax.set_ylim(bottom=0)
            shade_blockages(ax, results, label=ax is window)
        window.set_xlim(0, end_s)
        rtt.set_xlabel("Time (s)")
        legend_above(window)
    figure.savefig(path)
