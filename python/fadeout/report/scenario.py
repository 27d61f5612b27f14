"""The scenario of a run against the defaults of its keys."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fadeout import _schema, _toml
from fadeout._quantities import in_base_unit
from fadeout._run import ScenarioText
from fadeout.campaign.axes import quantity

NAMING = ("name", "kind", "model", "mode")
"""Keys that hold the name of a registered entry, in its table form."""

_MANY_DECIMALS = re.compile(r"\d+\.\d{6,}(e[-+]?\d+)?")

NODE = ".NAME.node"
"""End of the pattern of keys whose default is the name of their entry."""


@dataclass
class Setting:
    """A key of the resolved scenario. Entries with equal values share one."""

    pattern: str
    """The path with `NAME` for names that the user chose."""
    value: str
    default: str
    """Empty if the key has none."""
    is_default: bool
    names: list[str]
    """Full paths of the entries with this value."""

    @property
    def shown(self) -> str:
        """The path, or the pattern with the number of entries."""
        if len(self.names) == 1:
            return self.names[0]
        return f"{self.pattern} ({len(self.names):,} entries)"


@cache
def _known() -> dict[str, _schema.Key]:
    return {key.path: key for key in _schema.all_keys()}


@cache
def _tables() -> frozenset[str]:
    """Returns every path of the schema that has keys below it."""
    found = set()
    for path in _known():
        parts = path.split(".")
        found |= {".".join(parts[:end]) for end in range(1, len(parts))}
    return frozenset(found)


def source(scenario: Mapping[str, Any], base: Path | None) -> ScenarioText:
    """Returns a resolved scenario as a source for a run. Its files are relative to `base`."""
    return ScenarioText(_toml.dumps(scenario), "scenario", None if base is None else str(base))


def reason(error: Exception) -> str:
    """Returns the first line of a scenario's error, with a remedy if there is one."""
    lines = str(error).strip().removeprefix("error: ").splitlines()
    text = lines[0] if lines else repr(error)
    if "No such file" in text:
        text += (
            "; write the report from the folder of the scenario, to which its files are relative"
        )
    return text


def settings(scenario: Mapping[str, Any]) -> list[Setting]:
    """Returns the keys of a resolved scenario with their defaults, in the scenario's order."""
    found: dict[tuple[str, str], Setting] = {}
    for path, pattern, value in _leaves(scenario, (), ()):
        text = shown(value)
        shared = _without_number(path, text)
        known = found.get((pattern, shared))
        if known is not None:
            known.names.append(path)
            known.value = shared
            continue
        key = _known().get(pattern)
        default = key.default if key else ""
        setting = Setting(pattern, text, _plain(default), _is_default(value, default), [path])
        if pattern.endswith(NODE) and path.split(".")[-2] == text:
            # The default is the entry's own name, which the schema cannot have.
            setting.default, setting.is_default = shared, True
        found[pattern, shared] = setting
    return list(found.values())


def _without_number(path: str, text: str) -> str:
    """Returns a value with `N` for a number that the name of its entry ends with, too."""
    numbers = re.findall(r"-(\d+)(?=\.)", path)
    if numbers and text.endswith(f"-{numbers[-1]}"):
        return text.removesuffix(numbers[-1]) + "N"
    return text


def _leaves(
    table: Mapping[str, Any], path: tuple[str, ...], pattern: tuple[str, ...]
) -> Iterator[tuple[str, str, Any]]:
    for key, value in table.items():
        here = (*path, key)
        literal, named = ".".join((*pattern, key)), ".".join((*pattern, "NAME"))
        is_known = literal in _known() or literal in _tables()
        goes_by_name = not is_known and (named in _known() or named in _tables())
        next_pattern = (*pattern, "NAME") if goes_by_name else (*pattern, key)
        if isinstance(value, Mapping) and value and not _is_entry(value):
            yield from _leaves(value, here, next_pattern)
        elif value != {}:
            yield ".".join(here), ".".join(next_pattern), value


def _is_entry(value: Mapping[str, Any]) -> bool:
    """Returns True for a registered entry in its table form, which is shown as one value."""
    return any(isinstance(value.get(key), str) for key in NAMING) and len(value) <= 4


def shown(value: Any) -> str:  # noqa: ANN401 - a value of a scenario
    """Returns a value in few words: text without quotes, a named entry by its name alone."""
    name = _name_of(value)
    if name is not None:
        return name
    if isinstance(value, str):
        return value
    text = _toml.value(value)
    return text if len(text) <= 400 else f"{text[:400]} … ({len(text):,} characters)"


def short_numbers(text: str) -> str:
    """Returns a text whose numbers have six digits, such as speeds converted from km/h."""
    return _MANY_DECIMALS.sub(lambda found: f"{float(found[0]):.6g}", text)


def _name_of(value: Any) -> str | None:  # noqa: ANN401 - a value of a scenario
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, name),) = value.items()
        if key in NAMING and isinstance(name, str):
            return name
    return None


def _plain(default: str) -> str:
    return "" if not default else shown(json.loads(default))


def _is_default(value: Any, default: str) -> bool:  # noqa: ANN401 - a value of a scenario
    if not default:
        return False
    other = json.loads(default)
    if value == other or _name_of(value) == other or shown(value) == shown(other):
        return True
    return _amount(value) is not None and _amount(value) == _amount(other)


def _amount(value: Any) -> tuple[float, str] | None:  # noqa: ANN401 - a value of a scenario
    found = (
        quantity(value)
        if not isinstance(value, Mapping | Sequence) or isinstance(value, str)
        else None
    )
    return None if found is None else in_base_unit(*found)
