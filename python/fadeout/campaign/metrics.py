"""Metrics that are read from each run: columns of its tables, or user-written functions."""

import hashlib
import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import polars as pl

from fadeout import _names
from fadeout._columns import table_docs
from fadeout._native import ResultError
from fadeout._own import load_class
from fadeout.campaign.mistakes import mistake
from fadeout.campaign.trust import Foreign
from fadeout.results import Results, summary_types

NUMBER = "float64"

AGGREGATES: dict[str, Callable[[pl.Series], Any]] = {
    "mean": pl.Series.mean,
    "sum": pl.Series.sum,
    "min": pl.Series.min,
    "max": pl.Series.max,
    "median": pl.Series.median,
    "std": pl.Series.std,
    "count": lambda column: len(column) - column.null_count(),
    "first": lambda column: column[0] if len(column) else None,
    "last": lambda column: column[-1] if len(column) else None,
}

_FORM = re.compile(
    r"(?:(?P<table>[a-z_]+)\.)?(?P<column>[a-z0-9_]+)(?:\[(?P<row>[^\]]+)\])?(?::(?P<how>[a-z0-9.]+))?"
)

FORM = (
    "a column (goodput_mbps), a column of a table (queues.delay_s:p99), of a row "
    "(goodput_mbps[bulk]) or over rows (goodput_mbps:sum); aggregates over rows are "
    f"{', '.join(AGGREGATES)} and p0 to p100"
)

MANY_FLOWS = 8
"""With more flows than this, columns have the sum and mean over flows, not each flow."""

Function = Callable[[Results], Any]


class MetricError(Exception):
    """A metric that a run does not have. It fails that run alone."""


@dataclass(frozen=True)
class Metric:
    """A number of a run."""

    name: str
    """The column of the metric."""
    table: str | None = None
    column: str | None = None
    row: str | None = None
    how: str | None = None
    function: str | Function | None = None
    """`FILE.py:NAME`, or a function that returns a number for `Results`."""
    digest: str = ""
    """Digest of the function's file."""
    source: str = ""
    """The metric as it was written."""

    @property
    def identity(self) -> str:
        """A name that changes with the meaning of the metric."""
        if self.function is not None:
            return f"{self.name}={self.digest}"
        return f"{self.name}={self.table}.{self.column}[{self.row or ''}]:{self.how or ''}"

    @property
    def is_default(self) -> bool:
        """True if every run has the metric by default."""
        return self.table == "flows" and self.row is None and self.how is None

    @property
    def needs_tables(self) -> bool:
        """True if the tables over time must be kept for the metric."""
        if self.function is not None:
            return True
        return self.table is not None and not table_docs()[self.table]["always"]

    def read(self, results: Results) -> float | None:
        """Returns the number. None if the run has none."""
        if self.function is not None:
            return self._call(results)
        assert self.table is not None and self.column is not None
        rows = results.table(self.table)
        if self.row is not None:
            rows = rows.filter(pl.col(rows.columns[0]) == self.row)
        column = rows[self.column]
        if self.how is not None:
            return _number(self.name, _aggregate(column, self.how))
        if len(column) > 1:
            names = rows[rows.columns[0]]
            raise MetricError(
                f"{self.name}: {self.table} has {len(column)} rows; name one, as "
                f"{self.column}[{names[0]}], or aggregate all, as {self.column}:sum"
            )
        return _number(self.name, column[0] if len(column) else None)

    def _call(self, results: Results) -> float | None:
        function = self.function
        if isinstance(function, str):
            function = load_function(function)
        assert function is not None
        try:
            return _number(self.name, function(results))
        except (ResultError, MetricError):
            raise
        except Exception as error:
            raise MetricError(f"{self.name}: {type(error).__name__}: {error}") from error


def _number(name: str, value: Any) -> float | None:  # noqa: ANN401 - whatever a function returns
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise MetricError(f"{name}: {value!r} is not a number") from None
    return None if math.isnan(number) else number


def _aggregate(column: pl.Series, how: str) -> Any:  # noqa: ANN401 - a value of any column
    if how in AGGREGATES:
        return AGGREGATES[how](column)
    return column.quantile(float(how[1:]) / 100, interpolation="linear")


def read_metrics(
    given: Any,  # noqa: ANN401 - whatever the file has
    base: Path | None = None,
    foreign: Foreign | None = None,
) -> tuple[Metric, ...]:
    """Returns the metrics that a file, the command line or a program names, after checks.

    `given` is a list of names, or a dict from columns to names, functions, or `FILE.py:NAME`.
    `foreign` limits the names in a file from somebody else.
    """
    if given is None:
        return ()
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Iterable):
        pairs = [_named(each) for each in given]
    else:
        raise mistake(f"cannot read `metrics` = {given!r}", expected=f"a list of metrics: {FORM}")
    metrics = tuple(_metric(name, what, base, foreign) for name, what in pairs)
    if len({metric.name for metric in metrics}) < len(metrics):
        raise mistake(
            "two metrics have the same name", expected="NAME=FILE.py:FUNCTION with another name"
        )
    return metrics


def _named(each: Any) -> tuple[str, Any]:  # noqa: ANN401
    if callable(each):
        return getattr(each, "__name__", "metric"), each
    if not isinstance(each, str):
        raise mistake(f"{each!r} is not a metric", expected=FORM)
    name, equals, what = each.partition("=")
    if equals:
        return name.strip(), what.strip()
    return (each.rpartition(":")[2] if ".py:" in each else each), each


def _metric(
    name: str,
    what: Any,  # noqa: ANN401 - whatever the file has
    base: Path | None,
    foreign: Foreign | None,
) -> Metric:
    if callable(what):
        return Metric(name, function=what, digest=source_digest(what))
    if not isinstance(what, str):
        raise mistake(f"cannot read metric `{name}` = {what!r}", expected=FORM)
    if ".py:" in what:
        path, _, function = what.rpartition(":")
        if foreign is not None:
            foreign.check_code(f"its metric `{name}`", path)
        full = (base or Path()) / path
        place = f"{full}:{function}"
        load_function(place)
        return Metric(name, function=place, digest=file_digest(place))
    found = _FORM.fullmatch(what)
    if found is None:
        raise mistake(f"`{what}` is not a metric", expected=FORM)
    how = found["how"]
    if how is not None and how not in AGGREGATES and not _is_percentile(how):
        raise mistake(f"`{what}`: {_names.unknown('aggregate', how, [*AGGREGATES, 'p99'])}")
    table = found["table"] or _table_of(found["column"])
    docs = table_docs()
    if table not in docs:
        raise mistake(f"`{what}`: {_names.unknown('table', table, docs)}")
    columns = {column["name"]: column["kind"] for column in docs[table]["columns"]}
    if found["column"] not in columns:
        raise mistake(f"`{what}`: {_names.unknown('column', found['column'], columns)}")
    if how != "count" and not _is_numeric(columns[found["column"]]):
        raise mistake(f"`{what}`: {found['column']} of {table} is text, not a number")
    return Metric(name, table, found["column"], found["row"], how, source=what)


def _is_percentile(how: str) -> bool:
    number = how[1:]
    return how[0] == "p" and number.replace(".", "", 1).isdigit() and float(number) <= 100


def _is_numeric(kind: str) -> bool:
    return kind in summary_types()


def _table_of(column: str) -> str:
    """Returns the table with this column, that of the flows first."""
    docs = table_docs()
    names: list[str] = []
    for table in ["flows", *docs]:
        names += [each["name"] for each in docs[table]["columns"]]
        if column in names:
            return table
    raise mistake(_names.unknown("metric", column, names), expected=FORM)


@cache
def default_columns() -> dict[str, Any]:
    """Returns the columns of `flows` that every run has, with their types."""
    types = summary_types()
    return {
        column["name"]: types[column["kind"]]
        for column in table_docs()["flows"]["columns"]
        if column["kind"] in types
    }


def default_values(flows: pl.DataFrame) -> dict[str, Any]:
    """Returns the numbers of the flows: by name for one, `NAME[FLOW]` for some, sum and mean for
    many.
    """
    columns = default_columns()
    if len(flows) == 1:
        return {name: flows[name][0] for name in columns}
    if len(flows) <= MANY_FLOWS:
        rows = flows.to_dicts()
        return {f"{name}[{flow['flow']}]": flow[name] for flow in rows for name in columns}
    values: dict[str, Any] = {}
    for name in columns:
        numbers = [number for number in flows[name] if number is not None]
        values[f"{name}:sum"] = math.fsum(numbers) if numbers else None
        values[f"{name}:mean"] = math.fsum(numbers) / len(numbers) if numbers else None
    return values


def default_type(column: str) -> Any:  # noqa: ANN401 - a type of polars
    """Returns the type of a column of `default_values`."""
    if column.endswith((":sum", ":mean")):
        return pl.Float64
    return default_columns().get(column.partition("[")[0], pl.Float64)


def load_function(place: str) -> Function:
    """Returns the function of `FILE.py:NAME`."""
    path, _, name = place.rpartition(":")
    return load_class(Path(path), name, "metric")


def file_digest(place: str) -> str:
    """Returns a digest of `FILE.py:NAME`: of the whole file, and the name."""
    path, _, name = place.rpartition(":")
    return _digest(Path(path).read_bytes(), name)


def source_digest(thing: Callable[..., Any]) -> str:
    """Returns a digest of a function or class: of its file, or its source, and of its code.

    The file may have been edited since it was imported, but the imported code runs.
    """
    name = getattr(thing, "__qualname__", repr(thing))
    try:
        file = inspect.getsourcefile(thing)
        is_file = file is not None and Path(file).is_file()
        source = Path(file).read_bytes() if is_file else inspect.getsource(thing).encode()  # pyright: ignore[reportArgumentType]
    except (OSError, TypeError):
        raise mistake(
            f"the source of {name} cannot be read, so its runs cannot be named",
            expected="a class or a function in a file",
        ) from None
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    codes = [code for each in members if (code := getattr(each, "__code__", None)) is not None]
    return _digest(source + "".join(map(_code, codes)).encode(), name)


def _code(code: CodeType) -> str:
    """Returns the bytecode, names and constants of a code object, without file names and lines."""
    return f"{code.co_code.hex()} {code.co_names} {[_constant(each) for each in code.co_consts]}"


def _constant(each: Any) -> str:  # noqa: ANN401 - whatever code has
    if isinstance(each, CodeType):
        return _code(each)
    # The order of a set differs between processes.
    return str(sorted(map(repr, each))) if isinstance(each, frozenset) else repr(each)


def _digest(content: bytes, name: str) -> str:
    head = json.dumps(name).encode()
    return hashlib.blake2b(head + content, digest_size=16).hexdigest()
