"""Measured inputs of a scenario: where its tables name measurements and files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fadeout._native import ScenarioError, mistake_of_file
from fadeout.measured.errors import MeasuredError
from fadeout.measured.table import Measurement

SERIES: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "rate": {"rate": ("rate_mbps", 1.0), "uplink-rate": ("rate_mbps", 1.0)},
    "delay": {"delay": ("delay_ms", 1.0), "round-trip": ("delay_ms", 0.5)},
    "loss": {"loss": ("loss_share", 1.0)},
}
"""The simulator's column and the factor of each quantity that a key of a link may have."""
MANAGEMENT, SERVING = "mobility-management", "serving-cells"
"""Table and key of replayed serving cells."""


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
class Scenario:
    """A scenario whose measured tables are replaced."""

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
    cells = serving_cells(tables)
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


def measurement_of(tables: Mapping[str, Any], one: Input) -> Mapping[str, Any] | None:
    """Returns the table of the measurement that an input names. None if there is none."""
    name = one.value.get("measurement")
    known = tables.get("measurement")
    table = known.get(name) if isinstance(known, dict) and isinstance(name, str) else None
    return table if isinstance(table, dict) else None


def serving_cells(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the table of replayed serving cells. Empty if there is none."""
    management = tables.get(MANAGEMENT)
    cells = management.get(SERVING) if isinstance(management, dict) else None
    return cells if isinstance(cells, dict) else {}
