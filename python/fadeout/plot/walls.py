"""Positions of vehicles and UEs within the walls of buildings, marked on the map."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.path import Path

from fadeout._quantities import meters
from fadeout.plot.style import VERMILION


def within(scenario: Mapping[str, Any], tracks: pl.DataFrame | None) -> pl.DataFrame:
    """Returns the rows of `tracks` whose position is within the walls of a building.

    Vehicles are compared at half of their height, and UEs at the height of their antenna.

    Args:
        scenario: the resolved scenario of a run.
        tracks: positions as from `fadeout.tracks`. None if nothing moves.

    Returns:
        Columns of `tracks`. Empty if the map has no buildings.
    """
    if tracks is None:
        return pl.DataFrame({"x_m": [], "y_m": []})
    x, y = tracks["x_m"].to_numpy(), tracks["y_m"].to_numpy()
    half = pl.when(pl.col("length_m").is_null()).then(1.0).otherwise(0.5)
    z = tracks.select(pl.col("height_m") * half).to_series().to_numpy()
    is_within = np.zeros(len(tracks), dtype=bool)
    for building in scenario.get("building", {}).values():
        if building.get("foliage"):
            continue
        rings = _rings(building)
        low, high = np.min(rings[0], axis=0), np.max(rings[0], axis=0)
        near = (x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])
        near &= (z > meters(building.get("base", "0 m"))) & (z < meters(building["height"]))
        rows = np.flatnonzero(near)
        if len(rows):
            places = np.column_stack([x[rows], y[rows]])
            # A position inside an odd number of rings is not in a courtyard.
            counts = sum(Path(ring).contains_points(places).astype(int) for ring in rings)
            is_within[rows] |= np.asarray(counts) % 2 == 1
    return tracks.filter(is_within)


def _rings(building: Mapping[str, Any]) -> Sequence[np.ndarray]:
    """Returns the closed rings of a building's outline, the outer one first, in metres."""
    if "outline" in building:
        rings = [[[meters(one) for one in place] for place in ring] for ring in building["outline"]]
        return [np.array([*ring, ring[0]]) for ring in rings]
    (x0, y0), (x1, y1) = (
        [meters(one) for one in building[corner]] for corner in ("corner", "opposite")
    )
    return [np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])]


def draw(ax: Axes, found: pl.DataFrame) -> None:
    """Marks the positions within walls by crosses."""
    ax.plot(
        found["x_m"].to_numpy(),
        found["y_m"].to_numpy(),
        "x",
        color=VERMILION,
        markersize=3,
        markeredgewidth=0.7,
        zorder=4.5,
    )


def handles(found: pl.DataFrame, tracks: pl.DataFrame | None) -> list[Line2D]:
    """Returns the entry of the legend for positions within walls. Empty if there are none."""
    if tracks is None or found.is_empty():
        return []
    label = f"within walls ({100 * len(found) / len(tracks):.1f} %)"
    return [Line2D([], [], marker="x", linestyle="", markersize=3, color=VERMILION, label=label)]
