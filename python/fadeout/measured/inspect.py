"""Description of a measured table, and a scenario that uses the table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from fadeout import _projection
from fadeout.measured.errors import MeasuredError
from fadeout.measured.quantities import QUANTITIES, TEXTS
from fadeout.measured.table import Measurement, open_measurement

GAP_FACTOR = 3.0
"""A gap is longer than this multiple of the usual time between rows."""
FASTER = 2.0
"""Positions contradict the reported speed beyond this factor."""
MOST_KMH = 300.0
"""Speed between two positions above which they are a jump."""
LISTED_GAPS = 3


@dataclass(frozen=True)
class Found:
    """A quantity of a table."""

    quantity: str
    column: str
    unit: str
    is_guessed: bool
    rows: int
    missing: int
    values: str
    """Range and mean, or names."""


@dataclass
class Report:
    """Description of a measured table."""

    name: str
    form: str
    preset: str | None
    rows: int
    time: str
    span: str
    step: str
    found: list[Found] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Guesses and peculiarities."""
    contradictions: list[str] = field(default_factory=list)
    scenario: str = ""


def inspect_table(path: Path, table: dict[str, object] | None = None) -> Report:
    """Returns the description of a measured table.

    Args:
        path: the file.
        table: keys as in a table [measurement].

    Raises:
        MeasuredError: the file is no table, or has no times.
    """
    asked = open_measurement(path, table=table, base=path.parent)
    duplicates, order = asked.keys.duplicates, asked.keys.order
    # A table with contradictions is described, too.
    lenient = replace(
        asked.keys,
        duplicates="last" if duplicates == "refuse" else duplicates,
        order="sort" if order == "refuse" else order,
    )
    measured = replace(asked, keys=lenient)
    if (measured.preset is not None and measured.preset.kind == "mahimahi") or _is_trace(measured):
        return _of_opportunities(path, measured)
    times = measured.rows([])
    at = times["t"].to_numpy()
    steps = np.diff(at)
    usual = float(np.median(steps)) if len(steps) else 0.0
    preset = measured.preset
    report = Report(
        name=path.name,
        form="Parquet" if measured.source.dialect is None else measured.source.dialect.described(),
        preset=None if preset is None else f"{preset.name}: {preset.title}",
        rows=len(times) + measured.duplicates,
        time=f"`{measured.column('time').name}`, {_time_form(measured)}",
        span=f"{measured.time_text(int(at[0]))} to {measured.time_text(int(at[-1]))}, "
        f"{(at[-1] - at[0]) * 1e-9:g} s",
        step=f"{usual * 1e-9:g} s" if usual else "-",
    )
    _note_order(report, measured, asked)
    _describe_columns(report, measured)
    _describe_gaps(report, measured, at, usual)
    _compare_speeds(report, measured)
    report.scenario = fragment(path, asked, report)
    return report


def _is_trace(measured: Measurement) -> bool:
    """Returns True for a file of mahimahi: one column of whole numbers without a header."""
    dialect = measured.source.dialect
    return (
        dialect is not None
        and not dialect.has_header
        and len(measured.source.columns) == 1
        and "time" not in measured.columns
    )


def _of_opportunities(path: Path, measured: Measurement) -> Report:
    milliseconds = measured.source.frame.select(
        pl.col("c0").cast(pl.Int64, strict=False)
    ).collect()["c0"]
    if milliseconds.null_count() or milliseconds.is_empty() or not milliseconds.is_sorted():
        raise MeasuredError(
            f"{path.name} has one column of numbers, but no times; expected the milliseconds of "
            "mahimahi, which do not decrease, or a table with a time and a value"
        )
    lasts_s = max(int(milliseconds[-1]), 1) / 1e3
    rate = len(milliseconds) * 1500 * 8 / lasts_s / 1e6
    report = Report(
        name=path.name,
        form="delivery opportunities of mahimahi",
        preset="mahimahi: a millisecond for each packet of 1500 bytes",
        rows=len(milliseconds),
        time="ms",
        span=f"{lasts_s:g} s, after which the trace repeats",
        step="-",
    )
    report.found.append(
        Found("rate", "column 1", "Mbit/s", False, len(milliseconds), 0, f"mean {rate:.3g}")
    )
    report.scenario = _links(f'rate = {{ trace = "{path.name}" }}', 'delay = "20 ms"')
    return report


def _time_form(measured: Measurement) -> str:
    form = measured.time_format
    assert form is not None
    return f"{form.described} (guessed)" if form.is_guessed else form.described


def _note_order(report: Report, measured: Measurement, asked: Measurement) -> None:
    if measured.duplicates:
        what = f"{measured.duplicates} rows have the time of another row"
        if asked.keys.duplicates == "refuse":
            report.contradictions.append(
                f'{what}; a run needs `duplicates = "first"`, "last" or "mean"'
            )
        else:
            report.notes.append(f'{what}; `duplicates` is "{asked.keys.duplicates}"')
    if measured.disordered:
        what = f"{measured.disordered} rows are earlier than the row before"
        if asked.keys.order == "refuse":
            report.contradictions.append(f'{what}; a run needs `order = "sort"`')
        else:
            report.notes.append(f'{what}; `order` is "{asked.keys.order}"')


def _describe_columns(report: Report, measured: Measurement) -> None:
    for quantity, column in measured.columns.items():
        if quantity == "time":
            continue
        try:
            rows = measured.rows([quantity])
        except MeasuredError as error:
            report.contradictions.append(str(error).removeprefix(f"{measured.source.name}: "))
            continue
        values = rows[quantity]
        missing = measured.missing.get(quantity, 0)
        if quantity in TEXTS:
            names = values.unique(maintain_order=True).to_list()
            shown = ", ".join(names[:4]) + (f", … ({len(names)})" if len(names) > 4 else "")
            unit = ""
        else:
            shown = f"{values.min():g} to {values.max():g}, mean {values.mean():.4g}"
            units = QUANTITIES[quantity].units
            is_base = column.unit is not None and units[column.unit] == 1.0
            unit = column.unit or "" if is_base else QUANTITIES[quantity].base_unit
        given = column.unit or ""
        if column.is_guessed and column.unit != "deg":
            report.notes.append(f"`{column.name}` has no unit; {given} is assumed")
        as_unit = unit if given in ("", unit) else f"{unit} (from {given})"
        report.found.append(
            Found(quantity, column.name, as_unit, column.is_guessed, len(rows), missing, shown)
        )
    for quantity, names in measured.ambiguous.items():
        report.contradictions.append(
            f"the columns {', '.join(f'`{name}`' for name in names)} may be the {quantity}; a "
            f'run needs `columns = {{ {quantity} = "…" }}`'
        )
    used = {column.number for column in measured.columns.values()}
    report.unused = [name for n, name in enumerate(measured.source.columns) if n not in used]


def _describe_gaps(report: Report, measured: Measurement, at: np.ndarray, usual: float) -> None:
    steps = np.diff(at)
    long = np.flatnonzero(steps > GAP_FACTOR * usual) if usual else np.array([], dtype=int)
    order = long[np.argsort(steps[long])[::-1]]
    for index in order[:LISTED_GAPS]:
        report.gaps.append(
            f"{steps[index] * 1e-9:g} s before {measured.time_text(int(at[index + 1]))}"
        )
    if len(order) > LISTED_GAPS:
        report.gaps.append(f"{len(order) - LISTED_GAPS} shorter gaps")
    most = measured.keys.maximum_gap_s
    if len(steps) and most is not None and steps.max() * 1e-9 > most:
        report.contradictions.append(
            f"a gap is longer than `maximum-gap`, {most:g} s; a run over it needs a longer one"
        )


def _compare_speeds(report: Report, measured: Measurement) -> None:
    """Compares positions with the reported speeds, and finds jumps."""
    geographic = {"latitude", "longitude"} <= {*measured.columns}
    pair = ("longitude", "latitude") if geographic else ("x", "y")
    if not {*pair} <= {*measured.columns}:
        return
    has_speed = "speed" in measured.columns and measured.columns["speed"].unit is not None
    try:
        rows = measured.rows([*pair, *(["speed"] if has_speed else [])])
        first, second = (rows[one].to_numpy() for one in pair)
        if geographic:
            first, second = _projection.around((second[0], first[0])).forward(first, second)
    except (MeasuredError, _projection.ProjectionError) as error:
        report.contradictions.append(str(error))
        return
    at = rows["t"].to_numpy()
    lasts, way = np.diff(at) * 1e-9, np.hypot(np.diff(first), np.diff(second))
    report.notes.append(
        f"the positions lie in {np.ptp(first):.0f} m by {np.ptp(second):.0f} m, a way of "
        f"{way.sum():.0f} m"
    )
    jumps = np.flatnonzero(way > MOST_KMH / 3.6 * lasts)
    if len(jumps):
        worst = int(jumps[np.argmax(way[jumps])])
        report.contradictions.append(
            f"{len(jumps)} steps are faster than {MOST_KMH:g} km/h, such as {way[worst]:.0f} m in "
            f"{lasts[worst]:g} s at {measured.time_text(int(at[worst + 1]))}"
        )
    if has_speed and way.sum() > 0:
        driven = float((rows["speed"].to_numpy()[:-1] * lasts).sum())
        if not way.sum() / FASTER <= driven <= way.sum() * FASTER:
            report.contradictions.append(
                f"the reported speeds give a way of {driven:.0f} m, the positions {way.sum():.0f} m"
            )


def fragment(path: Path, measured: Measurement, report: Report) -> str:
    """Returns a scenario that uses a table: its measurement and each input that it can be."""
    # A quantity of few rows, such as a ping now and then, is no input of its own.
    there = {one.quantity for one in report.found if 2 * one.rows >= report.rows}
    lines = ["[measurement.log]", f'file = "{path.name}"']
    if measured.preset is not None:
        lines.append(f'preset = "{measured.preset.name}"')
    if any("`duplicates = " in one for one in report.contradictions):
        lines.append('duplicates = "last"')
    if any("`order = " in one for one in report.contradictions):
        lines.append('order = "sort"')
    parts = ["\n".join(lines) + "\n"]
    if {"rate", "uplink-rate", "delay", "round-trip"} & there:
        rate = 'rate = { measurement = "log" }' if "rate" in there else 'rate = "100 Mbit/s"'
        delay = 'delay = "20 ms"'
        if "delay" in there:
            delay = 'delay = { measurement = "log" }'
        elif "round-trip" in there:
            delay = 'delay = { measurement = "log", quantity = "round-trip" }'
        reverse = ""
        if "uplink-rate" in there:
            reverse = 'reverse.rate = { measurement = "log", quantity = "uplink-rate" }'
        parts.append(_links(rate, delay, reverse))
    if {"sinr", "gain", "rsrp"} & there:
        parts.append(_channels(measured, there))
    if {"x", "y"} <= there or {"latitude", "longitude"} <= there:
        parts.append('[ue.phone]\ntrace = { measurement = "log" }\n')
    return "\n".join(parts)


def _links(rate: str, delay: str, reverse: str = "") -> str:
    lines = ["[link.cell]", 'from = "server"', 'to = "phone"', rate, delay, 'queue.limit = "1 MB"']
    return "\n".join([*lines, reverse] if reverse else lines) + "\n"


def _channels(measured: Measurement, there: set[str]) -> str:
    lines = ["[channel-file.log]", 'measurement = "log"']
    lines += [
        f'{one} = "{name}"'
        for one, name in (("ue", "phone"), ("cell", "macro"))
        if one not in there
    ]
    if not {"sinr", "gain"} & there and measured.keys.reference_power_dbm is None:
        lines.append("# [measurement.log] needs `reference-power` for the received power.")
    if "cell" in there:
        lines.append("# [measurement.log] needs `cells`, pairs of a name in the table and a cell.")
    return "\n".join(lines) + "\n"


def printed(report: Report) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields the headings of a report, each with its lines, in the order of printing."""
    yield "file", [f"{report.name}: {report.form}"]
    if report.preset:
        yield "preset", [report.preset]
    yield "rows", [f"{report.rows:,}, one every {report.step}"]
    yield "time", [report.time, report.span]
    if report.gaps:
        yield "gaps", report.gaps
    if report.notes:
        yield "notes", report.notes
    if report.contradictions:
        yield "contradictions", report.contradictions
