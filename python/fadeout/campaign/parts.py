"""Finished runs on disk, in files that appear complete or not at all.

A part has some runs, one row each. It is written under another name, flushed to the disk and
renamed. A crash therefore leaves a complete part or none. Parts are sealed (see
`fadeout.campaign.seal`), so later damage is an error.

The parts alone define the finished runs: there is no list, database or lock. Two campaigns at once
may write a run twice. Both rows are equal, and one is read.
"""

import contextlib
import errno
import hashlib
import os
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fadeout._native import ResultError
from fadeout.campaign import seal
from fadeout.campaign.metrics import default_type

KEPT: dict[str, Any] = {
    "run": pl.String,
    "point": pl.String,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "cost_s": pl.Float64,
    "metrics": pl.String,
}
"""Columns of every row, before its metrics. `cost_s` is processor time. `metrics` names the
metrics requested in addition to the default ones.
"""

FAILED: dict[str, Any] = {
    "run": pl.String,
    "point": pl.String,
    "seed": pl.Int64,
    "kind": pl.String,
    "reason": pl.String,
    "cost_s": pl.Float64,
}

SUFFIX = ".tmp"
"""Suffix of files of a campaign in progress, after the machine and the process that made them."""


MERGED_ABOVE = 16
"""Largest number of parts at the end. More are merged."""


class Parts:
    """The parts of a folder."""

    def __init__(self, folder: Path, *, must_be_sealed: bool = True) -> None:
        """Opens a folder. `must_be_sealed` is False if a version without checksums wrote
        its parts.
        """
        self.folder = folder
        self._must_be_sealed = must_be_sealed
        self._read: dict[str, pl.DataFrame] = {}

    def begin(self) -> None:
        """Makes the folder, and removes incomplete files of a killed campaign."""
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_left(self.folder)

    def write(self, rows: Sequence[Mapping[str, Any]], types: Mapping[str, Any]) -> str:
        """Writes rows as a part, and returns its name after the part exists."""
        columns = list(dict.fromkeys(column for row in rows for column in row))
        schema = {column: types.get(column) or default_type(column) for column in columns}
        values = [{column: row.get(column) for column in columns} for row in rows]
        frame = pl.DataFrame(values, schema=schema)
        names = "".join(sorted(row["run"] + row.get("metrics", "") for row in rows))
        name = f"part-{hashlib.blake2b(names.encode(), digest_size=10).hexdigest()}.parquet"
        write_whole(self.folder / name, seal.parquet(frame))
        self._read[name] = frame
        return name

    def names(self) -> list[str]:
        """Returns the names of the existing parts in order."""
        names = self._listed()
        # While another process merges parts, a listing may have neither the merged part nor the old
        # ones. Two equal listings show a consistent state.
        while names != (again := self._listed()):
            names = again
        return names

    def _listed(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        found = (path.name for path in self.folder.iterdir())
        return sorted(n for n in found if n.startswith("part-") and n.endswith(".parquet"))

    def new(self) -> list[pl.DataFrame]:
        """Returns the parts that this object has neither read nor written before."""
        return self._frames(without=set(self._read))

    def frame(self, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """Returns the rows of all parts, with those of `columns` that exist. A run may have two
        rows.
        """
        frames = self._frames()
        if columns is not None:
            wanted = list(columns)
            frames = [frame.select(c for c in wanted if c in frame.columns) for frame in frames]
        if not frames:
            return pl.DataFrame(schema={"run": pl.String})
        return pl.concat(frames, how="diagonal_relaxed")

    def _frames(self, without: Iterable[str] = ()) -> list[pl.DataFrame]:
        """Returns all parts except those in `without`, in the order of their names."""
        found: dict[str, pl.DataFrame] = {}
        left = set(without)
        while missing := [name for name in self.names() if name not in found and name not in left]:
            for name in missing:
                # Another driver may be merging its parts one by one. Rows of a part that is gone
                # are in a merged part, which the next listing has.
                with contextlib.suppress(FileNotFoundError):
                    found[name] = self._load(name)
        return [found[name] for name in sorted(found)]

    def merge(self) -> None:
        """Merges many parts into one. It is written before the others are removed."""
        names = self.names()
        if len(names) < 2:
            return
        frame = self.frame()
        keys = [column for column in ("run", "metrics") if column in frame.columns]
        frame = frame.unique(keys, keep="first", maintain_order=True).sort(keys)
        text = "".join(names)
        merged = f"part-{hashlib.blake2b(text.encode(), digest_size=10).hexdigest()}.parquet"
        write_whole(self.folder / merged, seal.parquet(frame))
        for name in names:
            if name != merged:
                (self.folder / name).unlink(missing_ok=True)
                self._read.pop(name, None)
        self._read[merged] = frame

    def remove(self) -> None:
        """Removes every part."""
        for name in self.names():
            (self.folder / name).unlink(missing_ok=True)
            self._read.pop(name, None)

    def _load(self, name: str) -> pl.DataFrame:
        if name not in self._read:
            path = self.folder / name
            self._read[name] = seal.read_parquet(path, must_be_sealed=self._must_be_sealed)
        return self._read[name]


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file completely or not at all. Raises ResultError on failure."""
    partial = path.with_name(f".{path.name}.{socket.gethostname()}-{os.getpid()}{SUFFIX}")
    try:
        for attempt in range(3):
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            try:
                partial.replace(path)
                break
            except FileNotFoundError:
                # Another campaign removed the file, as it looked incomplete.
                if attempt == 2:
                    raise
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raised = ResultError(
            f"{path}: {reason}; earlier finished runs are kept, and the same command continues"
        )
        raised.path = str(path)
        raise raised from error
    # Protects against power failures. Not every file system supports it, and nothing else needs it.
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_left(folder: Path) -> None:
    """Removes incomplete files of killed processes in `folder` and below."""
    for path in folder.rglob(f".*{SUFFIX}"):
        if path.is_file() and is_left(path):
            path.unlink(missing_ok=True)


def is_left(partial: Path) -> bool:
    """Returns True if the process that wrote `partial` has ended, as far as this machine
    can tell.
    """
    host, _, number = partial.name.removesuffix(SUFFIX).rpartition(".")[2].rpartition("-")
    # Signal 0 tests for a process. Windows does not have it.
    if host != socket.gethostname() or not number.isdigit() or os.name == "nt":
        # The process may be on another machine. Writing takes seconds, so a file a day old is
        # abandoned.
        try:
            return time.time() - partial.stat().st_mtime > 86_400
        except OSError:
            return False
    if int(number) == os.getpid():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
