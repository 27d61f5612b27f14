"""Interpretation of a measured table: its columns, units, missing values and times.

`open_measurement` finds the columns. `Measurement.rows` reads the rows of some quantities, with the
time in nanoseconds, checked and without duplicates.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from fadeout import _names
from fadeout.measured import times
from fadeout.measured.errors import MeasuredError, at_line
from fadeout.measured.keys import Keys, keys_of
from fadeout.measured.presets import Preset, read_preset, recognised
from fadeout.measured.quantities import QUANTITIES, TEXTS, divided, unit_of
from fadeout.measured.source import NUMBER, BytesRead, Source, open_table
from fadeout.measured.times import TimeError, TimeFormat, Times

DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+")
SAMPLE = 200
"""Rows that decide whether a column has decimal commas."""


class Column(NamedTuple):
    """The column of a quantity."""

    number: int
    """Position in the table, from 0."""
    name: str
    unit: str | None
    """Unit of the values, in fadeout's spelling. None for texts, times and unknown units."""
    is_guessed: bool
    """True if neither the name of the column nor the keys give the unit."""


@dataclass
class Measurement:
    """A measured table whose columns are known."""

    source: Source
    keys: Keys
    preset: Preset | None
    columns: Mapping[str, Column]
    """Columns by quantity."""
    ambiguous: Mapping[str, Sequence[str]]
    """Names of several columns that may be the same quantity."""
    time_format: TimeFormat | None = None
    """Format of the times. The first rows decide it. None before rows are read."""
    decimal_commas: dict[str, bool] = field(default_factory=dict)
    """True for quantities with decimal commas. The first values decide it."""

    def column(self, quantity: str) -> Column:
        """Returns the column of a quantity.

        Raises:
            MeasuredError: there is none, or there are several.
        """
        if quantity in self.ambiguous:
            several = self.ambiguous[quantity]
            if len(set(several)) == 1:
                raise at_line(
                    self.source.name,
                    self.header_line,
                    f"{len(several)} columns are called `{several[0]}`; expected one",
                )
            names = ", ".join(f"`{name}`" for name in several)
            raise MeasuredError(
                f"{self.source.name}: the columns {names} may be the {quantity}; expected one of "
                f'them as `columns = {{ {quantity} = "…" }}` in a table [measurement]',
                key="columns",
            )
        if quantity not in self.columns:
            there = ", ".join(self.source.columns[:12])
            more = ", …" if len(self.source.columns) > 12 else ""
            raise at_line(
                self.source.name,
                self.header_line,
                f"no column for the {quantity}; the header has {there}{more}; expected a name "
                f"such as `{usual_name(quantity)}`, or "
                f'`columns = {{ {quantity} = "…" }}` in a table [measurement]',
            )
        return self.columns[quantity]

    @property
    def header_line(self) -> int | None:
        """Line of the header. None for Parquet."""
        dialect = self.source.dialect
        return None if dialect is None else dialect.skipped + 1

    def rows(self, quantities: Sequence[str], by: Sequence[str] = ()) -> pl.DataFrame:
        """Returns the rows in which all quantities have a value.

        Times increase among rows with the same values of `by`. The key `duplicates` has been
        applied.

        Args:
            quantities: the quantities to read.
            by: quantities of names, such as `ue` and `cell`.

        Returns:
            Columns `row` (from 0), `t` (nanoseconds), and one column for each quantity: texts, or
            numbers in the base unit of the quantity (Mbit/s, ms, m).

        Raises:
            MeasuredError: a value or a time is wrong, or times decrease.
        """
        wanted = [*quantities, *by]
        frame = pl.concat([part.drop_nulls(wanted) for part in self.blocks(wanted)])
        if frame.is_empty():
            what = " and ".join(quantities)
            raise MeasuredError(f"{self.source.name} has no row with {what}; expected at least one")
        step = pl.col("t").diff()
        if by:
            step = step.over(list(by))
        frame = frame.with_columns(step.alias("step"))
        back = frame.filter(pl.col("step") < 0)
        if not back.is_empty() and self.keys.order == "sort":
            frame = frame.sort("t", maintain_order=True).with_columns(step.alias("step"))
        elif not back.is_empty():
            row, here, gone = back.row(0, named=True)["row"], back["t"][0], -back["step"][0]
            raise self._wrong(
                row,
                f"the time goes back by {gone * 1e-9:g} s to {self.time_text(here)}; expected "
                'increasing times, or `order = "sort"` in a table [measurement]',
            )
        return self._without_duplicates(frame, quantities, by).drop("step")

    def time_text(self, nanoseconds: int) -> str:
        """Returns a time of the table in a readable form."""
        if self.time_format is not None and self.time_format.is_clock:
            date = pl.Series([nanoseconds]).cast(pl.Datetime("ns"))
            if self.time_format.described == "time of day":
                return date.dt.strftime("%H:%M:%S")[0]
            return date.dt.strftime("%Y-%m-%d %H:%M:%S")[0]
        return f"{nanoseconds * 1e-9:g} s"

    def _without_duplicates(
        self, frame: pl.DataFrame, quantities: Sequence[str], by: Sequence[str]
    ) -> pl.DataFrame:
        again = frame.filter(pl.col("step") == 0)
        if again.is_empty():
            return frame
        match self.keys.duplicates:
            case "refuse":
                row = again["row"][0]
                count = f"{len(again)} such rows" if len(again) > 1 else "one such row"
                raise self._wrong(
                    row,
                    f"the time {self.time_text(again['t'][0])} occurs again ({count}); expected "
                    'increasing times, or `duplicates = "last"`, "first" or "mean" in a table '
                    "[measurement]",
                )
            case "mean":
                values = [
                    pl.col(one).last() if one in TEXTS else pl.col(one).mean() for one in quantities
                ]
                grouped = frame.group_by([*by, "t"], maintain_order=True)
                return grouped.agg(pl.col("row", "step").first(), *values)
            case keep:
                chosen = "first" if keep == "first" else "last"
                return frame.unique([*by, "t"], keep=chosen, maintain_order=True)

    def blocks(
        self,
        quantities: Sequence[str],
        *,
        is_timed: bool = True,
        failed: dict[str, MeasuredError] | None = None,
        on_read: BytesRead | None = None,
    ) -> Iterator[pl.DataFrame]:
        """Yields all rows with a time in blocks of bounded size, in the order of the file.

        Args:
            quantities: the quantities to read.
            is_timed: false for a table without times. All rows are then read, without `t`.
            failed: receives the first error of each quantity with wrong values. Such a quantity
                is missing in this block and in later blocks. None to raise the error.
            on_read: called after each block with the numbers of read bytes and of all bytes.

        Yields:
            Columns `row` (from 0), `t` (nanoseconds), and one column for each quantity, with null
            for missing values.

        Raises:
            MeasuredError: a value or a time is wrong, or there is no row with a time.
        """
        wanted = dict.fromkeys(["time", *quantities] if is_timed else quantities)
        chosen = {one: self.column(one) for one in wanted}
        has_rows = False
        for texts in self.source.blocks([column.number for column in chosen.values()], on_read):
            columns = [pl.col(f"c{column.number}").alias(name) for name, column in chosen.items()]
            frame = texts.select("row", *columns)
            if self.source.dialect is not None:
                frame = self._without_missing(frame, [*chosen])
            if is_timed:
                frame = frame.drop_nulls("time")
            if frame.is_empty():
                continue
            has_rows = True
            read = [frame["row"]]
            if is_timed:
                read.append(self._times(frame).alias("t"))
            for quantity, column in chosen.items():
                if quantity == "time" or (failed is not None and quantity in failed):
                    continue
                try:
                    read.append(self._values(frame, quantity, column))
                except MeasuredError as error:
                    if failed is None:
                        raise
                    failed[quantity] = error
            yield pl.DataFrame(read).drop_nulls("t" if is_timed else "row")
        if not has_rows:
            what = "row with a time" if is_timed else "row"
            raise MeasuredError(f"{self.source.name} has no {what}; expected at least one")

    def _without_missing(self, frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Returns texts without surrounding blanks, with null for missing values."""
        stripped = [pl.col(name).str.strip_chars() for name in names]
        absent = list(self.keys.missing)
        kept = [
            pl.when(pl.col(name).str.to_lowercase().is_in(absent))
            .then(None)
            .otherwise(pl.col(name))
            .alias(name)
            for name in names
        ]
        return frame.with_columns(stripped).with_columns(kept)

    def _times(self, frame: pl.DataFrame) -> pl.Series:
        """Returns the times in nanoseconds."""
        texts = frame["time"]
        try:
            if texts.dtype.is_temporal():
                if texts.dtype == pl.Datetime and texts.dtype.time_zone is not None:  # type: ignore[attr-defined]
                    texts = texts.dt.convert_time_zone("UTC")
                found = Times(
                    texts.cast(pl.Datetime("ns")).cast(pl.Int64), TimeFormat("dates", is_clock=True)
                )
            else:
                found = self._written_times(frame)
        except TimeError as error:
            raise self._wrong(frame["row"][error.row], str(error)) from None
        except MeasuredError as error:
            raise MeasuredError(f"{self.source.name}: {error}", key=error.key) from None
        self.time_format = self.time_format or found.format
        return found.nanoseconds

    def _written_times(self, frame: pl.DataFrame) -> Times:
        """Returns the times of numbers or texts, in the format of earlier rows if there are any."""
        texts, known = frame["time"], self.time_format
        if known is not None and known.form is not None:
            return times.of_texts(
                texts.cast(pl.String), known.form, self.keys.zone, known.abbreviation
            )
        asked = self.keys.time
        unit = asked if asked in times.UNITS_NS else None
        if asked is not None and unit is None:
            return times.of_texts(texts.cast(pl.String), asked, self.keys.zone)
        unit, is_asked = unit or self.columns["time"].unit, unit is not None
        if known is not None:
            unit = known.unit
        if texts.dtype.is_numeric():
            return times.of_numbers(texts, unit, asked=is_asked)
        if (numbers := self._as_integers(texts)) is not None:
            return times.of_numbers(numbers, unit, asked=is_asked)
        if known is not None or NUMBER.fullmatch(texts[0]):
            return times.of_numbers(self._numbers(frame, "time"), unit, asked=is_asked)
        return times.of_texts(texts, None, self.keys.zone)

    @staticmethod
    def _as_integers(texts: pl.Series) -> pl.Series | None:
        """Returns whole numbers without rounding. None for other texts."""
        whole = texts.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == texts.null_count() else None

    def _values(self, frame: pl.DataFrame, quantity: str, column: Column) -> pl.Series:
        if quantity in TEXTS:
            return frame[quantity].cast(pl.String)
        described = QUANTITIES[quantity]
        if column.unit is None:
            units = ", ".join(f'"{unit}"' for unit in described.units)
            raise MeasuredError(
                f"{self.source.name}: the column `{column.name}` has no unit; expected "
                f'`units = {{ {quantity} = "…" }}` in a table [measurement], with one of {units}',
                key="units",
            )
        if column.unit not in described.units:
            units = ", ".join(described.units)
            raise MeasuredError(
                f"{self.source.name}: the {quantity} is in {column.unit}; expected one of {units}",
                key="units",
            )
        factor = described.units[column.unit]
        numbers = self._numbers(frame, quantity) * factor
        outside = (
            (numbers < described.low) | (numbers > described.high) | numbers.is_nan()
        ).fill_null(False)
        if outside.any():
            row = int(outside.arg_max() or 0)
            raise self._wrong(
                frame["row"][row],
                f"the {quantity} is {frame[quantity][row]}; expected "
                f"{described.low / factor:g} to {described.high / factor:g} {column.unit}, or a "
                "text of `missing`",
            )
        return numbers.alias(quantity)

    def _numbers(self, frame: pl.DataFrame, quantity: str) -> pl.Series:
        """Returns the numbers of a column of texts."""
        texts = frame[quantity]
        if texts.dtype.is_numeric():
            return texts.cast(pl.Float64)
        if texts.dtype != pl.String:
            raise MeasuredError(
                f"{self.source.name}: the column `{self.columns[quantity].name}` has values of "
                f"the type {texts.dtype}; expected numbers"
            )
        if self._has_decimal_commas(texts, quantity):
            texts = texts.str.replace(",", ".", literal=True)
        numbers = texts.cast(pl.Float64, strict=False)
        wrong = numbers.is_null() & texts.is_not_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            shown = frame[quantity][row][:40]
            raise self._wrong(
                frame["row"][row],
                f'"{shown}" as the {quantity}; expected a number, or a text of `missing`',
            )
        return numbers

    def _has_decimal_commas(self, texts: pl.Series, quantity: str) -> bool:
        sample = texts.drop_nulls().head(SAMPLE).to_list()
        if quantity in self.decimal_commas or not sample:
            return self.decimal_commas.get(quantity, False)
        found = any(DECIMAL_COMMA.fullmatch(one) for one in sample)
        found = found and not any("." in one for one in sample)
        dialect = self.source.dialect
        may_group = dialect is not None and dialect.separator == ","
        if found and may_group and all(GROUPED.fullmatch(one) for one in sample if "," in one):
            example = next(one for one in sample if "," in one)
            raise MeasuredError(
                f'{self.source.name}: the comma in values such as "{example}" of the column '
                f"`{self.columns[quantity].name}` may separate decimals or thousands; expected "
                "decimal points"
            )
        self.decimal_commas[quantity] = found
        return found

    def _wrong(self, row: int, message: str) -> MeasuredError:
        """Returns the error about a row, counted from 0."""
        line = self.source.line_of(row)
        if line is None:
            message = f"row {row + 1}: {message}"
        return at_line(self.source.name, line, message)


def open_measurement(
    path: Path,
    *,
    name: str | None = None,
    table: Mapping[str, object] | None = None,
    base: Path = Path(),
) -> Measurement:
    """Returns a measured table whose columns are found, but whose rows are not yet read.

    Args:
        path: the file.
        name: name of the file in messages. Default: its path.
        table: keys of a table [measurement], which go before those of a preset.
        base: folder of a preset's path.

    Raises:
        MeasuredError: the file is no table, or a key names a column that it does not have.
    """
    own = {key: value for key, value in (table or {}).items() if key not in ("file", "preset")}
    source = open_table(path, name)
    wanted = (table or {}).get("preset")
    preset = read_preset(wanted, base) if isinstance(wanted, str) else recognised(source.columns)
    merged: dict[str, object] = dict(preset.keys) if preset else {}
    for key, value in own.items():
        before = merged.get(key)
        merged[key] = (
            {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
        )
    keys = keys_of(merged)
    own_columns = own.get("columns")
    required = [*own_columns] if isinstance(own_columns, dict) else []
    by_name = not (preset and "columns" in preset.keys)
    columns, ambiguous = _columns(source, keys, by_name=by_name, required=required)
    return Measurement(source, keys, preset, columns, ambiguous)


def _columns(
    source: Source, keys: Keys, *, by_name: bool, required: Sequence[str]
) -> tuple[dict[str, Column], dict[str, list[str]]]:
    """Returns the columns of the quantities, and the names of quantities with several columns.

    Columns of the quantities `required` must exist. Other columns of a preset may be missing.
    """
    found: dict[str, Column] = {}
    ambiguous: dict[str, list[str]] = {}
    parts = [divided(column) for column in source.columns]
    for quantity, described in QUANTITIES.items():
        asked = keys.columns.get(quantity)
        if asked is not None:
            indexes = _named(source, asked)
            if not indexes and quantity in required:
                message = _names.unknown("column", asked, list(source.columns))
                raise MeasuredError(f"{source.name}: {quantity}: {message}", key="columns")
        elif by_name:
            indexes = [n for n, part in enumerate(parts) if part.base in described.aliases]
        else:
            indexes = []
        if len(indexes) > 1:
            ambiguous[quantity] = [source.columns[index] for index in indexes]
        elif indexes:
            found[quantity] = _described(source, keys, quantity, indexes[0])
    return found, ambiguous


def _named(source: Source, asked: str) -> list[int]:
    """Returns the columns with a name that a key gives. The case counts if names differ by it."""
    name = asked.strip()
    exact = [n for n, column in enumerate(source.columns) if column == name]
    return exact or [n for n, column in enumerate(source.columns) if column.lower() == name.lower()]


def _described(source: Source, keys: Keys, quantity: str, index: int) -> Column:
    name = source.columns[index]
    unit = divided(name).unit
    is_guessed = False
    if quantity in keys.units:
        given = unit_of(keys.units[quantity])
        if given is None:
            units = list(QUANTITIES[quantity].units)
            message = _names.unknown("unit", keys.units[quantity], units)
            raise MeasuredError(f"{source.name}: {quantity}: {message}", key="units")
        unit = given
    elif unit is None and QUANTITIES[quantity].usual is not None:
        unit, is_guessed = QUANTITIES[quantity].usual, True
    if quantity == "time" and unit not in times.UNITS_NS:
        unit = None
    return Column(index, name, unit, is_guessed)


def usual_name(quantity: str) -> str:
    """Returns a column name that the reader understands without keys."""
    suffix = {
        "time": "_s",
        "rate": "_mbps",
        "uplink-rate": "_mbps",
        "delay": "_ms",
        "round-trip": "_ms",
        "loss": "_share",
        "data": "_bytes",
        "window": "_bytes",
        "gain": "_db",
        "sinr": "_db",
        "uplink-sinr": "_db",
        "rsrp": "_dbm",
        "x": "_m",
        "y": "_m",
        "speed": "_mps",
        "height": "_m",
        "azimuth": "_deg",
    }
    return quantity.replace("-", "_") + suffix.get(quantity, "")
