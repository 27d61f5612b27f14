"""Figures of the study of congestion controls."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fadeout.plot.labels import Label, place_labels
from fadeout.plot.style import PALETTE, new_grid
from fadeout.studies.congestion_controls.runs import PAGE
from fadeout.study.figures import WIDE_INCHES
from fadeout.study.report import Record

MARKERS = ("o", "s", "^", "D", "P", "X", "v", "p")

Tables = Mapping[str, Sequence[Record]]
"""Rows of each congestion control, by the name of the link."""

Styles = Mapping[str, Mapping[str, Any]]
"""Marker and colour of the points of each family."""

COLUMNS = 2
PAD = 0.12
"""Margin on each side, relative to the range of the points."""


def throughput_and_delay(tables: Tables) -> Figure:
    """Draws a panel for each link, with a named point for each congestion control, and
    the legend.
    """
    styles = styles_of(tables)
    rows = -(-(len(tables) + 1) // COLUMNS)
    size = (WIDE_INCHES, 2.6 * rows)
    with new_grid(rows, COLUMNS, size=size) as (figure, panels):
        for ax, (link, found) in zip(panels, tables.items(), strict=False):
            draw_points(ax, found, styles)
            ax.set_title(PAGE.titles[link], loc="left")
        for ax in panels[len(tables) :]:
            ax.set_axis_off()
        handles = [
            Line2D([], [], linestyle="none", label=family, **style)
            for family, style in styles.items()
        ]
        panels[len(tables)].legend(handles=handles, loc="center left", title="Family", fontsize=8)
        for ax in panels[: len(tables) : COLUMNS]:
            ax.set_ylabel("Goodput (Mbit/s)")
        for ax in panels[max(0, len(tables) - COLUMNS) : len(tables)]:
            ax.set_xlabel("95th percentile of the RTT (ms)")
        # The labels need the final positions of the points.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for ax, found in zip(panels, tables.values(), strict=False):
            place_labels(
                figure,
                ax,
                [
                    Label(
                        row["rtt_p95_ms"].mean,
                        row["goodput_mbps"].mean,
                        row["algorithm"],
                        styles[row["family"]]["color"],
                    )
                    for row in found
                ],
            )
    return figure


def styles_of(tables: Tables) -> Styles:
    """Returns the marker and colour of each family."""
    families = dict.fromkeys(row["family"] for rows in tables.values() for row in rows)
    looks = zip(cycle(MARKERS), cycle(PALETTE), strict=False)
    return {
        family: {"marker": marker, "color": color}
        for family, (marker, color) in zip(families, looks, strict=False)
    }


def draw_points(ax: Axes, rows: Sequence[Record], styles: Styles) -> None:
    """Draws the points with their intervals, and sets limits that leave space for names."""
    for row in rows:
        style = styles[row["family"]]
        x, y = row["rtt_p95_ms"], row["goodput_mbps"]
        ax.errorbar(
            x.mean,
            y.mean,
            xerr=x.half_width,
            yerr=y.half_width,
            markersize=3.6,
            markeredgecolor="white",
            markeredgewidth=0.3,
            elinewidth=0.5,
            ecolor=(style["color"], 0.35),
            zorder=3,
            **style,
        )
    delays = np.array([row["rtt_p95_ms"].mean for row in rows])
    rates = np.array([row["goodput_mbps"].mean for row in rows])
    ratio = max(delays.max() / delays.min(), 1.05)
    ax.set_xscale("log")
    ax.set_xlim(delays.min() / ratio**PAD, delays.max() * ratio**PAD)
    span = max(rates.max() - rates.min(), 0.5)
    ax.set_ylim(rates.min() - PAD * span, rates.max() + PAD * span)
    plain_ticks(ax)


def plain_ticks(ax: Axes) -> None:
    """Sets few ticks of the delay, as plain numbers."""
    low, high = ax.get_xlim()
    steps = (1, 1.5, 2, 3, 5, 7) if high / low > 2.5 else tuple(np.arange(1, 10, 0.5))
    if high / low < 1.3:
        steps = tuple(np.arange(1, 10, 0.1))
    ticks = [step * scale for scale in (10, 100, 1000) for step in steps]
    shown = [tick for tick in ticks if low <= tick <= high]
    ax.set_xticks(shown, [f"{tick:g}" for tick in shown])
    ax.minorticks_off()


def shares(tables: Tables) -> Figure:
    """Draws the share of each congestion control against CUBIC, with one panel for each link."""
    styles = styles_of(tables)
    names = list(dict.fromkeys(row["algorithm"] for rows in tables.values() for row in rows))
    size = (WIDE_INCHES, 0.155 * len(names) + 0.8)
    with new_grid(1, len(tables), size=size, share_y=True) as (figure, panels):
        for ax, (link, found) in zip(panels, tables.items(), strict=True):
            ax.axvline(50, color="black", linewidth=0.6)
            for row in found:
                ax.errorbar(
                    row["share_pct"].mean,
                    names.index(row["algorithm"]),
                    xerr=row["share_pct"].half_width,
                    markersize=3.6,
                    elinewidth=0.6,
                    **styles[row["family"]],
                )
            ax.set_xlim(0, 100)
            ax.set_xticks([0, 50, 100])
            ax.set_title(link, loc="left")
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_ylim(len(names) - 0.5, -0.5)
        figure.supxlabel("Share of the goodput of both (%)", fontsize=8)
    return figure
