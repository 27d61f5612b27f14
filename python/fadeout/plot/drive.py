"""Vehicles on the map: tracks of UEs, serving cells, beams and obstacles."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle
from matplotlib.transforms import Affine2D
from matplotlib.typing import ColorType

from fadeout import _geometry, drives
from fadeout._quantities import meters
from fadeout.plot.map import Places
from fadeout.plot.style import BLACK, PURPLE, STAMP, VERMILION

if TYPE_CHECKING:
    from fadeout.results import Results

STEPS = 300
"""Number of time steps of a track."""

BEAMS = 4
"""Number of instants at which the beam of a UE is drawn."""

MOST_BEAMED = 8
"""Largest number of UEs whose beams are drawn. More would hide the map."""

VEHICLE = "#888888"

IN_THE_WAY: Mapping[str, tuple[ColorType, str]] = {
    "vehicle": (VERMILION, "vehicle in the way"),
    "building": (STAMP, "building in the way"),
    "beam": (PURPLE, "beam lost"),
}
"""Colour and label of the marks below a track, by kind of obstacle."""


@dataclass(frozen=True)
class Drive:
    """Movement of vehicles and UEs on the map."""

    tracks: pl.DataFrame
    """Positions of vehicles and UEs at the time steps, as from `fadeout.tracks`."""
    steps: pl.DataFrame
    """Cells and obstacles of the UEs, see `fadeout.drives.Way`."""
    sites: Mapping[str, tuple[float, float]]
    widths: Mapping[str, float]
    """Beamwidth of each cell whose antenna has one, degrees."""
    blocks: Sequence[tuple[tuple[float, float], tuple[float, float]]]
    """Corners of the buildings along the streets."""
    every_s: float

    def on(self, places: Places) -> Places:
        """Returns the map with UEs at their start, extended to the area of their tracks."""
        of_ues = self.tracks.filter(pl.col("ue").is_not_null())
        starts = of_ues.unique("ue", keep="first", maintain_order=True)
        start = self.tracks.filter(pl.col("time_s") == self.tracks["time_s"].min())
        shown = pl.concat([of_ues, start]).select("x_m", "y_m")
        low, high = shown.min().row(0), shown.max().row(0)
        return replace(
            places,
            ues={ue: (x, y) for ue, x, y in starts.select("ue", "x_m", "y_m").rows()},
            buildings=[*places.buildings, *self.blocks],
            passed=[low, high],
            is_road=True,
        )


def drive(results: "Results") -> Drive | None:
    """Returns the movement in a run. None if the run has no vehicles."""
    scenario: Mapping[str, Any] = results.manifest.get("scenario", {})
    if not scenario.get("vehicles") or not scenario.get("ue"):
        return None
    every_s = results.duration_s / STEPS
    cells = scenario["cell"]
    sites = {name: tuple(meters(one) for one in cell["position"]) for name, cell in cells.items()}
    antennas = {name: cell.get("antenna", {}) for name, cell in cells.items()}
    return Drive(
        _geometry.tracks(dict(scenario), every=every_s),
        drives.way(results, every_s).steps,
        {name: (x, y) for name, (x, y) in sites.items()},
        {
            name: float(one["width"])
            for name, one in antennas.items()
            if isinstance(one, Mapping) and one.get("kind") == "beam" and "width" in one
        },
        street_blocks(scenario),
        every_s,
    )


def street_blocks(
    scenario: Mapping[str, Any],
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Returns the corners of the buildings along the streets of vehicles."""
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


def draw(ax: Axes, found: Drive, colors: Mapping[str, ColorType]) -> None:
    """Draws vehicles at their start, the tracks of UEs, obstacles, and some beams.

    A track has the colour of its serving cell. Obstacles are drawn below the track.
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
    places = found.tracks.filter(pl.col("ue").is_not_null())
    places = places.select("time_s", "ue", "x_m", "y_m", "speed_mps")
    way = found.steps.join(places, on=["time_s", "ue"], how="left", maintain_order="left")
    names = way["ue"].unique(maintain_order=True).to_list()
    for name in names:
        _track(ax, way.filter(pl.col("ue") == name), colors)
    if len(names) <= MOST_BEAMED:
        for name in names:
            _beams(ax, found, way.filter(pl.col("ue") == name), colors)


def _track(ax: Axes, own: pl.DataFrame, colors: Mapping[str, ColorType]) -> None:
    """Draws the track of one UE."""
    rows = own.select(
        "time_s", "x_m", "y_m", "speed_mps", "cell", "cause", "vehicles_db", "behind_building"
    ).rows(named=True)
    steps: list[list[tuple[float, float]]] = []
    of: list[ColorType] = []
    under: dict[str, list[list[tuple[float, float]]]] = {kind: [] for kind in IN_THE_WAY}
    for one, other in itertools.pairwise(rows):
        if one["x_m"] is None or other["x_m"] is None:
            continue
        way = math.hypot(other["x_m"] - one["x_m"], other["y_m"] - one["y_m"])
        speed = max(one["speed_mps"], other["speed_mps"])
        # A vehicle that leaves a road at its end enters again at its start. No line joins the two.
        if way > 2 * speed * (other["time_s"] - one["time_s"]) + 5:
            continue
        step = [(one["x_m"], one["y_m"]), (other["x_m"], other["y_m"])]
        steps.append(step)
        of.append(colors.get(one["cell"] or "", BLACK))
        kind = _in_the_way(one)
        if kind is not None:
            under[kind].append(step)
    for kind, (color, _) in IN_THE_WAY.items():
        ax.add_collection(
            LineCollection(under[kind], colors=color, linewidths=3.2, alpha=0.8, zorder=2.5)
        )
    ax.add_collection(LineCollection(steps, colors=of, linewidths=0.9, zorder=3))


def _in_the_way(step: Mapping[str, Any]) -> str | None:
    if step["cause"] in ("misalignment", "deafness"):
        return "beam"
    if step["cause"] != "blockage":
        return None
    return "building" if step["behind_building"] else "vehicle"


def _beams(ax: Axes, found: Drive, own: pl.DataFrame, colors: Mapping[str, ColorType]) -> None:
    """Draws the beam toward one UE at some instants."""
    rows = own.select("cell", "beam_deg", "x_m", "y_m").rows()
    for number in range(BEAMS):
        cell, angle_deg, x, y = rows[(2 * number + 1) * len(rows) // (2 * BEAMS)]
        if cell is None or angle_deg is None or x is None:
            continue
        site = found.sites[cell]
        reach = math.hypot(x - site[0], y - site[1])
        half = math.radians(found.widths.get(cell, 4.0)) / 2
        angle = math.radians(angle_deg)
        arc = [angle + half * (step / 4) for step in range(-4, 5)]
        corners = [
            site,
            *((site[0] + reach * math.cos(a), site[1] + reach * math.sin(a)) for a in arc),
        ]
        color = colors.get(cell, BLACK)
        ax.add_patch(
            Polygon(
                corners,
                closed=True,
                facecolor=color,
                edgecolor=color,
                alpha=0.25,
                linewidth=0.4,
                zorder=1.5,
            )
        )


def handles(found: Drive) -> list[Line2D | Patch]:
    """Returns the entries of the legend for the movement."""
    steps = found.steps
    is_building = pl.col("behind_building") & (pl.col("cause") == "blockage")
    seen = {
        "vehicle": bool(
            steps.select(((pl.col("cause") == "blockage") & ~is_building).any()).item()
        ),
        "building": bool(steps.select(is_building.any()).item()),
        "beam": bool(steps["cause"].is_in(["misalignment", "deafness"]).any()),
    }
    way = "its way"
    lines: list[Line2D | Patch] = [
        Patch(facecolor=VEHICLE, label="vehicle at the start"),
        Line2D([], [], color=BLACK, linewidth=0.9, label=way),
    ]
    if steps["beam_deg"].is_not_null().any() and steps["ue"].n_unique() <= MOST_BEAMED:
        lines.append(Patch(facecolor=STAMP, alpha=0.25, label="beam at times"))
    return lines + [
        Line2D([], [], color=color, linewidth=3.2, alpha=0.8, label=label)
        for kind, (color, label) in IN_THE_WAY.items()
        if seen[kind]
    ]
