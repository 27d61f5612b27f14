"""Streets of OpenStreetMap extracts, in metres around an origin.

Streets are ways with `highway` that cars may use. Lanes, direction and speed limit come from the
tags. A missing tag has the usual value for the class of street.

Source: OpenStreetMap's keys highway, oneway, lanes, maxspeed,
https://wiki.openstreetmap.org/wiki/Key:highway.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from pathlib import Path

from fadeout import _osm, _projection
from fadeout._osm import Extract, OsmError, Place
from fadeout._projection import Projection

LIMITS_KMH: Mapping[str, float] = {
    "motorway": 120.0,
    "trunk": 100.0,
    "primary": 50.0,
    "secondary": 50.0,
    "tertiary": 50.0,
    "unclassified": 50.0,
    "residential": 50.0,
    "living_street": 20.0,
}
"""Speed limits by class of street, if no tag gives a limit. A link has that of its street."""
TWO_LANES = ("motorway", "trunk")
"""Classes of streets with two lanes each way, for streets whose tags give no number."""
COUNTRYWIDE: Mapping[str, float] = {"urban": 50.0, "rural": 90.0, "motorway": 120.0, "trunk": 100.0}
"""Speed limits by the second part of a `maxspeed` tag such as `FI:urban`."""
WALK_KMH = 7.0
UNLIMITED_KMH = 130.0
MOST_LANES = 20
MILE_KM = 1.609344
NEAR_M = 40.0
"""Largest distance of a traffic light from the crossing that it belongs to."""
HEADER = "street;x_m;y_m;lanes;lanes_back;speed_kmh;light"


@dataclass(frozen=True)
class Street:
    """A way that cars may use."""

    refs: Sequence[int]
    """Nodes of the way. All of them have a position."""
    lanes: int
    """Number of lanes from the first node to the last."""
    lanes_back: int
    speed_kmh: float


def table(file: Path, projection: Projection | None = None) -> str:
    """Returns the streets of an extract as the table that the simulator reads.

    Args:
        file: the extract, `.osm` or `.osm.pbf`.
        projection: the projection of the map. Default: that around the middle of the buildings, or
            of the streets if there are none.

    Raises:
        OsmError: the file is not an extract, or has no streets.
        OSError: the file cannot be read.
    """
    extract = _osm.read(file)
    streets = list(_streets(extract))
    if not streets:
        raise OsmError(
            f"{file} has no streets; expected ways with `highway`, such as `residential`, as in an "
            "export of openstreetmap.org or of `osmium extract`"
        )
    if projection is None:
        origin = _osm.middle_of_buildings(extract) or _osm.middle(
            extract.nodes[ref] for street in streets for ref in street.refs
        )
        projection = _projection.around(origin)
    refs = list(dict.fromkeys(ref for street in streets for ref in street.refs))
    nodes = [extract.nodes[ref] for ref in refs]
    projected = _osm.project(file, nodes, projection)
    places = dict(zip(refs, projected, strict=True))
    if any(max(abs(x), abs(y)) > 1e6 for x, y in places.values()):
        raise OsmError(f"{file} has streets more than 1,000 km away from the origin")
    lights = _lights(extract, streets, places)
    rows = [HEADER]
    for number, street in enumerate(streets):
        for ref in street.refs:
            x, y = places[ref]
            rows.append(
                f"{number};{x:.3f};{y:.3f};{street.lanes};{street.lanes_back};{street.speed_kmh:g};"
                f"{int(ref in lights)}"
            )
    return "\n".join(rows) + "\n"


def _streets(extract: Extract) -> Iterator[Street]:
    for refs, tags in extract.ways.values():
        kind = tags.get("highway", "").removesuffix("_link")
        if kind not in LIMITS_KMH or _is_closed(tags):
            continue
        lanes = _lanes(kind, tags)
        speed = _limit(tags.get("maxspeed")) or LIMITS_KMH[kind]
        # Nodes outside an extract have no place, so a street may be cut into parts.
        inside: list[int] = []
        for ref in [*refs, None]:
            if ref is not None and ref in extract.nodes:
                inside.append(ref)
                continue
            if len(inside) >= 2:
                yield Street(inside, *lanes, speed)
            inside = []


def _is_closed(tags: Mapping[str, str]) -> bool:
    """Returns True if cars may not use the street, or radio waves do not reach it."""
    access = next(
        (tags[key] for key in ("motorcar", "motor_vehicle", "vehicle", "access") if key in tags),
        "yes",
    )
    return (
        access in ("no", "private", "forestry", "agricultural", "emergency")
        or tags.get("area") == "yes"
        or tags.get("tunnel", "no") not in ("no", "building_passage")
    )


def _lanes(kind: str, tags: Mapping[str, str]) -> tuple[int, int]:
    """Returns the numbers of lanes in both directions."""
    is_round = tags.get("junction") in ("roundabout", "circular")
    usual = "yes" if is_round or kind == "motorway" else "no"
    one_way = tags.get("oneway", usual)
    whole, there, back = (
        _count(tags.get(key)) for key in ("lanes", "lanes:forward", "lanes:backward")
    )
    each = 2 if kind in TWO_LANES else 1
    if one_way in ("yes", "true", "1"):
        return there or whole or each, 0
    if one_way in ("-1", "reverse"):
        return 0, back or whole or each
    if there is None and back is None:
        half = max((whole or 2 * each) // 2, 1)
        return half, half
    if there is None or back is None:
        known = there or back or 1
        other = max((whole or 2 * known) - known, 1)
        return (known, other) if there else (other, known)
    return there, back


def _count(text: str | None) -> int | None:
    match = re.fullmatch(r"\s*([0-9]{1,2})(?:\.[0-9])?\s*", text or "")
    count = int(match[1]) if match else 0
    return min(count, MOST_LANES) or None


def _limit(text: str | None) -> float | None:
    """Returns a speed limit in kilometres per hour. None if it cannot be read."""
    text = (text or "").strip().lower()
    if text == "walk":
        return WALK_KMH
    if text == "none":
        return UNLIMITED_KMH
    match = re.fullmatch(r"([0-9]{1,3})\s*(mph|km/h|kmh)?", text)
    if match is None:
        return COUNTRYWIDE.get(text.rpartition(":")[2]) if ":" in text else None
    limit = float(match[1]) * (MILE_KM if match[2] == "mph" else 1.0)
    return limit or None


def _lights(extract: Extract, streets: Sequence[Street], places: Mapping[int, Place]) -> set[int]:
    """Returns the crossings with a traffic light at the crossing or within `NEAR_M` of it."""
    arms: Counter[int] = Counter()
    for street in streets:
        arms.update([*street.refs, *street.refs])
        arms.subtract([street.refs[0], street.refs[-1]])

    def is_crossing(ref: int) -> bool:
        return arms[ref] >= 3

    def is_lit(ref: int) -> bool:
        return extract.node_tags.get(ref, {}).get("highway") == "traffic_signals"

    lights = {ref for ref in arms if is_lit(ref) and is_crossing(ref)}
    for street in streets:
        for refs, leads in (
            (street.refs, street.lanes),
            (list(reversed(street.refs)), street.lanes_back),
        ):
            if not leads:
                continue
            way = None
            for before, ref in pairwise(refs):
                if is_lit(before) and not is_crossing(before):
                    way = 0.0
                if way is not None:
                    (x0, y0), (x1, y1) = places[before], places[ref]
                    way += hypot(x1 - x0, y1 - y0)
                    if is_crossing(ref):
                        if way <= NEAR_M:
                            lights.add(ref)
                        way = None
    return lights
