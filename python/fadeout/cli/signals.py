"""Signals that stop the command: each is treated as Ctrl-C."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fadeout._run import Progress as Callback

STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Batch systems send SIGTERM, and a terminal that closes sends SIGHUP."""

_came: list[int] = []


def exit_status() -> int:
    """Return the exit status of a command that a signal stopped: 130 after Ctrl-C."""
    return 128 + (_came[-1] if _came else signal.SIGINT)


def install() -> None:
    """Make each of these signals raise KeyboardInterrupt."""
    for number in STOPS:
        # What the parent ignores, as nohup does with SIGHUP, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _came.append(number)
    raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator["Callback"]:
    """Return a callback for `fadeout.run` that ends the run at a signal and keeps its results.

    A second signal interrupts at once.
    """
    stop = Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            _interrupt(number, frame)
        _came.append(number)
        stop.set()

    wanted = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in wanted}
    try:
        yield lambda _state: not stop.is_set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
