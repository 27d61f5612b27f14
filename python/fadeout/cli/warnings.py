"""Warnings of the command: one line each, without the line of our own code."""

import warnings

from fadeout.cli.console import err


def install() -> None:
    """Prints warnings as lines of this command."""
    warnings.showwarning = _show


def _show(message: Warning | str, *_place: object, **_more: object) -> None:
    err().print(f"warning: {message}", markup=False, highlight=False)
