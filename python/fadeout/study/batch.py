"""Many runs of one scenario, on every processor, with results that do not depend on how many."""

import copy
import json
import os
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from fadeout import _native, _toml
from fadeout._run import read_source, run
from fadeout.results import Results

CountCallback = Callable[[int, int], None]
"""Called with how many runs are done, of how many."""

MayGoOn = Callable[[dict[str, Any]], bool]
"""Says of a run, given how far it is, whether it is to go on."""

Call = Callable[[MayGoOn], Results]
"""A run."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Job:
    """One run: what differs from the batch's scenario."""

    overrides: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Tables of the scenario that are left out, as `blockage` or `flow.cubic`."""
    seed: int = 1
    with_tables: bool = False
    """Whether the tables over time are kept; without them a run costs less memory."""


@dataclass
class _Count:
    """How many runs are done, of how many."""

    progress: CountCallback | None
    done: int = 0
    total: int = 0


class Batch:
    """Runs of one scenario with different values and seeds.

    A job's result depends on nothing but the job, and results come in the order of the jobs, so
    the number of workers changes no bit.
    """

    def __init__(
        self,
        scenario: Path,
        *,
        workers: int | None = None,
        progress: CountCallback | None = None,
    ) -> None:
        self._source = read_source(scenario)
        self._document = tomllib.loads(self._source.text)
        self._workers = workers
        self._count = _Count(progress)
        self.is_whole = True
        """Whether every run came to its end."""

    def beside(self, scenario: Path) -> "Batch":
        """A batch of another scenario, with as many workers, that counts into the same progress."""
        batch = Batch(scenario, workers=self._workers)
        batch._count = self._count
        return batch

    def expect(self, runs: int) -> None:
        """Say how many runs there will be, so that progress knows how far it is."""
        self._count.total = runs

    def run(self, jobs: Sequence[Job]) -> list[Results]:
        """The results of `jobs`, in their order."""
        calls = [self._call(job) for job in jobs]
        return _run_all(calls, workers=self._workers, progress=self._counter(len(jobs)))

    def collect(self, jobs: Sequence[Job], read: Callable[[Results], Item]) -> list[Item | None]:
        """What `read` makes of each of `jobs`, in their order; the results are not kept.

        Ctrl-C ends the batch: what was not done is None, and `is_whole` is False from then on. It
        remains a `KeyboardInterrupt` when nothing was done.
        """

        def reading(call: Call) -> Callable[[MayGoOn], Item | None]:
            def read_call(may_go_on: MayGoOn) -> Item | None:
                results = call(may_go_on)
                return read(results) if results.is_complete else None

            return read_call

        done: list[Item | None] = []
        calls = [reading(self._call(job)) for job in jobs]
        try:
            _run_all(calls, workers=self._workers, progress=self._counter(len(jobs)), finished=done)
        except KeyboardInterrupt:
            self.is_whole = False
            if all(item is None for item in done):
                raise
        return done

    def _counter(self, more: int) -> CountCallback:
        """Count `more` runs beyond those done."""
        counted = self._count
        before = counted.done
        counted.total = max(counted.total, before + more)

        def count(done: int, _total: int) -> None:
            counted.done = before + done
            if counted.progress is not None:
                counted.progress(counted.done, counted.total)

        return count

    def _call(self, job: Job) -> Call:
        text = self._source.text
        if job.without:
            text = _toml.dumps(_without(self._document, job.without))

        def call(may_go_on: Callable[[dict[str, Any]], bool]) -> Results:
            outcome = _native.run(
                text,
                source_name=self._source.name,
                base_dir=self._source.base_dir,
                overrides=job.overrides,
                seed=job.seed,
                progress=may_go_on,
                tables=job.with_tables,
                # A study tries on purpose what advice warns of.
                advice=False,
            )
            return Results.from_outcome(outcome)

        return call


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
    return _run_all(calls, workers=workers, progress=progress)


def _run_all(
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


def _without(document: dict[str, Any], tables: Sequence[str]) -> dict[str, Any]:
    """A copy of `document` without the tables of these dotted names."""
    kept = copy.deepcopy(document)
    for name in tables:
        *parents, last = name.split(".")
        table = kept
        for parent in parents:
            table = table[parent]
        del table[last]
    return kept


def overrides(values: dict[str, Any]) -> tuple[str, ...]:
    """Overrides of a job from a dict, in the command line's form."""
    return tuple(f"{key}={_literal(value)}" for key, value in values.items())


def _literal(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else json.dumps(value)
