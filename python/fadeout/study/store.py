"""Storage for the finished runs of a study that has not completed."""

import hashlib
import json
import shutil
import time
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

import fadeout
from fadeout._native import ResultError
from fadeout.campaign.engine import FLUSH_S
from fadeout.campaign.parts import MERGED_ABOVE, Parts
from fadeout.study.job import Item

ROWS: dict[str, Any] = {"run": pl.String, "build": pl.String, "item": pl.String}
"""Schema of a part: name of a run, version of the build, and the value read, as JSON."""


class Store:
    """Values read from finished runs, by the digest of each run, in parts as in a campaign.

    Parts are written about once a second, so a crash loses one second of runs. Runs of another
    build are not used.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._lock = Lock()
        self._parts = Parts(folder)
        self._fresh: dict[str, str] = {}
        self._flushed_at = time.monotonic()
        self._is_begun = False
        self._runs = self._read()

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, name: str) -> bool:
        return name in self._runs

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return self._runs[name]

    def keep(self, name: str, item: Item) -> Item:
        """Stores the value read from a run. Returns the value as JSON will restore it."""
        text = json.dumps(item)
        with self._lock:
            self._fresh[name] = text
            self._runs[name] = json.loads(text)
            return self._runs[name]

    def flush(self, *, is_last: bool = False) -> None:
        """Writes new values, at most once in `FLUSH_S` seconds unless `is_last`."""
        now = time.monotonic()
        if not is_last and now - self._flushed_at < FLUSH_S:
            return
        self._flushed_at = now
        with self._lock:
            fresh, self._fresh = self._fresh, {}
        if not fresh:
            return
        if not self._is_begun:
            self._parts.begin()
            if not self._is_used:
                self._parts.remove()
            self._is_begun = True
        build = results_version()
        rows = [{"run": name, "build": build, "item": item} for name, item in fresh.items()]
        self._parts.write(rows, ROWS)

    def close(self) -> None:
        """Writes new values. The stored runs stay for the next time."""
        self.flush(is_last=True)
        if len(self._parts.names()) > MERGED_ABOVE:
            self._parts.merge()

    def remove(self) -> None:
        """Removes the stored runs, as the study has completed and its report has them."""
        self._fresh.clear()
        shutil.rmtree(self.path, ignore_errors=True)

    def _read(self) -> dict[str, Any]:
        """Returns the values of this build's runs in the folder."""
        try:
            frame = self._parts.frame()
        except ResultError:
            # Without a part, the store is new.
            frame = pl.DataFrame()
        if set(ROWS) <= set(frame.columns):
            frame = frame.filter(pl.col("build") == results_version())
        else:
            frame = pl.DataFrame(schema=ROWS)
        self._is_used = not frame.is_empty()
        names, items = frame["run"], frame["item"]
        return {name: json.loads(item) for name, item in zip(names, items, strict=True)}


@cache
def results_version() -> str:
    """Returns a digest of all files that affect the value read from a run: engine and studies."""
    digest = hashlib.blake2b(digest_size=16)
    package = Path(fadeout.__file__).parent
    files = [*package.glob("_native*"), *package.glob("stud*/**/*"), package / "results.py"]
    for path in sorted(files):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(package)} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
