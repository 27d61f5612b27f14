"""The serving cells of UEs over time, in the colours that the map and other panels use."""

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from fadeout import drives
from fadeout.plot.panels import Canvas, Panel, collect
from fadeout.plot.style import BLACK, PALETTE

if TYPE_CHECKING:
    from fadeout.results import Results

COLORS = tuple(color for color in PALETTE if color != BLACK)
"""Colours of cells. Masts are black."""

MOST_UES = 4
"""Largest number of UEs whose cells are drawn."""

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


def serving(results: "Results") -> dict[str, list[tuple[float, str | None]]]:
    """Returns the times from which a cell serves each UE, and the cell.

    In contrast to `fadeout.drives.serving`, no cell serves a UE before its initial attach.
    """
    served = drives.serving(results)
    if not results.has_table("handovers"):
        return served
    rows = results.scan("handovers")
    if "procedure" in rows.collect_schema():
        is_attach = pl.col("procedure").cast(pl.String) == "attach"
        for ue in collect(rows.filter(is_attach).select(pl.col("ue").cast(pl.String)))["ue"]:
            if ue in served:
                served[ue][0] = (0.0, None)
    return served


def spans(results: "Results") -> dict[str, list[Span]]:
    """Returns the intervals in which each cell serves each UE."""
    if not results.manifest.get("scenario", {}).get("ue"):
        return {}
    served = serving(results)
    return {ue: list(_intervals(steps, results.duration_s)) for ue, steps in served.items()}


def _intervals(steps: Sequence[tuple[float, str | None]], end_s: float) -> Iterator[Span]:
    for (start, cell), (end, _) in itertools.pairwise([*steps, (end_s, None)]):
        if start < end:
            yield start, end, cell


def _changing(results: "Results") -> dict[str, list[Span]]:
    """Returns the intervals of the UEs that do not have one cell all the time."""
    return {ue: own for ue, own in spans(results).items() if len(own) > 1}


def _lanes(canvas: Canvas) -> None:
    """Draws a lane for each UE in the colours of its serving cells, with gaps between cells."""
    found = _changing(canvas.results)
    names = list(found)[:MOST_UES]
    if len(found) > len(names):
        canvas.note = f"{len(names)} of {len(found)} UEs"
    palette = cell_colors(canvas.results)
    width = min(5.0, 12.0 / max(len(names), 1))
    for height, ue in enumerate(reversed(names)):
        for start, end, cell in found[ue]:
            if cell is not None:
                style = {"linewidth": width, "solid_capstyle": "butt", "color": palette.get(cell)}
                canvas.ax.plot([start, end], [height, height], label=cell, **style)
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
