"""Waiting jobs for the workers of an executor, and the end of all work."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from threading import Condition, Event
from typing import Generic, TypeVar

AnyJob = TypeVar("AnyJob")


class JobQueue(ABC, Generic[AnyJob]):
    """Jobs that wait for a worker. Campaigns and studies add the recording of results."""

    def __init__(self, jobs: Iterable[AnyJob] = ()) -> None:
        self._changed = Condition()
        self._ended = Event()
        self._queue = deque(jobs)
        self._error: BaseException | None = None

    @abstractmethod
    def estimate(self, job: AnyJob) -> float:
        """Returns the expected processor time of a job in seconds. 0 while nothing is known."""
        ...

    @abstractmethod
    def is_wanted(self, job: AnyJob) -> bool:
        """Returns False if a job in the queue has become unnecessary."""
        ...

    @abstractmethod
    def has_all(self) -> bool:
        """Returns True if no job is missing or in progress."""
        ...

    @property
    def error(self) -> BaseException | None:
        """The error that ended everything."""
        return self._error

    @property
    def is_finished(self) -> bool:
        """True if no job is missing or in progress, or if an error ended everything."""
        # The lock is needed, as a finished point of a campaign may be about to get more seeds.
        with self._changed:
            return self._error is not None or self.has_all()

    def wait_until_finished(self, timeout_s: float) -> bool:
        """Waits for the end, at most `timeout_s`. Returns True if all jobs have ended."""
        return self.is_finished or self._ended.wait(timeout_s) or self.is_finished

    def take(self) -> AnyJob | None:
        """Returns the next job. None if none is waiting."""
        with self._changed:
            while self._queue:
                job = self._queue.popleft()
                if self.is_wanted(job):
                    return job
            return None

    def take_some(self, budget_s: float, most: int) -> list[AnyJob]:
        """Returns jobs that take about `budget_s` together, or one job while no cost is known."""
        jobs: list[AnyJob] = []
        cost_s = 0.0
        while len(jobs) < most and (job := self.take()) is not None:
            jobs.append(job)
            about = self.estimate(job)
            cost_s += about
            if cost_s >= budget_s or about == 0.0:
                break
        return jobs

    def give_back(self, jobs: Iterable[AnyJob]) -> None:
        """Puts jobs that were not done back into the queue."""
        with self._changed:
            self._queue.extendleft(jobs)
            self._changed.notify_all()

    def give_up(self, error: BaseException) -> None:
        """Records an error that ends everything."""
        with self._changed:
            self._error = self._error or error
            self._wake()

    def wait(self, timeout_s: float) -> None:
        """Waits until there may be a job to do."""
        with self._changed:
            if not self.is_finished:
                self._changed.wait(timeout_s)

    def _wake(self) -> None:
        """Wakes the threads that wait for a job, or for the end."""
        if self._queue or self.is_finished:
            self._changed.notify_all()
        if self.is_finished:
            self._ended.set()
