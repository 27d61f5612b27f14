"""Signals that ask the command to stop: each is treated as Ctrl-C.

Signals are obeyed from the first line of the command on, so this module imports next to nothing.
Before a command begins and after it is done, the process ends at once. An exception would come up
inside a library that is being loaded, and the library may swallow it. While a command works, an
exception lets it keep its results.
"""

import os
import signal

TYPE_CHECKING = False
"""Flag of `typing`. It is defined here because `typing` takes longer to import than all else."""

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from fadeout._run import Progress as Callback

STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Batch systems send SIGTERM, and a terminal that closes sends SIGHUP."""

_came: list[int] = []
_working: list[None] = []
"""List with one entry while a command runs, and empty otherwise."""


def came() -> bool:
    """True if one of these signals came."""
    return bool(_came)


def exit_status() -> int:
    """Returns the exit status of a command that a signal stopped: 130 after Ctrl-C."""
    return 128 + (_came[-1] if _came else signal.SIGINT)


def install() -> None:
    """Makes each of these signals end the process or the running command."""
    for number in STOPS:
        # A signal that the parent ignores stays ignored. nohup does so with SIGHUP.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


class Working:
    """Context in which these signals raise KeyboardInterrupt."""

    def __enter__(self) -> None:
        _working.append(None)

    def __exit__(self, *_error: object) -> None:
        _working.pop()


def obey() -> None:
    """Raises KeyboardInterrupt if a signal came.

    Its own exception may have been lost, as those of finalisers and callbacks are.
    """
    if _came:
        raise KeyboardInterrupt


def _handle(number: int, _frame: "FrameType | None") -> None:
    if not _working:
        _leave(number)
    _interrupt(number)


def _leave(number: int) -> "NoReturn":
    try:  # noqa: SIM105 - the module that has `suppress` may not be loaded yet
        os.write(2, b"stopped\n")
    except OSError:
        pass
    # Python may already be shutting down, so the process ends without its exit handlers.
    os._exit(128 + number)


def _interrupt(number: int) -> "NoReturn":
    _came.append(number)
    raise KeyboardInterrupt


class Stoppable:
    """Context whose callback for `fadeout.run` ends the run at a signal, with its results kept.

    A second signal interrupts at once.
    """

    def __enter__(self) -> "Callback":
        self._is_stopped = False
        wanted = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._handle) for number in wanted}
        return lambda _state: not self._is_stopped

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: "FrameType | None") -> None:
        if self._is_stopped:
            _interrupt(number)
        _came.append(number)
        self._is_stopped = True
