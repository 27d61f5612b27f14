"""Keys of a measurement, as in the table [measurement] of a scenario and in presets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fadeout.measured.quantities import QUANTITIES

MISSING = ("", "-", "--", "nan", "na", "n/a", "null", "none", "?", "2147483647", "2147483647.0")
"""Texts of missing values, in lower case."""
OUTSIDE = ("hold", "repeat", "end", "refuse")
DUPLICATES = ("first", "last", "mean", "refuse")
ORDER = ("refuse", "sort")
INTERPOLATE = ("linear", "step")
FIELDS = {
    "columns": dict,
    "units": dict,
    "missing": list,
    "time": str,
    "zone": str,
    "start": str,
    "outside": OUTSIDE,
    "duplicates": DUPLICATES,
    "order": ORDER,
    "interpolate": INTERPOLATE,
    "maximum-gap": str,
    "origin": list,
    "reference-power": str,
    "cells": list,
}
"""Keys that a scenario and a preset share, with their type or their words."""


@dataclass(frozen=True)
class Keys:
    """Interpretation of a measured table."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of each quantity."""
    units: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = MISSING
    time: str | None = None
    zone: str = "UTC"
    start: str | None = None
    outside: str | None = None
    duplicates: str = "refuse"
    order: str = "refuse"
    interpolate: str = "linear"
    maximum_gap_s: float | None = 60.0
    """None if any gap is allowed."""
    origin: tuple[float, float] | None = None
    reference_power_dbm: float | None = None
    cells: Mapping[str, str] = field(default_factory=dict)


def is_valid(table: Mapping[str, Any]) -> bool:
    """Returns True if the keys of a table have the right types.

    Otherwise the reader of scenarios reports the mistakes.
    """
    for key, value in table.items():
        if key in ("file", "preset"):
            if not isinstance(value, str):
                return False
            continue
        wanted = FIELDS.get(key)
        if wanted is None:
            return False
        if isinstance(wanted, tuple):
            if value not in wanted:
                return False
        elif not isinstance(value, wanted):
            return False
        if wanted is dict and not all(
            name in QUANTITIES and isinstance(text, str) for name, text in value.items()
        ):
            return False
        if key == "missing" and not all(isinstance(one, str) for one in value):
            return False
        if key == "cells" and not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
            for pair in value
        ):
            return False
        if key == "origin" and not (
            len(value) == 2 and all(isinstance(one, int | float) for one in value)
        ):
            return False
    return "file" in table


def keys_of(table: Mapping[str, Any]) -> Keys:
    """Returns the keys of a table in the form of a scenario. Absent keys have their defaults."""
    keys = Keys()
    for key, value in table.items():
        match key:
            case "columns" | "units":
                keys = replace(keys, **{key: dict(value)})
            case "missing":
                keys = replace(keys, missing=tuple(one.lower() for one in value))
            case "cells":
                keys = replace(keys, cells=dict(value))
            case "origin":
                keys = replace(keys, origin=(float(value[0]), float(value[1])))
            case "maximum-gap":
                # The reader of scenarios reports texts that are no time or no power.
                keys = replace(keys, maximum_gap_s=seconds_of(value))
            case "reference-power":
                keys = replace(keys, reference_power_dbm=_dbm(value))
            case "time" | "zone" | "start" | "outside" | "duplicates" | "order" | "interpolate":
                keys = replace(keys, **{key: value})
    return keys


_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_SPAN = re.compile(rf"\s*({_NUMBER})\s*(ns|us|µs|ms|s|min|h)\s*")
_POWER = re.compile(rf"\s*([-+]?{_NUMBER})\s*dBm\s*")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_LARGEST_S = 9e9
"""Largest time in seconds. Its nanoseconds are a 64-bit number."""


def seconds_of(text: str) -> float | None:
    """Returns the seconds of text such as "30 s". None for other texts and larger times."""
    match = _SPAN.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else None
    return seconds if seconds is not None and seconds <= _LARGEST_S else None


def _dbm(text: str) -> float | None:
    match = _POWER.fullmatch(text)
    return float(match[1]) if match else None
