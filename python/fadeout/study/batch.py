"""Many runs on every processor, with results that do not depend on how many there are."""

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
"""Called with how many runs are done, of how many."""


def run_texts(
    texts: Sequence[str], *, workers: int | None = None, progress: CountCallback | None = None
) -> list[Results]:
    """The results of several scenarios, in their order."""
    return read_texts(texts, lambda _, results: results, workers=workers, progress=progress)


def read_texts(
    texts: Sequence[str],
    read: Callable[[str, Results], Item],
    *,
    workers: int | None = None,
    progress: CountCallback | None = None,
) -> list[Item]:
    """What `read` makes of each scenario and its results, in order; the results are not kept."""

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
    """Do `calls` in threads: the native module releases Python's lock while it simulates.

    The result of each may be large, and is not kept anywhere else.
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
    """Calls that are told whether to go on."""

    def do(self, job: tuple[str, Callable[[MayGoOn], Any]], may_go_on: GoOn) -> Outcome | None:
        """Make the call; what it returns after it was stopped is not whole."""
        item = job[1](lambda _state: may_go_on())
        return outcome(job, item, 0.0) if may_go_on() else None
