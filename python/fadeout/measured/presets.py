"""Presets: the keys of a measurement for known formats of logs, each a TOML file."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fadeout import _names
from fadeout.measured.errors import MeasuredError
from fadeout.measured.keys import FIELDS, is_valid
from fadeout.measured.quantities import QUANTITIES


@dataclass(frozen=True)
class Preset:
    """Keys for a known format of log."""

    name: str
    title: str
    source: str
    """Where the format is described."""
    header: Sequence[str]
    """Columns that identify the format. Empty if no column does."""
    kind: str
    """`table`, or `mahimahi` for a list of delivery opportunities."""
    keys: Mapping[str, Any]
    text: str
    """The preset's file."""


@lru_cache
def presets() -> Mapping[str, Preset]:
    """Returns the presets of this package by their names."""
    folder = files("fadeout.measured") / "formats"
    found = {}
    for one in sorted(folder.iterdir(), key=lambda file: file.name):
        if one.name.endswith(".toml"):
            name = one.name.removesuffix(".toml")
            found[name] = _preset(name, one.read_text(encoding="utf-8"), one.name)
    return found


def read_preset(name: str, base: Path) -> Preset:
    """Returns the preset of this name, or that of the file at this path relative to `base`.

    Raises:
        MeasuredError: there is no such preset, or its file is wrong.
    """
    if name in presets():
        return presets()[name]
    if not is_path(name):
        raise MeasuredError(_names.unknown("preset", name, [*presets()]), key="preset")
    path = base / name
    try:
        return _preset(path.stem, path.read_text(encoding="utf-8"), name)
    except (OSError, UnicodeDecodeError) as error:
        raise MeasuredError(f"{name}: {error}; expected a preset in TOML", key="preset") from None


def is_path(name: str) -> bool:
    """Returns True if the name of a preset is a path."""
    return name.endswith(".toml")


def _preset(name: str, text: str, file: str) -> Preset:
    try:
        own = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MeasuredError(f"{file}: {error}; expected a preset in TOML", key="preset") from None
    title = own.pop("title", name)
    source = own.pop("source", "")
    header = own.pop("header", [])
    kind = own.pop("kind", "table")
    for key in own:
        if key not in FIELDS:
            raise MeasuredError(f"{file}: {_names.unknown('key', key, [*FIELDS])}", key="preset")
    for key in ("columns", "units"):
        for quantity in own.get(key, {}) if isinstance(own.get(key), dict) else ():
            if quantity not in QUANTITIES:
                message = _names.unknown("quantity", quantity, [*QUANTITIES])
                raise MeasuredError(f"{file}: {key}: {message}", key="preset")
    if not is_valid({"file": "", **own}):
        raise MeasuredError(
            f"{file} has a value of the wrong type; expected the keys of [measurement.NAME]",
            key="preset",
        )
    texts = [title, source, kind]
    is_list = isinstance(header, list) and all(isinstance(one, str) for one in header)
    if not is_list or not all(isinstance(one, str) for one in texts):
        raise MeasuredError(
            f"{file}: expected texts as `title`, `source` and `kind`, and column names as `header`",
            key="preset",
        )
    return Preset(name, title, source, header, kind, own, text)


def recognised(columns: Sequence[str]) -> Preset | None:
    """Returns the preset whose columns are all in a table. None if there is none.

    If several presets fit, it is the one with the most columns.
    """
    there = {one.strip() for one in columns}
    fitting = [one for one in presets().values() if one.header and there.issuperset(one.header)]
    return max(fitting, key=lambda one: len(one.header), default=None)
