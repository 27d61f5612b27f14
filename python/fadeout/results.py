"""The results of a run: tables, their documentation, and figures."""

import io
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fadeout import _names, _native
from fadeout._columns import table_docs
from fadeout._probes import PROBES
from fadeout._tables import TableAttributes

if TYPE_CHECKING:
    # Loaded with the first frame, as the command prints a summary without any.
    import polars as pl

    from fadeout.plot import Plots


class Results(TableAttributes):
    """The results of a run: tables, each an attribute that is a polars frame.

    `flows`, `paths`, `links`, radio `interfaces` and `completions` have a row each. `summary` has
    one row for the whole run. The tables over time (`congestion`, `throughput`, `queues`, ...) are
    read at their first use. `tables` lists them all, and `doc(table)` returns the meaning and unit
    of a table's columns. `plot` draws figures. `save` writes the results to a folder, from which
    `Results.open` reads them again. A notebook shows the flows.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        manifest: dict[str, Any],
        *,
        folder: Path | None = None,
        streams: dict[str, bytes] | None = None,
        captures: dict[str, bytes] | None = None,
        rows: _native.Rows | None = None,
        complete: bool = True,
    ) -> None:
        self._summary = summary
        self._streams = streams or {}
        self._captures = captures or {}
        self._rows = rows
        self._frames: dict[str, pl.DataFrame] = {}
        self.manifest = manifest
        """The resolved scenario, the seed, the version, the commit and the fingerprint."""
        self.folder = folder
        """The folder of the results. None if they are in memory only."""
        self.is_complete = complete
        """False if the run was stopped before its end."""

    @classmethod
    def from_outcome(cls, outcome: "_native.Outcome") -> "Results":
        """Returns the results that the native module returned."""
        return cls(
            json.loads(outcome["summary"]),
            json.loads(outcome["manifest"]),
            folder=None if outcome["out"] is None else Path(outcome["out"]),
            streams=outcome["tables"],
            captures=outcome["captures"],
            rows=outcome["rows"],
            complete=outcome["complete"],
        )

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Results":
        """Returns the results in `folder`, written by an earlier run.

        Raises:
            ResultError: the folder is not that of a run, or a file in it cannot be read.
        """
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
            except (OSError, ValueError, RecursionError) as error:
                raise _native.ResultError(f"{path}: {error}") from error
        if "flows" in documents["summary"]:
            raise _native.ResultError(
                f"{folder} is from an earlier version of fadeout, with the flows in summary.json; "
                "run its scenario again"
            )
        manifest = documents["manifest"]
        complete = bool(manifest.get("complete", True))
        return cls(documents["summary"], manifest, folder=folder, complete=complete)

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes the results to `folder` as `fadeout.run(..., out=folder)` would, and returns it.

        The folder gets `manifest.json`, `summary.json`, a Parquet file for each recorded table, and
        the captures. `Results.open(folder)` reads it again.

        Args:
            folder: a folder that does not exist or is empty.
            force: replace a run in `folder`.

        Raises:
            ResultError: the results cannot be written, or `folder` exists and `force` is not set.
        """
        target = Path(folder)
        if self.folder is not None:
            own, wanted = self.folder.resolve(), target.resolve()
            if own == wanted:
                raise _native.ResultError(f"{target} is the folder of these results")
            if own in wanted.parents:
                raise _native.ResultError(f"{target} is inside the folder of these results")
        path = _native.save(
            str(target),
            force=force,
            manifest=json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n",
            summary=json.dumps(self._summary, indent=2, ensure_ascii=False) + "\n",
            tables=self._streams,
            captures=self._captures,
        )
        if self.folder is not None:
            # Figures and all other files of the run's folder are copied too.
            try:
                shutil.copytree(self.folder, path, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                raise _native.ResultError(f"cannot write {target}: {error}") from error
        return Path(path)

    @property
    def title(self) -> str:
        """The scenario's title. Empty if it has none."""
        return self._summary["title"]

    @property
    def seed(self) -> int:
        """The seed of the random streams."""
        return self._summary["seed"]

    @property
    def fingerprint(self) -> str:
        """The digest of the whole trajectory. Equal runs have equal fingerprints on every
        machine.
        """
        return self._summary["fingerprint"]

    @property
    def duration_s(self) -> float:
        """The simulated time in seconds."""
        return self._summary["duration_s"]

    @property
    def captures(self) -> dict[str, Path | bytes]:
        """Each packet capture (pcapng) by its path in the run's folder.

        A value is the file's path if the results are in a folder, else its bytes.
        """
        return self._files(".pcapng")

    @property
    def qlogs(self) -> dict[str, Path | bytes]:
        """Each log of an end of a QUIC connection (qlog) by its path in the run's folder.

        The key `probe.qlog` lets a run write them. A value is the file's path if the results are in
        a folder, else its bytes.
        """
        return self._files(".sqlog")

    def _files(self, suffix: str) -> dict[str, Path | bytes]:
        entries = self.manifest.get("captures", [])
        names = [entry["file"] for entry in entries if entry["file"].endswith(suffix)]
        if self.folder is None:
            return {name: self._captures[name] for name in names}
        return {name: self.folder / name for name in names}

    @cached_property
    def plot(self) -> "Plots":
        """Figures: `plot.congestion()`, `plot.throughput(window="100 ms")`, `plot.rtt()`, ..."""
        from fadeout.plot import Plots  # matplotlib takes a while to import

        return Plots(self)

    @property
    def tables(self) -> "Tables":
        """The tables of the run by name. `list(results.tables)` returns the names."""
        return Tables(self)

    def table(self, name: str) -> "pl.DataFrame":
        """Returns the table called `name`.

        Raises:
            ResultError: there is no such table, or the run did not record it.
        """
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name]

    def _columns(self, name: str, wanted: Iterable[str]) -> dict[str, list[Any]]:
        """Returns columns of a table of the summary (`flows`, `links`, ...) as lists.

        No file is read for results that were just written.

        Raises:
            KeyError: the table has no such column.
            ResultError: there is no such table.
        """
        wanted = list(wanted)
        if self._rows is not None and _entry(name)["always"]:
            return json.loads(self._rows.columns(name, wanted))
        return {column: self.table(name)[column].to_list() for column in wanted}

    def scan(self, name: str) -> "pl.LazyFrame":
        """Returns the table called `name` as a lazy frame, whose queries read only the needed data.

        Use it for tables that are large relative to the memory:
        `results.scan("radio_delay").group_by("bearer").agg(pl.col("rlc_s").mean()).collect()`.

        Raises:
            ResultError: there is no such table, or the run did not record it.
        """
        if name in self._frames or not self._is_file(name):
            return self.table(name).lazy()
        import polars as pl

        return pl.scan_parquet(self._path(name))

    def has_table(self, name: str) -> bool:
        """Returns True if the run has the table called `name`."""
        if name in table_docs() and table_docs()[name]["always"]:
            return True
        if self.folder is not None:
            return (self.folder / f"{name}.parquet").is_file()
        return name in self._streams

    def to_pandas(self, name: str) -> Any:  # noqa: ANN401 - pandas need not be there
        """Returns the table called `name` as a pandas DataFrame.

        Raises:
            ImportError: pandas or pyarrow is missing: `pip install 'fadeout[pandas]'`.
            ResultError: there is no such table, or the run did not record it.
        """
        frame = self.table(name)
        try:
            return frame.to_pandas()
        except ImportError as error:
            raise ImportError(
                f"{error.name or 'pandas'} is missing; pip install 'fadeout[pandas]' brings what "
                "pandas needs"
            ) from None

    @staticmethod
    def doc(table: str) -> "pl.DataFrame":
        """Returns the meaning, unit and type of the columns of `table`.

        Raises:
            ResultError: there is no such table.
        """
        import polars as pl

        columns = _entry(table)["columns"]
        return pl.DataFrame(columns).select(
            pl.col("name").alias("column"), "unit", pl.col("kind").alias("type"), "doc"
        )

    def _is_file(self, name: str) -> bool:
        """Returns True if the table is read from a file. A table of the summary without rows has
        none.
        """
        if self.folder is None or _entry(name)["key"] is not None:
            return False
        kept = (entry["name"] for entry in self.manifest.get("tables", []))
        return not _entry(name)["always"] or name in kept

    def _path(self, name: str) -> Path:
        """Returns the file of a table that was recorded into a folder."""
        assert self.folder is not None, "only a folder has files"
        path = self.folder / f"{name}.parquet"
        if not path.is_file() and not _entry(name)["always"]:
            raise _not_recorded(name)
        return path

    def _read(self, name: str) -> "pl.DataFrame":
        key = _entry(name)["key"]
        if key is not None:
            row = self._summary.get(key) if key else self._summary
            return _frame([] if row is None else [row], name)
        if not self._is_file(name):
            return read_stream(self._streams.get(name), name)
        import polars as pl

        path = self._path(name)
        try:
            return pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _native.ResultError(f"{path}: {error}") from error

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            # Python calls this method only for names that the class does not have.
            if name.startswith("_"):
                raise AttributeError(name)
            known = [key for key in dir(self) if not key.startswith("_")]
            raise AttributeError(_names.unknown("attribute of Results", name, known))

    def __repr__(self) -> str:
        flows = len(self.flows)
        where = "in memory" if self.folder is None else str(self.folder)
        short = "" if self.is_complete else ", stopped early"
        return (
            f"<Results of {self.duration_s:g} s with {flows} flow{'s' * (flows != 1)}{short}, "
            f"{where}, fingerprint {self.fingerprint}>"
        )

    def _repr_html_(self) -> str:
        from fadeout._overview import html

        return html(self)


class Tables(Mapping[str, "pl.DataFrame"]):
    """The tables of a run by name. Each is read at its first use."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __getitem__(self, name: str) -> "pl.DataFrame":
        if not isinstance(name, str) or name not in self:
            raise KeyError(name)
        return self._results.table(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in table_docs() and self._results.has_table(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in table_docs() if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Tables {', '.join(self)}>"

    def _repr_html_(self) -> str:
        from fadeout._overview import html_table

        rows = [[name, table_docs()[name]["doc"]] for name in self]
        return html_table(["table", "what a row is"], rows)


def summary_types() -> dict[str, "type[pl.DataType]"]:
    """Returns the types of the columns of the summary, by kind. All others are text."""
    import polars as pl

    return {"f64": pl.Float64, "u32": pl.Int64, "u64": pl.Int64, "bool": pl.Boolean}


def read_stream(stream: bytes | None, table: str) -> "pl.DataFrame":
    """Returns a table that was kept in memory, from its Arrow stream.

    Raises:
        ResultError: the run did not record it.
    """
    if stream is not None:
        import polars as pl

        return pl.read_ipc_stream(io.BytesIO(stream))
    if not _entry(table)["always"]:
        raise _not_recorded(table)
    return _frame([], table)


def _frame(rows: list[dict[str, Any]], table: str) -> "pl.DataFrame":
    """Returns rows of the summary as a frame with the columns of `table`, also for missing
    values.
    """
    import polars as pl

    types = summary_types()
    columns = table_docs()[table]["columns"]
    schema = {column["name"]: types.get(column["kind"], pl.String) for column in columns}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def _not_recorded(name: str) -> _native.ResultError:
    remedy = f"; record it with: --set {PROBES[name]}" if name in PROBES else ""
    return _native.ResultError(f"the run did not record '{name}'{remedy}")


def _entry(name: str) -> dict[str, Any]:
    tables = table_docs()
    if name not in tables:
        raise _native.ResultError(_names.unknown("table", name, tables))
    return tables[name]
