"""Measured tables of a scenario, replaced by plain files before the scenario is read.

Inputs that name a measurement, and files that are not in the simulator's plain form, become files
in the user's cache, named by their content. Overrides put them into the scenario.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from fadeout import _names
from fadeout._quantities import seconds
from fadeout.measured.errors import MeasuredError
from fadeout.measured.inputs import MANAGEMENT, SERIES, Input, Scenario, inputs, measurement_of
from fadeout.measured.keys import is_valid
from fadeout.measured.presets import is_path
from fadeout.measured.table import Measurement, open_measurement

SERIES_COLUMNS = {column for columns in SERIES.values() for column, _ in columns.values()}
USES_CELLS = ("channel", "serving")
"""Kinds of inputs that depend on the serving cells and the UEs of the scenario."""
PLAIN_BYTES = 64 << 20
"""Largest file that is examined as a whole for quotes."""


def overrides(text: str, source: str, base_dir: str | None, given: Sequence[str]) -> list[str]:
    """Returns overrides that replace the measured tables of a scenario by plain files.

    Raises:
        ScenarioError: a table is missing or wrong.
    """
    tables = effective(text, given)
    scenario = Scenario(
        text, source, Path(base_dir or "."), given, tables, _duration_ns(tables.get("duration"))
    )
    found: list[str] = []
    for one in inputs(tables):
        try:
            found += _replaced(scenario, one)
        except MeasuredError as error:
            raise scenario.mistake(one, error) from None
    return found


def files_named(text: str, given: Sequence[str]) -> list[str]:
    """Returns the files that `overrides` reads, as the scenario names them."""
    tables = effective(text, given)
    named = []
    for one in inputs(tables):
        named += _files_of(tables, one)
    return named


def _files_of(tables: Mapping[str, Any], one: Input) -> list[str]:
    """Returns the files that the conversion of an input reads, as the scenario names them."""
    value = measurement_of(tables, one) or one.value
    named = [value[key] for key in ("file", "series", "net") if isinstance(value.get(key), str)]
    preset = value.get("preset")
    return [*named, preset] if isinstance(preset, str) and is_path(preset) else named


def effective(text: str, given: Sequence[str]) -> dict[str, Any]:
    """Returns the tables of a scenario after overrides. Empty if the text is not TOML."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    for one in given:
        path, found, value = one.partition("=")
        if found:
            _set(tables, [part.strip() for part in path.split(".")], _value(value))
    return tables


def _set(table: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Sets a key of a table. A path without the name of an element sets the key of all elements."""
    first, rest = path[0], path[1:]
    if not rest:
        table[first] = value
        return
    below = table.get(first)
    if not isinstance(below, dict):
        below = table[first] = {}
    elements = [one for one in below.values() if isinstance(one, dict)]
    is_kind = len(path) >= 2 and first in ("link", "channel-file", "ue", "measurement")
    if is_kind and rest[0] not in below and len(elements) == len(below):
        for element in elements:
            _set(element, rest, value)
        return
    _set(below, rest, value)


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text.strip()


def _duration_ns(written: object) -> int:
    """Returns the duration of a run. Zero for a wrong value, which the reader reports."""
    try:
        return round(seconds(written) * 1e9) if isinstance(written, str) else 0
    except (ValueError, OverflowError):
        return 0


@dataclass(frozen=True)
class _Table:
    """The file of an input."""

    file: Path
    named: str
    """The file as the scenario names it."""
    measurement: str | None = None
    """Name of the measurement. None if the input names the file itself."""
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the measurement, without `net`."""

    def opened(self, scenario: Scenario) -> Measurement:
        """Returns the table with its columns found."""
        if self.measurement is None:
            return open_measurement(self.file, name=self.named)
        if self.measurement not in scenario.opened:
            scenario.opened[self.measurement] = open_measurement(
                self.file, name=self.named, table=self.keys, base=scenario.base
            )
        return scenario.opened[self.measurement]


def _table_of(scenario: Scenario, one: Input) -> _Table | None:
    """Returns the table of an input. None if the input stays as it is.

    Raises:
        MeasuredError: there is no such measurement.
    """
    name = one.value.get("measurement")
    if not isinstance(name, str):
        named = str(one.value.get("series") or one.value.get("file"))
        file = scenario.base / named
        return _Table(file, named) if file.is_file() and not is_plain(file, one.kind) else None
    table = measurement_of(scenario.tables, one)
    if table is None:
        known = scenario.tables.get("measurement")
        names = [*known] if isinstance(known, dict) else []
        message = _names.unknown("measurement", name, names)
        if not names:
            message = f"there is no measurement {name!r}; expected a table [measurement.{name}]"
        raise MeasuredError(message, key="measurement")
    keys = {key: value for key, value in table.items() if key != "net"}
    # The reader of scenarios reports wrong keys.
    return (
        _Table(scenario.base / keys["file"], keys["file"], name, keys) if is_valid(keys) else None
    )


def _replaced(scenario: Scenario, one: Input) -> list[str]:
    """Returns the overrides in place of an input. Empty if it stays as it is.

    The runs of a campaign mostly have the same inputs, which are converted once.
    """
    table = _table_of(scenario, one)
    if table is None:
        return []
    key = _identity(scenario, one)
    known = _CONVERSIONS.get(key) if key is not None else None
    if known is not None and all(Path(path).is_file() for path in _KEPT.findall(" ".join(known))):
        return known
    measured = table.opened(scenario)
    # Scenarios without measured tables run without the extra `data`, which conversions need.
    from fadeout.measured.conversions import converted

    found = converted(scenario, one, measured, table.file)
    if key is not None:
        if len(_CONVERSIONS) >= MOST_CONVERSIONS:
            _CONVERSIONS.clear()
        _CONVERSIONS[key] = found
    return found


_CONVERSIONS: dict[str, list[str]] = {}
"""Overrides by the identity of an input, of all scenarios that this process has read."""
MOST_CONVERSIONS = 1000
_KEPT = re.compile(r'(?:file|series) ?= ?"([^"]+)"')


def _identity(scenario: Scenario, one: Input) -> str | None:
    """Returns a text that is equal for inputs with equal overrides. None if a file is missing."""
    given = measurement_of(scenario.tables, one) or {}
    files = [scenario.base / named for named in _files_of(scenario.tables, one)]
    try:
        stats = [
            (str(path.absolute()), path.stat().st_size, path.stat().st_mtime_ns) for path in files
        ]
    except OSError:
        return None
    tables = [scenario.tables.get(kind) for kind in (MANAGEMENT, "ue") if one.kind in USES_CELLS]
    return repr((one, given, stats, scenario.duration_ns, tables))


def is_plain(file: Path, kind: str) -> bool:
    """Returns True if the simulator reads the file itself: with commas and its own names."""
    try:
        if file.stat().st_size > PLAIN_BYTES:
            return True
        data = file.read_bytes()
    except OSError:
        return True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if '"' in text or "\0" in text:
        return False
    lines = (line.strip() for line in text.splitlines())
    rows = [*islice((line for line in lines if line and not line.startswith("#")), 2)]
    if not rows:
        return True
    header = [cell.strip() for cell in rows[0].split(",")]
    if kind == "channel":
        header = [cell.removeprefix("\ufeff").lower() for cell in header]
        values = {"gain_db", "sinr_db"}
        return (
            {"ue", "cell"} <= {*header}
            and bool({"time_s", "time_ms"} & {*header})
            and bool(values & {*header})
        )
    if "time_s" not in header or not SERIES_COLUMNS & {*header}:
        return False
    if len(rows) < 2:
        return True
    first = rows[1].split(",")
    column = header.index("time_s")
    # A table that begins at another time than zero has times of another kind.
    return column >= len(first) or bool(re.fullmatch(r"\s*[-+]?(0*\.?0+)\s*|\D.*", first[column]))
