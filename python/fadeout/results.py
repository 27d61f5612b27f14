"""The results of a run: frames, their meaning, and figures."""

import io
import json
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fadeout import _names, _native

if TYPE_CHECKING:
    from fadeout.plot import Plots


class Results:
    """What a run found: tables, each an attribute that is a polars frame.

    `flows`, `paths`, `links`, radio `interfaces` and `completions` have a row each; `summary` has
    one row for the whole run. The tables over time (`congestion`, `throughput`, `queues`, ...) are
    read when first asked for. `tables()` names them all, and `doc(table)` says what a table's
    columns mean and in which unit.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        manifest: dict[str, Any],
        *,
        folder: Path | None = None,
        streams: dict[str, bytes] | None = None,
        complete: bool = True,
    ) -> None:
        self._summary = summary
        self._streams = streams or {}
        self._frames: dict[str, pl.DataFrame] = {}
        self.manifest = manifest
        """The scenario as resolved, the seed, the version and the fingerprint."""
        self.folder = folder
        """Where the results lie; None when they are in memory only."""
        self.is_complete = complete
        """False when the run was stopped before its end."""

    @classmethod
    def from_outcome(cls, outcome: "_native.Outcome") -> "Results":
        """The results that the native module returned."""
        return cls(
            json.loads(outcome["summary"]),
            json.loads(outcome["manifest"]),
            folder=None if outcome["out"] is None else Path(outcome["out"]),
            streams=outcome["tables"],
            complete=outcome["complete"],
        )

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Results":
        """The results in `folder`, written by an earlier run."""
        folder = Path(folder)
        documents = {}
        for name in ("summary", "manifest"):
            path = folder / f"{name}.json"
            try:
                documents[name] = json.loads(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                raise _native.ResultError(
                    f"{folder} is not the folder of a run: {path.name} is missing"
                ) from None
            except (OSError, ValueError) as error:
                raise _native.ResultError(f"{path}: {error}") from error
        manifest = documents["manifest"]
        complete = bool(manifest.get("complete", True))
        return cls(documents["summary"], manifest, folder=folder, complete=complete)

    @property
    def fingerprint(self) -> str:
        """Digest of the whole trajectory: equal for equal runs, on any machine."""
        return self._summary["fingerprint"]

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return self._summary["duration_s"]

    @cached_property
    def plot(self) -> "Plots":
        """Figures: `plot.congestion()`, `plot.throughput(window="100 ms")`, `plot.rtt()`, ..."""
        from fadeout.plot import Plots  # matplotlib takes a while to import

        return Plots(self)

    def table(self, name: str) -> pl.DataFrame:
        """The table called `name`."""
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name]

    def tables(self) -> list[str]:
        """The names of the tables that the run has."""
        return [name for name in table_docs() if self.has_table(name)]

    def has_table(self, name: str) -> bool:
        """Whether the run has the table called `name`."""
        if name in table_docs() and table_docs()[name]["place"] is not None:
            return True
        if self.folder is not None:
            return (self.folder / f"{name}.parquet").is_file()
        return name in self._streams

    @staticmethod
    def doc(table: str) -> pl.DataFrame:
        """What the columns of `table` mean, with unit and type."""
        tables = table_docs()
        if table not in tables:
            raise _native.ResultError(_names.unknown("table", table, tables))
        columns = tables[table]["columns"]
        return pl.DataFrame(columns).select(
            pl.col("name").alias("column"), "unit", pl.col("kind").alias("type"), "doc"
        )

    def _read(self, name: str) -> pl.DataFrame:
        known = table_docs()
        if name not in known:
            raise _native.ResultError(_names.unknown("table", name, known))
        place = known[name]["place"]
        if place is not None:
            return _frame(_rows(self._summary, place.split(".") if place else []), name)
        if not self.has_table(name):
            raise _native.ResultError(
                f"the run did not record '{name}': name it in the scenario's probes"
            )
        if self.folder is None:
            return pl.read_ipc_stream(io.BytesIO(self._streams[name]))
        path = self.folder / f"{name}.parquet"
        try:
            return pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _native.ResultError(f"{path}: {error}") from error

    def __getattr__(self, name: str) -> pl.DataFrame:
        # Reached only for names that the class does not have.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in table_docs():
            return self.table(name)
        known = [key for key in dir(self) if not key.startswith("_")]
        raise AttributeError(_names.unknown("attribute of Results", name, known))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *table_docs()]

    def __repr__(self) -> str:
        flows = len(self._summary["flows"])
        where = "in memory" if self.folder is None else str(self.folder)
        short = "" if self.is_complete else ", stopped early"
        return (
            f"<Results of {self.duration_s:g} s with {flows} flow{'s' * (flows != 1)}{short}, "
            f"{where}, fingerprint {self.fingerprint}>"
        )


TYPES = {"f64": pl.Float64, "u32": pl.Int64, "u64": pl.Int64, "bool": pl.Boolean}
"""Types of the columns of summaries; all others are text."""


def _rows(found: Any, keys: list[str]) -> list[dict[str, Any]]:  # noqa: ANN401
    """The rows under `keys` of a summary; in each element of a list on the way. None are none."""
    if isinstance(found, list):
        return [row for element in found for row in _rows(element, keys)]
    if keys:
        return _rows(found.get(keys[0], []), keys[1:])
    return [found]


def _frame(rows: list[dict[str, Any]], table: str) -> pl.DataFrame:
    """Rows of a summary as a frame: the columns of `table`, typed whatever is missing."""
    columns = table_docs()[table]["columns"]
    schema = {column["name"]: TYPES.get(column["kind"], pl.String) for column in columns}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


@cache
def table_docs() -> dict[str, dict[str, Any]]:
    """Every table by name: where its rows lie, what they are, its columns with unit and meaning."""
    return {table["name"]: table for table in json.loads(_native.tables())}
