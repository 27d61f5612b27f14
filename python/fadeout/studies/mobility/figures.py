"""Figures of the study of mobility."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, new_grid
from fadeout.study import Estimate
from fadeout.study.figures import WIDE_INCHES, legend_over, line_with_intervals


def circle(
    of: Mapping[float, Sequence[tuple[int, float, float, Estimate]]],
) -> Figure:
    """Draws the share of lines through a pico that fail, in percent.

    There is a panel for each speed. Over the time to trigger it has the closed form, the walk and
    the simulated values.
    """
    with new_grid(1, len(of), size=(WIDE_INCHES, 0.85 * COLUMN_INCHES), share_y=True) as (
        figure,
        panels,
    ):
        for ax, (kmh, points) in zip(panels, of.items(), strict=True):
            x = [ms for ms, *_ in points]
            ax.plot(x, [form for _, form, _, _ in points], color=PALETTE[0], label="closed form")
            ax.plot(
                x,
                [walked for _, _, walked, _ in points],
                color=PALETTE[1],
                linestyle="--",
                label="with what the simulator adds",
            )
            style = {"color": PALETTE[2], "marker": "o", "linestyle": "none"}
            line_with_intervals(ax, x, [each for *_, each in points], label="simulated", **style)
            ax.set_title(f"{kmh:g} km/h", loc="left")
        panels[0].set_ylabel("Lines that fail (%)")
        figure.supxlabel("Time to trigger (ms)", fontsize=8)
        legend_over(figure, panels[0])
    return figure
