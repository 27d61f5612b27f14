"""Figures of the study of mobility."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, new_grid
from fadeout.study import Estimate
from fadeout.study.figures import line_with_intervals

WIDE = (2.05 * COLUMN_INCHES, 0.85 * COLUMN_INCHES)
MARKS = "os^vD"


def by_speed(of: Mapping[str, Mapping[str, Sequence[Estimate]]], speeds: Sequence[float]) -> Figure:
    """Draws rates by speed, with a panel for each rate and a line for each set."""
    return _panels(of, speeds, "Speed (km/h)", "Share (%)")


def by_trigger(
    of: Mapping[str, Mapping[str, Sequence[Estimate]]], triggers_ms: Sequence[float]
) -> Figure:
    """Draws rates by time to trigger, with a panel for each rate and a line for each offset."""
    return _panels(of, triggers_ms, "Time to trigger (ms)", "Share (%)")


def _panels(
    of: Mapping[str, Mapping[str, Sequence[Estimate]]],
    x: Sequence[float],
    x_label: str,
    y_label: str,
) -> Figure:
    with new_grid(1, len(of), size=WIDE) as (figure, panels):
        for ax, (title, lines) in zip(panels, of.items(), strict=True):
            for number, (name, values) in enumerate(lines.items()):
                style = {"color": PALETTE[number], "marker": MARKS[number], "label": name}
                line_with_intervals(ax, x, values, **style)
            ax.set_title(title, loc="left")
            ax.set_ylim(bottom=0)
            ax.set_xticks(x)
        panels[0].set_ylabel(y_label)
        figure.supxlabel(x_label, fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def circle(
    of: Mapping[float, Sequence[tuple[int, float, float, Estimate]]],
) -> Figure:
    """Draws the share of lines through a pico that fail, in percent.

    There is a panel for each speed. Over the time to trigger it has the closed form, the walk and
    the simulated values.
    """
    with new_grid(1, len(of), size=WIDE, share_y=True) as (figure, panels):
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
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure
