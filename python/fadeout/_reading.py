"""Reads columns of the tables of a run, which another version may have written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from fadeout._native import ResultError

if TYPE_CHECKING:
    from fadeout.results import Results


def select(results: "Results", table: str, columns: Sequence[str]) -> pl.LazyFrame:
    """Returns these columns of a table.

    Raises:
        ResultError: the table cannot be read, or another version wrote it without a column.
    """
    try:
        query = results.scan(table)
        schema = query.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(table, error) from error
    lacking = [name for name in columns if name not in schema]
    if lacking:
        version = results.manifest.get("version", "of an unknown version")
        raise ResultError(
            f"the table {table} of this run has no column {', '.join(lacking)}: it was written by "
            f"fadeout {version}; run the scenario again"
        )
    return query.select(columns)


def collect(query: pl.LazyFrame, table: str) -> pl.DataFrame:
    """Returns the rows of a query of a table, computed in streaming mode to save memory.

    Raises:
        ResultError: the table cannot be read.
    """
    try:
        return query.collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(table, error) from error


def _unreadable(table: str, error: Exception) -> ResultError:
    # The lines after the first are the plan of the query.
    return ResultError(f"{table}: {str(error).splitlines()[0]}")
