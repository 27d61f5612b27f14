"""The runs of a study: points, each over the seeds, every one done once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from fadeout.campaign.engine import Executor
from fadeout.results import Results
from fadeout.study.job import Item, Job, Reader, Values
from fadeout.study.runner import Runner

Point = TypeVar("Point")

Numbers = Mapping[str, float]
"""What a run found, by the name of the column."""


@dataclass(frozen=True)
class Options:
    """How much effort a study may spend."""

    quick: bool = False
    """Fewer seeds and shorter runs."""
    seeds: int | None = None
    """Seeds for each point of the main tables; the study's own number when None."""
    jobs: int | None = None
    """Runs at a time; one for each processor when None."""
    executor: Executor | None = None
    """Who does the runs; threads of this process when None."""
    keeps_runs: bool = False
    """Whether finished runs are kept for the next time also when the study came to its end."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    """Of each point of the main tables."""
    swept_seeds: int | None = None
    """Of the table that changes an assumption at a time, at most; all of them when None."""
    duration_s: float | None = None
    """Simulated time of a run; the scenario's when None."""

    @property
    def duration(self) -> Values:
        """The override that sets the simulated time."""
        return {} if self.duration_s is None else {"duration": f"{self.duration_s:g} s"}

    @property
    def swept(self) -> int:
        """Seeds of the table that changes an assumption at a time."""
        return min(self.seeds, self.swept_seeds or self.seeds)


AnyEffort = TypeVar("AnyEffort", bound=Effort)


class Runs(Generic[AnyEffort]):
    """What a study asks of its runs, with the effort that it may spend."""

    def __init__(self, runner: Runner, effort: AnyEffort) -> None:
        self._runner = runner
        self._found: dict[tuple[Job, Reader[Any]], Any] = {}
        self.effort = effort
        self.facts: dict[str, Any] = {}
        """What the report says beside seeds, duration and scenario: what it takes to repeat it."""
        self.records: dict[str, Sequence[dict[str, Any]]] = {}
        """Tables for programs alone, by name."""

    @property
    def count(self) -> int:
        """How many runs there were."""
        return len({job for job, _ in self._found})

    @property
    def is_whole(self) -> bool:
        """Whether every run came to its end; otherwise Ctrl-C stopped them."""
        return self._runner.is_whole

    def over_seeds(
        self,
        points: Iterable[Point],
        job: Callable[[Point, int], Job],
        read: Reader[Item],
        seeds: int | None = None,
    ) -> dict[Point, list[Item]]:
        """What `read` finds at each point, a list over the seeds: `job` is a point with a seed.

        Raises KeyboardInterrupt when the runs were stopped before the last of them.
        """
        found = self.by_seed(points, job, read, seeds)
        self._must_be_whole()
        return {point: list(of_seeds.values()) for point, of_seeds in found.items()}

    def by_seed(
        self,
        points: Iterable[Point],
        job: Callable[[Point, int], Job],
        read: Reader[Item],
        seeds: int | None = None,
    ) -> dict[Point, dict[int, Item]]:
        """The same by seed, without those runs that were not done when Ctrl-C stopped them."""
        points = list(points)
        numbers = range(1, (seeds or self.effort.seeds) + 1)
        # The seed changes slowest: runs that are stopped have something of every point.
        jobs = {(point, seed): job(point, seed) for seed in numbers for point in points}
        self._collect(list(jobs.values()), read)
        found: dict[Point, dict[int, Item]] = {point: {} for point in points}
        for (point, seed), each in jobs.items():
            item = self._found.get((each, read))
            if item is not None:
                found[point][seed] = item
        return found

    def each(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item]:
        """What `read` finds in each of `jobs`; raises as `over_seeds`."""
        self._collect(jobs, read)
        self._must_be_whole()
        return [self._found[job, read] for job in jobs]

    def whole(self, jobs: Sequence[Job]) -> list[Results]:
        """The whole results of `jobs`, for figures of single runs."""
        return self._runner.results(jobs)

    def _collect(self, jobs: Sequence[Job], read: Reader[Any]) -> None:
        """Do those of `jobs` that were not done yet, each once."""
        missing = [each for each in dict.fromkeys(jobs) if (each, read) not in self._found]
        if missing:
            found = self._runner.collect(missing, read)
            self._found |= {
                (each, read): item
                for each, item in zip(missing, found, strict=True)
                if item is not None
            }

    def _must_be_whole(self) -> None:
        if not self.is_whole:
            # Every run is in some mean: a part of them is no result.
            raise KeyboardInterrupt


def effort_of(full: AnyEffort, quick: AnyEffort, options: Options) -> AnyEffort:
    """The effort that `options` ask for."""
    chosen = quick if options.quick else full
    return chosen if options.seeds is None else replace(chosen, seeds=options.seeds)


def spread(seed: int) -> float:
    """A number from 0 to 1 for each seed; those of the first few fill the interval evenly."""
    golden_section = 0.6180339887498949
    return seed * golden_section % 1


def common_seeds(found: Mapping[Point, Mapping[int, Item]]) -> dict[Point, list[Item]]:
    """Lists of those seeds that every point has, so that runs can be compared seed by seed."""
    shared = set.intersection(*(set(of_seeds) for of_seeds in found.values()))
    return {
        point: [item for seed, item in of_seeds.items() if seed in shared]
        for point, of_seeds in found.items()
    }
