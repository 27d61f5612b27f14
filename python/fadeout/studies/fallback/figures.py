"""Figures of the study."""

from collections.abc import Mapping, Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, STAMP, new_grid
from fadeout.studies.fallback.runs import KINDS, NOTHING, POINTS, REMEDIES, SENDERS
from fadeout.study import Choice, Estimate, series
from fadeout.study.figures import (
    MARKERS,
    WIDE_INCHES,
    grouped_bars,
    legend_over,
    line_panels,
    line_with_intervals,
    scale,
)
from fadeout.study.found import Point
from fadeout.study.report import Record

ByRemedy = Mapping[Point, Sequence[Estimate]]
"""Estimates over the lengths of blockage, by sender and remedy."""


def over_length(of: ByRemedy, lengths: Sequence[float], label: str, *, log: bool = False) -> Figure:
    """Draws a quantity by length of blockage: a row for each sender, a panel for each kind."""
    size = (WIDE_INCHES, 1.75 * COLUMN_INCHES)
    with new_grid(len(SENDERS), len(KINDS), size=size, share_y=True) as (figure, panels):
        panels_of = product(SENDERS, KINDS)
        for ax, (sender, kind) in zip(panels, panels_of, strict=True):
            _lines(ax, of, lengths, sender, kind)
            shown = [length for length in lengths if length in (0.05, 0.2, 1.0) or len(lengths) < 4]
            scale(ax, shown, "xy" if log else "x")
            if sender == SENDERS[0]:
                ax.set_title(kind, loc="left")
            else:
                ax.set_xlabel("Length (s)")
                # The legend has as many entries as remedies are run with the first sender.
                ax.legend(
                    *panels[KINDS.index(kind)].get_legend_handles_labels(),
                    loc="upper left",
                    bbox_to_anchor=(-0.25, -0.24),
                    borderaxespad=0,
                )
            if kind == KINDS[0]:
                ax.set_ylabel(f"{label}\n{sender.name}")
    return figure


def _lines(ax: Axes, of: ByRemedy, lengths: Sequence[float], sender: Choice, kind: str) -> None:
    means = [value.mean for value in of[sender, NOTHING]]
    ax.plot(lengths, means, color=STAMP, linestyle="--", label=NOTHING.name)
    for number, remedy in enumerate(each for each in REMEDIES if kind in each.tags):
        # A remedy with its own sender is run with the first one only.
        values = of.get((sender, remedy))
        if values is not None:
            style = {"color": PALETTE[number], "marker": MARKERS[number], "label": remedy.name}
            line_with_intervals(ax, lengths, values, **style)


def over_threshold(records: Sequence[Record]) -> Figure:
    """Draws quantities by threshold, in one panel each, with lines by sender and blockage."""
    of = {
        label: series(records, "_line", value=number)
        for label, number in (
            ("Goodput against nothing (Mbit/s)", "gain"),
            ("Macro carrier (%)", "macro_pct"),
        )
    }
    styles = [
        {"color": PALETTE[number // 2], "linestyle": "-" if number % 2 else "--"}
        for number in range(2 * len(SENDERS))
    ]
    x_label = "Threshold (kB)"
    figure = line_panels(of, POINTS.thresholds_kb, x_label=x_label, styles=styles, log="x")
    change = figure.axes[0]
    change.autoscale(axis="y")
    change.axhline(0.0, color=STAMP, linewidth=0.8, linestyle=":")
    return figure


def cost(of: Mapping[str, Mapping[str, Sequence[Estimate]]], remedies: Sequence[str]) -> Figure:
    """Draws the shares of both carriers. `of` has bars by carrier and by length of blockage."""
    size = (WIDE_INCHES, 0.16 * COLUMN_INCHES * (len(remedies) / 2 + 2))
    with new_grid(1, len(of), size=size, share_y=True) as (figure, panels):
        for ax, (carrier, series) in zip(panels, of.items(), strict=True):
            grouped_bars(ax, series, PALETTE, across=True)
            ax.set_xlabel(f"Resource blocks taken, {carrier} (%)")
            ax.set_ylim(len(remedies) - 0.5, -0.5)
        panels[0].set_yticks(range(len(remedies)), remedies)
        legend_over(figure, panels[0])
    return figure
