"""Plain files for the simulator in place of measured tables.

Each function returns the text of one input: rates, delays or losses of a link, channels, or
positions. The time of the text is that of the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from fadeout import _projection
from fadeout.measured import times
from fadeout.measured.errors import MeasuredError, at_line
from fadeout.measured.places import projected
from fadeout.measured.table import Measurement

LEAST_MBPS = 1e-3
"""Smallest rate of a link that changes. Lower measured rates are those of an idle sender."""
ID = "ue"
"""Name of the UE in a file of positions."""


@dataclass(frozen=True)
class Window:
    """The part of a table that a run uses."""

    start_ns: int
    """Time of the table at which the run starts."""
    duration_ns: int

    @property
    def end_ns(self) -> int:
        """Time of the table at which the run ends."""
        return self.start_ns + self.duration_ns


@dataclass(frozen=True)
class Steps:
    """Values over time, each valid until the next."""

    text: str
    """Table of the simulator."""
    repeat_ns: int | None
    """Time after which the rows repeat."""


def window(
    measured: Measurement, rows: pl.DataFrame, duration_ns: int, lasts_ns: int = 0
) -> Window:
    """Returns the part of a table that a run of this duration uses.

    Args:
        measured: the table.
        rows: its rows.
        duration_ns: duration of the run.
        lasts_ns: time for which the last row is valid.

    Raises:
        MeasuredError: the key `start` is wrong, or the rows and the run do not overlap.
    """
    assert measured.time_format is not None
    first, last = int(rows["t"].min()), int(rows["t"].max())  # type: ignore[arg-type]
    moments = times.Times(rows["t"], measured.time_format)
    start = times.start_ns(measured.keys.start, moments, first, measured.keys.zone)
    found = Window(start, duration_ns)
    is_apart = found.end_ns < first or found.start_ns > last + lasts_ns
    if is_apart and measured.keys.outside != "repeat":
        raise MeasuredError(
            f"{measured.source.name} covers {measured.time_text(first)} to "
            f"{measured.time_text(last)}, but the run covers {measured.time_text(start)} to "
            f"{measured.time_text(found.end_ns)} of the table; expected "
            '`start = "first"` or another time within the table, in a table [measurement]',
            key="start" if measured.keys.start is not None else "file",
        )
    return found


def steps(
    measured: Measurement, quantity: str, duration_ns: int, write: tuple[str, float]
) -> Steps:
    """Returns the rates, delays or losses of a link.

    Args:
        measured: the table.
        quantity: the quantity, such as `rate`.
        duration_ns: duration of the run.
        write: the simulator's column and a factor of the values.

    Raises:
        MeasuredError: a value is wrong, or the rows do not cover the run.
    """
    rows = measured.rows([quantity])
    outside = measured.keys.outside or "hold"
    at, values = rows["t"].to_numpy(), rows[quantity].to_numpy() * write[1]
    if write[0] == "rate_mbps":
        values = np.where(values < LEAST_MBPS, 0.0, values)
    last_step = int(at[-1] - at[-2]) if len(at) > 1 else 1_000_000_000
    run = window(measured, rows, duration_ns, last_step)
    _check_gaps(measured, rows, run)
    begins, ends = int(at[0]), int(at[-1]) + last_step
    if outside in ("refuse", "end") and begins > run.start_ns:
        raise _uncovered(measured, rows["row"][0], "first", begins, run)
    if outside == "refuse" and ends < run.end_ns:
        raise _uncovered(measured, rows["row"][-1], "last", int(at[-1]), run)
    if outside == "repeat":
        return _repeating(at, values, run, (ends - begins, write[0]))
    if outside == "end":
        if quantity not in ("rate", "uplink-rate"):
            raise MeasuredError(
                f'`outside = "end"` means a rate of zero, but the quantity is the {quantity}; '
                'expected "hold", "repeat" or "refuse"',
                key="outside",
            )
        at, values = np.append(at, ends), np.append(values, 0.0)
    begun = max(int(np.searchsorted(at, run.start_ns, side="right")) - 1, 0)
    used = slice(begun, int(np.searchsorted(at, run.end_ns, side="right")))
    shifted = np.maximum(at[used] - run.start_ns, 0)
    # The value of the first row is also that before it.
    shifted[0] = 0
    return Steps(_table(shifted, {write[0]: values[used]}), None)


def _repeating(at: np.ndarray, values: np.ndarray, run: Window, form: tuple[int, str]) -> Steps:
    """Returns rows that repeat, turned so that the run starts with the row that is then valid."""
    period, name = form
    phases = (at - run.start_ns) % period
    order = np.argsort(phases, kind="stable")
    phases, values = phases[order], values[order]
    if phases[0] > 0:
        phases, values = np.insert(phases, 0, 0), np.insert(values, 0, values[-1])
    return Steps(_table(phases, {name: values}), period)


def channels(
    measured: Measurement,
    duration_ns: int,
    names: Mapping[str, str | None],
    *,
    is_plain: bool,
    is_serving_only: bool = False,
) -> str:
    """Returns the channels of a table in the columns of a channel file.

    Args:
        measured: the table.
        duration_ns: duration of the run.
        names: the UE and the cell of a table without these columns.
        is_plain: true for a file that the scenario names without a measurement. Its times stay as
            they are.
        is_serving_only: true if the table has only rows of the serving cell. Cells are then not
            heard while they do not serve.

    Raises:
        MeasuredError: a value is wrong, or the UE or the cell is missing.
    """
    # With an SINR a UE stays in its cell.
    order = ("gain", "rsrp", "sinr") if is_serving_only else ("sinr", "gain", "rsrp")
    quantity = next((one for one in order if _has(measured, one)), None)
    if quantity is None:
        measured.column("sinr")
    assert quantity is not None
    by = [one for one in ("ue", "cell") if one in measured.columns and names.get(one) is None]
    extra = ["uplink-sinr"] if quantity == "sinr" and _has(measured, "uplink-sinr") else []
    if is_serving_only:
        # One cell serves at a time, so a time that occurs again is a duplicate in any cell.
        rows = measured.rows([quantity, *by])
    else:
        rows = measured.rows([quantity, *extra], by)
    start = 0 if is_plain else window(measured, rows, duration_ns).start_ns
    for one in ("ue", "cell"):
        if one not in by:
            given = names.get(one)
            if given is None:
                raise MeasuredError(
                    f"{measured.source.name} has no column for the {one}; expected `{one} = "
                    '"NAME"` in '
                    f"the table [channel-file], or `columns = {{ {one} = … }}`",
                    key="measurement",
                )
            rows = rows.with_columns(pl.lit(given).alias(one))
    if "cell" in by:
        rows = _of_cells(measured, rows)
    if not is_serving_only:
        rows = _from_start(rows, start, ["ue", "cell"])
    values = {"sinr": "sinr_db", "gain": "gain_db", "uplink-sinr": "uplink_sinr_db"}
    if quantity == "rsrp":
        power = measured.keys.reference_power_dbm
        if power is None:
            raise MeasuredError(
                f"{measured.source.name} has the received power (rsrp), but no gain or SINR; "
                'expected `reference-power = "18 dBm"`, the power of a resource element at the '
                "base station, in the table [measurement]",
                key="reference-power",
            )
        rows = rows.with_columns((pl.col("rsrp") - power).alias("gain"))
        quantity = "gain"
    if is_serving_only:
        if quantity != "gain":
            raise MeasuredError(
                f"{measured.source.name} has SINRs, with which a UE stays in its cell; expected a "
                "gain, or a received power (rsrp) with `reference-power`",
                key="measurement",
            )
        rows = _while_serving(rows.with_columns(pl.col("t") - start), duration_ns)
    written = rows.select(
        (pl.col("t") / 1e9).alias("time_s"),
        "ue",
        "cell",
        *[pl.col(one).alias(values[one]) for one in (quantity, *extra)],
    )
    return written.write_csv()


def positions(
    measured: Measurement, duration_ns: int, projection: _projection.Projection | None
) -> str:
    """Returns the positions of a table as a movement of SUMO's format, with the id `ue`.

    Args:
        measured: the table.
        duration_ns: duration of the run.
        projection: the projection of latitudes and longitudes. None for that of the key `origin`,
            or around the first position.

    Raises:
        MeasuredError: a value is wrong, or the table has no positions.
    """
    is_geographic = not _has(measured, "x") and _has(measured, "latitude")
    pair = ("longitude", "latitude") if is_geographic else ("x", "y")
    rows = measured.rows(pair)
    run = window(measured, rows, duration_ns)
    if is_geographic:
        if projection is None:
            projection = _projection.around(
                measured.keys.origin or (rows["latitude"][0], rows["longitude"][0])
            )
        longitudes, latitudes = (rows[one].to_numpy() for one in pair)
        east, north = projected(measured, longitudes, latitudes, projection)
        # A logger resolves positions to a centimetre at best.
        rows = rows.with_columns(x=pl.Series(east).round(3), y=pl.Series(north).round(3))
    rows = _from_start(rows, run.start_ns, [])
    if (outside := measured.keys.outside) in ("repeat", "end"):
        raise MeasuredError(
            f'`outside = "{outside}"` for positions; expected "hold" or "refuse"', key="outside"
        )
    if outside == "refuse":
        _check_gaps(measured, rows, Window(0, duration_ns))
    written = rows.select(
        (pl.col("t") / 1e9).alias("time"), pl.lit(ID).alias("id"), pl.col("x"), pl.col("y")
    )
    return written.write_csv(separator=";")


def _has(measured: Measurement, quantity: str) -> bool:
    return quantity in measured.columns or quantity in measured.ambiguous


def _from_start(rows: pl.DataFrame, start_ns: int, by: Sequence[str]) -> pl.DataFrame:
    """Returns rows whose time is that of the run, without rows that end before the run.

    The last of the earlier rows is kept, with the value at the start of the run.
    """
    rows = rows.with_columns(pl.col("t") - start_ns)
    if rows["t"].min() >= 0:  # type: ignore[operator]
        return rows
    numbers = [name for name, kind in rows.schema.items() if kind == pl.Float64]
    before, after = pl.col("t"), pl.col("t").shift(-1)
    share = -before / (after - before)
    at_start = [
        pl.when((before < 0) & (after > 0))
        .then(pl.col(one) + (pl.col(one).shift(-1) - pl.col(one)) * share)
        .otherwise(pl.col(one))
        for one in numbers
    ]
    is_used = (before >= 0) | (after > 0)
    named = [*at_start, is_used.fill_null(False).alias("used")]
    found = rows.with_columns([one.over(list(by)) for one in named] if by else named)
    return found.filter("used").drop("used").with_columns(pl.col("t").clip(0))


def _check_gaps(measured: Measurement, rows: pl.DataFrame, run: Window) -> None:
    """Refuses a gap during the run that is longer than `maximum-gap`.

    Raises:
        MeasuredError: there is such a gap.
    """
    most = measured.keys.maximum_gap_s
    if most is None:
        return
    gaps = rows.with_columns(gap=pl.col("t").diff(), before=pl.col("t").shift(1)).filter(
        (pl.col("gap") > round(most * 1e9))
        & (pl.col("t") > run.start_ns)
        & (pl.col("before") < run.end_ns)
    )
    if gaps.is_empty():
        return
    row, gap = gaps.row(0, named=True), gaps["gap"][0] * 1e-9
    count = f", the first of {len(gaps)} such gaps" if len(gaps) > 1 else ""
    raise at_line(
        measured.source.name,
        measured.source.line_of(row["row"]),
        f"no row for {gap:g} s before {measured.time_text(row['t'])}{count}; expected one every "
        f"{most:g} s, or a longer `maximum-gap` in a table [measurement]",
    )


def _uncovered(
    measured: Measurement, row: int, which: str, time_ns: int, run: Window
) -> MeasuredError:
    verb = "begins after" if which == "first" else "ends before"
    return at_line(
        measured.source.name,
        measured.source.line_of(row),
        f"the {which} row is at {measured.time_text(time_ns)}, but the run covers "
        f"{measured.time_text(run.start_ns)} to {measured.time_text(run.end_ns)}: the table "
        f'{verb} it; expected `outside = "hold"` or another `start` in a table [measurement]',
    )


def _table(nanoseconds: np.ndarray, columns: Mapping[str, np.ndarray]) -> str:
    frame = pl.DataFrame({"time_s": nanoseconds / 1e9, **columns})
    return frame.write_csv()


@dataclass(frozen=True)
class CellChange:
    """The beginning of a serving cell in a table."""

    at_ns: int
    """Time of the run. Zero for the first cell."""
    cell: str


def serving_cells(measured: Measurement, duration_ns: int) -> list[CellChange]:
    """Returns the serving cells of a table during a run, the first one at zero.

    Args:
        measured: the table.
        duration_ns: duration of the run.

    Raises:
        MeasuredError: the table has no cells, or does not overlap with the run.
    """
    known = _of_cells(measured, measured.rows(["cell"]))
    run = window(measured, known, duration_ns)
    rows = known.with_columns(pl.col("t") - run.start_ns)
    begun = rows.filter(pl.col("t") <= 0).tail(1)
    rows = pl.concat([begun, rows.filter((pl.col("t") > 0) & (pl.col("t") < duration_ns))])
    if rows.is_empty():
        rows = known.head(1)
    changed = rows.filter((pl.col("cell") != pl.col("cell").shift(1)).fill_null(True))
    found = [CellChange(at, cell) for at, cell in changed.select("t", "cell").iter_rows()]
    return [CellChange(0, found[0].cell), *found[1:]]


def _of_cells(measured: Measurement, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of the cells of the scenario, with their names there.

    Raises:
        MeasuredError: there is none.
    """
    if not measured.keys.cells:
        return rows
    names = pl.col("cell").replace_strict(dict(measured.keys.cells), default=None)
    rows = rows.with_columns(names).drop_nulls("cell")
    if rows.is_empty():
        raise MeasuredError(
            f"{measured.source.name} has no row of the cells {', '.join(measured.keys.cells)}; "
            "expected pairs of a name in the table and a name in the scenario",
            key="cells",
        )
    return rows


NOT_HEARD_DB = -250.0
"""Gain of a cell that the table does not have at a time. Its interference is then negligible."""
EDGE_NS = 1_000_000
"""Time within which the gain changes when a cell begins or ends to serve."""


def _while_serving(rows: pl.DataFrame, duration_ns: int) -> pl.DataFrame:
    """Returns gains of each cell for the whole run, from rows of the serving cell.

    A cell is heard from its first row. After its last row it is heard for as long again as the time
    to the next cell's first row, because a handover takes time.
    """
    rows = rows.sort("t")
    at, cells, gains = (rows[column].to_list() for column in ("t", "cell", "gain"))
    last_step = at[-1] - at[-2] if len(at) > 1 else duration_ns
    end = max(duration_ns, at[-1]) + last_step
    found = [
        {"t": time, "ue": rows["ue"][0], "cell": cell, "gain": gain}
        for cell in dict.fromkeys(cells)
        for time, gain in _heard(cell, at, cells, gains, end)
    ]
    return _from_start(pl.DataFrame(found), 0, ["ue", "cell"])


def _heard(
    cell: str, at: Sequence[int], cells: Sequence[str], gains: Sequence[float], end: int
) -> list[tuple[int, float]]:
    """Returns the times and gains of one cell until `end`, from rows of all serving cells."""
    own = [index for index, one in enumerate(cells) if one == cell]
    # The first serving cell has its first value before the first row, too.
    points = [(min(0, at[0]) - EDGE_NS, gains[0] if own[0] == 0 else NOT_HEARD_DB)]
    is_heard = own[0] == 0
    for number, index in enumerate(own):
        if not is_heard and at[index] > points[-1][0] + EDGE_NS:
            points.append((at[index] - EDGE_NS, NOT_HEARD_DB))
        points.append((at[index], gains[index]))
        is_heard = True
        if index + 1 == len(at) or cells[index + 1] == cell:
            continue
        until = 2 * at[index + 1] - at[index]
        following = at[own[number + 1]] if number + 1 < len(own) else end
        if following > until + 2 * EDGE_NS:
            points += [(until, gains[index]), (until + EDGE_NS, NOT_HEARD_DB)]
            is_heard = False
    if points[-1][0] < end:
        points.append((end, points[-1][1]))
    return points
