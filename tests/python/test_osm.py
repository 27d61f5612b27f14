"""Buildings of OpenStreetMap extracts."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fadeout
from fadeout import _osm
from fadeout._projection import around

HELSINKI = Path(__file__).resolve().parents[1] / "data/osm/helsinki.osm"
ORIGIN = (60.0, 25.0)

# A metre in degrees at the origin, from the Earth's radii of curvature there.
NORTH = 1 / 111_412.0
EAST = 1 / 55_800.0


def node(number: int, x: float, y: float) -> str:
    lat, lon = ORIGIN[0] + y * NORTH, ORIGIN[1] + x * EAST
    return f'<node id="{number}" lat="{lat:.9f}" lon="{lon:.9f}"/>'


def square(first: int, x: float, y: float, half: float) -> str:
    corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
    return "".join(node(first + n, x + dx, y + dy) for n, (dx, dy) in enumerate(corners))


def way(number: int, refs: list[int], **tags: str) -> str:
    nodes = "".join(f'<nd ref="{ref}"/>' for ref in refs)
    return f'<way id="{number}">{nodes}{tagged(tags)}</way>'


def tagged(tags: dict[str, str]) -> str:
    return "".join(
        f'<tag k="{key.replace("__", ":")}" v="{value}"/>' for key, value in tags.items()
    )


def ring(first: int) -> list[int]:
    return [first, first + 1, first + 2, first + 3, first]


def by_hand() -> str:
    parts = [
        # A building of two half walls around a courtyard.
        square(1, 0, 0, 30) + square(11, 0, 0, 15),
        way(1, [1, 2, 3]) + way(2, [1, 4, 3]) + way(3, ring(11)),
        '<relation id="1"><member type="way" ref="1" role="outer"/>'
        '<member type="way" ref="2" role="outer"/><member type="way" ref="3" role="inner"/>'
        + tagged({"type": "multipolygon", "building": "yes", "building:levels": "5"})
        + "</relation>",
        # A tower of two parts, the upper one on the roof of the lower one.
        square(21, 100, 0, 10) + square(31, 100, 0, 4),
        way(11, ring(21), building="yes", height="99"),
        way(12, ring(21), building__part="yes", height="12 m"),
        way(13, ring(31), building__part="yes", height="100'", min_height="12"),
        # A shed of unknown height, a bridge, and a building with a missing corner.
        square(41, 0, 100, 5) + way(21, ring(41), building="shed"),
        square(51, 0, -100, 5) + way(22, ring(51), bridge="yes"),
        way(23, [41, 42, 999, 41], building="yes"),
    ]
    return f'<osm version="0.6">{"".join(parts)}</osm>'


@pytest.fixture
def extract(tmp_path: Path) -> Path:
    path = tmp_path / "town.osm"
    path.write_text(by_hand())
    return path


def test_an_extract_written_by_hand(extract: Path):
    found = _osm.buildings(extract, projection=around(ORIGIN), default_m=7, level_m=3.5)
    by_height = {(round(one.height, 2), one.base): one for one in found}
    assert set(by_height) == {(17.5, 0.0), (12.0, 0.0), (30.48, 12.0), (7.0, 0.0)}
    block = by_height[17.5, 0.0]
    assert [len(one) for one in block.rings] == [4, 4]
    for one, half in zip(block.rings, (30, 15), strict=True):
        assert sorted(abs(x) for x, _ in one) == pytest.approx([half] * 4, rel=2e-3)
        assert sorted(abs(y) for _, y in one) == pytest.approx([half] * 4, rel=2e-3)


def test_an_extract_of_helsinki():
    found = _osm.buildings(HELSINKI)
    assert len(found) == 28
    assert sum(len(one.rings) > 1 for one in found) == 1
    assert sum(one.base > 0 for one in found) == 7
    every = [place for one in found for ring in one.rings for place in ring]
    assert max(abs(x) for x, _ in every) < 170
    assert max(abs(y) for _, y in every) < 170


@pytest.mark.parametrize(
    ("text", "metres"),
    [("12", 12), ("12.5 m", 12.5), ("12,5", 12.5), ("40 ft", 12.192), ("40'", 12.192)]
    + [(bad, None) for bad in ("high", "-3", "1e9", "", "12 km", "99999", None)],
)
def test_lengths_as_tags_have_them(text: str | None, metres: float | None):
    found = _osm.metres(text)
    assert found == (None if metres is None else pytest.approx(metres))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<osm><node id="1" lat="1" lon="1"/></osm>', "has no buildings"),
        ("<osm>", "expected XML"),
        ("no", "expected XML"),
        ("<html/>", "begins with <html>; expected <osm>"),
        ('<osm><node id="x" lat="1" lon="1"/></osm>', "the node x has an attribute"),
        ('<osm><node id="1" lat="91" lon="1"/></osm>', "out of range"),
        ('<osm><way id="1"><nd/></way></osm>', "the way 1 has an attribute"),
    ],
)
def test_what_is_no_extract_is_refused(tmp_path: Path, text: str, message: str):
    (tmp_path / "a.osm").write_text(text)
    scenario = tmp_path / "a.toml"
    scenario.write_text('[building.town]\nfile = "a.osm"\n')
    with pytest.raises(fadeout.ScenarioError, match=message) as caught:
        fadeout.check(scenario)
    assert 'building "town"' in str(caught.value)


def test_an_extract_as_pbf_is_the_same(tmp_path: Path):
    osmium = pytest.importorskip("osmium")
    packed = tmp_path / "helsinki.osm.pbf"
    with osmium.SimpleWriter(str(packed)) as writer:
        for one in osmium.FileProcessor(str(HELSINKI)):
            writer.add(one)
    assert _osm.buildings(packed) == _osm.buildings(HELSINKI)


def test_a_missing_extract_is_refused(tmp_path: Path):
    with pytest.raises(_osm.OsmError, match="is missing"):
        _osm.buildings(tmp_path / "gone.osm")
    (tmp_path / "bad.osm.pbf").write_bytes(b"not protocol buffers")
    with pytest.raises(_osm.OsmError):
        _osm.buildings(tmp_path / "bad.osm.pbf")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10_000), st.integers(0, 400), st.binary(max_size=20)), max_size=6
    )
)
def test_no_hostile_extract_does_more_than_be_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int, bytes]]
):
    text = by_hand().encode()
    for at, length, put in changes:
        at %= len(text) + 1
        text = text[:at] + put + text[at + length :]
    path = tmp_path_factory.mktemp("osm", numbered=True) / "a.osm"
    path.write_bytes(text)
    try:
        found = _osm.buildings(path)
    except _osm.OsmError:
        return
    for one in found:
        assert one.height > one.base >= 0
        assert all(len(ring) >= 3 for ring in one.rings)
        assert all(math.isfinite(x) and math.isfinite(y) for ring in one.rings for x, y in ring)


@pytest.mark.filterwarnings("ignore:the scenario has no flow")
def test_walls_cut_what_courtyards_do_not(extract: Path):
    scenario = extract.with_suffix(".toml")
    ues = "\n".join(
        f'[ue.{name}]\nposition = ["{x} m", "{y} m"]'
        for name, x, y in (("court", 8, 0), ("street", 45, 0), ("under", 100, 40))
    )
    scenario.write_text(
        'duration = "1 s"\n[building.town]\nfile = "town.osm"\norigin = [60, 25]\n'
        '[cell.unit]\ncarrier = "28 GHz"\nbandwidth = "100 MHz"\nheight = "5 m"\n'
        'channel = { path-loss = "v2x-urban", line-of-sight = "geometry" }\n' + ues
    )
    sights = fadeout.sights(scenario, every="1 s").filter(time_s=0.0)
    behind = dict(sights.select("ue", "behind_building").rows())
    assert behind == {"court": False, "street": True, "under": True}
    # The resolved scenario gives the same results without the file.
    results = fadeout.run(scenario)
    extract.unlink()
    resolved = results.manifest["scenario"]
    assert set(resolved["building"]) == {"town", "town-1", "town-2", "town-3"}
    again = fadeout.sights(resolved, every="1 s").filter(time_s=0.0)
    assert dict(again.select("ue", "behind_building").rows()) == behind
    legend = results.plot.map().axes[0].get_legend()
    assert legend is not None
    assert "building" in [text.get_text() for text in legend.get_texts()]
