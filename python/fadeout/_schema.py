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
    """The path of the key: `link.NAME.rate`."""
    doc: str
    value: str
    """The form of a value, in a few words."""
    default: str
    """The default as in a scenario. Empty if there is none."""
    is_required: bool
    names: tuple[str, ...] = ()
    """The words that the value may be."""
    tag: str = ""
    """Key that contains the name, if a named entry is written as a table."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit(".", 1)[-1]

    @property
    def short(self) -> str:
        """The path for `--set`, without the names of links, flows and the like."""
        return self.path.replace(".NAME", "")


TITLE = "fadeout scenario"
"""Title of the schema, by which the file is recognised."""


ADDRESS = "https://raw.githubusercontent.com/fadeout-sim/fadeout/main/schemas/scenario.schema.json"
"""Address of the schema, with which editors identify it."""


def text() -> str:
    """Returns the JSON Schema of scenarios, as a file has it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


@cache
def document() -> Entry:
    """Returns the JSON Schema of scenarios, with its address and a description of each property."""
    schema = json.loads(_native.schema())
    _describe_names(schema)
    return {"$schema": schema.pop("$schema"), "$id": ADDRESS, **schema}


def _describe_names(entry: Any) -> None:  # noqa: ANN401 - any part of a schema
    """Copies the description of a named entry to the key that contains the entry's name."""
    if isinstance(entry, list):
        for each in entry:
            _describe_names(each)
    if isinstance(entry, dict):
        for child in entry.get("properties", {}).values():
            if list(child) == ["enum"] and "description" in entry:
                child["description"] = entry["description"]
        for each in entry.values():
            _describe_names(each)


@cache
def all_keys() -> list[Key]:
    """Returns every key of a scenario in the order of the schema, without parameters of named
    entries.
    """
    schema = document()
    seen: dict[str, Key] = {}
    for key in _keys("", schema, schema.get("$defs", {})):
        seen.setdefault(key.path, key)
    return list(seen.values())


def required_of(table: Entry) -> list[str]:
    """Returns the keys that a table must have, or must have without a preset."""
    return table.get("required", table.get("else", {}).get("required", []))


def _keys(path: str, table: Entry, definitions: Entry) -> Iterator[Key]:
    required = required_of(table)
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
    """Returns the words that a value may be, and the key for the name if the value is a table."""
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
    """Returns the tables that `entry` may contain, with their paths in a file."""
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
    """Returns True if the table has the parameters of a named entry, which `fadeout list`
    explains.
    """
    options = entry.get("anyOf", [])
    return path.endswith(".tcp") or any(
        "enum" in option and "description" in option for option in options
    )


def shape(entry: Entry, definitions: Entry, code: Callable[[str], str] = str) -> str:
    """Returns the form of a value, in a few words. Literal text is set as `code`."""
    entry = resolve(entry, definitions)
    options = [*entry.get("anyOf", []), *entry.get("oneOf", [])]
    if options:
        return " or ".join(dict.fromkeys(shape(option, definitions, code) for option in options))
    if "const" in entry:
        return code(json.dumps(entry["const"]))
    if "enum" in entry:
        return ", ".join(code(json.dumps(value)) for value in entry["enum"])
    if "properties" in entry or "additionalProperties" in entry:
        required = required_of(entry)
        return f"table with {', '.join(map(code, required))}" if required else "table"
    if entry.get("examples"):
        return f"such as {code(json.dumps(entry['examples'][0]))}"
    kind = entry.get("type", "value")
    return ", ".join(kind) if isinstance(kind, list) else kind


def resolve(entry: Entry, definitions: Entry) -> Entry:
    """Returns the entry that a `$ref` points to. Its own keys take precedence."""
    reference = entry.get("$ref")
    if reference is None:
        return entry
    target = definitions[reference.rsplit("/", 1)[-1]]
    return resolve({**target, **{k: v for k, v in entry.items() if k != "$ref"}}, definitions)
