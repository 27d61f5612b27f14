"""Each key of the schema at its least and at its greatest value."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from fadeout._schema import required_of
from generator.bases import Scenario, all_bases
from generator.mutate import Case, shorten
from generator.schema import FILES, Draw, Node, Place, extremes, load, options, shape_for

_SKIPPED = frozenset({*FILES, "name", "kind", "model", "mode", "title", "duration", "seed", "from",
                      "to", "node", "core"})  # fmt: skip


@dataclass(frozen=True)
class Leaf:
    """A key of the schema, with the nodes of the path from the root to the key."""

    place: Place
    """Keys of the path. `*` is a name that the user gives, and a number is an item."""
    nodes: tuple[Any, ...]
    """Node of the table before each key."""
    value: Any

    def name(self) -> str:
        """Returns the key and its value as a message says it."""
        return f"{'.'.join(map(str, self.place))} = {self.value!r}"


@cache
def leaves() -> tuple[Leaf, ...]:
    """Returns each key with each of its extreme values."""
    return tuple(_leaves(load(), (), ()))


def _leaves(node: Node, place: Place, nodes: tuple[Any, ...]) -> Iterator[Leaf]:
    for option in options(node):
        yield from _leaves(option, place, nodes)
    inner = dict(node.get("properties", {}))
    if isinstance(node.get("additionalProperties"), dict):
        inner["*"] = node["additionalProperties"]
    for key, one in inner.items():
        if key in _SKIPPED:
            continue
        here = (*place, key)
        for value in extremes(one):
            yield Leaf(here, (*nodes, node), value)
        yield from _leaves(one, here, (*nodes, node))
        if isinstance(one.get("items"), dict):
            yield from _leaves(one["items"], (*here, 0), (*nodes, node, one))


def case_of(leaf: Leaf, seed: int, attempt: int) -> Case:
    """Returns a case with a key at its value, in a base that `attempt` chooses."""
    random = Random(f"{seed} {leaf.name()}")
    bases = all_bases()
    fits = [name for name in sorted(bases) if _depth(bases[name], leaf) > 0]
    # A table that no base has, such as [measurement.NAME], is made in any of them.
    fits = fits or sorted(bases)
    random.shuffle(fits)
    fits.sort(key=lambda name: -_depth(bases[name], leaf))
    base = deepcopy(bases[fits[attempt % len(fits)]])
    shorten(base, random)
    case = Case(deepcopy(base), base)
    case.kept = _plant(case.scenario, leaf, Draw(random, base, 0.0))
    return case


def _depth(base: Scenario, leaf: Leaf) -> int:
    """Returns the number of tables of the path that the base scenario has."""
    value: Any = base
    key: Any
    for depth, key in enumerate(leaf.place[:-1]):
        if not isinstance(value, dict | list):
            return depth
        if key == "*":
            key = next(iter(value), None) if isinstance(value, dict) else None
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            # A table at the top, such as [probe], needs no base that has it.
            return max(depth, int("*" not in leaf.place))
    return len(leaf.place)


def _plant(scenario: Scenario, leaf: Leaf, draw: Draw) -> Place:
    """Sets the key, makes the missing tables of its path, and returns the place."""
    table: Any = scenario
    place: Place = ()
    key: Any
    for depth, key in enumerate(leaf.place[:-1]):
        if key == "*":
            key = next(iter(table), "m0")
        place = (*place, key)
        following = leaf.nodes[depth + 1]
        found = table[key] if _has(table, key) else None
        if following.get("type") == "array":
            if not isinstance(found, list) or not found:
                table[key] = [{}]
        elif not isinstance(found, dict) or shape_for(found, following) is None:
            if isinstance(table, list) and not table:
                table.append({})
            table[key] = _required(following, draw, place)
        table = table[key]
    last: Any = leaf.place[-1]
    if last == "*":
        last = next(iter(table), "m0")
    table[last] = leaf.value
    return (*place, last)


def _has(table: Any, key: Any) -> bool:
    return key < len(table) if isinstance(table, list) else key in table


def _required(node: Node, draw: Draw, place: Place) -> Scenario:
    found = {key: draw.value(node["properties"][key], key, place) for key in required_of(node)}
    for key in ("name", "kind", "model", "mode"):
        names = node.get("properties", {}).get(key, {}).get("enum")
        if names:
            found[key] = names[0]
    return found
