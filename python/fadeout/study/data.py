"""The data of a study: efforts, settings and changes of assumptions, from `study.toml`.

Tables of the file become dataclasses. Values of scenarios have the form of a campaign's file:
`set` has one value for each key, and `grid` a list of values.
"""

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from fadeout import _files, _names
from fadeout.campaign.axes import toml_text
from fadeout.campaign.mistakes import mistake
from fadeout.study.job import Values

FILE = "study.toml"
"""Name of the data in the folder of a study."""

VALUES = "values"
"""Field of a dataclass, and table of the file, with overrides of the scenario."""

SET, GRID, USE = "set", "grid", "use"
"""Keys of a table with overrides: values, lists of values, and names in the table `values`."""

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Place:
    """A table of the file, and the line of its head."""

    table: str
    line: int


@dataclass(frozen=True)
class Data:
    """The content of a study's `study.toml`."""

    file: Path
    document: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Data":
        """Returns the data in a study's folder. Raises `ScenarioError` for a wrong file."""
        file = folder / FILE
        return cls(file, _files.read_toml(file, "a study's data"))

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever the file has
        return self.document[self.known("table", key, self.document)]

    @cached_property
    def values(self) -> dict[str, Values]:
        """Named overrides of the table `values`, which other tables use."""
        table: Mapping[str, Any] = self.document.get(VALUES, {})
        found: dict[str, Values] = {}
        for name, entry in table.items():
            # A name may use the names before it.
            used = self._used(entry.get(USE, ()), found)
            given = {key: value for key, value in entry.items() if key != USE}
            found[name] = {**used, **override_values(given)}
        return found

    def one(self, key: str, kind: type[Entry]) -> Entry:
        """Returns the table of this name as a `kind`."""
        (entry,) = self._entries(Place(key, self._line(key, 0)), self[key], kind)
        return entry

    def any(self, key: str, kind: type[Entry]) -> tuple[Entry, ...]:
        """Returns a list of tables as a tuple of `kind`. Empty if the file has no such list."""
        return self.all(key, kind) if key in self.document else ()

    def all(self, key: str, kind: type[Entry]) -> tuple[Entry, ...]:
        """Returns a list of tables as a tuple of `kind`.

        A table with a `grid` yields an entry for each combination of its values. A `{}` in its
        texts stands for the value, and `{KEY}` for the value of one of several keys.
        """
        return tuple(
            one
            for number, entry in enumerate(self[key])
            for one in self._entries(Place(key, self._line(key, number)), entry, kind)
        )

    def known(self, kind: str, name: str, known: Iterable[str], line: int = 1) -> str:
        """Returns a name of the file. Raises `ScenarioError` with its place if it is not known.

        The search for the place begins in the given line.
        """
        names = list(known)
        if name not in names:
            message = _names.unknown(kind, name, names)
            raise mistake(message, file=self.file, key=name, line=line)
        return name

    def _line(self, key: str, number: int) -> int:
        """Returns the line of the table with this number among those of its name."""
        found = self._lines.get(f"[{key}]") or self._lines.get(f"[[{key}]]", [])
        return found[number] if number < len(found) else 1

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        """Numbers of the lines with each text, such as the head of a table."""
        found: dict[str, list[int]] = {}
        lines = self.file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            found.setdefault(line.strip(), []).append(number)
        return found

    def _entries(
        self, place: "Place", entry: Mapping[str, Any], kind: type[Entry]
    ) -> Iterator[Entry]:
        grid: Mapping[str, Sequence[Any]] = entry.get(GRID, {})
        names = {each.name: each for each in fields(kind)}  # pyright: ignore[reportArgumentType]
        rest = {name: value for name, value in entry.items() if name not in (GRID, SET, USE)}
        for name in rest:
            known = [each.replace("_", "-") for each in (*names, GRID, SET, USE)]
            self.known(f"key of `{place.table}`", name, known, place.line)
        for name, each in names.items():
            has_default = each.default is not MISSING or each.default_factory is not MISSING
            if not has_default and name != VALUES and name.replace("_", "-") not in rest:
                message = f"`{place.table}` lacks `{name.replace('_', '-')}`"
                raise mistake(message, file=self.file, line=place.line)
        hints = typing.get_type_hints(kind)
        for combination in product(*grid.values()):
            chosen = dict(zip(grid, combination, strict=True))
            given = {
                name.replace("-", "_"): self._typed(
                    place, name, _named(value, chosen), hints[name.replace("-", "_")]
                )
                for name, value in rest.items()
            }
            if VALUES in names:
                used = self._used(entry.get(USE, ()), self.values, place.line)
                given[VALUES] = {**used, **override_values({**entry.get(SET, {}), **chosen})}
            yield kind(**given)

    def _used(
        self, names: str | Sequence[str], known: Mapping[str, Values], line: int = 1
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in [names] if isinstance(names, str) else names:
            found |= known[self.known(f"name in `{VALUES}`", name, known, line)]
        return found

    def _typed(self, place: "Place", key: str, value: Any, hint: Any) -> Any:  # noqa: ANN401
        """Returns a value of the file as the type of a field."""
        origin = typing.get_origin(hint)
        if origin in (typing.Union, types.UnionType):
            kinds = [each for each in typing.get_args(hint) if each is not type(None)]
            fits = [each for each in kinds if isinstance(value, typing.get_origin(each) or each)]
            hint = (fits or kinds)[0]
            origin = typing.get_origin(hint)
        if hint is Any or hint is object:
            return value
        if hint is float and type(value) is int:
            return float(value)
        if origin is tuple and isinstance(value, list):
            of_item = typing.get_args(hint)[0]
            return tuple(self._typed(place, key, each, of_item) for each in value)
        expected = origin or hint
        if isinstance(expected, type):
            wanted = Mapping if issubclass(expected, Mapping) else expected
            is_bool = isinstance(value, bool) and wanted is not bool
            if isinstance(value, wanted) and not is_bool:
                return value
        raise mistake(
            f"cannot read `{place.table}.{key}` = {value!r}",
            expected=_WORDS.get(expected, str(expected)),
            file=self.file,
            key=key,
            line=place.line,
        )


_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false",
          tuple: "a list"}  # fmt: skip


def override_values(table: Mapping[str, Any]) -> Values:
    """Returns the values of a table as overrides, in the syntax of TOML."""
    return {key: toml_text(key, value) for key, value in table.items()}


def _named(value: Any, chosen: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a value of the file
    """Returns a text with the chosen values of a grid in place of `{}`."""
    if not isinstance(value, str) or not chosen:
        return value
    for key, each in chosen.items():
        value = value.replace("{" + key + "}", str(each))
    return value.replace("{}", str(next(iter(chosen.values()))))
