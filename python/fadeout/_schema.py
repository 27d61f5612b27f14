"""The keys of a scenario, from its JSON Schema."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from fadeout import _native

Entry = dict[str, Any]


@dataclass(frozen=True)
class Key:
    """A key of a scenario."""

    path: str
    """Where it stands: `link.NAME.rate`."""
    doc: str
    value: str
    """What a value looks like, in a few words."""
    default: str
    """As a scenario would write it; empty where there is none."""
    is_required: bool
    names: tuple[str, ...] = ()
    """The words that it may be."""
    tag: str = ""
    """In the table form of a named thing, the key with its name."""

    @property
    def name(self) -> str:
        """The key alone."""
        return self.path.rsplit(".", 1)[-1]

    @property
    def short(self) -> str:
        """The path as `--set` takes it: without the names of links, flows and the like."""
        return self.path.replace(".NAME", "")


@cache
def all_keys() -> list[Key]:
    """Every key of a scenario but the parameters of what is named, in the order of the schema."""
    schema = json.loads(_native.schema())
    seen: dict[str, Key] = {}
    for key in _keys("", schema, schema.get("$defs", {})):
        seen.setdefault(key.path, key)
    return list(seen.values())


def _keys(path: str, table: Entry, definitions: Entry) -> Iterator[Key]:
    required = table.get("required", [])
    for name, entry in table.get("properties", {}).items():
        entry = resolve(entry, definitions)
        here = f"{path}.{name}" if path else name
        default = json.dumps(entry["default"], ensure_ascii=False) if "default" in entry else ""
        yield Key(
            here,
            entry.get("description", ""),
            shape(entry, definitions),
            default,
            name in required,
            *_words(entry),
        )
        for below, child in nested(here, entry, definitions):
            yield from _keys(below, child, definitions)


def _words(entry: Entry) -> tuple[tuple[str, ...], str]:
    """The words that a value may be, and the key of its table form that has the name."""
    names, tag = tuple(entry.get("enum", ())), ""
    for option in entry.get("anyOf", []):
        names += tuple(option.get("enum", ()))
        if "const" in option:
            names += (option["const"],)
        for key in option.get("required", []):
            if "description" in option and "enum" in option.get("properties", {}).get(key, {}):
                tag = tag or key
    return tuple(name for name in names if isinstance(name, str)), tag


def nested(path: str, entry: Entry, definitions: Entry) -> list[tuple[str, Entry]]:
    """The tables that `entry` may hold, with the paths they have in a file."""
    entry = resolve(entry, definitions)
    found: list[tuple[str, Entry]] = []
    if is_from_catalog(path, entry):
        return found
    if "properties" in entry:
        found.append((path, entry))
    each = entry.get("additionalProperties")
    if isinstance(each, dict):
        found += nested(f"{path}.NAME", each, definitions)
    for option in (*entry.get("anyOf", []), *entry.get("oneOf", [])):
        found += nested(path, option, definitions)
    return found


def is_from_catalog(path: str, entry: Entry) -> bool:
    """Whether the table holds the parameters of a named thing, which `fadeout list` explains."""
    options = entry.get("anyOf", [])
    return path.endswith(".tcp") or any(
        "enum" in option and "description" in option for option in options
    )


def shape(entry: Entry, definitions: Entry, code: Callable[[str], str] = str) -> str:
    """What a value looks like, in a few words; what would be typed is set as `code`."""
    entry = resolve(entry, definitions)
    options = [*entry.get("anyOf", []), *entry.get("oneOf", [])]
    if options:
        return " or ".join(dict.fromkeys(shape(option, definitions, code) for option in options))
    if "const" in entry:
        return code(json.dumps(entry["const"]))
    if "enum" in entry:
        return ", ".join(code(json.dumps(value)) for value in entry["enum"])
    if "properties" in entry or "additionalProperties" in entry:
        required = entry.get("required", [])
        return f"table with {', '.join(map(code, required))}" if required else "table"
    if entry.get("examples"):
        return f"such as {code(json.dumps(entry['examples'][0]))}"
    kind = entry.get("type", "value")
    return ", ".join(kind) if isinstance(kind, list) else kind


def resolve(entry: Entry, definitions: Entry) -> Entry:
    """The entry that a `$ref` points to; its own keys win."""
    reference = entry.get("$ref")
    if reference is None:
        return entry
    target = definitions[reference.rsplit("/", 1)[-1]]
    return resolve({**target, **{k: v for k, v in entry.items() if k != "$ref"}}, definitions)
