"""Blockage of straight paths between cars, and between cars and road-side units.

Direct links between vehicles are not modelled. This is geometry alone: straight lines between
antennas on roofs, and boxes of buildings and vehicles.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fadeout import _geometry
from fadeout._quantities import meters
from fadeout.results import Results
from fadeout.study import Numbers

STEP_S = 0.25

SAME_M = 1e-6
"""Distance below which two positions belong to the same vehicle, metres."""

Floats = NDArray[np.float64]


def crossed(
    starts: Floats, ends: Floats, boxes: Floats, own: NDArray[np.int_] | None = None
) -> NDArray[np.bool_]:
    """Returns for each straight line from `starts` to `ends` whether it passes through a box.

    Lines are given by rows of x, y, z. Boxes are rows of centre x, y, heading in radians, length,
    width and height, and stand on the ground. A line that only touches a box does not pass through
    it. `own` has the boxes at both ends of each line, with -1 for none. They never block the line,
    as an antenna is on the roof.
    """
    if not len(boxes):
        return np.zeros(len(starts), dtype=bool)
    x, y, turn, length, width, height = boxes.T
    cos, sin = np.cos(turn), np.sin(turn)

    def inside(points: Floats) -> tuple[Floats, Floats, Floats]:
        east, north = points[:, :1] - x, points[:, 1:2] - y
        ahead, left = east * cos + north * sin, north * cos - east * sin
        return ahead, left, np.broadcast_to(points[:, 2:], ahead.shape)

    low = np.zeros((len(starts), len(boxes)))
    high = np.ones_like(low)
    sides = ((-length / 2, length / 2), (-width / 2, width / 2), (-1.0, height))
    for (least, most), a, b in zip(sides, inside(starts), inside(ends), strict=True):
        way = b - a
        with np.errstate(divide="ignore", invalid="ignore"):
            near, far = (least - a) / way, (most - a) / way
        outside = (a <= least) | (a >= most)
        still = way == 0
        near, far = np.where(still, 0.0, near), np.where(still, 1.0, far)
        low = np.maximum(low, np.minimum(near, far))
        high = np.where(still & outside, -1.0, np.minimum(high, np.maximum(near, far)))
    passes = high - low > 1e-9
    if own is not None:
        for ends_on in own.T:
            known = np.flatnonzero(ends_on >= 0)
            passes[known, ends_on[known]] = False
    return np.asarray(passes.any(axis=1))


def paths(results: Results) -> Numbers:
    """Returns the shares of time in percent in which paths are blocked.

    The paths lead to the nearest unit, to the nearest vehicle, and to the vehicle whose distance is
    closest to that of the unit.
    """
    scenario: Mapping[str, Any] = results.manifest["scenario"]
    tracks = _geometry.tracks(dict(scenario), every=STEP_S)
    walls = np.array(
        [
            _box(one["corner"], one["opposite"], one["height"])
            for one in scenario.get("building", {}).values()
        ]
    ).reshape(-1, 6)
    units = np.array(
        [
            [*(meters(one) for one in cell["position"]), meters(cell["height"])]
            for cell in scenario["cell"].values()
        ]
    )
    cut: dict[str, list[bool]] = {"unit": [], "nearest": [], "as_far": []}
    for _, now in tracks.group_by("time_s", maintain_order=True):
        places = now.select("x_m", "y_m", "height_m").to_numpy()
        of_cars = now["ue"].is_not_null().to_numpy()
        on_roads = now.filter(pl.col("length_m").is_not_null())
        vehicles = on_roads.select(
            "x_m",
            "y_m",
            pl.col("heading_deg").radians(),
            "length_m",
            "width_m",
            "height_m",
        ).to_numpy()
        boxes = np.vstack([walls, vehicles])
        # Number of each position's box, and -1 for a position without a box.
        number = np.full(len(places), -1)
        has_box = now["length_m"].is_not_null().to_numpy()
        number[has_box] = len(walls) + np.arange(len(vehicles))
        cars = places[of_cars]
        to_units = np.linalg.norm(cars[:, None, :] - units[None], axis=2)
        apart = np.linalg.norm(cars[:, None, :2] - places[None, :, :2], axis=2)
        apart[apart < SAME_M] = np.inf
        as_far = np.abs(apart - to_units.min(axis=1)[:, None])
        none = np.full(len(cars), -1)
        for name, ends, on in (
            ("unit", units[to_units.argmin(axis=1)], none),
            ("nearest", places[apart.argmin(axis=1)], number[apart.argmin(axis=1)]),
            ("as_far", places[as_far.argmin(axis=1)], number[as_far.argmin(axis=1)]),
        ):
            own = np.column_stack([number[of_cars], on])
            cut[name] += crossed(cars, ends, boxes, own).tolist()
    return {f"{name}_pct": 100 * sum(found) / len(found) for name, found in cut.items()}


def _box(corner: Sequence[str], opposite: Sequence[str], height: str) -> list[float]:
    west, south = (meters(one) for one in corner)
    east, north = (meters(one) for one in opposite)
    middle = [(west + east) / 2, (south + north) / 2]
    return [*middle, 0.0, abs(east - west), abs(north - south), meters(height)]
