"""Runners, which do the runs of a study with an executor of campaigns.

A study calls the methods of `Runner` only. Another way of doing the runs (in processes, on several
machines) is another class with these methods.
"""

import os
from collections.abc import Sequence
from typing import Protocol

from fadeout.campaign.engine import Executor, Threads
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.handed import Batch, Reading
from fadeout.study.job import Item, Job, Reader
from fadeout.study.store import Store, may_read


class Runner(Protocol):
    """Interface of an object that does the runs of a study.

    The value read from a job depends on nothing but the job, and values are in the order of the
    jobs. Results are therefore identical however the runs are distributed.
    """

    is_whole: bool
    """True until the runs are stopped. After that, no further run starts."""

    def expect(self, runs: int) -> None:
        """Sets the expected number of runs, for the display of progress."""
        ...

    def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
        """Returns the value of `read` for each of `jobs`. The results are not kept.

        After Ctrl-C, the value of a run that was not done is None, and `is_whole` stays False.
        Raises `KeyboardInterrupt` if no run was done.
        """
        ...

    def results(self, jobs: Sequence[Job]) -> list[Results]:
        """Returns the complete results of `jobs`, for figures of single runs."""
        ...


class ThreadRunner:
    """Runner that uses an executor, by default threads, and keeps the values read in a store."""

    def __init__(
        self,
        *,
        workers: int | None = None,
        progress: CountCallback | None = None,
        store: Store | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Uses `executor` for the runs of `collect`. None uses threads of this process."""
        self._workers = workers or os.cpu_count() or 1
        self._progress = progress
        self._store = store
        self._executor = executor or Threads(self._workers)
        self.cost_s = 0.0
        """Processor time of all runs whose results were read."""
        self.read = 0
        """Number of runs whose results were read."""
        self._done = 0
        self._total = 0
        self.is_whole = True

    def expect(self, runs: int) -> None:
        """Sets the expected number of runs, for the display of progress."""
        self._total = runs

    def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
        """Returns the value of `read` for each of `jobs`, from the store if it has the value."""
        if not self.is_whole:
            raise KeyboardInterrupt
        assert may_read(read), f"the store does not notice a change of {read.__module__}"
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
        """Returns the complete results of `jobs`. Each call runs them again."""
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
