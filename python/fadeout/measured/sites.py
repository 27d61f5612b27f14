"""Sites of cells from a measured table: positions, heights and directions of antennas."""

import json
import re

import numpy as np
import polars as pl

from fadeout import _projection
from fadeout.measured.errors import MeasuredError, at_line
from fadeout.measured.places import projected
from fadeout.measured.table import Measurement


def is_of_sites(measured: Measurement) -> bool:
    """Returns True if a table has positions and no times, as a list of an operator's sites."""
    there = {*measured.columns}
    has_positions = {"x", "y"} <= there or {"latitude", "longitude"} <= there
    return has_positions and "time" not in there and "time" not in measured.ambiguous


def sites(measured: Measurement, projection: _projection.Projection | None) -> str:
    """Returns the sites of a table as a list in TOML, for the key `sites` of a cell.

    Args:
        measured: the table.
        projection: the projection of latitudes and longitudes. None for that of the key `origin`.

    Raises:
        MeasuredError: a value is wrong or missing, two sites have one name, or latitudes and
            longitudes have no origin.
    """
    is_geographic = "x" not in measured.columns and "latitude" in measured.columns
    pair = ("longitude", "latitude") if is_geographic else ("x", "y")
    others = [one for one in ("cell", "site", "height", "azimuth") if one in measured.columns]
    rows = pl.concat([*measured.blocks([*pair, *others], is_timed=False)])
    for quantity in pair:
        _check_complete(measured, rows, quantity)
    east, north = (rows[one].to_numpy() for one in pair)
    if is_geographic:
        east, north = _projected(measured, east, north, projection)
    names = _names(measured, rows)
    found = []
    for number, row in enumerate(rows.iter_rows(named=True)):
        place = ", ".join(f'"{value:.3f} m"' for value in (east[number], north[number]))
        parts = [f"name = {json.dumps(names[number])}", f"position = [{place}]"]
        if row.get("height") is not None:
            parts.append(f'height = "{row["height"]:.3f} m"')
        if row.get("azimuth") is not None:
            # A compass counts clockwise from north, and fadeout counter-clockwise from east.
            parts.append(f"azimuth = {(270.0 - row['azimuth']) % 360.0 - 180.0:.6g}")
        found.append(f"{{ {', '.join(parts)} }}")
    return f"[{', '.join(found)}]"


def _check_complete(measured: Measurement, rows: pl.DataFrame, quantity: str) -> None:
    missing = rows.filter(pl.col(quantity).is_null())
    if not missing.is_empty():
        raise at_line(
            measured.source.name,
            measured.source.line_of(missing["row"][0]),
            f"a site without {quantity}; expected a position in each row",
        )


def _projected(
    measured: Measurement,
    longitudes: np.ndarray,
    latitudes: np.ndarray,
    projection: _projection.Projection | None,
) -> tuple[np.ndarray, np.ndarray]:
    if projection is None:
        if measured.keys.origin is None:
            raise MeasuredError(
                f"{measured.source.name} has sites in latitude and longitude; expected `origin` "
                "or `net`, which place them on the map of the scenario",
                key="origin",
            )
        projection = _projection.around(measured.keys.origin)
    return projected(measured, longitudes, latitudes, projection)


def _names(measured: Measurement, rows: pl.DataFrame) -> list[str]:
    """Returns the name of each row: its cell, else its site, else its number from 0."""
    column = next((one for one in ("cell", "site") if one in measured.columns), None)
    if column is None:
        return [str(number) for number in range(len(rows))]
    _check_complete(measured, rows, column)
    names = [re.sub(r"[^A-Za-z0-9_-]+", "-", name) for name in rows[column]]
    twice = next((row for row, name in enumerate(names) if name in names[:row]), None)
    if twice is not None:
        raise at_line(
            measured.source.name,
            measured.source.line_of(rows["row"][twice]),
            f"the {column} {rows[column][twice]} occurs again; expected a name for each cell, such "
            "as a column `cell`",
        )
    return names
