"""Figures of the slow-start study."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from fadeout.plot.radio import PARTS
from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure
from fadeout.studies.slow_start.delay import Delay
from fadeout.studies.slow_start.ramp import Download
from fadeout.studies.slow_start.setups import SATURATION_MBPS, SETTINGS, THRESHOLD_MBPS, Setting

ERRORS = 0.1


def ramps(downloads: Mapping[Setting, Download], period: int) -> Figure:
    """Draws instantaneous and aggregate throughput for one period, with a line for each
    interval.
    """
    chosen = {s: d for s, d in downloads.items() if s.period_tti == period}
    with new_figure(height=COLUMN_INCHES * 1.15, rows=2, share_x=False) as (figure, axes):
        instantaneous, aggregate = axes
        for color, (setting, download) in zip(PALETTE, chosen.items(), strict=False):
            label = f"TTI {setting.tti_ms:g} ms"
            instantaneous.plot(*download.instantaneous(), color=color, label=label)
            aggregate.plot(*download.aggregate(), color=color)
        instantaneous.set_xlim(0, 300)
        aggregate.set_xlim(0, 1500)
        for ax, name in ((instantaneous, "Instantaneous"), (aggregate, "Aggregate")):
            ax.axhline(
                THRESHOLD_MBPS,
                color="#888888",
                linewidth=0.7,
                linestyle=(0, (4, 2)),
                label=f"{THRESHOLD_MBPS:g} Mbit/s",
            )
            ax.set_ylabel(f"{name} (Mbit/s)")
            ax.set_ylim(0, 1.15 * SATURATION_MBPS)
            ax.set_xlabel("Time since the request (ms)")
        legend_above(instantaneous, columns=2)
        figure.align_ylabels()
    return figure


def parts(delays: Mapping[tuple[Setting, float, str], Delay]) -> Figure:
    """Draws the parts of the delay, with a bar for each setting and direction."""
    with new_figure(height=COLUMN_INCHES * 1.15, rows=2, share_x=True) as (figure, axes):
        for ax, direction in zip(axes, ("uplink", "downlink"), strict=True):
            left = [0.0] * len(SETTINGS)
            for number, (part, name) in enumerate(PARTS):
                widths = [delays[s, ERRORS, direction].parts_ms[part] for s in SETTINGS]
                seen = any(d.parts_ms[part] > 1e-6 for key, d in delays.items() if key[1] > 0)
                ax.barh(
                    range(len(SETTINGS)),
                    widths,
                    0.72,
                    left=left,
                    color=PALETTE[number % len(PALETTE)],
                    label=name if seen else None,
                )
                left = [a + b for a, b in zip(left, widths, strict=True)]
            for row, total in enumerate(left):
                ax.annotate(
                    f"{total:.3g}",
                    (total, row),
                    xytext=(2, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=6,
                )
            ax.set_yticks(range(len(SETTINGS)), [setting.name for setting in SETTINGS])
            ax.invert_yaxis()
            ax.grid(visible=False, axis="y")
            ax.set_title(direction.capitalize(), loc="right", pad=2)
        axes[0].set_xlim(0, 15.5)
        axes[1].set_xlabel("Mean delay (ms)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False)
    return figure
