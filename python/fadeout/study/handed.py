"""Calls and runs that an executor of campaigns does, here or on other machines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any, Protocol

from fadeout._native import FadeoutError
from fadeout.campaign.queue import JobQueue
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


class Batch(JobQueue[Named]):
    """Jobs of a study for an executor, as `fadeout.campaign.engine.Work` defines."""

    def __init__(self, context: Doer, jobs: Sequence[Named], keep: Keep) -> None:
        super().__init__(jobs)
        self.context = context
        self.found: dict[str, Any] = {}
        self._keep = keep
        self._count = len(jobs)
        self._cost_s = 0.0

    def has_all(self) -> bool:
        """Returns True if every job has a result."""
        return len(self.found) == self._count

    def is_wanted(self, job: Named) -> bool:
        """Returns False if the job has a result from another worker."""
        return job[0] not in self.found

    def estimate(self, job: Named) -> float:  # noqa: ARG002 - all jobs have one estimate
        """Returns the mean processor time of the finished jobs in seconds."""
        return self._cost_s / len(self.found) if self.found else 0.0

    def give(self, outcomes: Iterable[Outcome]) -> None:
        """Records the results of jobs."""
        with self._changed:
            for each in outcomes:
                name: str = each.job[0]
                if each.row is None:
                    self._error = self._error or FadeoutError(each.reason)
                elif name not in self.found:
                    self._cost_s += each.cost_s
                    self.found[name] = self._keep(name, each.row["item"], each.cost_s)
            self._wake()
