"""The results of a run: frames, their meaning, and figures."""

import io
import json
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl
import polars.selectors

from fadeout import _names, _native, completions

if TYPE_CHECKING:
    from fadeout.plot import Plots


class Results:
    """What a run found.

    `flows`, `links` and radio `interfaces` have a row each; `summary` has one row for the whole
    run. The tables over time (`congestion`, `throughput`, `queues`, ...) are read when first asked
    for. `doc(table)` says what a table's columns mean and in which unit.
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
    def summary(self) -> pl.DataFrame:
        """The run in one row."""
        scalars = {k: v for k, v in self._summary.items() if not isinstance(v, list | dict)}
        return pl.DataFrame([scalars])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row a flow: goodput, retransmissions, timeouts, round-trip times."""
        return _frame(self._summary["flows"])

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row a direction of a link: packets sent, delivered and dropped."""
        return _frame(self._summary["links"])

    @cached_property
    def interfaces(self) -> pl.DataFrame:
        """One row a direction of a radio interface: packets, transport blocks, HARQ."""
        return _frame(self._summary.get("radio", {}).get("interfaces", []))

    @cached_property
    def completions(self) -> pl.DataFrame:
        """One row a completed flow: start, first byte, completion time, size, mean rate."""
        return completions.completions(self.flows)

    @cached_property
    def completion_times(self) -> pl.DataFrame:
        """One row a group of flows: how many completed, and percentiles of their times."""
        return completions.completion_times(self.flows)

    @property
    def congestion(self) -> pl.DataFrame:
        """State of each sender's congestion control over time."""
        return self.table("congestion")

    @property
    def throughput(self) -> pl.DataFrame:
        """Bytes that reached each receiver's application, in bins."""
        return self.table("throughput")

    @property
    def queues(self) -> pl.DataFrame:
        """Occupancy of each link's queue over time."""
        return self.table("queues")

    @property
    def drops(self) -> pl.DataFrame:
        """Packets that a link lost, and why."""
        return self.table("drops")

    @property
    def retransmissions(self) -> pl.DataFrame:
        """Segments sent again, and why."""
        return self.table("retransmissions")

    @property
    def timeouts(self) -> pl.DataFrame:
        """Retransmission timers that expired."""
        return self.table("timeouts")

    @property
    def flow_events(self) -> pl.DataFrame:
        """Connections that opened and closed, recovery episodes and their undoing."""
        return self.table("flow_events")

    @property
    def blockages(self) -> pl.DataFrame:
        """When links were blocked."""
        return self.table("blockages")

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

    def has_table(self, name: str) -> bool:
        """Whether the run recorded the table called `name`."""
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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            # Reached only for names that the class does not have.
            if name.startswith("_"):
                raise AttributeError(name)
            known = [key for key in dir(type(self)) if not key.startswith("_")]
            raise AttributeError(_names.unknown("attribute of Results", name, known))

    def __repr__(self) -> str:
        flows = len(self._summary["flows"])
        where = "in memory" if self.folder is None else str(self.folder)
        short = "" if self.is_complete else ", stopped early"
        return (
            f"<Results of {self.duration_s:g} s with {flows} flow{'s' * (flows != 1)}{short}, "
            f"{where}, fingerprint {self.fingerprint}>"
        )


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame whose types do not depend on which values are missing."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(polars.selectors.by_dtype(pl.Null).cast(pl.Float64))


@cache
def table_docs() -> dict[str, dict[str, Any]]:
    """Every table by name: what its rows are, and its columns with unit and meaning."""
    return {table["name"]: table for table in json.loads(_native.tables())}
