"""Entries of the comparison with measurements: sources, points and reference values."""

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fadeout import _names
from fadeout._files import read_text, read_toml
from fadeout._native import FadeoutError

FOLDER = Path(__file__).parent
TABLES = FOLDER / "tables.csv"
FIGURES = FOLDER / "figures.csv"

COLUMNS = ("entry", "point", "half", "count", "p10", "median", "p90")
"""Columns of `tables.csv` and `figures.csv`. A cell is empty if the value is not known."""

CHOSEN = "chosen"
"""Half of a data set from which parameters of the scenario may be chosen."""

HELD_OUT = "held-out"
"""Half of a data set from which nothing is chosen."""

PUBLISHED = "published"
"""Values of a publication's figure, which are those of the whole data set."""

HALVES = (CHOSEN, HELD_OUT, PUBLISHED)

STORES = ("tables", "figures", "nothing")
"""Contents of this package for a data set, which depend on its licence."""


def half_of(unit: str) -> str:
    """Returns the half of the data set to which `unit` belongs: the parity of a hash decides.

    A unit is the name of a file, of a run or of a row.
    """
    first = hashlib.sha256(unit.encode("utf-8")).digest()[0]
    return CHOSEN if first % 2 == 0 else HELD_OUT


@dataclass(frozen=True)
class Source:
    """A publication with its data set."""

    name: str
    title: str
    repository: str
    """Owner and name of the repository on GitHub."""
    commit: str
    licence: str
    stores: str
    """Contents of this package: one of `STORES`."""

    @property
    def address(self) -> str:
        """Address of the data set."""
        return f"https://github.com/{self.repository}"


@dataclass(frozen=True)
class Reference:
    """Measured values of a point, for one half of a data set or for the whole."""

    half: str
    count: int | None
    """Number of measured values. None if a figure does not show it."""
    p10: float | None = None
    median: float | None = None
    p90: float | None = None
    pairs: tuple[tuple[float, float], ...] = ()
    """SINR in dB and rate of each second, for a comparison second by second."""


@dataclass(frozen=True)
class Point:
    """A part of an entry: settings of the scenario, and the measured values."""

    name: str
    reading: str
    """Name of the quantity, a key of `readings.READINGS`."""
    flow: str
    """Beginning of the names of the flows whose values count."""
    settings: dict[str, Any]
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A published measurement and the scenario that repeats it."""

    name: str
    title: str
    source: Source
    network: str
    """Statements of the publication on its network."""
    scenario: Path
    unit: str
    split: str
    """Rule that divides the data set into halves."""
    points: tuple[Point, ...]
    assumed: tuple[str, ...] = ()
    """Settings that the publication does not state."""
    fitted: tuple[str, ...] = ()
    """Settings that were fitted, with the values to which they were fitted."""
    missing: dict[str, str] = field(default_factory=dict)
    """Missing mechanisms behind known differences, by the name of the point. The name "" stands
    for all points."""
    sinr_db: tuple[float, ...] = ()
    """SINR values in dB for which the scenario runs, if rates are predicted second by second."""

    def why(self, point: str) -> str:
        """Returns the known reason of a difference. Empty if there is none."""
        return self.missing.get(point, self.missing.get("", ""))


def load(name: str, references: dict[tuple[str, str], list[Reference]]) -> Entry:
    """Returns the entry of the file `entries/NAME.toml` with the measured values given."""
    path = FOLDER / "entries" / f"{name}.toml"
    document = read_toml(path, "entry")
    source = sources().get(document["source"])
    if source is None:
        message = _names.unknown("source", document["source"], sources())
        raise FadeoutError(f"{path}: {message}")
    points = tuple(
        Point(
            name=point["name"],
            reading=point.get("reading", document.get("reading", "")),
            flow=point.get("flow", ""),
            settings=document.get("set", {}) | point.get("set", {}),
            references=tuple(references.get((name, point["name"]), ())),
        )
        for point in document["point"]
    )
    return Entry(
        name=name,
        title=document["title"],
        source=source,
        network=document["network"],
        scenario=FOLDER / "scenarios" / document["scenario"],
        unit=document["unit"],
        split=document["split"],
        points=points,
        assumed=tuple(document.get("assumed", ())),
        fitted=tuple(document.get("fitted", ())),
        missing=document.get("missing", {}),
        sinr_db=tuple(document.get("sinr-db", ())),
    )


@cache
def sources() -> dict[str, Source]:
    """Returns the publications by name."""
    document = read_toml(FOLDER / "sources.toml", "list of sources")
    return {name: Source(name=name, **keys) for name, keys in document.items()}


@cache
def names() -> tuple[str, ...]:
    """Returns the names of all entries."""
    return tuple(sorted(path.stem for path in (FOLDER / "entries").glob("*.toml")))


def chosen_names(only: Sequence[str]) -> list[str]:
    """Returns the names of the entries with one of the words `only` in their name, or all.

    Raises:
        FadeoutError: no entry has one of the words in its name.
    """
    for word in only:
        if not any(word in name for name in names()):
            raise FadeoutError(_names.unknown("measurement", word, names()))
    return [name for name in names() if not only or any(word in name for word in only)]


def stored_references() -> dict[tuple[str, str], list[Reference]]:
    """Returns the measured values in this package, by entry and point."""
    found: dict[tuple[str, str], list[Reference]] = {}
    for path in (TABLES, FIGURES):
        for key, reference in read_references(path):
            found.setdefault(key, []).append(reference)
    return found


def read_references(path: Path) -> list[tuple[tuple[str, str], Reference]]:
    """Returns the rows of a table of measured values.

    Raises:
        FadeoutError: a row has a wrong number of cells, an unknown half, or a cell that is no
            number. The message names file, line and column.
    """
    lines = read_text(path, "table of measured values").splitlines()
    numbered = [(at, line) for at, line in enumerate(lines, 1) if line and line[0] != "#"]
    rows = list(csv.reader(line for _, line in numbered))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise FadeoutError(f"{path}: expected the columns {','.join(COLUMNS)}")
    return [_reference(path, at, row) for (at, _), row in zip(numbered[1:], rows[1:], strict=True)]


def _reference(path: Path, at: int, row: list[str]) -> tuple[tuple[str, str], Reference]:
    if len(row) != len(COLUMNS):
        raise FadeoutError(f"{path}:{at}: expected {len(COLUMNS)} cells, found {len(row)}")
    cells = dict(zip(COLUMNS, row, strict=True))
    if cells["half"] not in HALVES:
        raise FadeoutError(f"{path}:{at}: {_names.unknown('half', cells['half'], HALVES)}")
    numbers: list[float | None] = []
    for column in COLUMNS[3:]:
        try:
            numbers.append(float(cells[column]) if cells[column] else None)
        except ValueError:
            message = f"column {column}: expected a number, found '{cells[column]}'"
            raise FadeoutError(f"{path}:{at}: {message}") from None
    count, p10, median, p90 = numbers
    reference = Reference(cells["half"], None if count is None else int(count), p10, median, p90)
    return (cells["entry"], cells["point"]), reference
