"""Measured tables of a scenario, replaced by plain files before the scenario is read.

Inputs that name a measurement, and files that are not in the simulator's plain form, become files
in the user's cache, named by their content. Overrides put them into the scenario.

Conversions need the extra `data`. Functions import them, so that scenarios without measured tables
run without this extra.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fadeout import _names
from fadeout._cache import kept_table
from fadeout._native import ScenarioError, mistake_of_file
from fadeout._quantities import seconds
from fadeout.measured.errors import MeasuredError
from fadeout.measured.keys import is_valid
from fadeout.measured.presets import is_path
from fadeout.measured.table import Measurement, open_measurement

if TYPE_CHECKING:
    from fadeout._projection import Projection

SERIES: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "rate": {"rate": ("rate_mbps", 1.0), "uplink-rate": ("rate_mbps", 1.0)},
    "delay": {"delay": ("delay_ms", 1.0), "round-trip": ("delay_ms", 0.5)},
    "loss": {"loss": ("loss_share", 1.0)},
}
"""The simulator's column and the factor of each quantity that a key of a link may have."""
SERIES_COLUMNS = {column for columns in SERIES.values() for column, _ in columns.values()}
MANAGEMENT, SERVING = "mobility-management", "serving-cells"
"""Table and key of replayed serving cells."""
USES_CELLS = ("channel", "serving")
"""Kinds of inputs that depend on the serving cells and the UEs of the scenario."""
PLAIN_BYTES = 64 << 20
"""Largest file that is examined as a whole for quotes."""


@dataclass(frozen=True)
class Input:
    """An input of a scenario that is measured."""

    kind: str
    """`rate`, `delay`, `loss`, `channel`, `sites`, `serving` or `positions`."""
    table: str
    """Table of the scenario, such as `link`."""
    name: str
    key: str
    """Key of the input, with the path of its table below the named one, such as `reverse.rate`."""
    value: Mapping[str, Any]


@dataclass(frozen=True)
class _Scenario:
    text: str
    source: str
    base: Path
    given: Sequence[str]
    tables: Mapping[str, Any]
    duration_ns: int
    opened: dict[str, Measurement] = field(default_factory=dict)
    """Measurements that an earlier input has opened, by their names."""

    def mistake(self, of: Input, error: MeasuredError) -> ScenarioError:
        """Returns the error at the place of the key that causes it."""
        measurement = of.value.get("measurement")
        table, name, key = of.table, of.name, of.key.rpartition(".")[2]
        in_measurement = error.key not in ("file", "measurement", "quantity")
        if isinstance(measurement, str) and (in_measurement or error.key == "file"):
            if (
                isinstance(self.tables.get("measurement"), dict)
                and measurement in self.tables["measurement"]
            ):
                table, name, key = "measurement", measurement, error.key
        elif error.key != "file":
            key = error.key
        return mistake_of_file(
            self.text,
            f'{table} "{name}": {error}',
            source_name=self.source,
            overrides=list(self.given),
            table=table,
            name=name,
            key=key,
        )


def overrides(text: str, source: str, base_dir: str | None, given: Sequence[str]) -> list[str]:
    """Returns overrides that replace the measured tables of a scenario by plain files.

    Raises:
        ScenarioError: a table is missing or wrong.
    """
    tables = effective(text, given)
    scenario = _Scenario(
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
    value = _measurement(tables, one) or one.value
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


def inputs(tables: Mapping[str, Any]) -> Iterator[Input]:
    """Yields the measured inputs of a scenario. Values of a wrong type are left out."""
    for name, link in _named(tables, "link"):
        for prefix, direction in (("", link), ("reverse.", link.get("reverse"))):
            if not isinstance(direction, dict):
                continue
            for kind in SERIES:
                value = direction.get(kind)
                if isinstance(value, dict) and any(
                    isinstance(value.get(key), str) for key in ("measurement", "series")
                ):
                    yield Input(kind, "link", name, prefix + kind, value)
    for name, table in _named(tables, "channel-file"):
        if any(isinstance(table.get(key), str) for key in ("measurement", "file")):
            yield Input(
                "channel",
                "channel-file",
                name,
                "measurement" if "measurement" in table else "file",
                table,
            )
    for name, cell in _named(tables, "cell"):
        value = cell.get("sites")
        if isinstance(value, dict) and isinstance(value.get("measurement"), str):
            yield Input("sites", "cell", name, "sites", value)
    cells = _serving_cells(tables)
    if isinstance(cells.get("measurement"), str):
        yield Input("serving", MANAGEMENT, "", SERVING, cells)
    for name, ue in _named(tables, "ue"):
        trace = ue.get("trace")
        if isinstance(trace, dict) and isinstance(trace.get("measurement"), str):
            yield Input("positions", "ue", name, "trace", trace)


def _named(tables: Mapping[str, Any], kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    found = tables.get(kind)
    for name, table in found.items() if isinstance(found, dict) else ():
        if isinstance(table, dict):
            yield name, table


def _measurement(tables: Mapping[str, Any], one: Input) -> Mapping[str, Any] | None:
    """Returns the table of the measurement that an input names. None if there is none."""
    name = one.value.get("measurement")
    known = tables.get("measurement")
    table = known.get(name) if isinstance(known, dict) and isinstance(name, str) else None
    return table if isinstance(table, dict) else None


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

    def opened(self, scenario: _Scenario) -> Measurement:
        """Returns the table with its columns found."""
        if self.measurement is None:
            return open_measurement(self.file, name=self.named)
        if self.measurement not in scenario.opened:
            scenario.opened[self.measurement] = open_measurement(
                self.file, name=self.named, table=self.keys, base=scenario.base
            )
        return scenario.opened[self.measurement]


def _table_of(scenario: _Scenario, one: Input) -> _Table | None:
    """Returns the table of an input. None if the input stays as it is.

    Raises:
        MeasuredError: there is no such measurement.
    """
    name = one.value.get("measurement")
    if not isinstance(name, str):
        named = str(one.value.get("series") or one.value.get("file"))
        file = scenario.base / named
        return _Table(file, named) if file.is_file() and not is_plain(file, one.kind) else None
    table = _measurement(scenario.tables, one)
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


def _replaced(scenario: _Scenario, one: Input) -> list[str]:
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
    if measured.preset is not None and measured.preset.kind == "mahimahi":
        found = _opportunities(one, table.file)
    else:
        found = _CONVERTED[one.kind](scenario, one, measured)
    if key is not None:
        if len(_CONVERSIONS) >= MOST_CONVERSIONS:
            _CONVERSIONS.clear()
        _CONVERSIONS[key] = found
    return found


_CONVERSIONS: dict[str, list[str]] = {}
"""Overrides by the identity of an input, of all scenarios that this process has read."""
MOST_CONVERSIONS = 1000
_KEPT = re.compile(r'(?:file|series) ?= ?"([^"]+)"')


def _identity(scenario: _Scenario, one: Input) -> str | None:
    """Returns a text that is equal for inputs with equal overrides. None if a file is missing."""
    given = _measurement(scenario.tables, one) or {}
    files = [scenario.base / named for named in _files_of(scenario.tables, one)]
    try:
        stats = [
            (str(path.absolute()), path.stat().st_size, path.stat().st_mtime_ns) for path in files
        ]
    except OSError:
        return None
    tables = [scenario.tables.get(kind) for kind in (MANAGEMENT, "ue") if one.kind in USES_CELLS]
    return repr((one, given, stats, scenario.duration_ns, tables))


def _opportunities(one: Input, file: Path) -> list[str]:
    if one.kind != "rate":
        raise MeasuredError(
            f"{file.name} has delivery opportunities of mahimahi, which are a rate; expected the "
            "key `rate` of a link",
            key="measurement",
        )
    return [f'link.{one.name}.{one.key}={{ trace = "{file.absolute()}" }}']


def _series(scenario: _Scenario, one: Input, measured: Measurement) -> list[str]:
    from fadeout.measured import replay

    quantity = one.value.get("quantity", one.kind)
    column = SERIES[one.kind].get(quantity)
    if column is None:
        # The reader of scenarios reports the quantity.
        return []
    measured = _with_any_gaps(measured, one)
    found = replay.steps(measured, quantity, scenario.duration_ns, column)
    parts = [f'series = "{kept_table(found.text)}"']
    repeat = one.value.get("repeat-every")
    if found.repeat_ns is not None:
        parts.append(f'repeat-every = "{found.repeat_ns} ns"')
    elif isinstance(repeat, str):
        parts.append(f'repeat-every = "{repeat}"')
    return [f"link.{one.name}.{one.key}={{ {', '.join(parts)} }}"]


def _with_any_gaps(measured: Measurement, one: Input) -> Measurement:
    """Returns a table in which gaps may have any length if no measurement names it.

    Plain files may have such gaps, too.
    """
    if "measurement" in one.value:
        return measured
    return replace(measured, keys=replace(measured.keys, maximum_gap_s=None))


def _channels(scenario: _Scenario, one: Input, measured: Measurement) -> list[str]:
    from fadeout.measured import replay

    names = {key: one.value.get(key) for key in ("ue", "cell")}
    is_plain = "measurement" not in one.value
    is_serving_only = _is_serving_log(scenario, one)
    text = replay.channels(
        measured,
        scenario.duration_ns,
        names,
        is_plain=is_plain,
        is_serving_only=is_serving_only,
    )
    path = f"channel-file.{one.name}"
    found = [f'{path}.file="{kept_table(text)}"']
    if is_plain:
        return found
    keys = measured.keys
    own = {
        "outside": "hold" if keys.outside == "hold" else "error",
        "interpolation": keys.interpolate,
        "maximum-gap": f"{(keys.maximum_gap_s or 1_000_000):g} s",
    }
    if is_serving_only:
        # A cell that does not serve has no rows.
        own["maximum-gap"] = "1000000 s"
    if keys.outside in ("repeat", "end"):
        raise MeasuredError(
            f'`outside = "{keys.outside}"` for channels; expected "hold" or "refuse"', key="outside"
        )
    found += [f'{path}.{key}="{value}"' for key, value in own.items() if key not in one.value]
    return found


def _is_serving_log(scenario: _Scenario, one: Input) -> bool:
    """Returns True if the serving cells of the same measurement are replayed."""
    cells = _serving_cells(scenario.tables)
    return bool(cells) and cells.get("measurement") == one.value.get("measurement", "")


def _serving_cells(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the table of replayed serving cells. Empty if there is none."""
    management = tables.get(MANAGEMENT)
    cells = management.get(SERVING) if isinstance(management, dict) else None
    return cells if isinstance(cells, dict) else {}


def _serving(scenario: _Scenario, one: Input, measured: Measurement) -> list[str]:
    """Returns the timetable of handovers, and the cell in which the UE starts."""
    from fadeout.measured import replay

    ue = one.value.get("ue")
    if not isinstance(ue, str):
        return []
    changes = replay.serving_cells(measured, scenario.duration_ns)
    # The first entry has no effect on a UE that starts in this cell.
    entries = ", ".join(
        f'{{ at = "{change.at_ns} ns", ue = {json.dumps(ue)}, to = {json.dumps(change.cell)} }}'
        for change in changes
    )
    found = [f"{MANAGEMENT}.timetable=[{entries}]"]
    ues = scenario.tables.get("ue")
    table = ues.get(ue) if isinstance(ues, dict) else None
    if isinstance(table, dict) and "cell" not in table:
        found.append(f"ue.{ue}.cell={json.dumps(changes[0].cell)}")
    return found


def _projection_of(scenario: _Scenario, one: Input) -> "Projection | None":
    """Returns the projection of the network that the measurement names. None without one."""
    table = _measurement(scenario.tables, one) or {}
    if not isinstance(table.get("net"), str):
        return None
    from fadeout import _projection

    try:
        return _projection.of_network(scenario.base / table["net"])
    except _projection.ProjectionError as error:
        raise MeasuredError(str(error), key="net") from None


def _sites(scenario: _Scenario, one: Input, measured: Measurement) -> list[str]:
    from fadeout.measured.sites import sites

    found = sites(measured, _projection_of(scenario, one))
    return [f"cell.{one.name}.sites={found}"]


def _positions(scenario: _Scenario, one: Input, measured: Measurement) -> list[str]:
    from fadeout.measured import replay

    text = replay.positions(measured, scenario.duration_ns, _projection_of(scenario, one))
    kept = kept_table(text)
    return [f'ue.{one.name}.trace={{ file = "{kept}", format = "sumo-csv", id = "{replay.ID}" }}']


_CONVERTED: Mapping[str, Callable[[_Scenario, Input, Measurement], list[str]]] = {
    "rate": _series,
    "delay": _series,
    "loss": _series,
    "channel": _channels,
    "positions": _positions,
    "serving": _serving,
    "sites": _sites,
}


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
