"""Values of the scenario format's keys, typical ones and those at the limits."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fadeout._schema import required_of

ROOT = Path(__file__).parents[3]
Node = dict[str, Any]
"""A node of the JSON Schema."""
Place = tuple[str | int, ...]
"""Keys from the top of a scenario down to a value."""

_UNITS = {
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
    "rate": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12},
    "size": {"B": 1.0, "kB": 1e3, "KiB": 2.0**10, "MB": 1e6, "MiB": 2.0**20, "GB": 1e9,
             "GiB": 2.0**30, "TB": 1e12},
    "packets": {"packets": 1.0, "packet": 1.0},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "length": {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3},
    "ratio": {"dB": 1.0},
    "power": {"dBm": 1.0},
    "angle": {"deg": 1.0},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6},
}  # fmt: skip

_STEP = {"time": 1e-9, "rate": 1.0, "size": 1.0, "packets": 1.0, "frequency": 1.0}
"""Least step of the kinds that are whole numbers of their smallest unit."""


class Span(NamedTuple):
    """Values of a kind that an ordinary scenario has."""

    least: float
    most: float


_TYPICAL = {
    "time": Span(1e-3, 1.0),
    "rate": Span(1e5, 2e8),
    "size": Span(100, 1e6),
    "packets": Span(2, 1000),
    "frequency": Span(7e8, 4e10),
    "length": Span(0.5, 500),
    "ratio": Span(0, 20),
    "power": Span(-110, 46),
    "angle": Span(1, 120),
    "speed": Span(0.1, 60),
}
_LINEAR = frozenset({"ratio", "power", "angle"})
"""Kinds drawn evenly; the others are drawn evenly in the logarithm."""


class Quantity(NamedTuple):
    """A number with the kind of its unit, in the kind's base unit."""

    kind: str
    value: float


@dataclass(frozen=True)
class Bounds:
    """Least and greatest accepted values. `None` if the schema names none."""

    least: float | None = None
    most: float | None = None


@cache
def load() -> Node:
    """Returns the schema that the repository ships."""
    return json.loads((ROOT / "schemas" / "scenario.schema.json").read_text())


def quantity(text: str) -> Quantity | None:
    """Returns the quantity that `text` says, `None` if it is no quantity."""
    match = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?\d+)?)\s*([A-Za-z/]+)\s*", text)
    if match is None:
        return None
    for kind, units in _UNITS.items():
        if match[2] in units:
            return Quantity(kind, float(match[1]) * units[match[2]])
    return None


def text_of(kind: str, value: float) -> str:
    """Returns a quantity as a scenario writes it."""
    if kind == "time":
        whole = round(value * 1e9)
        return f"{whole // 1_000_000} ms" if whole % 1_000_000 == 0 else f"{whole} ns"
    unit = next(iter(_UNITS[kind]))
    return f"{math.ceil(value)} {unit}" if kind in _STEP else f"{value:.9g} {unit}"


def bounds_of(kind: str, node: Node) -> Bounds:
    """Returns the bounds of a quantity, which the schema has as a comment."""
    least = most = None
    words = r"(greater than|at least|at most|less than) ([-+0-9.eE]+ [A-Za-z/]+)"
    for word, text in re.findall(words, node.get("$comment", "")):
        found = quantity(text)
        if found is None:
            continue
        step = _STEP.get(kind, 1e-3)
        if word in ("greater than", "at least"):
            least = found.value + (step if word == "greater than" else 0)
        else:
            most = found.value - (step if word == "less than" else 0)
    return Bounds(least, most)


def kind_of(node: Node) -> str | None:
    """Returns the kind of quantity of a node, `None` if it is something else."""
    reference = node.get("$ref")
    return None if reference is None else reference.rsplit("/", 1)[-1]


def extremes(node: Node) -> list[Any]:
    """Returns the least and the greatest value of a key, and each value of an enumeration."""
    kind = kind_of(node)
    if kind is not None:
        bounds = bounds_of(kind, node)
        # Parameters of algorithms have bounds in the program alone: their least is tried at zero.
        least = 0.0 if bounds.least is None else bounds.least
        values = [least] if bounds.most is None else [least, bounds.most]
        return [text_of(kind, value) for value in values]
    if "const" in node:
        return [node["const"]]
    if "enum" in node:
        return list(node["enum"])
    if node.get("type") == "boolean":
        return [True, False]
    if node.get("type") in ("integer", "number"):
        return _extreme_numbers(node)
    # A parameter is a number or a quantity: the number has the bounds of both.
    has_number = any(option.get("type") in ("integer", "number") for option in options(node))
    return [
        value
        for option in options(node)
        if not (has_number and "$ref" in option and "$comment" not in option)
        for value in extremes(option)
    ]


def _extreme_numbers(node: Node) -> list[int | float]:
    whole = node["type"] == "integer"
    found: list[int | float] = []
    if "minimum" in node:
        found.append(node["minimum"])
    elif "exclusiveMinimum" in node:
        found.append(node["exclusiveMinimum"] + (1 if whole else 1e-9))
    if "maximum" in node:
        found.append(node["maximum"])
    return found if whole else [float(value) for value in found]


def options(node: Node) -> list[Node]:
    """Returns the alternatives of a node."""
    return [*node.get("anyOf", []), *node.get("oneOf", [])]


def shape_for(table: dict[str, Any], node: Node | None) -> Node | None:
    """Returns the alternative of `node` that describes `table`, `None` if none does."""
    if node is None:
        return None
    if "properties" in node or isinstance(node.get("additionalProperties"), dict):
        return node if _fits(table, node) else None
    return next((found for one in options(node) if (found := shape_for(table, one))), None)


def _fits(table: dict[str, Any], node: Node) -> bool:
    known = node.get("properties", {})
    if not known:
        return True
    names = (
        table[key] in shape["enum"]
        for key, shape in known.items()
        if "enum" in shape and key in ("name", "kind", "model", "mode") and key in table
    )
    return set(table) <= set(known) and all(names)


def tables(table: dict[str, Any], node: Node, path: Place = ()) -> Iterator[tuple[Place, Node]]:
    """Yields each table of a scenario that has keys of its own, with its place and its node."""
    shape = shape_for(table, node)
    if shape is None:
        return
    if shape.get("properties"):
        yield path, shape
    for key, item in table.items():
        inner = shape.get("properties", {}).get(key, shape.get("additionalProperties"))
        if not isinstance(inner, dict):
            continue
        if isinstance(item, dict):
            yield from tables(item, inner, (*path, key))
        elif isinstance(item, list) and isinstance(inner.get("items"), dict):
            for number, one in enumerate(item):
                if isinstance(one, dict):
                    yield from tables(one, inner["items"], (*path, key, number))


class Draw:
    """Draws values of keys. A share `wild` of the numbers is at or between the limits."""

    def __init__(self, random: Random, scenario: dict[str, Any], wild: float) -> None:
        self.random = random
        self.scenario = scenario
        self.wild = wild
        self.optional = random.choice((0.08, 0.25, 0.5))
        """Probability that a table gets an optional key."""

    def value(self, node: Node, key: str, path: Place = ()) -> Any:
        """Returns a value for `key`, whose table is at `path`."""
        kind = kind_of(node)
        if kind is not None:
            return text_of(kind, self._quantity(kind, node))
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self.random.choice(node["enum"])
        if options(node):
            return self.value(self.random.choice(options(node)), key, path)
        match node.get("type"):
            case "boolean":
                return self.random.random() < 0.5
            case "integer" | "number":
                return self._number(node)
            case "string":
                return self._name(key, path)
            case "array":
                return self._array(node, key, path)
            case _:
                return self._table(node, key, path)

    def _quantity(self, kind: str, node: Node) -> float:
        bounds, pick = bounds_of(kind, node), self.random.random()
        if pick < self.wild:
            value = self.random.choice([bounds.least, bounds.most, 0.0, 1e-6, 1e3])
            value = 0.0 if value is None else value
        else:
            default = quantity(node["default"]) if isinstance(node.get("default"), str) else None
            value = self._near(default, kind)
        if bounds.least is not None:
            value = max(value, bounds.least)
        return value if bounds.most is None else min(value, bounds.most)

    def _near(self, default: Quantity | None, kind: str) -> float:
        if default is not None and default.kind == kind and self.random.random() < 0.5:
            if kind in _LINEAR:
                return default.value + self.random.uniform(-10, 10)
            return default.value * 10 ** self.random.uniform(-1, 1)
        span = _TYPICAL[kind]
        if kind in _LINEAR:
            return self.random.uniform(*span)
        return 10 ** self.random.uniform(math.log10(span.least), math.log10(span.most))

    def _number(self, node: Node) -> int | float:
        least = node.get("minimum", node.get("exclusiveMinimum", 0))
        if "exclusiveMinimum" in node:
            least += 1 if node["type"] == "integer" else 1e-9
        most = node.get("maximum", max(least, 1e6))
        default = node.get("default")
        if self.random.random() < self.wild:
            value = self.random.choice([least, most, self.random.uniform(least, most)])
        elif isinstance(default, int | float) and default and self.random.random() < 0.6:
            value = default * 10 ** self.random.uniform(-0.7, 0.7)
        else:
            value = self.random.uniform(least, min(most, least + 200))
        value = min(max(value, least), most)
        return round(value) if node["type"] == "integer" else float(f"{value:.6g}")

    def _array(self, node: Node, key: str, path: Place) -> list[Any]:
        if "prefixItems" in node:
            return [self.value(one, key, path) for one in node["prefixItems"]]
        least = node.get("minItems", 0)
        number = self.random.randint(least, max(least, min(node.get("maxItems", 3), least + 2)))
        return [self.value(node["items"], key, path) for _ in range(number)]

    def _table(self, node: Node, key: str, path: Place) -> dict[str, Any]:
        required, found = required_of(node), {}
        chance = self.optional / (1 + 0.5 * len(path))
        for name, inner in node.get("properties", {}).items():
            if name in required or (name not in FILES and self.random.random() < chance):
                found[name] = self.value(inner, name, (*path, key))
        inner = node.get("additionalProperties")
        if not node.get("properties") and isinstance(inner, dict):
            found[f"m{self.random.randint(0, 3)}"] = self.value(inner, key, (*path, key))
        return found

    def _name(self, key: str, path: Place) -> str:
        top = str(path[0]) if path else ""
        names = self._names(key, top)
        return self.random.choice(names) if names else "none-such"

    def _names(self, key: str, top: str) -> list[str]:
        def of(*kinds: str) -> list[str]:
            return [name for kind in kinds for name in sorted(self.scenario.get(kind, {}))]

        if key in ("from", "to") and top == "handover":
            return of("link", "rab")
        if key in ("from", "to", "node", "core"):
            return self._nodes()
        if key in ("cell", "pscell", "secondary-cells", "carriers"):
            return of("cell")
        if key in ("link", "route", "forwarding-route", "paths", "links"):
            return of("link", "ue", "rab")
        if key in ("vehicles", "deployment"):
            return of(key)
        return of("link", "ue") if key.endswith("capture") else []

    def _nodes(self) -> list[str]:
        found: set[str] = set()
        for kind in ("link", "rab"):
            for table in self.scenario.get(kind, {}).values():
                if isinstance(table, dict):
                    found |= {str(table[end]) for end in ("from", "to") if end in table}
        for kind in ("ue", "cell"):
            for name, table in self.scenario.get(kind, {}).items():
                found.add(str(table.get("node", name)) if isinstance(table, dict) else name)
        return sorted(found)


FILES = frozenset({"command", "kernel", "file", "trace", "series"})
"""Keys that need something outside the scenario. They are not drawn."""
