"""How figures look: sizes for print, colours that the colour-blind can tell apart."""

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN_INCHES = 3.5
"""Width of a column in a two-column paper."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Okabe and Ito's colours (2008), ordered so that neighbours also differ in grey."""

BLOCKED = "#BBBBBB"
"""Shade of the intervals in which a link was blocked."""

STAMP = "#666666"
"""Colour of what says which run a figure is of."""

STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.dpi": 200,
    "font.size": 8,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.borderaxespad": 0.2,
    "legend.columnspacing": 1.2,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "savefig.dpi": "figure",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


class ShownFigure(Figure):
    """A matplotlib figure that a notebook shows when it is the value of a cell."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


@contextmanager
def new_figure(
    *, height: float, width: float = COLUMN_INCHES, rows: int = 1, share_x: bool = True
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with `rows` axes, one above the other; the style holds inside the block."""
    with mpl.rc_context(STYLE):
        figure = ShownFigure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, 1, sharex=share_x, squeeze=False)
        yield figure, list(grid[:, 0])


@contextmanager
def new_grid(
    rows: int, columns: int, *, size: tuple[float, float], share_y: bool | Literal["row"] = False
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of `size` inches with a grid of axes, row by row; the style holds inside."""
    with mpl.rc_context(STYLE):
        figure = ShownFigure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
        yield figure, list(grid.flat)


def legend_above(ax: Axes, columns: int = 4, note: str = "") -> None:
    """Put the legend above the axes, where it hides no data, and `note` above it."""
    if ax.get_legend_handles_labels()[0]:
        legend = ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.01),
            ncols=columns,
            title=note or None,
            title_fontsize=7,
            alignment="left",
        )
        legend.get_title().set_color(STAMP)


def sign(figure: Figure, title: str, stamp: str) -> None:
    """Put `title` above a figure, and in small letters below it which run it shows."""
    if title:
        # As wide as the figure, at some 0.5 em a letter of 8 points.
        width = max(20, int(figure.get_figwidth() * 72 / 4.2))
        text = "\n".join(textwrap.wrap(title, width))
        figure.suptitle(text, x=0.01, ha="left", fontsize=8)
    if stamp:
        figure.supxlabel(stamp, x=0.99, ha="right", fontsize=5, color=STAMP)
