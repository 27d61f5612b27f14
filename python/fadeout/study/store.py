"""Storage for the finished runs of a study that has not completed."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable
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
    version are not used.
    """

    def __init__(self, folder: Path, version: str) -> None:
        """Opens the store in `folder`. `version` names the code that reads values from runs."""
        self.path = folder
        self._version = version
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
        rows = [{"run": name, "build": self._version, "item": item} for name, item in fresh.items()]
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
            frame = frame.filter(pl.col("build") == self._version)
        else:
            frame = pl.DataFrame(schema=ROWS)
        self._is_used = not frame.is_empty()
        names, items = frame["run"], frame["item"]
        return {name: json.loads(item) for name, item in zip(names, items, strict=True)}


USER_INTERFACE = ("campaign", "cli", "plot", "report", "studies", "study", "validate")
"""Folders of the package without effect on the results of a run."""

PAGE = ("README.md", "report.md", "study.toml", "published.toml")
"""Files of a study with its texts, and with values that are part of each run's own name."""

PAGE_MODULES = ("study", "claims", "figures")
"""Modules of a study that make its page. They read no value from a run."""


def may_read(read: Callable[..., Any]) -> bool:
    """Returns False for a function of a module that makes the page of a study."""
    package, _, module = read.__module__.rpartition(".")
    return not (package.startswith("fadeout.studies.") and module in PAGE_MODULES)


@cache
def results_version(study: Path) -> str:
    """Returns a digest of all files that affect a value read from a run.

    The engine, the modules that read results and the scenarios of the study affect a value. The
    texts of a study's page and the modules that make it have no effect, so the page keeps its runs.
    """
    digest = hashlib.blake2b(digest_size=16)
    package = Path(fadeout.__file__).parent
    shared = [
        path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in USER_INTERFACE
    ]
    without = {*PAGE, *(f"{module}.py" for module in PAGE_MODULES)}
    own = [path for path in study.rglob("*") if path.is_file() and path.name not in without]
    for path in sorted([*package.glob("_native*"), *shared, *own]):
        if path.suffix != ".pyc":
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
