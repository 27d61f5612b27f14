"""Reads the tables of a run for its trace, in parts."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from fadeout._columns import table_docs
from fadeout._reading import collect, select
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
    query = select(results, table, columns)
    schema = query.collect_schema()
    texts = [name for name in columns if isinstance(schema[name], pl.Categorical | pl.Enum)]
    return query.with_columns(pl.col(texts).cast(pl.String))


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
