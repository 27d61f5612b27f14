"""Projections of latitudes and longitudes onto metres east and north.

All maps, traces and tables of a scenario lie on one transverse Mercator projection: that of an
origin, or that of a SUMO network.

Source: Karney, Transverse Mercator with an accuracy of a few nanometers, Journal of Geodesy 85
(2011), equations 7 to 12 and 35. https://sumo.dlr.de/docs/Geo-Coordinates.html
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

FLATTENING = {"WGS84": 1 / 298.257223563, "GRS80": 1 / 298.257222101}
AXIS_M = 6_378_137.0
MOST_DEGREES = 60.0
"""Largest distance from the central meridian, at which the series still has an error below 1 mm."""
HEAD = 1 << 16
"""Bytes at the start of a network in which SUMO writes its location."""


class ProjectionError(Exception):
    """A projection that is not known, or a place outside of it, with the expected content."""


def _coefficients(n: float) -> tuple[float, ...]:
    """Returns the coefficients of the series by the third flattening."""
    return (
        n / 2
        - 2 * n**2 / 3
        + 5 * n**3 / 16
        + 41 * n**4 / 180
        - 127 * n**5 / 288
        + 7891 * n**6 / 37800,
        13 * n**2 / 48
        - 3 * n**3 / 5
        + 557 * n**4 / 1440
        + 281 * n**5 / 630
        - 1983433 * n**6 / 1935360,
        61 * n**3 / 240 - 103 * n**4 / 140 + 15061 * n**5 / 26880 + 167603 * n**6 / 181440,
        49561 * n**4 / 161280 - 179 * n**5 / 168 + 6601661 * n**6 / 7257600,
        34729 * n**5 / 80640 - 3418889 * n**6 / 1995840,
        212378941 * n**6 / 319334400,
    )


@dataclass(frozen=True)
class Projection:
    """A transverse Mercator projection."""

    latitude: float
    """Latitude that has the north coordinate `north`, degrees."""
    longitude: float
    """Central meridian, degrees."""
    scale: float = 1.0
    """Scale on the central meridian."""
    east: float = 0.0
    """East coordinate of the central meridian, metres."""
    north: float = 0.0
    ellipsoid: str = "WGS84"

    def forward(self, longitudes: Any, latitudes: Any) -> tuple[Numbers, Numbers]:  # noqa: ANN401
        """Returns east and north in metres of longitudes and latitudes in degrees.

        Raises:
            ProjectionError: a place is too far from the central meridian.
        """
        lon = np.asarray(longitudes, dtype=np.float64)
        lat = np.asarray(latitudes, dtype=np.float64)
        away = (lon - self.longitude + 180.0) % 360.0 - 180.0
        if away.size and float(np.max(np.abs(away))) > MOST_DEGREES:
            raise ProjectionError(
                f"a longitude is {float(np.max(np.abs(away))):.0f}° from {self.longitude:g}°; "
                "expected places on the map of the origin"
            )
        x, y = self._unscaled(np.radians(away), np.radians(lat))
        _, zero = self._unscaled(np.zeros(1), np.radians(np.array([self.latitude])))
        return self.east + self.scale * x, self.north + self.scale * (y - zero[0])

    def _unscaled(self, lam: Numbers, phi: Numbers) -> tuple[Numbers, Numbers]:
        f = FLATTENING[self.ellipsoid]
        n = f / (2 - f)
        e = math.sqrt(f * (2 - f))
        radius = AXIS_M / (1 + n) * (1 + n**2 / 4 + n**4 / 64 + n**6 / 256)
        sine = np.sin(phi)
        t = np.sinh(np.arctanh(np.clip(sine, -1 + 1e-16, 1 - 1e-16)) - e * np.arctanh(e * sine))
        xi = np.arctan2(t, np.cos(lam))
        eta = np.arcsinh(np.sin(lam) / np.hypot(t, np.cos(lam)))
        x, y = eta.copy(), xi.copy()
        for order, alpha in enumerate(_coefficients(n), 1):
            x += alpha * np.cos(2 * order * xi) * np.sinh(2 * order * eta)
            y += alpha * np.sin(2 * order * xi) * np.cosh(2 * order * eta)
        return radius * x, radius * y


def around(origin: tuple[float, float]) -> Projection:
    """Returns the projection with 0 m, 0 m at an origin's latitude and longitude."""
    return Projection(latitude=origin[0], longitude=origin[1])


def of_network(path: Path) -> Projection:
    """Returns the projection of a SUMO network, onto the coordinates of SUMO's vehicles.

    Raises:
        ProjectionError: the file is no network, has no projection, or has an unknown one.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD).decode("utf-8", errors="replace")
    except OSError as error:
        raise ProjectionError(f"{path}: {error.strerror}; expected a network of SUMO") from None
    location = re.search(r"<location\s([^>]*)>", head)
    if location is None:
        raise ProjectionError(f"{path} has no <location>; expected a network of SUMO (.net.xml)")
    attributes = dict(re.findall(r"(\w+)\s*=\s*[\"']([^\"']*)[\"']", location[1]))
    offset = re.fullmatch(
        r"\s*([-+0-9.eE]+)\s*,\s*([-+0-9.eE]+)\s*", attributes.get("netOffset", "")
    )
    if offset is None:
        raise ProjectionError(f'{path}: the <location> has no `netOffset`; expected "EAST,NORTH"')
    shown = attributes.get("projParameter", "")
    if not shown.startswith("+proj"):
        raise ProjectionError(
            f'{path}: the projection is "{shown}"; expected a network made from a map with '
            "latitudes and longitudes, as by netconvert --osm-files"
        )
    east, north = float(offset[1]), float(offset[2])
    try:
        return _parsed(shown, east, north)
    except ProjectionError as error:
        raise ProjectionError(f"{path}: {error}") from None


def _parsed(text: str, east: float, north: float) -> Projection:
    """Returns the projection that PROJ describes by `text`, moved by `east` and `north`."""
    given = {key: value or "" for key, value in re.findall(r"\+([\w]+)(?:=(\S+))?", text)}
    ellipsoid = given.get("ellps") or given.get("datum") or "WGS84"
    if ellipsoid not in FLATTENING:
        raise ProjectionError(f'the ellipsoid is "{ellipsoid}"; expected {" or ".join(FLATTENING)}')
    if given.get("units", "m") != "m":
        raise ProjectionError(f'the unit is "{given["units"]}"; expected metres')
    try:
        match given.get("proj"):
            case "utm":
                zone = int(given.get("zone", "0"))
                if not 1 <= zone <= 60:
                    raise ProjectionError(f"the zone of UTM is {zone}; expected 1 to 60")
                own_north = 1e7 if "south" in given else 0.0
                return Projection(
                    0.0, zone * 6 - 183.0, 0.9996, 5e5 + east, own_north + north, ellipsoid
                )
            case "tmerc":
                scale = float(given.get("k_0") or given.get("k") or 1.0)
                return Projection(
                    float(given.get("lat_0", "0")),
                    float(given.get("lon_0", "0")),
                    scale,
                    float(given.get("x_0", "0")) + east,
                    float(given.get("y_0", "0")) + north,
                    ellipsoid,
                )
            case other:
                raise ProjectionError(
                    f'the projection is "{other}"; expected "utm" or "tmerc", as netconvert '
                    "writes by default (--proj.utm)"
                )
    except ValueError:
        raise ProjectionError(
            f'a number of "{text}" is wrong; expected a projection of PROJ'
        ) from None
