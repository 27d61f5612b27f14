"""Figures of the study."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, STAMP, new_grid
from fadeout.studies.fallback.runs import KINDS, NOTHING, REMEDIES, SENDERS
from fadeout.study import Estimate
from fadeout.study.figures import (
    MARKERS,
    WIDE_INCHES,
    grouped_bars,
    legend_over,
    line_panels,
    line_with_intervals,
    scale,
)

ByRemedy = Mapping[tuple[str, str], Sequence[Estimate]]
"""Estimates over the lengths of blockage, by sender and remedy."""


def over_length(of: ByRemedy, lengths: Sequence[float], label: str, *, log: bool = False) -> Figure:
    """Draws a quantity by length of blockage: a row for each sender, a panel for each kind."""
    size = (WIDE_INCHES, 1.75 * COLUMN_INCHES)
    with new_grid(len(SENDERS), len(KINDS), size=size, share_y=True) as (figure, panels):
        names = [(sender, kind) for sender in SENDERS for kind in KINDS]
        for ax, (sender, kind) in zip(panels, names, strict=True):
            _lines(ax, of, lengths, sender, kind)
            shown = [length for length in lengths if length in (0.05, 0.2, 1.0) or len(lengths) < 4]
            scale(ax, shown, "xy" if log else "x")
            if sender == next(iter(SENDERS)):
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
                ax.set_ylabel(f"{label}\n{sender}")
    return figure


def _lines(ax: Axes, of: ByRemedy, lengths: Sequence[float], sender: str, kind: str) -> None:
    shown = [remedy for remedy in REMEDIES if remedy.kind == kind]
    ax.plot(
        lengths,
        [value.mean for value in of[sender, NOTHING.name]],
        color=STAMP,
        linestyle="--",
        label=NOTHING.name,
    )
    for number, remedy in enumerate(shown):
        # A coupled control does not depend on the sender, so only one sender has it.
        values = of.get((sender, remedy.name))
        if values is not None:
            line_with_intervals(
                ax,
                lengths,
                values,
                color=PALETTE[number],
                marker=MARKERS[number],
                label=remedy.name,
            )


def over_threshold(
    of: Mapping[str, Mapping[str, Sequence[Estimate]]], thresholds_kb: Sequence[float]
) -> Figure:
    """Draws quantities by threshold, in one panel each, with lines by sender and blockage."""
    names = next(iter(of.values()))
    styles = [
        {"color": PALETTE[number // 2], "linestyle": "-" if number % 2 else "--"}
        for number in range(len(names))
    ]
    figure = line_panels(of, thresholds_kb, x_label="Threshold (kB)", styles=styles, log="x")
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
