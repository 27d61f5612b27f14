"""Calls and runs that an executor of campaigns does, here or on other machines."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Condition, Event
from time import thread_time
from typing import Any, Protocol

from fadeout._native import FadeoutError
from fadeout.campaign.work import MayGoOn, Outcome
from fadeout.study.job import Job, Reader

Named = tuple[str, Any]
"""A job with its name."""

Keep = Callable[[str, Any, float], Any]
"""Stores the result of a job and returns it. Arguments: name, result, processor time in seconds."""


class Doer(Protocol):
    """Object with which a worker does one job. It can be pickled."""

    def do(self, job: Named, may_go_on: MayGoOn) -> Outcome | None:
        """Does a job. Returns None if the job was stopped."""
        ...


@dataclass(frozen=True)
class Reading:
    """Does runs and reads a value from each with `read`."""

    read: Reader[Any]

    def do(self, job: tuple[str, Job], may_go_on: MayGoOn) -> Outcome | None:
        """Does a run and reads its value. Returns None if the run was stopped."""
        began = thread_time()
        results = job[1].run(lambda _state: may_go_on())
        if not results.is_complete:
            return None
        return outcome(job, self.read(results), thread_time() - began)


def outcome(job: Named, item: Any, cost_s: float) -> Outcome:  # noqa: ANN401 - whatever came of it
    """Returns the result of a job in the form that executors return."""
    return Outcome(job, {"item": item}, cost_s=cost_s)  # pyright: ignore[reportArgumentType]


class Batch:
    """Jobs of a study for an executor, as `fadeout.campaign.engine.Work` defines."""

    def __init__(self, context: Doer, jobs: Sequence[Named], keep: Keep) -> None:
        self.context = context
        self.found: dict[str, Any] = {}
        self.error: BaseException | None = None
        self._keep = keep
        self._queue = deque(jobs)
        self._count = len(jobs)
        self._cost_s = 0.0
        self._changed = Condition()
        self._ended = Event()

    @property
    def is_finished(self) -> bool:
        """True if no job is left or in progress, or if one failed."""
        return self.error is not None or len(self.found) == self._count

    def take(self) -> Named | None:
        """Returns the next job. None if none is waiting."""
        with self._changed:
            return self._queue.popleft() if self._queue else None

    def take_some(self, budget_s: float, most: int) -> list[Named]:
        """Returns jobs that take about `budget_s` together, or one job while no cost is known."""
        each_s = self._cost_s / len(self.found) if self.found else budget_s
        count = min(most, max(1, int(budget_s / each_s))) if each_s > 0 else most
        taken = (self.take() for _ in range(count))
        return [job for job in taken if job is not None]

    def give(self, outcomes: Iterable[Outcome]) -> None:
        """Records the results of jobs."""
        with self._changed:
            for each in outcomes:
                name: str = each.job[0]
                if each.row is None:
                    self.error = self.error or FadeoutError(each.reason)
                elif name not in self.found:
                    self._cost_s += each.cost_s
                    self.found[name] = self._keep(name, each.row["item"], each.cost_s)
            self._wake()

    def give_back(self, jobs: Iterable[Named]) -> None:
        """Puts jobs that were not done back into the queue."""
        with self._changed:
            self._queue.extendleft(jobs)
            self._wake()

    def give_up(self, error: BaseException) -> None:
        """Records an error that prevents all further work."""
        with self._changed:
            self.error = self.error or error
            self._wake()

    def _wake(self) -> None:
        self._changed.notify_all()
        if self.is_finished:
            self._ended.set()

    def wait(self, timeout_s: float) -> None:
        """Waits until something has changed, or for `timeout_s`."""
        with self._changed:
            if not self.is_finished:
                self._changed.wait(timeout_s)

    def wait_until_finished(self, timeout_s: float) -> bool:
        """Waits for the end, at most `timeout_s`. Returns True if all jobs have ended."""
        return self.is_finished or self._ended.wait(timeout_s)
