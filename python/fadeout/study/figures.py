"""Helpers for figures of studies: estimates with their intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure, new_grid
from fadeout.statistics import Estimate

WIDE_INCHES = 2.05 * COLUMN_INCHES
"""Width of a figure with several panels beside each other."""

MARKERS = "os^vDPX"


def grouped_bars(
    ax: Axes,
    series: Mapping[str, Sequence[Estimate | None]],
    colors: Sequence[str],
    *,
    across: bool = False,
) -> None:
    """Draws groups of bars with their intervals, one bar of each series in a group.

    None leaves a gap. Groups are at 0, 1 and so on. With `across`, bars are horizontal and groups
    are stacked vertically.
    """
    size = 0.8 / len(series)
    draw = ax.barh if across else ax.bar
    for number, (name, values) in enumerate(series.items()):
        shown = [(group, value) for group, value in enumerate(values) if value is not None]
        style: dict[str, Any] = {
            "xerr" if across else "yerr": [value.half_width for _, value in shown],
            "error_kw": {"linewidth": 0.7, "capsize": 1.5},
        }
        draw(
            [group - 0.4 + size * (number + 0.5) for group, _ in shown],
            [value.mean for _, value in shown],
            0.92 * size,
            color=colors[number],
            label=name,
            **style,
        )
    ax.grid(visible=False, axis="y" if across else "x")


def scale(ax: Axes, x: Sequence[float], log: str) -> None:
    """Sets ticks at the values `x`, and logarithmic scales on the axes that `log` names."""
    if "x" in log:
        ax.set_xscale("log")
        ax.set_xticks(x, [f"{each:g}" for each in x])
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.set_xticks(x)
    if "y" in log:
        ax.set_yscale("log")


def line_with_intervals(
    ax: Axes,
    x: Sequence[float],
    values: Sequence[Estimate] | Sequence[float],
    **style: Any,  # noqa: ANN401 - of matplotlib's errorbar
) -> None:
    """Draws a line through `values`, with the intervals of estimates."""
    estimates = [value for value in values if isinstance(value, Estimate)]
    if not estimates:
        ax.plot(x, np.array(values), markersize=3, **style)
        return
    ax.errorbar(
        x,
        [value.mean for value in estimates],
        yerr=[value.half_width for value in estimates],
        markersize=3,
        capsize=1.5,
        elinewidth=0.8,
        **style,
    )


def line_panels(
    of: Mapping[str, Mapping[str, Sequence[Estimate]]],
    x: Sequence[float],
    *,
    x_label: str,
    y_label: str = "",
    styles: Sequence[Mapping[str, Any]] = (),
    share_y: bool = False,
    log: str = "",
) -> Figure:
    """Returns a figure with a panel for each title, and in it a line for each name.

    Args:
        of: Values over `x`, by the title of the panel and the name of the line.
        x: Values of the horizontal axis.
        x_label: Label below all panels.
        y_label: Label of the first panel.
        styles: Style of each line, in place of a colour.
        share_y: True if all panels have the limits of the vertical axis.
        log: Axes with a logarithmic scale, such as `xy`.
    """
    size = (WIDE_INCHES, 0.8 * COLUMN_INCHES)
    with new_grid(1, len(of), size=size, share_y=share_y) as (figure, panels):
        for ax, (title, lines) in zip(panels, of.items(), strict=True):
            for number, (name, values) in enumerate(lines.items()):
                style = styles[number] if styles else {"color": PALETTE[number]}
                line_with_intervals(ax, x, values, marker=MARKERS[number], label=name, **style)
            ax.set_title(title, loc="left")
            scale(ax, x, log)
        # A limit ends autoscaling of all panels that share the axis.
        for ax in panels:
            if "y" not in log:
                ax.set_ylim(bottom=0)
        panels[0].set_ylabel(y_label)
        figure.supxlabel(x_label, fontsize=8)
        legend_over(figure, panels[0])
    return figure


def bar_rows(
    of: Mapping[str, Mapping[str, Sequence[Estimate | None]]],
    groups: Sequence[str],
    *,
    x_label: str = "",
    colors: Sequence[str] = PALETTE,
    height: float = 0.66,
) -> Figure:
    """Returns a figure with a row of bars for each label of the vertical axis.

    Args:
        of: Values of each group, by the label of the row and the name of the bars.
        groups: Names of the groups of bars.
        x_label: Label of the groups.
        colors: A colour for each name.
        height: Height of the figure, in widths of a column.
    """
    with new_figure(height=height * COLUMN_INCHES, rows=len(of)) as (figure, axes):
        for ax, (label, series) in zip(axes, of.items(), strict=True):
            grouped_bars(ax, series, colors)
            ax.set_ylabel(label)
            ax.set_ylim(bottom=0)
        axes[-1].set_xticks(range(len(groups)), groups)
        axes[-1].set_xlabel(x_label)
        legend_above(axes[0], columns=2 if len(next(iter(of.values()))) > 4 else 4)
        figure.align_ylabels()
    return figure


def legend_over(figure: Figure, ax: Axes, **options: Any) -> None:  # noqa: ANN401
    """Puts the legend of one panel above all panels."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), **options)


def mark_cut_intervals(figure: Figure) -> None:
    """Draws an arrow where an interval leaves the axes. To be called once the limits are final."""
    for ax in figure.axes:
        bars = [each for each in ax.containers if isinstance(each, ErrorbarContainer)]
        for container in bars:
            directions = "x" * container.has_xerr + "y" * container.has_yerr
            for direction, lines in zip(directions, container.lines[2], strict=True):
                _mark_cut(ax, lines, "<>" if direction == "x" else "v^")


def _mark_cut(ax: Axes, lines: LineCollection, markers: Literal["<>", "v^"]) -> None:
    along, across = (0, 1) if markers == "<>" else (1, 0)
    # Matplotlib computes limits that follow the data only on request.
    ax.get_xbound()
    ax.get_ybound()
    to_axes = ax.transData - ax.transAxes
    for segment in lines.get_segments():
        # A mean without an interval yields a segment without ends.
        ends = np.asarray(to_axes.transform(segment)).reshape(-1, 2)
        if len(ends) < 2 or not 0 <= ends[0, across] <= 1:
            continue
        for marker, edge, is_cut in (
            (markers[0], 0.0, np.min(ends[:, along]) < 0),
            (markers[1], 1.0, np.max(ends[:, along]) > 1),
        ):
            if is_cut:
                place = [0.0, 0.0]
                place[along], place[across] = edge, ends[0, across]
                ax.plot(
                    *place,
                    transform=ax.transAxes,
                    marker=marker,
                    markersize=3,
                    color=lines.get_color()[0],
                    clip_on=False,
                    zorder=4,
                )
