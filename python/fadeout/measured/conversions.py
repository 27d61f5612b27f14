"""Conversions of measured inputs to plain files of the simulator.

Conversions need the extra `data`. Only scenarios with measured tables import this module.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fadeout import _projection
from fadeout._cache import kept_table
from fadeout.measured import replay
from fadeout.measured.errors import MeasuredError
from fadeout.measured.inputs import (
    MANAGEMENT,
    SERIES,
    Input,
    Scenario,
    measurement_of,
    serving_cells,
)
from fadeout.measured.sites import sites
from fadeout.measured.table import Measurement


def converted(scenario: Scenario, one: Input, measured: Measurement, file: Path) -> list[str]:
    """Returns the overrides that put plain files in place of an input.

    Raises:
        MeasuredError: a column is missing, or rows contradict each other.
    """
    if measured.preset is not None and measured.preset.kind == "mahimahi":
        return _opportunities(one, file)
    return _CONVERTED[one.kind](scenario, one, measured)


def _opportunities(one: Input, file: Path) -> list[str]:
    if one.kind != "rate":
        raise MeasuredError(
            f"{file.name} has delivery opportunities of mahimahi, which are a rate; expected the "
            "key `rate` of a link",
            key="measurement",
        )
    return [f'link.{one.name}.{one.key}={{ trace = "{file.absolute()}" }}']


def _series(scenario: Scenario, one: Input, measured: Measurement) -> list[str]:
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


def _channels(scenario: Scenario, one: Input, measured: Measurement) -> list[str]:
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


def _is_serving_log(scenario: Scenario, one: Input) -> bool:
    """Returns True if the serving cells of the same measurement are replayed."""
    cells = serving_cells(scenario.tables)
    return bool(cells) and cells.get("measurement") == one.value.get("measurement", "")


def _serving(scenario: Scenario, one: Input, measured: Measurement) -> list[str]:
    """Returns the timetable of handovers, and the cell in which the UE starts."""
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


def _projection_of(scenario: Scenario, one: Input) -> _projection.Projection | None:
    """Returns the projection of the network that the measurement names. None without one."""
    table = measurement_of(scenario.tables, one) or {}
    if not isinstance(table.get("net"), str):
        return None
    try:
        return _projection.of_network(scenario.base / table["net"])
    except _projection.ProjectionError as error:
        raise MeasuredError(str(error), key="net") from None


def _sites(scenario: Scenario, one: Input, measured: Measurement) -> list[str]:
    found = sites(measured, _projection_of(scenario, one))
    return [f"cell.{one.name}.sites={found}"]


def _positions(scenario: Scenario, one: Input, measured: Measurement) -> list[str]:
    text = replay.positions(measured, scenario.duration_ns, _projection_of(scenario, one))
    kept = kept_table(text)
    return [f'ue.{one.name}.trace={{ file = "{kept}", format = "sumo-csv", id = "{replay.ID}" }}']


_CONVERTED: Mapping[str, Callable[[Scenario, Input, Measurement], list[str]]] = {
    "rate": _series,
    "delay": _series,
    "loss": _series,
    "channel": _channels,
    "positions": _positions,
    "serving": _serving,
    "sites": _sites,
}
