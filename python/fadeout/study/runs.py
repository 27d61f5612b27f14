"""The runs of a study: each point is run with every seed, and each run is done once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from fadeout.campaign.engine import Executor
from fadeout.results import Results
from fadeout.study.found import FoundInPlaces
from fadeout.study.job import Item, Job, Reader, Values
from fadeout.study.places import SIGHTS
from fadeout.study.runner import Runner

Point = TypeVar("Point")

Numbers = Mapping[str, float]
"""Numbers read from a run, by the name of their column."""


@dataclass(frozen=True)
class Options:
    """User options for the effort of a study."""

    quick: bool = False
    """True for fewer seeds and shorter runs."""
    seeds: int | None = None
    """Seeds for each point of the main tables. None for the study's own number."""
    jobs: int | None = None
    """Maximum number of concurrent runs. None for one run a processor."""
    executor: Executor | None = None
    """Executor that does the runs. None for threads of this process."""
    keeps_runs: bool = False
    """True to keep the stored runs after the study has completed."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Number of seeds and length of the runs."""

    seeds: int
    """Seeds for each point of the main tables."""
    swept_seeds: int | None = None
    """Maximum number of seeds in the table that changes one assumption at a time. None
    for `seeds`.
    """
    duration_s: float | None = None
    """Simulated time of a run. None for the scenario's own."""
    swept_duration_s: float | None = None
    """Maximum simulated time of a run in the table that changes one assumption at a time. None
    for `duration_s`.
    """
    runs: int = 0
    """Number of runs of the study, for the display of progress."""

    @property
    def duration(self) -> Values:
        """The override that sets the simulated time. Empty without `duration_s`."""
        return {} if self.duration_s is None else {"duration": f"{self.duration_s:g} s"}

    @property
    def swept(self) -> int:
        """Number of seeds in the table that changes one assumption at a time."""
        return min(self.seeds, self.swept_seeds or self.seeds)

    @property
    def swept_s(self) -> float | None:
        """Simulated time of a run in the table that changes one assumption at a time."""
        lengths = (self.duration_s, self.swept_duration_s)
        return min((each for each in lengths if each is not None), default=None)


AnyEffort = TypeVar("AnyEffort", bound=Effort)


class Runs(Generic[AnyEffort]):
    """Does the runs of a study with a given effort, and remembers the values read."""

    def __init__(self, runner: Runner, effort: AnyEffort) -> None:
        self._runner = runner
        self._found: dict[tuple[Job, Reader[Any]], Any] = {}
        self.effort = effort
        self.facts: dict[str, Any] = {}
        """Facts needed to repeat the study, in addition to seeds, duration and scenario."""
        self.records: dict[str, Sequence[dict[str, Any]]] = {}
        """Tables for programs only, which the report does not show, by name."""

    @property
    def count(self) -> int:
        """Number of distinct runs."""
        return len({job for job, _ in self._found})

    @property
    def is_whole(self) -> bool:
        """True if all runs were done. False after Ctrl-C."""
        return self._runner.is_whole

    def over_seeds(
        self,
        points: Iterable[Point],
        job: Callable[[Point, int], Job],
        read: Reader[Item],
        seeds: int | None = None,
    ) -> dict[Point, list[Item]]:
        """Returns for each point the list of the values of `read`, in the order of the seeds.

        `job` returns the run of a point with a seed. Raises KeyboardInterrupt if the runs were
        stopped before the last one.
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
        """Returns the values of `read` by point and seed, without runs that Ctrl-C prevented."""
        points = list(points)
        numbers = range(1, (seeds or self.effort.seeds) + 1)
        # The seed changes slowest, so that stopped runs cover every point.
        jobs = {(point, seed): job(point, seed) for seed in numbers for point in points}
        self._collect(list(jobs.values()), read)
        found: dict[Point, dict[int, Item]] = {point: {} for point in points}
        for (point, seed), each in jobs.items():
            item = self._found.get((each, read))
            if item is not None:
                found[point][seed] = item
        return found

    def in_places(
        self,
        axes: Sequence[str],
        points: Iterable[Point],
        job: Callable[[Point, str, int], Job],
        read: Reader[Item],
        seeds: int | None = None,
    ) -> FoundInPlaces:
        """Returns the values of `read` in places with and without line of sight.

        `job` returns the run of a point on the axes in a stratum, with the seed of a place. `seeds`
        is the number of places of each stratum.
        """
        points = list(points)
        found = self.over_seeds(
            [(point, sight) for point in points for sight in SIGHTS],
            lambda at, seed: job(*at, seed),
            read,
            seeds,
        )
        places = {point: {sight: found[point, sight] for sight in SIGHTS} for point in points}
        return FoundInPlaces(tuple(axes), places)

    def each(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item]:
        """Returns the value of `read` for each of `jobs`. Raises KeyboardInterrupt as `over_seeds`
        does.
        """
        self._collect(jobs, read)
        self._must_be_whole()
        return [self._found[job, read] for job in jobs]

    def whole(self, jobs: Sequence[Job]) -> list[Results]:
        """Returns the complete results of `jobs`, for figures of single runs."""
        return self._runner.results(jobs)

    def _collect(self, jobs: Sequence[Job], read: Reader[Any]) -> None:
        """Does those of `jobs` that have not been done yet, each once."""
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
            # Every run is part of a mean, so an incomplete set has no result.
            raise KeyboardInterrupt


def effort_of(full: AnyEffort, quick: AnyEffort, options: Options) -> AnyEffort:
    """Returns the effort that `options` select."""
    chosen = quick if options.quick else full
    if options.seeds is None:
        return chosen
    runs = round(chosen.runs * options.seeds / chosen.seeds)
    return replace(chosen, seeds=options.seeds, runs=runs)


def spread(seed: int) -> float:
    """Returns a number from 0 to 1 for a seed. Those of seeds 1, 2, ... cover the
    interval evenly.
    """
    golden_section = 0.6180339887498949
    return seed * golden_section % 1
