"""Streets of OpenStreetMap extracts."""

import math
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fadeout
from fadeout import _osm, _streets
from fadeout._projection import around
from test_osm import ORIGIN, node, tagged, way

HELSINKI = Path(__file__).resolve().parents[1] / "data/osm/helsinki-streets.osm"
SIGNALS = tagged({"highway": "traffic_signals"})


def lit(number: int, x: float, y: float) -> str:
    return node(number, x, y).replace("/>", f">{SIGNALS}</node>")


def extract(tmp_path: Path, *parts: str) -> Path:
    file = tmp_path / "town.osm"
    file.write_text(f"<osm>{''.join(parts)}</osm>")
    return file


def read(file: Path, origin: tuple[float, float] | None = ORIGIN) -> pl.DataFrame:
    projection = None if origin is None else around(origin)
    return pl.read_csv(_streets.table(file, projection).encode(), separator=";")


CROSS = (
    node(1, -200, 0) + lit(2, -20, 0) + node(3, 0, 0) + node(4, 200, 0),
    node(5, 0, -200) + node(6, 0, 200) + node(7, 60, 200),
)


def test_a_crossing_has_the_light_that_stands_before_it(tmp_path: Path):
    file = extract(
        tmp_path,
        *CROSS,
        way(1, [1, 2, 3, 4], highway="primary", lanes="4", maxspeed="60"),
        way(2, [5, 3, 6], highway="residential"),
        way(3, [7, 6], highway="tertiary_link", oneway="-1", maxspeed="20 mph"),
        way(4, [1, 6], highway="footway"),
        way(5, [1, 7], highway="service"),
    )
    rows = read(file)
    assert rows.group_by("street", maintain_order=True).len()["len"].to_list() == [4, 3, 2]
    first = rows.group_by("street", maintain_order=True).first()
    assert first["lanes"].to_list() == [2, 1, 0]
    assert first["lanes_back"].to_list() == [2, 1, 1]
    assert first["speed_kmh"].to_list() == pytest.approx([60, 50, 32.18688])
    lights = rows.filter(pl.col("light") == 1)
    assert lights.select("x_m", "y_m").unique().rows() == [(0.0, 0.0)]


@pytest.mark.parametrize(
    ("tags", "lanes"),
    [
        ({}, (1, 1)),
        ({"oneway": "yes"}, (1, 0)),
        ({"oneway": "yes", "lanes": "3"}, (3, 0)),
        ({"oneway": "-1", "lanes": "2"}, (0, 2)),
        ({"junction": "roundabout"}, (1, 0)),
        ({"highway": "motorway"}, (2, 0)),
        ({"highway": "trunk"}, (2, 2)),
        ({"lanes": "1"}, (1, 1)),
        ({"lanes": "3"}, (1, 1)),
        ({"lanes": "3", "lanes__backward": "1"}, (2, 1)),
        ({"lanes__forward": "2"}, (2, 2)),
        ({"lanes__forward": "2", "lanes__backward": "1"}, (2, 1)),
        ({"lanes": "many"}, (1, 1)),
    ],
)
def test_lanes_are_those_of_the_tags(tmp_path: Path, tags: dict[str, str], lanes: tuple[int, int]):
    file = extract(tmp_path, *CROSS, way(1, [1, 3], **{"highway": "secondary"} | tags))
    rows = read(file)
    assert rows.select("lanes", "lanes_back").row(0) == lanes


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("50", 50),
        ("30 mph", 48.28032),
        ("80 km/h", 80),
        ("walk", 7),
        ("none", 130),
        ("FI:urban", 50),
        ("FI:unknown", 20),
        ("signals", 20),
        ("0", 20),
    ],
)
def test_limits_are_those_of_the_tags(tmp_path: Path, written: str, limit: float):
    file = extract(tmp_path, *CROSS, way(1, [1, 3], highway="living_street", maxspeed=written))
    assert read(file)["speed_kmh"][0] == pytest.approx(limit)


@pytest.mark.parametrize(
    "tags",
    [
        {"access": "private"},
        {"motor_vehicle": "no"},
        {"tunnel": "yes"},
        {"area": "yes"},
        {"highway": "cycleway"},
    ],
)
def test_streets_that_cars_do_not_take_are_none(tmp_path: Path, tags: dict[str, str]):
    file = extract(tmp_path, *CROSS, way(1, [1, 3], **{"highway": "residential"} | tags))
    with pytest.raises(_osm.OsmError, match="has no streets"):
        read(file)


def test_a_street_that_leaves_the_extract_is_there_as_far_as_it_goes(tmp_path: Path):
    file = extract(tmp_path, *CROSS, way(1, [98, 1, 2, 99, 3, 4], highway="residential"))
    rows = read(file)
    assert rows.group_by("street", maintain_order=True).len()["len"].to_list() == [2, 2]


SCENARIO = """
duration = "20 s"
[vehicles.cars]
road = {{ streets = "{file}", origin = [60.1690, 24.9440], light-cycle = "60 s" }}
number = {number}
following = "krauss"
warm-up = "30 s"
[link.l]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
[flow.f]
from = "a"
to = "b"
"""


def test_cars_in_helsinki_stay_in_the_lanes_of_its_streets(tmp_path: Path):
    scenario = tmp_path / "helsinki.toml"
    scenario.write_text(SCENARIO.format(file=HELSINKI, number=150))
    rows = fadeout.tracks(scenario)
    streets = read(HELSINKI, (60.1690, 24.9440))
    pieces = [
        (one, other, width)
        for _, street in streets.group_by("street", maintain_order=True)
        for width in [3.5 * (street["lanes"][0] + street["lanes_back"][0])]
        for one, other in pairwise(street.select("x_m", "y_m").rows())
    ]

    def off(place: tuple[float, float]) -> float:
        """Returns the distance of a place outside the nearest street."""
        return min(away(place, one, other) - width for one, other, width in pieces)

    places = rows.sample(400, seed=1).select("x_m", "y_m").rows()
    # Lanes lie within the width of their street, beside its middle. Lanes across a crossing lie
    # within those of two streets.
    assert max(off(place) for place in places) < 3.5
    by_car = rows.sort("vehicle", "time_s").partition_by("vehicle")
    assert len(by_car) == 150
    moved = 0.0
    for car in by_car:
        # The front of the car, as the box behind it swings out where a lane bends.
        heading, ahead = car["heading_deg"] * (math.pi / 180), 0.5 * car["length_m"]
        x, y = car["x_m"] + ahead * heading.cos(), car["y_m"] + ahead * heading.sin()
        way = (x.diff() ** 2 + y.diff() ** 2).sqrt().drop_nulls().to_list()
        step = car["time_s"].diff().drop_nulls().max()
        # Streets there have at most 50 km/h, and drivers exceed it by about 20 % at most.
        assert isinstance(step, float)
        assert max(way) < 1.7 * 50 / 3.6 * step
        moved += sum(way)
    assert moved > 150 * 20 * 2


def away(place: tuple[float, float], one: tuple[float, float], other: tuple[float, float]) -> float:
    (x, y), (x0, y0), (x1, y1) = place, one, other
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length
    along = min(max(along, 0.0), length)
    return math.hypot(x - x0 - along * (x1 - x0) / length, y - y0 - along * (y1 - y0) / length)


def test_the_same_extract_makes_the_same_table_once(tmp_path: Path):
    scenario = tmp_path / "helsinki.toml"
    scenario.write_text(SCENARIO.format(file=HELSINKI, number=20))
    assert fadeout.tracks(scenario).equals(fadeout.tracks(scenario))


def test_without_an_origin_streets_and_buildings_lie_as_in_the_map(tmp_path: Path):
    house = "".join(node(20 + n, x, y) for n, (x, y) in enumerate([(300, 9), (320, 9), (320, 29)]))
    file = extract(
        tmp_path,
        *CROSS,
        house,
        way(1, [1, 3, 4], highway="residential"),
        way(2, [20, 21, 22, 20], building="yes"),
    )
    (building,) = _osm.buildings(file)
    (x, y) = building.rings[0][0]
    rows = read(file, None)
    assert x - rows["x_m"][0] == pytest.approx(500, abs=0.1)
    assert y - rows["y_m"][0] == pytest.approx(9, abs=0.1)


@pytest.mark.parametrize(
    ("road", "message"),
    [
        ('{ streets = "gone.osm" }', "gone.osm is missing"),
        ('{ streets = "town.csv" }', "without a column `street`"),
        ('{ streets = "one-way.osm" }', "drive forever"),
        ('{ streets = "town.osm", lanes = 2 }', "unknown key `lanes`"),
    ],
)
def test_what_is_no_map_is_refused(tmp_path: Path, road: str, message: str):
    (tmp_path / "town.csv").write_text("a;b\n1;2\n")
    extract(tmp_path, *CROSS, way(1, [1, 3], highway="residential", oneway="yes")).rename(
        tmp_path / "one-way.osm"
    )
    extract(tmp_path, *CROSS, way(1, [1, 3], highway="residential"))
    scenario = tmp_path / "town.toml"
    text = SCENARIO.format(file="x", number=5)
    scenario.write_text(
        text.replace(text.splitlines()[3], f"road = {road}"),
    )
    with pytest.raises(fadeout.ScenarioError, match=message):
        fadeout.tracks(scenario)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(1, 9), max_size=6),
            st.sampled_from(["yes", "no", "-1", "?"]),
            st.sampled_from(["1", "2", "99", "-3", "", "2.5"]),
            st.sampled_from(["50", "0", "nan", "1e9", "x mph"]),
        ),
        max_size=8,
    ),
    st.lists(st.tuples(st.integers(-300, 300), st.integers(-300, 300)), max_size=9),
)
def test_hostile_streets_are_refused_or_driven(
    tmp_path_factory: pytest.TempPathFactory,
    ways: list[tuple[list[int], str, str, str]],
    nodes: list[tuple[int, int]],
):
    folder = tmp_path_factory.mktemp("town")
    file = extract(
        folder,
        *(lit(number, x, y) for number, (x, y) in enumerate(nodes, 1)),
        *(
            way(n, refs, highway="residential", oneway=one_way, lanes=lanes, maxspeed=limit)
            for n, (refs, one_way, lanes, limit) in enumerate(ways)
        ),
    )
    scenario = folder / "town.toml"
    text = SCENARIO.format(file=file, number=3).replace('"20 s"', '"1 s"')
    scenario.write_text(text.replace('warm-up = "30 s"', 'warm-up = "1 s"'))
    try:
        rows = fadeout.tracks(scenario)
    except fadeout.ScenarioError:
        return
    assert rows.select(pl.col("x_m", "y_m").is_finite().all()).row(0) == (True, True)
