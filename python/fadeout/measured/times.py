"""Times of measured tables as nanoseconds: numbers with a unit, and dates in many formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from fadeout.measured.errors import MeasuredError
from fadeout.measured.keys import seconds_of

UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
EPOCH_S = 1e8
"""Seconds from which a time counts from 1970: March 1973."""
LARGEST_NS = 9e18
"""Largest time in nanoseconds."""

ISO = (
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M%#z",
    "%Y-%m-%d %H:%M",
)
FORMATS = (
    *ISO,
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y.%m.%d_%H.%M.%S",
    "%Y.%m.%d %H:%M:%S%.f",
    "%Y_%m_%d_%H_%M_%S",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S%.f",
    "%d/%m/%Y %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S%.f",
    "%d-%m-%Y %H:%M:%S%.f",
    "%d %b %Y %H:%M:%S%.f",
    "%Y%m%d%H%M%S",
    "%Y%m%d_%H%M%S",
)
TIMES_OF_DAY = ("%H:%M:%S%.f",)
ABBREVIATION = r"\s*\b(UTC|GMT|[A-Z]{1,3}S?T|CET|CEST)\b"
"""Names of time zones. Rows with one name differ in time as without it."""


@dataclass(frozen=True)
class TimeFormat:
    """The format of a column of times."""

    described: str
    is_clock: bool
    """True if the times are dates, or count from 1970."""
    is_guessed: bool = False
    unit: str | None = None
    """Unit of numbers. None for dates."""
    form: str | None = None
    """Format of dates. None for numbers."""
    abbreviation: str | None = None
    """Name of the time zone in each date. None if dates have none, or an offset."""


@dataclass(frozen=True)
class Times:
    """Times of the rows."""

    nanoseconds: pl.Series
    """Null for missing times."""
    format: TimeFormat


class TimeError(Exception):
    """A time that cannot be read, with its row."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def of_numbers(values: pl.Series, unit: str | None, *, asked: bool) -> Times:
    """Returns times given as numbers.

    Args:
        values: the numbers. Null if missing.
        unit: the unit. None if neither the column nor the scenario gives one.
        asked: true if the scenario gives the unit.

    Raises:
        TimeError: a time is too large.
        MeasuredError: the unit cannot be determined.
    """
    known = values.drop_nulls()
    largest = float(known.abs().max() or 0.0)  # type: ignore[arg-type]
    is_guessed = False
    if unit is None:
        is_guessed = True
        unit = next(
            (name for name, ns in UNITS_NS.items() if EPOCH_S <= largest * ns * 1e-9 < 1e10), "s"
        )
        steps = known.diff().drop_nulls()
        typical = float(steps.median() or 0.0)  # type: ignore[arg-type]
        if unit == "s" and largest < EPOCH_S and typical >= 50:
            raise MeasuredError(
                f'times in an unknown unit, {typical:g} apart; expected `time = "ms"`, or another '
                "unit, in the table [measurement]",
                key="time",
            )
    factor = UNITS_NS[unit]
    if largest * factor > LARGEST_NS:
        row = int((values.abs() * factor > LARGEST_NS).fill_null(False).arg_max() or 0)
        raise TimeError(
            row, f"a time of {values[row]:g} {unit}; expected at most {LARGEST_NS / factor:g}"
        )
    is_clock = largest * factor * 1e-9 >= EPOCH_S
    if values.dtype.is_integer():
        exact = values.cast(pl.Int64) * factor
    else:
        exact = (values * factor).round().cast(pl.Int64)
    what = f"{unit} since 1970" if is_clock else unit
    return Times(exact, TimeFormat(what, is_clock, is_guessed and not asked, unit=unit))


def of_texts(
    texts: pl.Series, form: str | None, zone: str, abbreviation: str | None = None
) -> Times:
    """Returns times given as dates.

    Args:
        texts: the dates. Null if missing.
        form: the format, or `iso`. None for the format that fits all rows.
        zone: the time zone of dates without one.
        abbreviation: name of the time zone in earlier rows.

    Raises:
        TimeError: a date does not have the format of the others.
        MeasuredError: several formats fit, or the zone is unknown.
    """
    if zone != "UTC":
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise MeasuredError(
                f"there is no time zone {zone!r}; expected a name such as Europe/Helsinki",
                key="zone",
            ) from None
    plain, abbreviation = _plain(texts, abbreviation)
    if form == "iso":
        candidates: Sequence[str] = ISO
    elif form is not None:
        candidates = [form.replace("%S.%f", "%S%.f").replace(".%f", "%.f")]
    else:
        candidates = FORMATS
    found = _fitting(plain, candidates)
    if not found and form is None:
        found = _fitting(plain, TIMES_OF_DAY)
    if not found:
        raise _misfit(texts, plain, candidates)
    if len(found) > 1:
        first, second = found[:2]
        both = plain.drop_nulls().head(1)[0]
        if not _parsed(plain, first).equals(_parsed(plain, second)):
            raise MeasuredError(
                f'the dates, such as "{both}", fit "{first}" and "{second}"; expected the format '
                "as `time`",
                key="time",
            )
    form = found[0]
    if form in TIMES_OF_DAY:
        nanoseconds = plain.str.to_time(form, strict=False).cast(pl.Int64)
        return Times(nanoseconds, TimeFormat("time of day", is_clock=True, form=form))
    dates = _parsed(plain, form)
    if zone != "UTC" and "%#z" not in form and "%z" not in form:
        dates = dates.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    described = TimeFormat(
        f'dates "{_shown(form)}"', is_clock=True, form=form, abbreviation=abbreviation
    )
    return Times(dates.cast(pl.Int64), described)


def _shown(form: str) -> str:
    return form.replace("%.f", "").replace("%#z", "+ZONE")


class _Plain(NamedTuple):
    """Dates with one space between day and time, and with zones as offsets."""

    dates: pl.Series
    abbreviation: str | None
    """Name of the time zone that was removed from each date."""


def _plain(texts: pl.Series, abbreviation: str | None) -> _Plain:
    """Returns dates in a form that polars reads.

    Args:
        texts: the dates.
        abbreviation: name of the time zone in earlier rows.

    Raises:
        TimeError: two dates have different names of zones.
    """
    plain = texts.str.strip_chars().str.replace(r"^(\d{4}-\d\d-\d\d)[Tt_]", "$1 ")
    plain = plain.str.replace(r"[Zz]$", "+00:00").str.replace(r"(:\d\d),(\d+)", "$1.$2")
    names = plain.str.extract(ABBREVIATION, 1)
    known = names.drop_nulls()
    if len(known) == 0 and abbreviation is None:
        return _Plain(plain, None)
    first = abbreviation or str(known[0])
    other = ((names != first) | names.is_null()) & plain.is_not_null()
    if other.any():
        row = int(other.arg_max() or 0)
        raise TimeError(row, f'"{texts[row]}" is not in the zone {first} of the first row')
    return _Plain(plain.str.replace(ABBREVIATION, ""), first)


def _parsed(plain: pl.Series, form: str) -> pl.Series:
    zone = "UTC" if "%#z" in form or "%z" in form else None
    return plain.str.to_datetime(form, time_unit="ns", time_zone=zone, strict=False)


def _fitting(plain: pl.Series, candidates: Sequence[str]) -> list[str]:
    """Returns the formats that fit all dates."""
    sample, count = plain.head(64), plain.null_count()
    found = []
    for form in candidates:
        try:
            fits = _read(sample, form).null_count() == sample.null_count()
            if fits and _read(plain, form).null_count() == count:
                found.append(form)
        except pl.exceptions.PolarsError:
            continue
    return found


def _read(plain: pl.Series, form: str) -> pl.Series:
    if form in TIMES_OF_DAY:
        return plain.str.to_time(form, strict=False)
    return _parsed(plain, form)


def _misfit(texts: pl.Series, plain: pl.Series, candidates: Sequence[str]) -> TimeError:
    """Returns the error about the first date that does not have the format of the others."""
    best, fewest = None, len(plain) + 1
    for form in (*candidates, *TIMES_OF_DAY):
        try:
            misfits = _read(plain, form).is_null() & plain.is_not_null()
        except pl.exceptions.PolarsError:
            continue
        if int(misfits.sum()) < fewest:
            best, fewest = (form, misfits), int(misfits.sum())
    if best is None or fewest == len(plain.drop_nulls()):
        row = int(plain.is_not_null().arg_max() or 0)
        return TimeError(
            row, f'"{texts[row]}" as a time; expected a number or a date, or its format as `time`'
        )
    row = int(best[1].arg_max() or 0)
    return TimeError(
        row, f'"{texts[row]}" as a time; expected the format "{_shown(best[0])}" of other rows'
    )


def start_ns(start: str | None, times: Times, first: int, zone: str) -> int:
    """Returns the time of a table at which the run starts.

    Args:
        start: the key of the scenario: `first`, a time or a date. None for its default.
        times: the times of the table.
        first: the first time of the table.
        zone: the time zone of dates without one.

    Raises:
        MeasuredError: the key is another text.
    """
    if start is None:
        return first if times.format.is_clock else 0
    if start.strip() == "first":
        return first
    if (seconds := seconds_of(start)) is not None:
        return round(seconds * 1e9)
    try:
        form = "iso"
        if times.format.described == "time of day":
            form = "%H:%M:%S%.f"
        return int(of_texts(pl.Series([start]), form, zone).nanoseconds[0])
    except TimeError:
        raise MeasuredError(
            f'start "{start}"; expected "first", a time such as "30 s", or a date such as '
            '"2019-12-14 10:16:30"',
            key="start",
        ) from None
