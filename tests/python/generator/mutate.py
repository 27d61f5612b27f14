"""Changes of a scenario by the schema, and the repair of refused places."""

from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fadeout import _toml
from fadeout._schema import required_of
from generator.bases import Scenario, all_bases, combined
from generator.schema import FILES, Draw, Place, load, quantity, tables

_FIXED = frozenset({*FILES, "name", "kind", "model", "mode", "title", "duration", "seed"})
"""Keys that say which table it is, or how long a case takes. They are not changed."""
_MISSING = object()


@dataclass
class Case:
    """A scenario and the base that it was made from."""

    scenario: Scenario
    base: Scenario
    changed: list[Place] = field(default_factory=list)
    """Places that were changed, in order."""
    kept: Place | None = None
    """A place that a repair must not change. `None` if each place may change."""

    def text(self) -> str:
        """Returns the scenario as TOML with one value a line."""
        return "".join(f"{dotted(place)} = {_toml.value(value)}\n" for place, value in self.lines())

    def lines(self) -> list[tuple[Place, Any]]:
        """Returns the values of the lines of `text`, with their places."""
        return list(_leaves(self.scenario, ()))

    def repair(self, lines: list[int | None]) -> bool:
        """Gives back the base's values where errors are. Returns False if nothing was left."""
        places = [place for place, _ in self.lines()]
        named = [places[line - 1] for line in lines if line and line <= len(places)]
        if self.kept is not None and any(place[: len(self.kept)] == self.kept for place in named):
            return False
        given_back = [self._give_back(place) for place in named]
        if any(given_back):
            return True
        while self.changed:
            place = self.changed.pop()
            if place != self.kept and self._give_back(place):
                return True
        return False

    def _give_back(self, place: Place) -> bool:
        """Restores the shortest part of a place that the base has not, or its value."""
        for length in range(1, len(place) + 1):
            part = place[:length]
            mine, theirs = at(self.scenario, part), at(self.base, part)
            if mine is _MISSING:
                return False
            if theirs is _MISSING:
                del at(self.scenario, part[:-1])[part[-1]]
                return True
            if type(mine) is not type(theirs) or (length == len(place) and mine != theirs):
                at(self.scenario, part[:-1])[part[-1]] = deepcopy(theirs)
                return True
        # The error is at the head of a table, or the value is the base's own: its table returns.
        part = place[:-1]
        if len(part) > 1 and at(self.scenario, part) != at(self.base, part):
            at(self.scenario, part[:-1])[part[-1]] = deepcopy(at(self.base, part))
            return True
        return False


def at(value: Any, place: Place) -> Any:
    """Returns the value at a place of a scenario, `_MISSING` if there is none."""
    for key in place:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def dotted(place: Place) -> str:
    """Returns a place as a key of TOML."""
    return ".".join(str(key) for key in place)


def _leaves(table: Scenario, place: Place) -> Any:
    for key, item in table.items():
        if isinstance(item, dict) and item:
            yield from _leaves(item, (*place, key))
        else:
            yield (*place, key), item


def mutated(seed: int) -> Case:
    """Returns the case of a seed: a base, or features drawn at random, and some changes."""
    random = Random(seed)
    bases = all_bases()
    is_combined = random.random() < 0.4
    base = combined(random) if is_combined else deepcopy(bases[random.choice(sorted(bases))])
    shorten(base, random)
    case = Case(deepcopy(base), base)
    wild = random.choice((0.0, 0.1, 0.1, 0.4))
    for _ in range(random.choice((1, 2, 3, 4, 6, 8, 12, 16))):
        _change(case, random, wild)
    return case


def shorten(base: Scenario, random: Random) -> None:
    """Sets a short duration, and brings times of the scenario into it."""
    duration = random.randint(50, 400) / 1000
    whole = quantity(str(base.get("duration", "1 s")))
    scale = duration / whole.value if whole is not None and random.random() < 0.4 else 1.0
    for key in ("blockage", "handover", "flow"):
        if key in base and scale < 1:
            base[key] = _scaled(base[key], scale)
    base["duration"] = f"{round(duration * 1000)} ms"
    base["seed"] = random.randrange(2**40)


def _scaled(value: Any, scale: float) -> Any:
    if isinstance(value, dict):
        return {key: _scaled(item, scale) for key, item in value.items()}
    if isinstance(value, list):
        return [_scaled(item, scale) for item in value]
    found = quantity(value) if isinstance(value, str) else None
    if found is None or found.kind != "time":
        return value
    return f"{max(1, round(found.value * scale * 1e6))} us"


_NEW = ("probe", "mobility-management", "blockage-prediction", "blockage", "flow", "link", "ue",
        "cell", "rab", "building", "vehicles", "deployment", "handover", "worlds")  # fmt: skip


def _change(case: Case, random: Random, wild: float) -> None:
    """Sets, adds or removes one key. Every kind of table has the same probability."""
    scenario = case.scenario
    by_kind: dict[str, list[tuple[Place, Any]]] = {}
    for place, node in tables(scenario, load()):
        by_kind.setdefault(str(place[0]) if place else "", []).append((place, node))
    place, node = random.choice(by_kind[random.choice(sorted(by_kind))])
    draw = Draw(random, scenario, wild)
    if not place:
        _add(case, draw, random.choice(_NEW), node)
        return
    table = at(scenario, place)
    keys = [key for key in node["properties"] if key not in _FIXED]
    if not keys:
        return
    key = random.choice(keys)
    if key in table and key not in required_of(node) and random.random() < 0.15:
        del table[key]
    else:
        table[key] = draw.value(node["properties"][key], key, place)
    case.changed.append((*place, key))


def _add(case: Case, draw: Draw, key: str, top: Any) -> None:
    node = top["properties"][key]
    named = node.get("additionalProperties")
    if isinstance(named, dict):
        name = f"m{draw.random.randint(0, 3)}"
        case.scenario.setdefault(key, {})[name] = draw.value(named, key, (key,))
        case.changed.append((key, name))
    else:
        case.scenario[key] = draw.value(node, key)
        case.changed.append((key,))
