"""Standard streams that are closed, or whose other end has left."""

import io
import os
import sys
from contextlib import suppress
from typing import Any, Literal, TextIO

STANDARD = (0, 1, 2)
"""Standard input, output and error."""


class _Deaf(io.FileIO):
    """Standard error. A failed write is ignored, so that it ends no run."""

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has bytes
        """Writes as much as possible and drops the rest."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def repair() -> None:
    """Opens closed standard streams, and makes writes to standard error never fail."""
    for number in STANDARD:
        try:
            os.fstat(number)
        except OSError:
            # `open` takes the lowest free descriptor, which is this one. Otherwise a file of the
            # results would take it, and get the text that libraries write to standard error.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = _nothing("r")
    if sys.stdout is None:
        sys.stdout = _nothing("w")
    if sys.stderr is None:
        sys.stderr = _nothing("w")
    elif sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Deaf(sys.stderr.fileno(), "w", closefd=False)),
            encoding=sys.stderr.encoding,
            errors="backslashreplace",
            line_buffering=True,
        )


def _nothing(mode: Literal["r", "w"]) -> TextIO:
    return open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123 - a stream, open to the end


def finish() -> str | None:
    """Flushes standard output and returns the reason if that fails.

    The reason is empty if the reader has closed the stream, as `head` does.
    """
    why = None
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        why = ""
    except OSError as error:
        why = error.strerror or str(error)
    if why is not None:
        silence()
    return why


def silence() -> None:
    """Discards the rest of standard output, because Python flushes it once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
