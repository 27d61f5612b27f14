"""How figures look: sizes for print, colours that the colour-blind can tell apart."""

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


@contextmanager
def new_figure(
    *, height: float, width: float = COLUMN_INCHES, rows: int = 1, share_x: bool = True
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with `rows` axes, one above the other; the style holds inside the block."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, 1, sharex=share_x, squeeze=False)
        yield figure, list(grid[:, 0])


@contextmanager
def new_grid(
    rows: int, columns: int, *, size: tuple[float, float], share_y: bool | Literal["row"] = False
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of `size` inches with a grid of axes, row by row; the style holds inside."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
        yield figure, list(grid.flat)


def legend_above(ax: Axes, columns: int = 4) -> None:
    """Put the legend above the axes, where it hides no data."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)
