"""A folder that appears complete or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fadeout._native import ResultError

MARK = "report.md"
"""File that identifies the folder of a study. Only such a folder is ever replaced."""


@contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Yields a new folder, which is renamed to `target` at the end, or removed on an error."""
    may_replace(target, force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    partial.mkdir()
    try:
        yield partial
        may_replace(target, force=force)
        if target.exists():
            shutil.rmtree(target)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def may_replace(target: Path, *, force: bool) -> None:
    """Raises ResultError if `target` exists and must not be replaced."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not force:
        raise ResultError(f"{target} exists; --force replaces it")
    if not (target / MARK).is_file():
        raise ResultError(f"{target} is not the folder of a study; it is not replaced")
