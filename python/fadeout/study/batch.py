"""Many runs on every processor, with results that do not depend on how many there are."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any

from fadeout._run import run
from fadeout.results import Results
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
    finished: list[Any] | None = None,
) -> list[Item]:
    """Run `calls` in threads: the native module releases Python's lock while it simulates.

    `finished` gets what each call returned, None where it did not, also when this raises.
    """
    stop = Event()
    report = progress or (lambda _done, _total: None)
    report(0, len(calls))
    with ThreadPoolExecutor(max_workers=workers or os.cpu_count() or 1) as pool:
        futures = [pool.submit(call, lambda _state: not stop.is_set()) for call in calls]
        try:
            results = []
            for done, future in enumerate(futures, start=1):
                results.append(future.result())
                report(done, len(calls))
        except BaseException:
            # Ctrl-C or a failed run: the others end at their next report of progress.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        finally:
            if finished is not None:
                finished += [_result(future) for future in futures]
    return results


def _result(future: Future[Item]) -> Item | None:
    if future.cancelled() or not future.done() or future.exception() is not None:
        return None
    return future.result()
