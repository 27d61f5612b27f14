"""Style of figures: sizes for print, and colours that colour-blind readers can tell apart."""

import io
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

COLUMN_INCHES = 3.5
"""Width of a column in a two-column paper, inches."""

PALETTE = ("#0072B2", "#E69F00", "#000000", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#8C6D31")
"""Colours of Okabe and Ito (2008). The first four differ in grey, as do neighbours where
possible.
"""

HATCHES = ("", "////", "", "\\\\\\\\", "....", "xxxx", "----", "++++")
"""Hatches of areas in these colours, which differ when printed in grey."""

BLUE, ORANGE, BLACK, GREEN, SKY, VERMILION, PURPLE, BROWN = PALETTE

BLOCKED = "#BBBBBB"
"""Colour of the intervals in which a link was blocked."""

OTHERS: dict[str, Any] = {"color": "#C8C8C8", "linewidth": 0.4, "zorder": 1.2}
"""Style of grey lines that have no name in the legend."""

STAMP = "#666666"
"""Colour of the text that identifies the run of a figure."""

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
    "savefig.dpi": "figure",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


class ShownFigure(Figure):
    """A matplotlib figure that a notebook shows when it is the value of a cell.

    Text in its SVG and PDF files stays text, which can be searched and edited.
    """

    def savefig(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - as in matplotlib
        """Writes the figure to a file, as in matplotlib."""
        with mpl.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
            super().savefig(*args, **more)

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


@contextmanager
def new_figure(
    *,
    height: float,
    width: float = COLUMN_INCHES,
    rows: int = 1,
    share_x: bool = True,
    heights: Sequence[float] | None = None,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yields a figure with `rows` axes, one above the other. The style applies inside the block.

    `heights` has their relative heights, and takes the place of `rows`.
    """
    rows = rows if heights is None else len(heights)
    with mpl.rc_context(STYLE):
        figure = ShownFigure(figsize=(width, height), layout="constrained")
        ratios = {"height_ratios": heights}
        grid = figure.subplots(rows, 1, sharex=share_x, squeeze=False, gridspec_kw=ratios)
        yield figure, list(grid[:, 0])


@contextmanager
def new_grid(
    rows: int, columns: int, *, size: tuple[float, float], share_y: bool | Literal["row"] = False
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yields a figure of `size` inches with a grid of axes, row by row. The style
    applies inside.
    """
    with mpl.rc_context(STYLE):
        figure = ShownFigure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
        yield figure, list(grid.flat)


Shown = set[tuple[str, Any, str]]
"""Label, colour and dashes of the lines that a legend explains."""


def legend_above(ax: Axes, columns: int = 4, note: str = "", shown: Shown | None = None) -> None:
    """Puts the legend above the axes, where it hides no data, with the title `note`.

    Entries in `shown` are omitted, as another legend of the figure has them. New entries are added
    to `shown`.
    """
    handles, labels = [], []
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        look = (label, *_look(handle))
        if shown is None or look not in shown:
            handles.append(handle)
            labels.append(label)
        if shown is not None:
            shown.add(look)
    if shown is not None:
        note = "" if (note, None, "") in shown else note
        shown.add((note, None, ""))
    figure = ax.get_figure(root=True)
    # Without a layout engine, nothing makes room above the axes.
    has_room = figure is None or figure.get_layout_engine() is not None
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.01)}
    if not has_room:
        place = {"loc": "upper right", "frameon": True, "framealpha": 0.8, "edgecolor": "none"}
    if handles:
        legend = ax.legend(
            handles,
            labels,
            **place,
            ncols=_columns_that_fit(ax, labels, columns),
            title=note or None,
            title_fontsize=7,
            alignment="left",
        )
        legend.get_title().set_color(STAMP)


def _look(handle: Artist) -> tuple[Any, str]:
    if isinstance(handle, Line2D):
        return handle.get_color(), f"{handle.get_linestyle()}{handle.get_marker()}"
    return type(handle).__name__, ""


def _columns_that_fit(ax: Axes, labels: Sequence[str], most: int) -> int:
    """Returns the number of legend columns that fit the width of the axes.

    The width of a letter is estimated as 0.6 of the font size.
    """
    figure = ax.get_figure(root=True)
    # The layout is not final. Labels of the vertical axis take about half an inch.
    share = ax.get_position().width / 0.775
    room = 72 * share * ((figure.get_figwidth() if figure is not None else COLUMN_INCHES) - 0.5)
    handle_and_spaces = 7 * (1.6 + 0.8 + 1.2)
    for columns in range(min(most, len(labels)), 1, -1):
        # Matplotlib fills the legend by columns. The first columns may have one entry more.
        rows, longer = divmod(len(labels), columns)
        starts = [column * rows + min(column, longer) for column in range(columns + 1)]
        longest = [max(map(len, labels[a:b])) for a, b in itertools.pairwise(starts)]
        if sum(handle_and_spaces + 0.6 * 7 * letters for letters in longest) <= room:
            return columns
    return 1


def sign(figure: Figure, title: str, stamp: str) -> None:
    """Puts `title` above a figure, and below it in small letters the run's `stamp`."""
    if title:
        # The title is wrapped at the width of the figure. A letter of 8 points is about 0.5 em
        # wide.
        width = max(20, int(figure.get_figwidth() * 72 / 4.2))
        text = "\n".join(textwrap.wrap(title, width))
        figure.suptitle(text, x=0.01, ha="left", fontsize=8)
    if stamp:
        figure.supxlabel(stamp, x=0.99, ha="right", fontsize=5, color=STAMP)
