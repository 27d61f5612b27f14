"""Trajectories of UEs on the map, in the colours of their serving cells."""

import itertools
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.typing import ColorType

from fadeout import _geometry
from fadeout._native import ResultError, ScenarioError
from fadeout.plot.map import Places
from fadeout.plot.style import STAMP

if TYPE_CHECKING:
    from fadeout.results import Results

STEPS = 300
"""Largest number of time steps of a trajectory."""

ASIDE = 0.004
"""Distance of a trajectory's line from the path as a share of the side of the map."""

MOST_EVALUATIONS = 20_000
"""Largest number of evaluations of a UE and a cell."""

Serving = Mapping[str, Sequence[tuple[float, str | None]]]
"""Times from which a cell serves each UE, and the cell, as from `fadeout.drives.serving`."""


def find(results: "Results") -> pl.DataFrame | None:
    """Returns the positions of the UEs over time. None if no UE moves."""
    scenario: Mapping[str, Any] = results.manifest.get("scenario", {})
    ues = scenario.get("ue", {})
    if not any({"mobility", "waypoints", "trace"} & {*ue} for ue in ues.values()):
        return None
    steps = min(STEPS, MOST_EVALUATIONS // (len(ues) * len(scenario["cell"])))
    if steps < 2 or results.duration_s <= 0:
        return None
    try:
        tracks = _geometry.tracks(dict(scenario), every=results.duration_s / steps)
    except (ResultError, ScenarioError, OSError, ValueError):
        # A file of the scenario is elsewhere. The map then has the places of the scenario.
        return None
    tracks = tracks.filter(pl.col("ue").is_not_null())
    tracks = tracks.filter(pl.col("time_s") <= results.duration_s * (1 + 1e-12))
    moves = pl.col("x_m", "y_m").n_unique() > 1
    has_moved = tracks.group_by("ue").agg(moves).select(pl.any_horizontal("x_m", "y_m").any())
    return tracks if has_moved.item() else None


def extend(places: Places, tracks: pl.DataFrame) -> Places:
    """Returns the map with UEs at their start, extended to the area of their trajectories."""
    starts = tracks.unique("ue", keep="first", maintain_order=True)
    shown = tracks.select("x_m", "y_m")
    low, high = shown.min().row(0), shown.max().row(0)
    ues = {ue: (x, y) for ue, x, y in starts.select("ue", "x_m", "y_m").rows()}
    return replace(places, ues=ues, passed=[low, high])


def draw(ax: Axes, tracks: pl.DataFrame, serving: Serving, colors: Mapping[str, ColorType]) -> None:
    """Draws the trajectories. Parts without a cell are dotted, and the end has an arrow.

    A line is a little to the right of the path, so that both directions of a path are seen.
    """
    shift = ASIDE * max(ax.get_xlim()[1] - ax.get_xlim()[0], ax.get_ylim()[1] - ax.get_ylim()[0])
    for (ue,), own in tracks.group_by("ue", maintain_order=True):
        steps = serving.get(str(ue), [(0.0, None)])
        rows = own.select("time_s", "x_m", "y_m").rows()
        parts: dict[str | None, list[list[tuple[float, float]]]] = {}
        for (time, *start), (until, *end) in itertools.pairwise(rows):
            cell = _cell_at(steps, (time + until) / 2)
            east, north = end[0] - start[0], end[1] - start[1]
            length = math.hypot(east, north)
            if length > 0:
                right, down = shift * north / length, -shift * east / length
                step = [(x + right, y + down) for x, y in (start, end)]
                parts.setdefault(cell, []).append(step)
        for cell, lines in parts.items():
            color = STAMP if cell is None else colors.get(cell, STAMP)
            style = {"linestyles": "dotted"} if cell is None else {}
            ax.add_collection(
                LineCollection(lines, colors=[color], linewidths=1.4, zorder=3, **style)
            )
        _draw_arrow(ax, [tuple(place) for _, *place in rows])


def _cell_at(steps: Sequence[tuple[float, str | None]], time: float) -> str | None:
    at = bisect_right(steps, time, key=itemgetter(0)) - 1
    return steps[max(at, 0)][1]


def _draw_arrow(ax: Axes, places: Sequence[tuple[float, ...]]) -> None:
    """Draws an arrow head at the end of a trajectory."""
    moving = [place for place in places if place != places[-1]]
    if moving:
        style = {"arrowstyle": "-|>", "linewidth": 0, "color": STAMP, "mutation_scale": 7}
        place = (places[-1][0], places[-1][1])
        ax.annotate("", place, xytext=(moving[-1][0], moving[-1][1]), arrowprops=style, zorder=4)


def handles(tracks: pl.DataFrame | None) -> list[Line2D | Patch]:
    """Returns the entries of the legend for the trajectories."""
    if tracks is None:
        return []
    return [Line2D([], [], color=STAMP, linewidth=1.4, label="its path, in the colour of the cell")]
