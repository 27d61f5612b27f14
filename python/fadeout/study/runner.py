"""How the runs of a study are done: by an executor of campaigns.

A study asks a `Runner` and knows no more of it, so another way of doing the runs (in processes, on
several machines) is another class of the same methods.
"""

import os
from collections.abc import Sequence
from typing import Protocol

from fadeout.campaign.engine import Executor, Threads
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.handed import Batch, Reading
from fadeout.study.job import Item, Job, Reader
from fadeout.study.store import Store


class Runner(Protocol):
    """Does runs.

    What comes of a job depends on nothing but the job, and comes in the order of the jobs: how the
    runs are shared out changes no bit.
    """

    is_whole: bool
    """Whether every run came to its end; once stopped, no other is begun."""

    def expect(self, runs: int) -> None:
        """Say how many runs there will be, so that progress knows how far it is."""
        ...

    def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
        """What `read` makes of each of `jobs`; the results are not kept.

        Ctrl-C ends the runs: what was not done is None, and `is_whole` is False from then on. It
        remains a `KeyboardInterrupt` when nothing was done.
        """
        ...

    def results(self, jobs: Sequence[Job]) -> list[Results]:
        """The whole results of `jobs`, for figures of single runs."""
        ...


class ThreadRunner:
    """Does runs in threads, or elsewhere; what is read from a finished run goes into a store."""

    def __init__(
        self,
        *,
        workers: int | None = None,
        progress: CountCallback | None = None,
        store: Store | None = None,
        executor: Executor | None = None,
    ) -> None:
        """`executor` does the runs of `collect`: threads of this process, or where it says."""
        self._workers = workers or os.cpu_count() or 1
        self._progress = progress
        self._store = store
        self._executor = executor or Threads(self._workers)
        self.cost_s = 0.0
        """Processor time of the runs that were read."""
        self.read = 0
        """How many they were."""
        self._done = 0
        self._total = 0
        self.is_whole = True

    def expect(self, runs: int) -> None:
        """Say how many runs there will be."""
        self._total = runs

    def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
        """What `read` makes of each of `jobs`; of those in the store, what it made of them."""
        if not self.is_whole:
            raise KeyboardInterrupt
        store = self._store
        names = [job.name(read) for job in jobs]
        found = {name: store[name] for name in names if store is not None and name in store}
        missing = [(name, job) for name, job in zip(names, jobs, strict=True) if name not in found]
        self._done += len(found)
        batch = Batch(Reading(read), missing, self._keep)
        before = self._done
        self._total = max(self._total, before + len(missing))

        def tick() -> None:
            if store is not None:
                store.flush()
            self._count(before + len(batch.found))

        try:
            self._executor.drive(batch, tick)
            tick()
            if batch.error is not None:
                raise batch.error
        except KeyboardInterrupt:
            self.is_whole = False
            if not found and not batch.found:
                raise
        found |= batch.found
        return [found.get(name) for name in names]

    def results(self, jobs: Sequence[Job]) -> list[Results]:
        """The whole results of `jobs`; they are run each time."""
        before = self._done
        self._total = max(self._total, before + len(jobs))
        calls = [job.run for job in jobs]
        return run_all(
            calls,
            workers=self._workers,
            progress=lambda done, _total: self._count(before + done),
        )

    def _count(self, done: int) -> None:
        self._done = done
        if self._progress is not None:
            self._progress(done, self._total)

    def _keep(self, name: str, item: Item, cost_s: float) -> Item:
        self.cost_s += cost_s
        self.read += 1
        return item if self._store is None else self._store.keep(name, item)
