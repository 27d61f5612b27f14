"""Runs of a study that an executor of campaigns does, in processes or on other machines."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Condition
from time import thread_time
from typing import Any

from fadeout._native import FadeoutError
from fadeout.campaign.work import MayGoOn, Outcome
from fadeout.study.job import Job, Reader

Named = tuple[str, Job]
"""A job with its name."""

Keep = Callable[[str, Any, float], Any]
"""Keeps what was read from a run, and returns it; the last argument is its processor time."""


@dataclass(frozen=True)
class Reading:
    """What a worker needs: what is read from each run."""

    read: Reader[Any]

    def do(self, job: Named, may_go_on: MayGoOn) -> Outcome | None:
        """Do a run and read it; None when it was stopped."""
        began = thread_time()
        results = job[1].run(lambda _state: may_go_on())
        if not results.is_complete:
            return None
        row = {"item": self.read(results)}
        return Outcome(job, row, cost_s=thread_time() - began)  # pyright: ignore[reportArgumentType]


class Batch:
    """Runs to be done, as `fadeout.campaign.engine.Work`."""

    def __init__(self, read: Reader[Any], jobs: Sequence[Named], keep: Keep) -> None:
        self.context = Reading(read)
        self.found: dict[str, Any] = {}
        self.error: BaseException | None = None
        self._keep = keep
        self._queue = deque(jobs)
        self._count = len(jobs)
        self._cost_s = 0.0
        self._changed = Condition()

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left or under way."""
        return self.error is not None or len(self.found) == self._count

    def take(self) -> Named | None:
        """A run to do, if there is one now."""
        with self._changed:
            return self._queue.popleft() if self._queue else None

    def take_some(self, budget_s: float, most: int) -> list[Named]:
        """Runs that take about `budget_s` together: one while nothing is known of their cost."""
        each_s = self._cost_s / len(self.found) if self.found else budget_s
        count = min(most, max(1, int(budget_s / each_s))) if each_s > 0 else most
        taken = (self.take() for _ in range(count))
        return [job for job in taken if job is not None]

    def give(self, outcomes: Iterable[Outcome]) -> None:
        """Say what came of runs."""
        with self._changed:
            for outcome in outcomes:
                name: str = outcome.job[0]
                if outcome.row is None:
                    self.error = self.error or FadeoutError(outcome.reason)
                elif name not in self.found:
                    self._cost_s += outcome.cost_s
                    self.found[name] = self._keep(name, outcome.row["item"], outcome.cost_s)
            self._changed.notify_all()

    def give_back(self, jobs: Iterable[Named]) -> None:
        """Say that runs were not done after all."""
        with self._changed:
            self._queue.extendleft(jobs)
            self._changed.notify_all()

    def give_up(self, error: BaseException) -> None:
        """Say that nothing can be done."""
        with self._changed:
            self.error = self.error or error
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> None:
        """Wait until something has changed."""
        with self._changed:
            if not self.is_finished:
                self._changed.wait(timeout_s)

    def wait_until_finished(self, timeout_s: float) -> bool:
        """Wait for the end, this long at most; returns whether it came."""
        self.wait(timeout_s)
        return self.is_finished
