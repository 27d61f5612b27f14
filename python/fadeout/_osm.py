"""Buildings of OpenStreetMap extracts, in metres around an origin.

Buildings are ways and multipolygons with `building`. Parts with `building:part` take the place of
the building around them. Heights are those of the tags, else levels times a height, else a default.

Source: OpenStreetMap's Simple 3D Buildings,
https://wiki.openstreetmap.org/wiki/Simple_3D_Buildings.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from fadeout import _projection
from fadeout._projection import Projection, ProjectionError

LEVEL_M = 3.0
DEFAULT_M = 10.0
MOST_WALLS = 50_000
"""Largest number of walls of an extract. Each ray examines every wall near it."""

Place = tuple[float, float]
Ring = list[Place]


class OsmError(Exception):
    """A mistake in an extract, with the expected content."""


@dataclass(frozen=True)
class Building:
    """A building or a part of one."""

    rings: Sequence[Ring]
    """The outer wall and the walls of courtyards, in metres east and north."""
    height: float
    base: float


@dataclass
class Extract:
    """The content of an extract, by OpenStreetMap's numbers."""

    nodes: dict[int, Place] = field(default_factory=dict)
    """Longitude and latitude of each node."""
    node_tags: dict[int, dict[str, str]] = field(default_factory=dict)
    """Tags of the nodes that have tags."""
    ways: dict[int, tuple[list[int], dict[str, str]]] = field(default_factory=dict)
    relations: list[tuple[list[tuple[str, int, str]], dict[str, str]]] = field(default_factory=list)


@dataclass(frozen=True)
class _Shape:
    """A footprint by its rings of longitudes and latitudes, the outer one first."""

    rings: Sequence[Ring]
    tags: Mapping[str, str]
    is_part: bool


def buildings(
    file: Path,
    *,
    projection: Projection | None = None,
    default_m: float = DEFAULT_M,
    level_m: float = LEVEL_M,
) -> list[Building]:
    """Returns the buildings of an extract, `.osm` or `.osm.pbf`.

    Args:
        file: the extract.
        projection: the projection of the map. Default: that around the middle of the buildings.
        default_m: height of buildings with neither height nor levels.
        level_m: height of a level.

    Raises:
        OsmError: the file is not an extract, or has no buildings, or too many.
        OSError: the file cannot be read.
    """
    extract = read(file)
    shapes = list(_with_parts(list(_shapes(extract))))
    if not shapes:
        raise OsmError(
            f"{file} has no buildings; expected closed ways or multipolygons with `building`, as "
            "in an export of openstreetmap.org or of `osmium extract`"
        )
    walls = sum(len(ring) for shape in shapes for ring in shape.rings)
    if walls > MOST_WALLS:
        raise OsmError(
            f"{file} has buildings with {walls:,} walls; expected a smaller extract, with at most "
            f"{MOST_WALLS:,}"
        )
    if projection is None:
        places = (place for shape in shapes for place in shape.rings[0])
        projection = _projection.around(middle(places))
    every = [place for shape in shapes for ring in shape.rings for place in ring]
    projected = iter(project(file, every, projection))
    found = []
    for shape in shapes:
        height, base = heights(shape.tags, default_m, level_m)
        rings = [list(islice(projected, len(ring))) for ring in shape.rings]
        if height > base and all(abs(x) < 1e6 and abs(y) < 1e6 for ring in rings for x, y in ring):
            found.append(Building(rings, height, base))
    if not found:
        raise OsmError(f"{file} has no buildings within 1,000 km of the origin")
    return found


def project(file: Path, places: Sequence[Place], projection: Projection) -> list[Place]:
    """Returns east and north in metres of longitudes and latitudes of an extract.

    Raises:
        OsmError: a place is too far away.
    """
    try:
        east, north = projection.forward([lon for lon, _ in places], [lat for _, lat in places])
    except ProjectionError as error:
        raise OsmError(f"{file}: {error}") from None
    return list(zip(east.tolist(), north.tolist(), strict=True))


def middle(places: Iterable[Place]) -> Place:
    """Returns latitude and longitude of the middle of one or more places."""
    lons, lats = zip(*places, strict=True)
    return (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2


def middle_of_buildings(extract: Extract) -> Place | None:
    """Returns the point at 0 m, 0 m if no origin is given. None if there are no buildings."""
    outlines = [shape.rings[0] for shape in _with_parts(list(_shapes(extract)))]
    return middle(place for ring in outlines for place in ring) if outlines else None


_NUMBER = re.compile(r"\s*([0-9]+(?:[.,][0-9]+)?)\s*(m|metres?|meters?|ft|feet|')?\s*")


def metres(text: str | None) -> float | None:
    """Returns the length in a tag as metres. The tag may have a unit. None for other text."""
    match = _NUMBER.fullmatch((text or "").lower())
    if match is None:
        return None
    value = float(match[1].replace(",", "."))
    value *= 0.3048 if match[2] in ("ft", "feet", "'") else 1.0
    return value if value < 1e4 else None


def heights(tags: Mapping[str, str], default_m: float, level_m: float) -> tuple[float, float]:
    """Returns the height of a building's top and underside by its tags."""
    height = metres(tags.get("height") or tags.get("building:height"))
    if height is None:
        levels = metres(tags.get("building:levels"))
        if levels is not None:
            roof = metres(tags.get("roof:height"))
            height = levels * level_m + (
                roof if roof is not None else (metres(tags.get("roof:levels")) or 0.0) * level_m
            )
    base = metres(tags.get("min_height"))
    if base is None:
        base = (metres(tags.get("building:min_level")) or 0.0) * level_m
    if height is None or height <= 0:
        height = max(default_m, base + level_m) if base else default_m
    return height, base


def read(file: Path) -> Extract:
    if not file.is_file():
        raise OsmError(f"{file} is missing; expected an OpenStreetMap extract")
    if file.name.endswith(".pbf"):
        return _read_pbf(file)
    extract = Extract()
    if has_document_type(file):
        raise OsmError(
            f"{file} has a document type, which may declare entities; expected XML of "
            "OpenStreetMap, which has none"
        )
    try:
        root_name = None
        for event, element in ET.iterparse(file, events=("start", "end")):
            if root_name is None:
                root_name = element.tag
                if root_name not in ("osm", "osmChange"):
                    raise OsmError(f"{file} begins with <{root_name}>; expected <osm>")
            if event == "end" and element.tag in ("node", "way", "relation"):
                _element(file, extract, element)
                element.clear()
    except ET.ParseError as error:
        raise OsmError(f"{file}: {error}; expected XML of OpenStreetMap") from None
    return extract


def has_document_type(file: Path) -> bool:
    """Returns True if an XML file has a document type. It stands before the first element."""
    with file.open("rb") as stream:
        return b"<!DOCTYPE" in stream.read(1 << 16).upper()


def _element(file: Path, extract: Extract, element: ET.Element) -> None:
    try:
        number = int(element.get("id", ""))
        tags = {tag.get("k", ""): tag.get("v", "") for tag in element.iter("tag")}
        match element.tag:
            case "node":
                place = float(element.get("lon", "")), float(element.get("lat", ""))
                if not (abs(place[0]) <= 180 and abs(place[1]) <= 90):
                    raise ValueError
                extract.nodes[number] = place
                if tags:
                    extract.node_tags[number] = tags
            case "way":
                refs = [int(one.get("ref", "")) for one in element.iter("nd")]
                extract.ways[number] = (refs, tags)
            case _:
                members = [
                    (one.get("type", ""), int(one.get("ref", "")), one.get("role", ""))
                    for one in element.iter("member")
                ]
                extract.relations.append((members, tags))
    except ValueError:
        what = f"{element.tag} {element.get('id', '')[:20]}"
        raise OsmError(
            f"{file}: the {what} has an attribute that is not a number or out of range; expected "
            "`id`, `lat`, `lon` and `ref` of OpenStreetMap"
        ) from None


def _read_pbf(file: Path) -> Extract:
    try:
        import osmium
    except ImportError:
        raise OsmError(
            f"{file}: to read .pbf, `pip install 'fadeout[osm]'`, or convert it to .osm with "
            "`osmium cat`"
        ) from None
    extract = Extract()
    library: Any = osmium
    try:
        for one in library.FileProcessor(str(file)):
            tags = {tag.k: tag.v for tag in one.tags}
            if one.is_node():
                extract.nodes[one.id] = (one.lon, one.lat)
                if tags:
                    extract.node_tags[one.id] = tags
            elif one.is_way():
                extract.ways[one.id] = ([node.ref for node in one.nodes], tags)
            elif one.is_relation():
                kinds = {"n": "node", "w": "way", "r": "relation"}
                members = [(kinds.get(m.type, ""), m.ref, m.role) for m in one.members]
                extract.relations.append((members, tags))
    except RuntimeError as error:
        raise OsmError(f"{file}: {error}; expected a .pbf of OpenStreetMap") from None
    return extract


def _kind(tags: Mapping[str, str]) -> bool | None:
    """Returns True for tags of a building part, False for a whole building, None for others."""
    if tags.get("building:part", "no") != "no":
        return True
    return None if tags.get("building", "no") == "no" else False


def _shapes(extract: Extract) -> Iterator[_Shape]:
    """Yields buildings and building parts. A shape with missing nodes, as at the edge of an
    extract, is left out.
    """
    used: set[int] = set()
    for members, tags in extract.relations:
        is_part = _kind(tags)
        if tags.get("type") != "multipolygon" or is_part is None:
            continue
        own = {"outer": [], "inner": []}
        for kind, ref, role in members:
            if kind == "way" and ref in extract.ways:
                own["inner" if role == "inner" else "outer"].append(ref)
        outer = _assemble([extract.ways[ref][0] for ref in own["outer"]])
        inner = _assemble([extract.ways[ref][0] for ref in own["inner"]])
        used.update(own["outer"])
        outers = [ring for ring in (_places(extract, refs) for refs in outer) if ring]
        inners = [ring for ring in (_places(extract, refs) for refs in inner) if ring]
        for ring in outers:
            holes = [hole for hole in inners if contains(ring, hole[0])]
            yield _Shape([ring, *holes], tags, is_part)
    for number, (refs, tags) in extract.ways.items():
        is_part = _kind(tags)
        if is_part is None or number in used or len(refs) < 4 or refs[0] != refs[-1]:
            continue
        ring = _places(extract, refs)
        if ring:
            yield _Shape([ring], tags, is_part)


def _assemble(ways: Iterable[Sequence[int]]) -> list[list[int]]:
    """Returns closed rings of ways that follow each other, in any order and direction."""
    rings: list[list[int]] = []
    left = [list(way) for way in ways if len(way) >= 2]
    while left:
        ring = left.pop()
        while ring[0] != ring[-1]:
            for number, way in enumerate(left):
                if way[0] == ring[-1]:
                    ring += way[1:]
                elif way[-1] == ring[-1]:
                    ring += way[-2::-1]
                else:
                    continue
                del left[number]
                break
            else:
                break
        if ring[0] == ring[-1] and len(ring) >= 4:
            rings.append(ring)
    return rings


def _places(extract: Extract, refs: Sequence[int]) -> Ring | None:
    """Returns the places of a closed ring, each once. None if a place is missing, or if the ring
    encloses no area.
    """
    ring: Ring = []
    for ref in refs[:-1]:
        place = extract.nodes.get(ref)
        if place is None:
            return None
        if not ring or place != ring[-1]:
            ring.append(place)
    return ring if len(set(ring)) >= 3 else None


def _with_parts(shapes: Sequence[_Shape]) -> Iterator[_Shape]:
    """Yields all parts, and the buildings without parts."""
    parts = [shape for shape in shapes if shape.is_part]
    middles = [_inner_place(part.rings[0]) for part in parts]
    yield from parts
    for shape in shapes:
        if shape.is_part:
            continue
        ring = shape.rings[0]
        west, east = min(x for x, _ in ring), max(x for x, _ in ring)
        south, north = min(y for _, y in ring), max(y for _, y in ring)
        has_parts = any(
            west <= x <= east and south <= y <= north and contains(ring, (x, y)) for x, y in middles
        )
        if not has_parts:
            yield shape


def _inner_place(ring: Ring) -> Place:
    """Returns a place within a ring: the middle of a diagonal's part that lies inside."""
    x, y = sum(x for x, _ in ring) / len(ring), sum(y for _, y in ring) / len(ring)
    if contains(ring, (x, y)):
        return x, y
    # The point is the middle of the first segment of the horizontal line that lies inside the ring.
    crossings = sorted(_crossings(ring, y))
    return ((crossings[0] + crossings[1]) / 2, y) if len(crossings) >= 2 else ring[0]


def contains(ring: Sequence[Place], place: Place) -> bool:
    """Returns True if a place lies within a ring."""
    x, y = place
    return sum(x < crossing for crossing in _crossings(ring, y)) % 2 == 1


def _crossings(ring: Sequence[Place], y: float) -> Iterator[float]:
    """Yields the crossings of the walls of a ring with a line from west to east."""
    for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (y0 > y) != (y1 > y):
            yield x0 + (y - y0) / (y1 - y0) * (x1 - x0)
