"""Cells at the sites of a table, which is in the scenario or in a file."""

import math
import re
from pathlib import Path

import pytest

import fadeout
from fadeout.measured.inspect import inspect_table

RADIO = """
duration = "1 s"
[link.core]
from = "server"
to = "core"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.macro]
sites = %s
node = "core"
antenna = "sector"
radio = "lte"
carrier = "1.8 GHz"
bandwidth = "10 MHz"
channel = { path-loss = "uma" }
[ue.phone]
position = ["100 m", "20 m"]
[flow.download]
from = "server"
to = "phone"
"""
TABLE = """
[measurement.sites]
file = "sites.csv"
"""
MEASURED = '{ measurement = "sites" }'


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FADEOUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def scenario(tmp_path: Path):
    """Returns a function that writes a table of sites and a scenario, and returns its path."""

    def write(table: str, more: str = "") -> Path:
        (tmp_path / "sites.csv").write_text(table)
        path = tmp_path / "town.toml"
        path.write_text(RADIO % MEASURED + TABLE + more)
        return path

    return write


def cells(source: str | Path) -> dict:
    return fadeout.run(source).manifest["scenario"]["cell"]


def test_a_table_of_sites_is_the_list_of_its_sites(scenario):
    listed = """[
        { name = "a", position = ["10 m", "-20.5 m"], height = "30 m", azimuth = 90 },
        { name = "b-1", position = ["500 m", "0 m"], azimuth = -180 },
    ]"""
    path = scenario("cell;x [m];y [km];Height;azimuth\na;10;-0,0205;30;0\nb 1;500;0;;270\n")
    found = cells(path)
    assert found == cells(RADIO % listed)
    assert found["macro-a"]["position"] == ["10 m", "-20.5 m"]
    assert found["macro-a"]["height"] == "30 m"
    assert found["macro-a"]["antenna"]["azimuth"] == 90
    # The height of the table, which is the default.
    assert found["macro-b-1"]["height"] == "10 m"


def test_latitudes_and_longitudes_lie_around_the_origin(scenario):
    path = scenario("site,latitude,longitude\nhill,60.001,24.0\n", "origin = [60.0, 24.0]\n")
    east, north = (float(one.split()[0]) for one in cells(path)["macro-hill"]["position"])
    # WGS 84 has 111.412 m for a thousandth of a degree of latitude at 60 degrees.
    assert (east, north) == (pytest.approx(0, abs=1e-3), pytest.approx(111.412, abs=2e-3))


def test_azimuths_of_a_compass_become_mathematical_angles(scenario):
    rows = "".join(f"c{n},{n},0,{n}\n" for n in range(0, 360, 15))
    for name, cell in cells(scenario("cell,x,y,azimuth\n" + rows)).items():
        compass = math.radians(float(name.removeprefix("macro-c")))
        angle = math.radians(cell["antenna"].get("azimuth", 0))
        assert (math.cos(angle), math.sin(angle)) == pytest.approx(
            (math.sin(compass), math.cos(compass)), abs=1e-6
        )


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ("site,latitude,longitude\nhill,60,24\n", "", "expected `origin` or `net`"),
        ("cell,x,y\na,1,2\na,3,4\n", "", "line 3: the cell a occurs again"),
        ("cell,x,y\na,1,2\nb,,4\n", "", "line 3: a site without x"),
        ("cell,height\na,1\n", "", "no column for the x"),
        ("cell,x,y,azimuth\na,1,2,north\n", "", 'line 2: "north" as the azimuth'),
        ("cell,x,y\n", "", "no row; expected at least one"),
    ],
)
def test_a_wrong_table_of_sites_is_refused(scenario, table: str, more: str, message: str):
    with pytest.raises(fadeout.ScenarioError, match=re.escape(message)) as caught:
        fadeout.check(scenario(table, more))
    assert caught.value.errors[0]["line"] > 1


def test_sites_turn_the_antenna_of_a_preset():
    sites = '[{ name = "a", position = ["0 m", "0 m"], azimuth = 90 }]'
    keys = ('antenna = "sector"', 'radio = "lte"', 'carrier = "1.8 GHz"', 'bandwidth = "10 MHz"')
    text = RADIO % sites
    for key in keys:
        text = text.replace(key, "")
    found = cells(text.replace("[cell.macro]", '[cell.macro]\npreset = "lte-20mhz"'))
    assert found["macro-a"]["antenna"] == {"kind": "sector", "azimuth": 90.0}


def test_a_site_with_the_name_of_another_cell_is_refused():
    sites = '[{ name = "a", position = ["0 m", "0 m"] }]'
    text = RADIO % sites
    other = text[text.index("[cell.macro]") : text.index("[ue.phone]")]
    other = other.replace("[cell.macro]", "[cell.macro-a]").replace(f"sites = {sites}\n", "")
    with pytest.raises(fadeout.ScenarioError, match="another cell is called `macro-a`"):
        fadeout.check(text + other)


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        ("[]", "no sites"),
        (
            '[{ name = "a", position = ["0 m", "0 m"] },'
            ' { name = "a", position = ["9 m", "0 m"] }]',
            "two sites of the cell `macro-a`",
        ),
        ('[{ name = "a" }]', "missing key `position`"),
        ('[{ name = "a b", position = ["0 m", "0 m"] }]', "`macro-a b` is not a name"),
        ('[{ name = "a", position = ["0 m", "0 m"], hight = "3 m" }]', "unknown key `hight`"),
        ("[3]", "expected a site, found"),
        (
            '[{ name = "a", position = ["0 m", "0 m"] }]\nposition = ["1 m", "1 m"]',
            "a `position` with `sites`",
        ),
        ('[{ name = "a", position = ["0 m", "0 m"], azimuth = 3 }]\n#', None),
    ],
)
def test_a_wrong_list_of_sites_is_refused(sites: str, message: str | None):
    text = RADIO % sites
    if message is None:
        text, message = (
            text.replace('antenna = "sector"', ""),
            "the cell's antenna has no direction",
        )
    with pytest.raises(fadeout.ScenarioError, match=re.escape(message)):
        fadeout.check(text)


def test_inspect_prints_the_cells_of_a_table_of_sites(scenario):
    path = scenario("cell,x,y\na,0,0\nb,500,0\n")
    report = inspect_table(path.parent / "sites.csv")
    assert report.rows == 2
    assert 'sites = { measurement = "sites" }' in report.scenario
