"""Reads the tables of a run for its trace, in parts."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from fadeout._columns import table_docs
from fadeout._native import ResultError
from fadeout.results import Results

ROWS = 50_000
"""Number of rows that are in memory at once."""


def nanoseconds(column: str | pl.Expr) -> pl.Expr:
    """Returns a time in whole nanoseconds. The tables have seconds of whole nanoseconds."""
    time = pl.col(column) if isinstance(column, str) else column
    return (time * 1e9).round().cast(pl.Int64)


def scan(results: Results, table: str) -> pl.LazyFrame:
    """Returns a table with the columns of this version. Categories become text.

    Raises:
        ResultError: the table cannot be read, or an earlier version wrote it without a column.
    """
    columns = [column["name"] for column in table_docs()[table]["columns"]]
    try:
        query = results.scan(table)
        schema = query.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultError(f"{table}: {error}") from error
    lacking = [name for name in columns if name not in schema]
    if lacking:
        raise ResultError(
            f"the table {table} of this run has no column {', '.join(lacking)}: it was written by "
            f"fadeout {results.manifest.get('version', 'of an unknown version')}; run the scenario "
            "again"
        )
    texts = [name for name in columns if isinstance(schema[name], pl.Categorical | pl.Enum)]
    return query.select(columns).with_columns(pl.col(texts).cast(pl.String))


def collect(query: pl.LazyFrame, table: str) -> pl.DataFrame:
    """Returns the rows of a query.

    Raises:
        ResultError: the table cannot be read.
    """
    try:
        return query.collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultError(f"{table}: {error}") from error


def height(results: Results, table: str) -> int:
    """Returns the number of rows of a table, and zero if the run did not record it."""
    if not results.has_table(table):
        return 0
    return collect(scan(results, table).select(pl.len()), table).item()


def rows(results: Results, table: str, total: int) -> Iterator[dict[str, Any]]:
    """Yields the `total` rows of a table, with few of them in memory at once."""
    if not total:
        return
    query = scan(results, table)
    for start in range(0, total, ROWS):
        yield from collect(query.slice(start, ROWS), table).iter_rows(named=True)
