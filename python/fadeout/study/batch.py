"""Runs many scenarios on all processors. Results do not depend on the number of threads."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fadeout._run import run
from fadeout.campaign.engine import Threads
from fadeout.campaign.work import MayGoOn as GoOn
from fadeout.campaign.work import Outcome
from fadeout.results import Results
from fadeout.study.handed import Batch, outcome
from fadeout.study.job import Item, MayGoOn

CountCallback = Callable[[int, int], None]
"""Called with the number of finished runs and the total number of runs."""


def run_texts(
    texts: Sequence[str], *, workers: int | None = None, progress: CountCallback | None = None
) -> list[Results]:
    """Returns the results of several scenarios, in their order."""
    return read_texts(texts, lambda _, results: results, workers=workers, progress=progress)


def read_texts(
    texts: Sequence[str],
    read: Callable[[str, Results], Item],
    *,
    workers: int | None = None,
    progress: CountCallback | None = None,
) -> list[Item]:
    """Returns the value of `read` for each scenario, in their order. Results are not kept.

    `read` gets the text of a scenario and its results.
    """

    def call(may_go_on: MayGoOn, text: str) -> Item:
        return read(text, run(text, progress=may_go_on))

    calls = [partial(call, text=text) for text in texts]
    return run_all(calls, workers=workers, progress=progress)


def run_all(
    calls: Sequence[Callable[[MayGoOn], Item]],
    *,
    workers: int | None,
    progress: CountCallback | None,
) -> list[Item]:
    """Makes `calls` in threads, as the native module releases Python's lock while it simulates.

    Returns their results in order. No other copy of a result is kept, as each may be large.
    """
    named = [(str(number), call) for number, call in enumerate(calls)]
    batch = Batch(_Calls(), named, lambda _name, item, _cost_s: item)

    def tick() -> None:
        if progress is not None:
            progress(len(batch.found), len(calls))

    Threads(workers or os.cpu_count() or 1).drive(batch, tick)
    tick()
    if batch.error is not None:
        raise batch.error
    return [batch.found[name] for name, _ in named]


class _Calls:
    """Context of the threads that makes calls which can be stopped."""

    def do(self, job: tuple[str, Callable[[MayGoOn], Any]], may_go_on: GoOn) -> Outcome | None:
        """Makes the call. Returns None if the call was stopped, as its result is then
        incomplete.
        """
        item = job[1](lambda _state: may_go_on())
        return outcome(job, item, 0.0) if may_go_on() else None
