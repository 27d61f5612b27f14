"""Warnings of the command: one line each, without the line of our own code."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from fadeout.cli.console import err


def install() -> None:
    """Prints warnings as lines of this command."""
    warnings.showwarning = _show


def _show(message: Warning | str, *_place: object, **_more: object) -> None:
    err().print(f"warning: {message}", markup=False, highlight=False)


@contextlib.contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Prints warnings as before, and yields the list of their texts."""
    kept: list[str] = []
    show = warnings.showwarning

    def keep(message: Warning | str, *place: Any, **more: Any) -> None:  # noqa: ANN401
        kept.append(str(message))
        show(message, *place, **more)

    warnings.showwarning = keep
    try:
        yield kept
    finally:
        warnings.showwarning = show
