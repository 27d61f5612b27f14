"""The serving cells of UEs over time, in the colours that the map and other panels use."""

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fadeout import drives
from fadeout.plot.panels import Canvas, Panel
from fadeout.plot.style import BLACK, PALETTE, VERMILION

if TYPE_CHECKING:
    from fadeout.results import Results

COLORS = tuple(color for color in PALETTE if color not in (BLACK, VERMILION))
"""Colours of cells in figures and reports. Masts are black, and blocked paths are red."""

MOST_UES = 4
"""Largest number of UEs whose cells are drawn."""

NAME_PT = 4.0
"""Size of the names of cells at lanes, in points."""

LETTER = 0.6
"""Mean width of a letter as a share of the size."""

Span = tuple[float, float, str | None]
"""Start and end in seconds, and the cell. `None` if no cell serves the UE."""


def colors(cells: Sequence[str], heard: Sequence[str]) -> dict[str, str]:
    """Returns the colour of each cell.

    `heard` has the cells that served a UE. With many cells, only these have a colour of their own.
    If there are also many of them, colours repeat. Sectors of one site then differ, and mostly
    those of neighbours.
    """
    is_one_each = len(cells) > len(COLORS) >= len(heard)
    order = heard if is_one_each else cells
    return {name: COLORS[number % len(COLORS)] for number, name in enumerate(order)}


def cell_colors(results: "Results") -> dict[str, str]:
    """Returns the colour of each cell of a run."""
    cells: list[str] = list(results.manifest.get("scenario", {}).get("cell", {}))
    served = {cell for steps in drives.serving(results).values() for _, cell in steps if cell}
    return colors(cells, [cell for cell in cells if cell in served])


def spans(results: "Results") -> dict[str, list[Span]]:
    """Returns the intervals in which each cell serves each UE."""
    if not results.manifest.get("scenario", {}).get("ue"):
        return {}
    served = drives.serving(results)
    return {ue: list(_intervals(steps, results.duration_s)) for ue, steps in served.items()}


def _intervals(steps: Sequence[tuple[float, str | None]], end_s: float) -> Iterator[Span]:
    for (start, cell), (end, _) in itertools.pairwise([*steps, (end_s, None)]):
        if start < end:
            yield start, end, cell


def _changing(results: "Results") -> dict[str, list[Span]]:
    """Returns the intervals of the UEs that do not have one cell all the time."""
    return {ue: own for ue, own in spans(results).items() if len(own) > 1}


def _write(canvas: Canvas, cell: str, times: tuple[float, float], height: float) -> None:
    """Writes the name of a cell above its part of a lane, if there is room."""
    low, high = canvas.window or (canvas.start_s, canvas.end_s)
    start, end = max(times[0], low), min(times[1], high)
    figure = canvas.ax.get_figure(root=True)
    width_pt = 72 * canvas.ax.get_position().width * (figure.get_figwidth() if figure else 0.0)
    if (end - start) / (high - low) * width_pt > LETTER * NAME_PT * len(cell):
        middle = (start + end) / 2
        canvas.ax.text(middle, height, cell, fontsize=NAME_PT, ha="center", va="bottom")


def _lanes(canvas: Canvas) -> None:
    """Draws a lane for each UE in the colours of its serving cells, with gaps between cells."""
    found = _changing(canvas.results)
    names = list(found)[:MOST_UES]
    if len(found) > len(names):
        canvas.note = f"{len(names)} of {len(found)} UEs"
    palette = cell_colors(canvas.results)
    # If colours repeat, the cells have their names at the lanes.
    shown = {cell for ue in names for *_, cell in found[ue] if cell is not None}
    is_unique = len({palette.get(cell) for cell in shown}) == len(shown)
    width = min(5.0, 12.0 / max(len(names), 1))
    for height, ue in enumerate(reversed(names)):
        for start, end, cell in found[ue]:
            if cell is not None:
                style = {"linewidth": width, "solid_capstyle": "butt", "color": palette.get(cell)}
                label = cell if is_unique else None
                canvas.ax.plot([start, end], [height, height], label=label, **style)
                if not is_unique:
                    _write(canvas, cell, (start, end), height + 0.12)
    canvas.finish_x("Cell")
    is_one = len(names) == 1
    size = 7 if len(names) <= 2 else 4.5
    canvas.ax.set_yticks(range(len(names)), [""] if is_one else names[::-1], fontsize=size)
    canvas.ax.set_ylim(-0.7, max(len(names), 1) - 0.3)


CELLS = Panel(
    _lanes,
    "interfaces",
    lambda results: bool(_changing(results)),
    "no UE changed its cell",
    height=0.35,
)
