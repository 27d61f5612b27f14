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
"""What is to be done, with its name."""

Keep = Callable[[str, Any, float], Any]
"""Keeps what came of something, and returns it; the last argument is its processor time."""


class Doer(Protocol):
    """What a worker needs to do one thing; it can be sent."""

    def do(self, job: Named, may_go_on: MayGoOn) -> Outcome | None:
        """Do it; None when it was stopped."""
        ...


@dataclass(frozen=True)
class Reading:
    """What is read from runs."""

    read: Reader[Any]

    def do(self, job: tuple[str, Job], may_go_on: MayGoOn) -> Outcome | None:
        """Do a run and read it; None when it was stopped."""
        began = thread_time()
        results = job[1].run(lambda _state: may_go_on())
        if not results.is_complete:
            return None
        return outcome(job, self.read(results), thread_time() - began)


def outcome(job: Named, item: Any, cost_s: float) -> Outcome:  # noqa: ANN401 - whatever came of it
    """What came of something, as executors give it back."""
    return Outcome(job, {"item": item}, cost_s=cost_s)  # pyright: ignore[reportArgumentType]


class Batch:
    """What is to be done, as `fadeout.campaign.engine.Work`."""

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
        """Whether nothing is left or under way."""
        return self.error is not None or len(self.found) == self._count

    def take(self) -> Named | None:
        """Something to do, if there is something now."""
        with self._changed:
            return self._queue.popleft() if self._queue else None

    def take_some(self, budget_s: float, most: int) -> list[Named]:
        """What takes about `budget_s` together: one while nothing is known of the cost."""
        each_s = self._cost_s / len(self.found) if self.found else budget_s
        count = min(most, max(1, int(budget_s / each_s))) if each_s > 0 else most
        taken = (self.take() for _ in range(count))
        return [job for job in taken if job is not None]

    def give(self, outcomes: Iterable[Outcome]) -> None:
        """Say what came of them."""
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
        """Say that they were not done after all."""
        with self._changed:
            self._queue.extendleft(jobs)
            self._wake()

    def give_up(self, error: BaseException) -> None:
        """Say that nothing can be done."""
        with self._changed:
            self.error = self.error or error
            self._wake()

    def _wake(self) -> None:
        self._changed.notify_all()
        if self.is_finished:
            self._ended.set()

    def wait(self, timeout_s: float) -> None:
        """Wait until something has changed."""
        with self._changed:
            if not self.is_finished:
                self._changed.wait(timeout_s)

    def wait_until_finished(self, timeout_s: float) -> bool:
        """Wait for the end, this long at most; returns whether it came."""
        return self.is_finished or self._ended.wait(timeout_s)
