"""Progress of a run: simulated time, how fast it passes, and what is left."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fadeout._run import Progress as Callback
from fadeout.cli.console import err
from fadeout.study import CountCallback

SAID_EVERY_S = 30.0
"""Longest time without a line of progress where there is no terminal."""


@contextmanager
def stoppable() -> Iterator[Callback]:
    """A callback for `fadeout.run` that ends the run at Ctrl-C, with what it recorded kept.

    A second Ctrl-C interrupts whatever is going on.
    """
    stop = Event()

    def handle(_signal: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda _state: not stop.is_set()
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def run_progress(label: str, *, quiet: bool = False) -> Iterator[Callback]:
    """A callback for `fadeout.run` that draws a bar where there is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _state: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[simulated]}"),
        TextColumn("{task.fields[speed]}", style="dim"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(label, total=None, simulated="", speed="")

        def update(state: dict[str, Any]) -> None:
            wall_s = max(state["wall_s"], 1e-9)
            bar.update(
                task,
                total=state["duration_s"],
                completed=state["time_s"],
                simulated=f"{state['time_s']:.1f} of {state['duration_s']:g} s",
                speed=f"{state['time_s'] / wall_s:.1f}x real time, "
                f"{si(state['events'] / wall_s)} events/s",
            )

        yield update


@contextmanager
def count_progress(label: str, *, quiet: bool = False) -> Iterator[CountCallback]:
    """A callback for many runs: call it with how many are done of how many."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None  # noqa: ARG005
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:.0f} of {task.total:.0f} runs"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(label, total=1)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def says_progress(label: str, *, quiet: bool) -> Iterator[CountCallback]:
    """A callback for many runs: a bar on a terminal, and elsewhere a line now and then."""
    if quiet or sys.stderr.isatty():
        with count_progress(label, quiet=quiet) as progress:
            yield progress
        return
    began = said_at = time.monotonic()
    said_tenths = -1

    def say_how_far(done: int, total: int) -> None:
        nonlocal said_at, said_tenths
        now = time.monotonic()
        tenths = 10 * done // max(1, total)
        if tenths > said_tenths or now - said_at >= SAID_EVERY_S:
            said_at, said_tenths = now, max(said_tenths, tenths)
            say(f"{label}: {done} of {total} runs after {now - began:.0f} s")

    yield say_how_far


def say(line: str) -> None:
    """A line on standard error."""
    err().print(line, markup=False, highlight=False)


def si(number: float) -> str:
    """`number` in three digits with k, M or G."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= factor:
            return f"{number / factor:.3g}{letter}"
    return f"{number:.3g}"
