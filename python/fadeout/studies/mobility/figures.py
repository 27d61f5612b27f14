"""Figures of the study of mobility."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, new_grid
from fadeout.study.figures import WIDE_INCHES, legend_over, line_with_intervals
from fadeout.study.report import Record

LINES = {
    "failed_closed_form_pct": ("closed form", {}),
    "failed_walked_pct": ("with what the simulator adds", {"linestyle": "--"}),
    "failed_pct": ("simulated", {"marker": "o", "linestyle": "none"}),
}
"""Names and styles of the lines, by column."""


def circle(records: Sequence[Record]) -> Figure:
    """Draws the share of lines through a pico that fail, in percent.

    There is a panel for each speed. Over the time to trigger it has the closed form, the walk and
    the simulated values.
    """
    speeds = list(dict.fromkeys(record["speed_kmh"] for record in records))
    size = (WIDE_INCHES, 0.85 * COLUMN_INCHES)
    with new_grid(1, len(speeds), size=size, share_y=True) as (figure, panels):
        for ax, kmh in zip(panels, speeds, strict=True):
            points = [record for record in records if record["speed_kmh"] == kmh]
            x = [record["trigger_ms"] for record in points]
            for color, (column, (name, style)) in zip(PALETTE, LINES.items(), strict=False):
                values = [record[column] for record in points]
                line_with_intervals(ax, x, values, label=name, color=color, **style)
            ax.set_title(f"{kmh:g} km/h", loc="left")
        panels[0].set_ylabel("Lines that fail (%)")
        figure.supxlabel("Time to trigger (ms)", fontsize=8)
        legend_over(figure, panels[0])
    return figure
