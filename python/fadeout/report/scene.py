"""The map of a run over time: sites, UEs, vehicles, beams, rays and buildings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fadeout import _geometry, drives
from fadeout._native import ResultError, ScenarioError
from fadeout.plot.drive import street_blocks
from fadeout.plot.map import places
from fadeout.report.blob import Blob
from fadeout.report.scenario import reason, source
from fadeout.results import Results

ABSENT = -32768
"""Value that stands for the position or angle of an object that is absent."""

ANGLE_STEPS = 80.0
"""Number of steps for each degree, so that 360 degrees fit into 16 bits."""

MOST_LOOKS = 60_000
"""Largest number of evaluations of a UE and a cell."""

MOST_LOOKS_IN_TRAFFIC = 4000
"""Largest number of evaluations in a scenario with vehicles. Each evaluation takes about 1 ms."""

FRAMES = (20, 500)
"""Smallest and largest number of frames."""

MOST_RAYS = 60
"""Largest number of UEs with rays. More would hide the map."""

STATES = ("clear", "vehicle", "building", "misalignment", "deafness", "handover")
"""States of the path between a UE and its cell."""


@dataclass
class Scene:
    """Frames of the map, or the reason why there are none."""

    document: dict[str, Any] | None
    reason: str = ""


@dataclass
class Movement:
    """Positions and paths of a run over time, or the reason why there are none."""

    tracks: pl.DataFrame | None = None
    steps: pl.DataFrame | None = None
    """Cell, path and beam of each UE over time, as in `fadeout.drives.Way`."""
    secondary_steps: pl.DataFrame | None = None
    """Cell, path and beam for the cells of secondary nodes. `None` without dual connectivity."""
    every_s: float = 0.0
    reason: str = ""


def movement(results: Results, base: Path | None) -> Movement:
    """Returns the movement in a run, computed from copies of its channels."""
    scenario: Mapping[str, Any] = results.manifest.get("scenario", {})
    if not scenario.get("cell") or not scenario.get("ue"):
        return Movement()
    duration = results.duration_s
    if duration <= 0:
        return Movement(reason="the run has no duration")
    looks = len(scenario["ue"]) * len(scenario["cell"])
    budget = MOST_LOOKS_IN_TRAFFIC if scenario.get("vehicles") else MOST_LOOKS
    frames = min(max(budget // looks, FRAMES[0]), FRAMES[1])
    try:
        tracks, sights = _geometry.tracks_and_sights(
            source(scenario, base), every=duration / frames
        )
        secondary = drives.secondary(results)
    except (ResultError, ScenarioError, OSError, ValueError) as error:
        # A trace that has moved, or a scenario of another version.
        return Movement(reason=reason(error))
    tracks = tracks.filter(pl.col("time_s") <= duration * (1 + 1e-12))
    present = set(tracks["ue"])
    secondary = {ue: steps for ue, steps in secondary.items() if ue in present}
    return Movement(
        tracks,
        drives.way_steps(results, sights),
        drives.way_steps(results, sights, secondary) if secondary else None,
        duration / frames,
    )


def scene(results: Results, moving: Movement, blob: Blob, values: int) -> Scene:
    """Returns the map with about `values` positions in all frames together."""
    if moving.tracks is None or moving.steps is None:
        return Scene(None, moving.reason)
    scenario: Mapping[str, Any] = results.manifest["scenario"]
    try:
        found = places(scenario)
    except (KeyError, TypeError, ValueError) as error:
        return Scene(None, f"its scenario is of another version: {error}")
    tracks = moving.tracks
    if not found.is_a_map and tracks.select(pl.struct("x_m", "y_m").n_unique()).item() == 1:
        # All cells and UEs stay at one place.
        return Scene(None)
    # With many vehicles, only some of the frames fit into the page.
    objects = max(1, tracks.select("ue", "vehicles", "vehicle").unique().height)
    times = tracks["time_s"].unique().sort()
    apart = max(1, -(-len(times) * objects // max(values, FRAMES[0] * objects)))
    tracks = tracks.filter(pl.col("time_s").is_in(times.gather_every(apart).implode()))
    moved = _frames(tracks, blob)
    cells = [cell.name for cell in found.cells]
    blocks = street_blocks(scenario)
    document = {
        "cells": [
            {
                "name": cell.name,
                "x": cell.place[0],
                "y": cell.place[1],
                "azimuth": cell.azimuth_deg,
                "width": _width(scenario["cell"][cell.name].get("antenna")),
            }
            for cell in found.cells
        ],
        "buildings": _buildings(found, blocks),
        **moved,
    }
    ues = [one["name"] for one in moved["objects"] if one["is_ue"]]
    document["has_rays"] = len(ues) <= MOST_RAYS
    document["states"] = STATES
    document |= _paths(drives.serving(results), ues, cells, moved["times"], moving.steps, blob)
    document["secondary"] = None
    if moving.secondary_steps is not None:
        document["secondary"] = _paths(
            drives.secondary(results), ues, cells, moved["times"], moving.secondary_steps, blob
        )
    document["times"] = blob.doubles(moved["times"])
    return Scene(document)


def _width(antenna: Any) -> float | None:  # noqa: ANN401 - whatever the scenario has
    if isinstance(antenna, Mapping) and antenna.get("kind") == "beam" and "width" in antenna:
        return float(antenna["width"])
    return None


def _buildings(found: Any, blocks: Any) -> list[list[list[list[float]]]]:  # noqa: ANN401
    """Returns the rings of each building."""
    rings = []
    for (x0, y0), (x1, y1) in [*found.buildings, *blocks]:
        rings.append([[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]])
    for outline in found.outlines:
        rings.append([[[round(x, 2), round(y, 2)] for x, y in ring] for ring in outline])
    return rings


def _frames(tracks: pl.DataFrame, blob: Blob) -> dict[str, Any]:
    """Returns the objects, and their positions by frame in 16 bits."""
    keyed = tracks.with_columns(
        pl.when(pl.col("ue").is_not_null())
        .then(pl.concat_str(pl.lit("ue "), pl.col("ue")))
        .otherwise(
            pl.concat_str(pl.col("vehicles"), pl.lit("-"), pl.col("vehicle").cast(pl.String))
        )
        .alias("key")
    )
    times = keyed["time_s"].unique().sort()
    keys = keyed.unique("key", keep="first", maintain_order=True)
    number = {key: at for at, key in enumerate(keys["key"])}
    row = times.search_sorted(keyed["time_s"])
    column = keyed["key"].replace_strict(number, return_dtype=pl.Int64).to_numpy()
    x, y = keyed["x_m"].to_numpy(), keyed["y_m"].to_numpy()
    west, south = float(np.nanmin(x)), float(np.nanmin(y))
    span = max(float(np.nanmax(x)) - west, float(np.nanmax(y)) - south, 1.0)
    step = span / 60_000
    shape = (len(times), len(number))
    matrices = {}
    for name, values, origin, unit in (
        ("x", x, west, step),
        ("y", y, south, step),
        ("heading", keyed["heading_deg"].fill_null(0.0).to_numpy() % 360.0, 0.0, 1 / ANGLE_STEPS),
    ):
        matrix = np.full(shape, ABSENT, dtype="<i2")
        scaled = np.round((values - origin) / unit) - (30_000 if name != "heading" else 14_400)
        matrix[np.asarray(row), column] = scaled.astype("<i2")
        matrices[name] = blob.frames(matrix)
    objects = [
        {
            "name": one["ue"] or one["key"],
            "is_ue": one["ue"] is not None,
            "length": one["length_m"],
            "width": one["width_m"],
        }
        for one in keys.iter_rows(named=True)
    ]
    return {
        "objects": objects,
        "frames": len(times),
        "times": times.to_list(),
        "west": west,
        "south": south,
        "step": step,
        "box": [west, south, float(np.nanmax(x)), float(np.nanmax(y))],
        **matrices,
    }


def _paths(
    served: Mapping[str, list[drives.Step]],
    ues: list[str],
    cells: list[str],
    times: list[float],
    steps: pl.DataFrame,
    blob: Blob,
) -> dict[str, Any]:
    """Returns the cell, the state of the path and the beam of each UE by frame."""
    shape = (len(times), len(ues))
    serving = np.full(shape, -1, dtype="<i2")
    state = np.zeros(shape, dtype="<i2")
    beam = np.full(shape, ABSENT, dtype="<i2")
    at = np.asarray(times)
    for ue, changes in served.items():
        if ue not in ues:
            continue
        column = ues.index(ue)
        for since, cell in changes:
            index = cells.index(cell) if cell in cells else -1
            serving[at >= since - 1e-9, column] = index
    if len(ues) <= MOST_RAYS:
        for (ue,), own in steps.group_by("ue", maintain_order=True):
            if ue not in ues:
                continue
            column = ues.index(str(ue))
            nearest = own["time_s"].search_sorted(pl.Series(times), side="right") - 1
            picked = own[nearest.clip(0, len(own) - 1)]
            state[:, column] = [
                STATES.index(state_of(*row))
                for row in picked.select("cause", "behind_building").iter_rows()
            ]
            angles = picked["beam_deg"].to_list()
            beam[:, column] = [
                ABSENT if angle is None else round((angle % 360.0) * ANGLE_STEPS) - 14_400
                for angle in angles
            ]
    return {
        "serving": blob.frames(serving),
        "state": blob.frames(state),
        "beam": blob.frames(beam),
    }


def state_of(cause: str | None, behind: bool | None) -> str:
    """Returns the state of a path. `behind` is True if a building is in the way."""
    if cause is None:
        return "clear"
    if cause == "blockage":
        return "building" if behind else "vehicle"
    return cause
