"""Quantities of a comparison with Linux, and a figure of both sides."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout.plot.panels import shade_blockages
from fadeout.plot.style import BLACK, BLUE, VERMILION, legend_above, new_figure
from fadeout.results import Results


@dataclass(frozen=True)
class Quantity:
    """A quantity that is compared."""

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
    rates: tuple[pl.DataFrame, pl.DataFrame] | None = None,
) -> None:
    """Draws our window and round-trip time over those of Linux into the file `path`.

    Args:
        path: the file.
        linux: Linux's values over time, with columns `time_s`, `cwnd_segments` and `srtt_s`.
        ours: fadeout's values over time, with the same columns.
        results: the run of fadeout, whose blockages are shaded.
        kernel: the version of Linux.
        end_s: end of the time axis in seconds.
        rates: rates at the application on each side, with columns `time_s` and `rate_mbps`.
            Drawn above the others if both have rows.
    """
    has_rates = rates is not None and not any(each.is_empty() for each in rates)
    count = 3 if has_rates else 2
    with new_figure(height=1.7 * count, rows=count) as (figure, axes):
        window, rtt = axes[-2:]
        sides = (
            (linux, f"Linux {kernel}", {"color": VERMILION, "linewidth": 1.6}),
            (ours, "fadeout", {"color": BLUE, "linewidth": 0.9, "drawstyle": "steps-post"}),
        )
        for number, (rows, label, style) in enumerate(sides):
            if has_rates and rates is not None:
                rate = rates[number]
                axes[0].plot(rate["time_s"], rate["rate_mbps"], label=label, **style)
            window.plot(rows["time_s"], rows["cwnd_segments"], label=label, **style)
            rtt.plot(rows["time_s"], rows["srtt_s"] * 1e3, label=label, **style)
        labels = ["Goodput (Mbit/s)", "Window (segments)", "Smoothed RTT (ms)"][-count:]
        handovers = results.table("handovers") if results.has_table("handovers") else None
        for ax, axis in zip(axes, labels, strict=True):
            ax.set_ylabel(axis)
            ax.set_ylim(bottom=0)
            shade_blockages(ax, results, label=ax is axes[0])
            for number, time_s in enumerate(() if handovers is None else handovers["time_s"]):
                label = "Handover" if ax is axes[0] and number == 0 else None
                ax.axvline(time_s, color=BLACK, linewidth=0.6, linestyle=":", label=label)
        axes[0].set_xlim(0, end_s)
        rtt.set_xlabel("Time (s)")
        legend_above(axes[0])
    figure.savefig(path)
