"""Progress of a run: simulated time, its speed, and the remaining time."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fadeout.cli.console import err, say

if TYPE_CHECKING:
    from fadeout._run import Progress as Callback
    from fadeout.study import CountCallback

SAID_EVERY_S = 30.0
"""Longest time without a line of progress if there is no terminal."""


@contextmanager
def run_progress(label: str, *, quiet: bool = False) -> Iterator["Callback"]:
    """Returns a callback for `fadeout.run`: a bar on a terminal, else a line now and then."""
    if quiet:
        yield lambda _state: None
        return
    if not sys.stderr.isatty():
        yield _run_lines(label)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

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


def _run_lines(label: str) -> "Callback":
    said_at = time.monotonic()

    def say_how_far(state: dict[str, Any]) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at >= SAID_EVERY_S:
            said_at = now
            say(
                f"{label}: {state['time_s']:.1f} of {state['duration_s']:g} s simulated after "
                f"{state['wall_s']:.0f} s"
            )

    return say_how_far


@contextmanager
def count_progress(
    label: str, *, quiet: bool = False, unit: str = "runs"
) -> Iterator["CountCallback"]:
    """Returns a callback for many runs, called with the numbers of finished and of all runs.

    The callback draws a bar on a terminal, and else prints a line now and then.
    """
    if quiet:
        yield lambda done, total: None  # noqa: ARG005
        return
    if not sys.stderr.isatty():
        yield _count_lines(label, unit)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:.0f} of {task.total:.0f} " + unit),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(label, total=1)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _count_lines(label: str, unit: str) -> "CountCallback":
    began = said_at = time.monotonic()
    said_tenths = -1

    def say_how_far(done: int, total: int) -> None:
        nonlocal said_at, said_tenths
        now = time.monotonic()
        tenths = 10 * done // max(1, total)
        if tenths > said_tenths or now - said_at >= SAID_EVERY_S:
            said_at, said_tenths = now, max(said_tenths, tenths)
            say(f"{label}: {done} of {total} {unit} after {now - began:.0f} s")

    return say_how_far


def si(number: float) -> str:
    """Returns `number` in three digits with k, M or G."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= factor:
            return f"{number / factor:.3g}{letter}"
    return f"{number:.3g}"
