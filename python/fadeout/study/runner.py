"""How the runs of a study are done: in threads, on every processor.

A study asks a `Runner` and knows no more of it, so another way of doing the runs (in processes, on
several machines) is another class of the same methods.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import thread_time
from typing import Any, Protocol

from fadeout.campaign.engine import Executor
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.handed import Batch
from fadeout.study.job import Item, Job, MayGoOn, Reader
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
    """Runs in threads of this process; what is read from a finished run goes into a store."""

    def __init__(
        self,
        *,
        workers: int | None = None,
        progress: CountCallback | None = None,
        store: Store | None = None,
        executor: Executor | None = None,
    ) -> None:
        """`executor` does the runs of `collect` elsewhere: `fadeout.campaign.Cluster`, say."""
        self._workers = workers
        self._progress = progress
        self._store = store
        self._executor = executor
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
        known = {name: store[name] for name in names if store is not None and name in store}
        self._done += len(known)
        missing = [(name, job) for name, job in zip(names, jobs, strict=True) if name not in known]
        done: list[Item | None] = []
        try:
            if self._executor is None:
                self._all([partial(self._read, name, job, read) for name, job in missing], done)
            else:
                self._hand_out(self._executor, missing, read, done)
        except KeyboardInterrupt:
            self.is_whole = False
            if not known and all(item is None for item in done):
                raise
        found = known | dict(zip((name for name, _ in missing), done, strict=True))
        return [found[name] for name in names]

    def results(self, jobs: Sequence[Job]) -> list[Results]:
        """The whole results of `jobs`; they are run each time."""
        return self._all([job.run for job in jobs])

    def _hand_out(
        self,
        executor: Executor,
        missing: Sequence[tuple[str, Job]],
        read: Reader[Any],
        finished: list[Any],
    ) -> None:
        """Let the executor do the missing runs; `finished` gets them also when this raises."""
        batch = Batch(read, missing, self._keep)
        before = self._done
        self._total = max(self._total, before + len(missing))

        def tick() -> None:
            self._done = before + len(batch.found)
            if self._progress is not None:
                self._progress(self._done, self._total)

        try:
            executor.drive(batch, tick)
            tick()
        finally:
            finished += [batch.found.get(name) for name, _ in missing]
        if batch.error is not None:
            raise batch.error

    def _keep(self, name: str, item: Item, cost_s: float) -> Item:
        self.cost_s += cost_s
        self.read += 1
        return item if self._store is None else self._store.keep(name, item)

    def _read(self, name: str, job: Job, read: Reader[Item], may_go_on: MayGoOn) -> Item | None:
        began = thread_time()
        results = job.run(may_go_on)
        if not results.is_complete:
            return None
        return self._keep(name, read(results), thread_time() - began)

    def _all(
        self, calls: Sequence[Callable[[MayGoOn], Item]], finished: list[Any] | None = None
    ) -> list[Item]:
        before = self._done
        self._total = max(self._total, before + len(calls))

        def count(done: int, _total: int) -> None:
            self._done = before + done
            if self._progress is not None:
                self._progress(self._done, self._total)

        return run_all(calls, workers=self._workers, progress=count, finished=finished)
