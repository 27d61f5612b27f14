"""Scenarios as dicts, written as TOML."""

import datetime
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fadeout._native import ScenarioError

DEEPEST = 64
"""Maximum depth of nesting. Scenarios have at most six levels."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """Returns the TOML of `document`. Keys whose value is None are left out.

    Raises:
        ScenarioError: the nesting is endless, or deeper than any scenario.
        TypeError: a value has no form in TOML.
    """
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines).strip() + "\n"


def value(item: Any, depth: int = 0) -> str:  # noqa: ANN401
    """Returns one value in TOML syntax, on one line. See `dumps`."""
    if depth > DEEPEST:
        raise _too_deep()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        if math.isnan(item):
            return "nan"
        if math.isinf(item):
            return "inf" if item > 0 else "-inf"
        return repr(item)
    if isinstance(item, str | PurePath):
        return _quoted(str(item))
    if isinstance(item, datetime.datetime | datetime.date | datetime.time):
        return item.isoformat()
    if isinstance(item, Mapping):
        pairs = (f"{_key(k)} = {value(v, depth + 1)}" for k, v in item.items() if v is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(item, Sequence) and not isinstance(item, bytes | bytearray):
        return "[" + ", ".join(value(v, depth + 1) for v in item) + "]"
    # Numbers and arrays of numpy and polars can convert themselves to Python values.
    plain = getattr(item, "tolist", None) or getattr(item, "item", None)
    if callable(plain):
        return value(plain(), depth + 1)
    raise TypeError(f"a scenario cannot hold a {type(item).__name__}: {item!r}")


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    if len(path) > DEEPEST:
        raise _too_deep(path)
    nested: list[tuple[str, Any]] = []
    for key, item in table.items():
        if not isinstance(key, str):
            raise TypeError(f"a scenario's keys are strings, not {type(key).__name__}: {key!r}")
        if item is None:
            continue
        if isinstance(item, Mapping) or _is_table_array(item):
            nested.append((key, item))
        else:
            lines.append(f"{_key(key)} = {value(item)}")
    for key, item in nested:
        here = (*path, key)
        name = ".".join(_key(part) for part in here)
        if isinstance(item, Mapping):
            lines += ["", f"[{name}]"]
            _table(item, here, lines)
        else:
            for entry in item:
                lines += ["", f"[[{name}]]"]
                _table(entry, here, lines)


def _is_table_array(item: Any) -> bool:  # noqa: ANN401
    return (
        isinstance(item, Sequence)
        and not isinstance(item, str | bytes)
        and len(item) > 0
        and all(isinstance(entry, Mapping) for entry in item)
    )


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    # JSON escapes the same characters as TOML, except the delete character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _too_deep(path: tuple[str, ...] = ()) -> ScenarioError:
    where = f" at {'.'.join(path[:4])}..." if path else ""
    return ScenarioError(
        f"<dict>: nested more than {DEEPEST} levels deep{where}; does it contain itself?"
    )
