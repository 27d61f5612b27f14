"""Description of a measured table, and a scenario that uses the table.

The rows are read once, in blocks. Rows that are out of order are read a second time and sorted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from fadeout import _projection
from fadeout.measured.errors import MeasuredError
from fadeout.measured.quantities import QUANTITIES, TEXTS
from fadeout.measured.sites import is_of_sites
from fadeout.measured.source import BytesRead
from fadeout.measured.summaries import NameSummary, NumberSummary, StepSummary, WaySummary
from fadeout.measured.table import Column, Measurement, open_measurement

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


def inspect_table(
    path: Path, table: dict[str, object] | None = None, on_read: BytesRead | None = None
) -> Report:
    """Returns the description of a measured table.

    Args:
        path: the file.
        table: keys as in a table [measurement].
        on_read: called now and then with the numbers of read bytes and of all bytes.

    Raises:
        MeasuredError: the file is no table, or has no times.
    """
    measured = open_measurement(path, table=table, base=path.parent)
    if (measured.preset is not None and measured.preset.kind == "mahimahi") or _is_trace(measured):
        return _of_opportunities(path, measured, on_read)
    rows = _Rows(measured)
    if is_of_sites(measured):
        return _of_sites(path, measured, rows, on_read)
    for block in measured.blocks(rows.quantities, failed=rows.failed, on_read=on_read):
        rows.add(block)
    disordered = rows.steps.disordered
    if disordered:
        rows = _sorted(rows, on_read)
    steps, usual, preset = rows.steps, rows.steps.usual_ns, measured.preset
    report = Report(
        name=path.name,
        form="Parquet" if measured.source.dialect is None else measured.source.dialect.described(),
        preset=None if preset is None else f"{preset.name}: {preset.title}",
        rows=steps.rows,
        time=f"`{measured.column('time').name}`, {_time_form(measured)}",
        span=f"{measured.time_text(steps.first_ns)} to {measured.time_text(steps.last_ns)}, "
        f"{(steps.last_ns - steps.first_ns) * 1e-9:g} s",
        step=f"{usual * 1e-9:g} s" if usual else "-",
    )
    _note_order(report, measured, repeated=steps.repeated, disordered=disordered)
    _describe_columns(report, measured, rows)
    _describe_gaps(report, measured, steps)
    _compare_speeds(report, measured, rows)
    report.scenario = fragment(path, measured, report)
    return report


class _Rows:
    """Summaries of the rows that were read so far."""

    def __init__(self, measured: Measurement) -> None:
        self.measured = measured
        self.quantities = [one for one in measured.columns if one != "time"]
        self.failed: dict[str, MeasuredError] = {}
        """First error of each quantity with wrong values."""
        self.steps = StepSummary(LISTED_GAPS)
        self.values = {
            one: NameSummary() if one in TEXTS else NumberSummary() for one in self.quantities
        }
        self.way: WaySummary | None = None
        """None without positions."""
        self.way_error: str | None = None
        self._project: Callable[..., tuple[np.ndarray, np.ndarray]] | None = None

    @property
    def position(self) -> Sequence[str]:
        """Quantities of positions, the one to the east first. Empty if there are none."""
        for pair in (("longitude", "latitude"), ("x", "y")):
            if {*pair} <= {*self.measured.columns}:
                return pair
        return ()

    @property
    def speed(self) -> Column | None:
        """Column of reported speeds with a unit. None if there is none."""
        column = self.measured.columns.get("speed")
        return column if column is not None and column.unit is not None else None

    def add(self, block: pl.DataFrame) -> None:
        """Adds the rows of a block."""
        self.add_values(block)
        self.add_course(block)

    def add_values(self, block: pl.DataFrame) -> None:
        """Adds the values of a block."""
        for quantity, summary in self.values.items():
            if quantity in block.columns:
                summary.add(block[quantity])

    def add_course(self, block: pl.DataFrame) -> None:
        """Adds the times and positions of a block."""
        self.steps.add(block["t"].to_numpy())
        wanted = [*self.position, *(["speed"] if self.speed is not None else [])]
        if not self.position or not {*wanted} <= {*block.columns} or self.way_error is not None:
            return
        rows = block.drop_nulls(wanted)
        if rows.is_empty():
            return
        self.way = self.way or WaySummary(MOST_KMH / 3.6)
        first, second = (rows[one].to_numpy() for one in self.position)
        try:
            if self.position[0] == "longitude":
                self._project = self._project or _projection.around((second[0], first[0])).forward
                first, second = self._project(first, second)
        except _projection.ProjectionError as error:
            self.way_error = str(error)
            return
        speeds = rows["speed"].to_numpy() if self.speed is not None else np.full(len(rows), np.nan)
        self.way.add(rows["t"].to_numpy(), np.column_stack([first, second]), speeds)


def _sorted(rows: _Rows, on_read: BytesRead | None) -> _Rows:
    """Returns the rows with times and positions in the order of time, which are read again."""
    again = _Rows(rows.measured)
    again.values, again.failed = rows.values, rows.failed
    wanted = [*again.position, *(["speed"] if again.speed is not None else [])]
    wanted = [one for one in wanted if one not in rows.failed]
    parts = [*rows.measured.blocks(wanted, failed=rows.failed, on_read=on_read)]
    again.add_course(pl.concat(parts).sort("t", maintain_order=True))
    return again


def _of_sites(path: Path, measured: Measurement, rows: _Rows, on_read: BytesRead | None) -> Report:
    count = 0
    for block in measured.blocks(
        rows.quantities, is_timed=False, failed=rows.failed, on_read=on_read
    ):
        count += len(block)
        rows.add_values(block)
    dialect = measured.source.dialect
    report = Report(
        name=path.name,
        form="Parquet" if dialect is None else dialect.described(),
        preset=None,
        rows=count,
        time="none, as of a table of sites",
        span="-",
        step="-",
    )
    _describe_columns(report, measured, rows)
    origin = ["# origin = [latitude, longitude] of 0 m, 0 m"] if "latitude" in rows.values else []
    lines = ["[measurement.sites]", f'file = "{path.name}"', *origin, ""]
    lines += ["[cell.macro]", 'sites = { measurement = "sites" }', 'antenna = "sector"']
    report.scenario = "\n".join(lines) + "\n"
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


def _of_opportunities(path: Path, measured: Measurement, on_read: BytesRead | None) -> Report:
    count, last = 0, 0
    for block in measured.source.blocks([0], on_read):
        milliseconds = block["c0"].str.strip_chars().cast(pl.Int64, strict=False)
        if milliseconds.is_empty():
            continue
        is_whole = not milliseconds.null_count() and milliseconds.is_sorted()
        if not is_whole or milliseconds[0] < last:
            raise MeasuredError(
                f"{path.name} has one column of numbers, but no times; expected the milliseconds "
                "of mahimahi, which do not decrease, or a table with a time and a value"
            )
        count, last = count + len(milliseconds), int(milliseconds[-1])
    if not count:
        raise MeasuredError(f"{path.name} has no rows; expected the milliseconds of mahimahi")
    lasts_s = max(last, 1) / 1e3
    rate = count * 1500 * 8 / lasts_s / 1e6
    report = Report(
        name=path.name,
        form="delivery opportunities of mahimahi",
        preset="mahimahi: a millisecond for each packet of 1500 bytes",
        rows=count,
        time="ms",
        span=f"{lasts_s:g} s, after which the trace repeats",
        step="-",
    )
    report.found.append(Found("rate", "column 1", "Mbit/s", False, count, 0, f"mean {rate:.3g}"))
    report.scenario = _links(f'rate = {{ trace = "{path.name}" }}', 'delay = "20 ms"')
    return report


def _time_form(measured: Measurement) -> str:
    form = measured.time_format
    assert form is not None
    return f"{form.described} (guessed)" if form.is_guessed else form.described


def _note_order(report: Report, measured: Measurement, *, repeated: int, disordered: int) -> None:
    keys = measured.keys
    if repeated:
        what = f"{repeated} rows have the time of another row"
        if keys.duplicates == "refuse":
            report.contradictions.append(
                f'{what}; a run needs `duplicates = "first"`, "last" or "mean"'
            )
        else:
            report.notes.append(f'{what}; `duplicates` is "{keys.duplicates}"')
    if disordered:
        what = f"{disordered} rows are earlier than the row before"
        if keys.order == "refuse":
            report.contradictions.append(f'{what}; a run needs `order = "sort"`')
        else:
            report.notes.append(f'{what}; `order` is "{keys.order}"')


def _describe_columns(report: Report, measured: Measurement, rows: _Rows) -> None:
    for quantity, summary in rows.values.items():
        if quantity in rows.failed:
            error = str(rows.failed[quantity])
            report.contradictions.append(error.removeprefix(f"{measured.source.name}: "))
            continue
        column = measured.columns[quantity]
        if summary.rows == 0:
            report.contradictions.append(f"no row has a value in `{column.name}`, the {quantity}")
            continue
        unit = ""
        if quantity not in TEXTS:
            units = QUANTITIES[quantity].units
            is_base = column.unit is not None and units[column.unit] == 1.0
            unit = column.unit or "" if is_base else QUANTITIES[quantity].base_unit
        given = column.unit or ""
        if column.is_guessed and column.unit != "deg":
            report.notes.append(f"`{column.name}` has no unit; {given} is assumed")
        report.found.append(
            Found(
                quantity,
                column.name,
                unit if given in ("", unit) else f"{unit} (from {given})",
                column.is_guessed,
                summary.rows,
                summary.missing,
                summary.described(),
            )
        )
    for quantity, names in measured.ambiguous.items():
        report.contradictions.append(
            f"the columns {', '.join(f'`{name}`' for name in names)} may be the {quantity}; a "
            f'run needs `columns = {{ {quantity} = "…" }}`'
        )
    used = {column.number for column in measured.columns.values()}
    report.unused = [name for n, name in enumerate(measured.source.columns) if n not in used]


def _describe_gaps(report: Report, measured: Measurement, steps: StepSummary) -> None:
    usual = steps.usual_ns
    gaps = [step for step in steps.longest if usual and step.lasts_ns > GAP_FACTOR * usual]
    for gap in gaps:
        report.gaps.append(f"{gap.lasts_ns * 1e-9:g} s before {measured.time_text(gap.until_ns)}")
    count = steps.steps_above(GAP_FACTOR * usual) if usual else 0
    if count > len(gaps):
        report.gaps.append(f"{count - len(gaps)} shorter gaps")
    most = measured.keys.maximum_gap_s
    if steps.longest and most is not None and steps.longest[0].lasts_ns * 1e-9 > most:
        report.contradictions.append(
            f"a gap is longer than `maximum-gap`, {most:g} s; a run over it needs a longer one"
        )


def _compare_speeds(report: Report, measured: Measurement, rows: _Rows) -> None:
    """Compares positions with the reported speeds, and names jumps."""
    if rows.way_error is not None:
        report.contradictions.append(rows.way_error)
        return
    way = rows.way
    if way is None:
        return
    east_m, north_m = way.extent_m
    report.notes.append(
        f"the positions lie in {east_m:.0f} m by {north_m:.0f} m, a way of {way.way_m:.0f} m"
    )
    if way.worst is not None:
        report.contradictions.append(
            f"{way.jumps} steps are faster than {MOST_KMH:g} km/h, such as {way.worst.way_m:.0f} m "
            f"in {way.worst.lasts_s:g} s at {measured.time_text(way.worst.until_ns)}"
        )
    if (
        rows.speed is not None
        and way.way_m > 0
        and not way.way_m / FASTER <= way.driven_m <= way.way_m * FASTER
    ):
        report.contradictions.append(
            f"the reported speeds give a way of {way.driven_m:.0f} m, the positions "
            f"{way.way_m:.0f} m"
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
    if {"rate", "uplink-rate", "delay", "round-trip", "loss"} & there:
        rate = 'rate = { measurement = "log" }' if "rate" in there else 'rate = "100 Mbit/s"'
        delay = 'delay = "20 ms"'
        if "delay" in there:
            delay = 'delay = { measurement = "log" }'
        elif "round-trip" in there:
            delay = 'delay = { measurement = "log", quantity = "round-trip" }'
        more = []
        if "loss" in there:
            more.append('loss = { measurement = "log" }')
        if "uplink-rate" in there:
            more.append('reverse.rate = { measurement = "log", quantity = "uplink-rate" }')
        parts.append(_links(rate, delay, more))
    if {"sinr", "gain", "rsrp"} & there:
        parts.append(_channels(measured, there))
    if {"x", "y"} <= there or {"latitude", "longitude"} <= there:
        parts.append('[ue.phone]\ntrace = { measurement = "log" }\n')
    return "\n".join(parts)


def _links(rate: str, delay: str, more: Sequence[str] = ()) -> str:
    lines = ["[link.cell]", 'from = "server"', 'to = "phone"', rate, delay, 'queue.limit = "1 MB"']
    return "\n".join([*lines, *more]) + "\n"


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
