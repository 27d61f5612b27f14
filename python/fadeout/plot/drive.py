"""Vehicles on the map: tracks of UEs, who serves them where, and what stands in the way."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Affine2D

from fadeout import _geometry
from fadeout._quantities import meters, seconds
from fadeout.plot.map import Places
from fadeout.plot.style import BLACK, VERMILION

STEPS = 300
"""Steps of time that a track is drawn in."""

DEEP_DB = 6.0
"""From this loss on a vehicle counts as in the way: its edge is in the direct path."""

VEHICLE = "#888888"


@dataclass(frozen=True)
class Drive:
    """What drives on the map."""

    tracks: pl.DataFrame
    sights: pl.DataFrame
    blocks: Sequence[tuple[tuple[float, float], tuple[float, float]]]
    """Corners of the buildings along the streets."""

    def on(self, places: Places) -> Places:
        """The map with UEs where they begin, and room for their ways."""
        of_ues = self.tracks.filter(pl.col("ue").is_not_null())
        starts = of_ues.unique("ue", keep="first", maintain_order=True)
        low, high = (
            of_ues.select(pl.min("x_m", "y_m")).row(0),
            of_ues.select(pl.max("x_m", "y_m")).row(0),
        )
        return replace(
            places,
            ues={ue: (x, y) for ue, x, y in starts.select("ue", "x_m", "y_m").rows()},
            buildings=[*places.buildings, *self.blocks],
            passed=[low, high],
        )


def drive(scenario: Mapping[str, Any]) -> Drive | None:
    """The movement in a scenario as resolved; none where it has no vehicles."""
    if not scenario.get("vehicles"):
        return None
    every = seconds(scenario["duration"]) / STEPS
    return Drive(
        _geometry.tracks(dict(scenario), every=every),
        _geometry.sights(dict(scenario), every=every),
        _blocks(scenario),
    )


def _blocks(scenario: Mapping[str, Any]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Corners of the buildings along the streets of vehicles."""
    found = []
    for group in scenario.get("vehicles", {}).values():
        road = group["road"]
        if "pitch" not in road or "roof" not in road:
            continue
        wide, deep = (meters(item) for item in road["pitch"])
        west, south = (meters(item) for item in road["corner"])
        half = road["lanes-each-way"] * meters(road["lane-width"]) + meters(road["sidewalk"])
        columns, rows = road["blocks"]
        for column, row in itertools.product(range(columns), range(rows)):
            x, y = west + column * wide, south + row * deep
            found.append(((x + half, y + half), (x + wide - half, y + deep - half)))
    return found


def draw(ax: Axes, found: Drive, served: Mapping[str, Sequence[tuple[float, str]]]) -> None:
    """Draw vehicles where they begin, the tracks of UEs, and where vehicles are in their way.

    `served` has, for each UE, the times in seconds from which a cell serves it, and the cell.
    """
    first = found.tracks.filter(pl.col("time_s") == found.tracks["time_s"].min())
    boxes = []
    for x, y, angle, length, width in (
        first.filter(pl.col("length_m").is_not_null())
        .select("x_m", "y_m", "heading_deg", "length_m", "width_m")
        .rows()
    ):
        box = Rectangle((x - length / 2, y - width / 2), length, width)
        box.set_transform(Affine2D().rotate_deg_around(x, y, angle))
        boxes.append(box)
    ax.add_collection(PatchCollection(boxes, facecolor=VEHICLE, edgecolor="none", zorder=2))
    of_ues = found.tracks.filter(pl.col("ue").is_not_null())
    for (name,), track in of_ues.group_by("ue", maintain_order=True):
        rows = track.select("x_m", "y_m", "speed_mps", "time_s").rows()
        # Who leaves a road at its end enters at its beginning: no line between.
        steps = [
            [(x0, y0), (x1, y1)]
            for (x0, y0, v0, t0), (x1, y1, v1, t1) in itertools.pairwise(rows)
            if (x1 - x0) ** 2 + (y1 - y0) ** 2 <= (2 * max(v0, v1) * (t1 - t0) + 5) ** 2
        ]
        ax.add_collection(LineCollection(steps, colors=BLACK, linewidths=0.4, zorder=3))
        blocked = _blocked(found, str(name), served.get(str(name), ()))
        ax.add_collection(LineCollection(blocked, colors=VERMILION, linewidths=1.4, zorder=4))


def _blocked(
    found: Drive, ue: str, served: Sequence[tuple[float, str]]
) -> list[list[tuple[float, float]]]:
    """Steps of a track in which a vehicle is between it and the cell that serves it."""
    own = found.sights.filter(pl.col("ue") == ue)
    times = [time for time, _ in served]
    parts = []
    for number, (since, cell) in enumerate(served):
        until = times[number + 1] if number + 1 < len(times) else float("inf")
        parts.append(
            own.filter(
                (pl.col("cell") == cell)
                & pl.col("time_s").is_between(since, until, closed="left")
                & (pl.col("vehicles_db") >= DEEP_DB)
            )
        )
    if not parts:
        return []
    deep = set(pl.concat(parts)["time_s"].to_list())
    track = found.tracks.filter(pl.col("ue") == ue).select("time_s", "x_m", "y_m").rows()
    return [
        [(x0, y0), (x1, y1)]
        for (t0, x0, y0), (_, x1, y1) in itertools.pairwise(track)
        if t0 in deep and (x1 - x0) ** 2 + (y1 - y0) ** 2 < 1e4
    ]


def handles() -> list[Line2D | Patch]:
    """What the legend says of it."""
    return [
        Patch(facecolor=VEHICLE, label="vehicle at the start"),
        Line2D([], [], color=BLACK, linewidth=0.6, label="way of a UE"),
        Line2D([], [], color=VERMILION, linewidth=1.4, label="vehicle in the way"),
    ]
