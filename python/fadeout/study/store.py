"""Finished runs of a study that is not finished."""

import hashlib
import json
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

import fadeout
from fadeout.study.job import Item


class Store:
    """What was read from finished runs, by the content of each: a file with a line a run.

    A line is written when its run is finished, so whatever ends the study, only the runs under way
    are lost. Runs of another build are not used: the file begins anew.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._file: TextIO | None = None
        self._runs = _read(path)

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, name: str) -> bool:
        return name in self._runs

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return self._runs[name]

    def keep(self, name: str, item: Item) -> Item:
        """Write down what was read from a run; returns it as it will be read again."""
        line = json.dumps([name, item])
        with self._lock:
            if self._file is None:
                self._file = self._begin()
            self._file.write(line + "\n")
            self._file.flush()
            self._runs[name] = json.loads(line)[1]
            return self._runs[name]

    def close(self) -> None:
        """Write no more; the runs stay for the next time."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """The study is finished: its runs are in its report."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _begin(self) -> TextIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self._runs:
            # Unlinked, not truncated: another process may be writing to it.
            self.path.unlink(missing_ok=True)
        file = self.path.open("a", encoding="utf-8")
        # Otherwise, the line that a kill may have cut is ended.
        file.write("\n" if self._runs else json.dumps(results_version()) + "\n")
        return file


def _read(path: Path) -> dict[str, Any]:
    """The runs in the file, if there is one of this build."""
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ValueError):
        return {}
    if first != json.dumps(results_version()):
        return {}
    runs: dict[str, Any] = {}
    for line in lines:
        try:
            name, item = json.loads(line)
        except ValueError:
            continue
        runs[name] = item
    return runs


@cache
def results_version() -> str:
    """Changes with whatever could change what is read from a run: the engine, and the studies."""
    digest = hashlib.blake2b(digest_size=16)
    package = Path(fadeout.__file__).parent
    files = [*package.glob("_native*"), *package.glob("stud*/**/*"), package / "results.py"]
    for path in sorted(files):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(package)} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
