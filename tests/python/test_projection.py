"""The projection of maps, compared with PROJ, and maps on the grid of a SUMO network."""

import math
from pathlib import Path

import pytest

import fadeout
from fadeout import _projection
from fadeout._projection import Projection, ProjectionError, around, of_network

UTM_35 = "+proj=utm +zone=35 +ellps=WGS84 +datum=WGS84 +units=m +no_defs"
UTM_56_SOUTH = "+proj=utm +zone=56 +south +ellps=WGS84 +datum=WGS84 +units=m +no_defs"
TMERC = "+proj=tmerc +lat_0=60.17 +lon_0=24.94 +k=1 +x_0=0 +y_0=0 +ellps=WGS84 +units=m"

PROJ = [
    (UTM_35, (24.94, 60.17), (385700.42138632183, 6672126.743133654)),
    (UTM_35, (24.957962, 60.17), (386696.8330525964, 6672095.78721519)),
    (UTM_56_SOUTH, (151.2, -33.87), (333510.65008074325, 6250800.241183555)),
    (TMERC, (24.9534, 60.1685), (743.9144513999634, -167.0472744241789)),
    (TMERC, (25.5, 61.0), (30299.932319005922, 92609.90313222459)),
]
"""Projections, longitudes and latitudes, and the coordinates by PROJ 9 (pyproj 3.8)."""


def network(folder: Path, projection: str, offset: str = "0.00,0.00") -> Path:
    path = folder / "town.net.xml"
    path.write_text(
        f'<net version="1.16"><location netOffset="{offset}" convBoundary="0,0,1,1" '
        f'origBoundary="0,0,1,1" projParameter="{projection}"/></net>'
    )
    return path


@pytest.mark.parametrize(("projection", "place", "expected"), PROJ)
def test_coordinates_are_those_of_proj(tmp_path: Path, projection, place, expected):
    east, north = of_network(network(tmp_path, projection)).forward([place[0]], [place[1]])
    # The series agrees with PROJ's to nanometres.
    assert math.dist((east[0], north[0]), expected) < 1e-6


def test_the_offset_of_a_network_is_added(tmp_path: Path):
    found = of_network(network(tmp_path, UTM_35, "-385700.42,-6672126.74"))
    east, north = found.forward([24.94], [60.17])
    assert (east[0], north[0]) == pytest.approx((0.00138632, 0.00313365), abs=1e-6)


def test_the_origin_is_at_zero_and_north_is_up():
    east, north = around((60.17, 24.94)).forward([24.94, 24.94], [60.17, 60.18])
    assert east.tolist() == pytest.approx([0, 0], abs=1e-9)
    # A degree of latitude has 111.4 km at this latitude (WGS 84).
    assert north.tolist() == pytest.approx([0, 1114.2], abs=0.1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<routes/>", "has no <location>"),
        ('<net><location projParameter="!"/></net>', "no `netOffset`"),
        ('<net><location netOffset="0,0" projParameter="!"/></net>', 'the projection is "!"'),
        ('<net><location netOffset="0,0" projParameter="+proj=lcc"/></net>', 'is "lcc"; expected'),
        ('<net><location netOffset="0,0" projParameter="+proj=utm +zone=61"/></net>', "UTM is 61"),
        (
            '<net><location netOffset="0,0" projParameter="+proj=utm +zone=5 +ellps=bessel"/>',
            'the ellipsoid is "bessel"',
        ),
    ],
)
def test_a_network_without_a_known_projection_is_refused(tmp_path: Path, text, expected):
    path = tmp_path / "bad.net.xml"
    path.write_text(text)
    with pytest.raises(ProjectionError, match=r"bad\.net\.xml") as caught:
        of_network(path)
    assert expected in str(caught.value)


def test_a_place_on_another_continent_is_refused():
    with pytest.raises(ProjectionError, match=r"116° from 24\.94°"):
        around((60.17, 24.94)).forward([141.0], [60.0])
    assert isinstance(around((0, 0)), Projection)


def town(folder: Path) -> str:
    """Writes a street between houses, SUMO's net and a car on it. Returns the scenario.

    The street leads 1 km east on SUMO's grid, and houses stand 8 m beside it on both sides.
    """
    projection = of_network(network(folder, UTM_35, "-385700.42,-6672126.74"))
    nodes, ways = [], []

    def node(x: float, y: float) -> int:
        lon, lat = inverse(projection, x, y)
        nodes.append(f'<node id="{len(nodes) + 1}" lat="{lat:.8f}" lon="{lon:.8f}"/>')
        return len(nodes)

    for number in range(20):
        for side in (8.0, -28.0):
            west, east = 50.0 * number, 50.0 * number + 46
            corners = [(west, side), (east, side), (east, side + 20), (west, side + 20)]
            refs = [node(x, y) for x, y in corners]
            refs.append(refs[0])
            inside = "".join(f'<nd ref="{ref}"/>' for ref in refs)
            tag = '<tag k="building" v="yes"/>'
            ways.append(f'<way id="{1000 + len(ways)}">{inside}{tag}</way>')
    (folder / "town.osm").write_text(f'<osm version="0.6">{"".join(nodes + ways)}</osm>')
    steps = "".join(
        f'<timestep time="{5 * n}"><vehicle id="car" x="{100 * n}" y="0" angle="90" '
        'speed="20"/></timestep>'
        for n in range(11)
    )
    (folder / "fcd.xml").write_text(f"<fcd-export>{steps}</fcd-export>")
    return """
duration = "50 s"
[link.core]
from = "server"
to = "gnb"
rate = "1 Gbit/s"
delay = "10 ms"
[cell.gnb]
height = "10 m"
position = ["-10 m", "0 m"]
radio = { kind = "nr", numerology = 3 }
carrier = "28 GHz"
bandwidth = "100 MHz"
channel = { path-loss = "umi", line-of-sight = "geometry" }
[building.town]
file = "town.osm"
%s
[ue.car]
trace = { file = "fcd.xml", format = "sumo-fcd", id = "car" }
[flow.download]
from = "server"
to = "car"
"""


def inverse(projection: Projection, x: float, y: float) -> tuple[float, float]:
    """Returns longitude and latitude of coordinates, by Newton's method on the projection."""
    lon, lat = 24.94, 60.17
    for _ in range(6):
        east, north = projection.forward([lon, lon + 1e-6, lon], [lat, lat, lat + 1e-6])
        a, b = (east[1] - east[0]) * 1e6, (east[2] - east[0]) * 1e6
        c, d = (north[1] - north[0]) * 1e6, (north[2] - north[0]) * 1e6
        dx, dy, determinant = x - east[0], y - north[0], a * d - b * c
        lon, lat = lon + (d * dx - b * dy) / determinant, lat + (a * dy - c * dx) / determinant
    return lon, lat


def test_houses_lie_beside_the_street_of_a_sumo_network(tmp_path: Path):
    text = town(tmp_path)
    (tmp_path / "net.toml").write_text(text % 'net = "town.net.xml"')
    (tmp_path / "origin.toml").write_text(text % "origin = [60.17, 24.94]")
    with pytest.warns(UserWarning, match=r'UE "car": .* % of 201 positions are within walls'):
        fadeout.check(tmp_path / "origin.toml")
    # Warnings are errors in the tests: no position is within walls here.
    fadeout.check(tmp_path / "net.toml")


def test_net_and_origin_exclude_each_other(tmp_path: Path):
    text = town(tmp_path) % 'net = "town.net.xml"\norigin = [60.17, 24.94]'
    (tmp_path / "both.toml").write_text(text)
    with pytest.raises(fadeout.ScenarioError, match="both `net` and `origin`"):
        fadeout.check(tmp_path / "both.toml")


def test_a_document_type_in_an_extract_is_refused(tmp_path: Path):
    text = town(tmp_path) % 'net = "town.net.xml"'
    osm = tmp_path / "town.osm"
    osm.write_text('<!DOCTYPE osm [<!ENTITY a "b">]>\n' + osm.read_text())
    (tmp_path / "net.toml").write_text(text)
    with pytest.raises(fadeout.ScenarioError, match="has a document type"):
        fadeout.check(tmp_path / "net.toml")


def test_the_head_of_a_network_is_read_only(tmp_path: Path):
    path = network(tmp_path, UTM_35)
    path.write_text(path.read_text() + " " * _projection.HEAD)
    assert of_network(path).longitude == 27
