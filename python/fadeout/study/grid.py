"""Sets of runs that `study.toml` describes: the combinations of choices, changes and values."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fadeout.results import Results
from fadeout.study.changes import Change, Choice, combined
from fadeout.study.data import Data
from fadeout.study.found import Found, FoundInPlaces, Point, name_of
from fadeout.study.job import QUIET, QUIET_CELL, Job, Reader, Values
from fadeout.study.places import IN_SIGHT
from fadeout.study.runs import Effort, Runs

FORMS = "runs"
"""Key of the sets of runs in `study.toml`."""

PROBES: Mapping[str, Values] = {"cell": QUIET_CELL, "link": QUIET, "all": {}}
"""Tables over time that runs leave out, by the kind of their network."""


@dataclass(frozen=True)
class Form:
    """A set of runs in `study.toml`."""

    name: str
    axes: Mapping[str, Any] = field(hash=False)
    """Lists of choices, changes or values, by axis. Later axes replace values of earlier ones."""
    read: str = "measure"
    """Name of the function that reads the numbers of a run."""
    make: str = ""
    """Name of the function that makes a run. Empty for the combined choices and changes."""
    only: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Names on an axis to which its list is limited, in this order."""
    scenario: str = "scenario.toml"
    seeds: int | str = ""
    """Largest number of seeds, or the field of the effort with it. Empty for the study's."""
    length: float | str = ""
    """Simulated time in seconds, or the field of the effort with it. Empty for the study's."""
    probes: str = "cell"
    with_tables: bool = False
    in_places: bool = False
    """True for runs in places with and without line of sight. A seed is then a place of each."""
    values: Values = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class At:
    """A point with a seed, whose run a function of Python makes."""

    parts: Mapping[str, Any] = field(hash=False)
    """Parts of the point by axis."""
    seed: int
    effort: Any
    """Effort of the study, with the simulated time of the set."""
    values: Values = field(default_factory=dict, hash=False)
    """Overrides of all runs of the set, without those of choices and changes."""
    sight: str = ""
    """With or without line of sight, for a run in a place."""

    def __getitem__(self, axis: str) -> Any:  # noqa: ANN401 - whatever is on an axis
        return self.parts[axis]

    def get(self, axis: str, default: Any) -> Any:  # noqa: ANN401 - whatever is on an axis
        """Returns the part on an axis, or the default if the set does not have the axis."""
        return self.parts.get(axis, default)

    @property
    def choices(self) -> list[Choice | Change]:
        """Parts that are choices or changes."""
        return [part for part in self.parts.values() if isinstance(part, Choice | Change)]

    def job(self, scenario: Path, values: Values, *last: Choice, with_tables: bool = False) -> Job:
        """Returns the run of the choices and changes, with overrides that come before theirs.

        The choices `last` come after all others.
        """
        common = {**self.effort.duration, **values, **self.values}
        made = combined(scenario, common, *self.choices, *last)
        return made.seeded(self.seed, with_tables=with_tables)


Make = Callable[[At], Job]
"""Function that makes the run of a point with a seed."""


class Grid(Mapping[str, Found]):
    """The sets of runs of a study by name, each done once."""

    def __init__(
        self,
        data: Data,
        runs: Runs[Any],
        readers: Sequence[Reader[Any]],
        lists: Mapping[str, Sequence[Any]] | None = None,
        makers: Sequence[Make] = (),
    ) -> None:
        """Describes the runs of `data`.

        Args:
            data: `study.toml`.
            runs: does the runs.
            readers: functions that the file names with `read`.
            lists: lists of choices or values by name that are not tables of the file.
            makers: functions that the file names with `make`.
        """
        self._data = data
        self._runs = runs
        self._readers = {read.__name__: read for read in readers}
        self._makers = {make.__name__: make for make in makers}
        self._lists = lists or {}

    def __getitem__(self, name: str) -> Found:
        return self.found(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def found(
        self, name: str, points: Sequence[Point] | None = None, *, seeds: int | None = None
    ) -> Found:
        """Does the runs of a set and returns their numbers.

        `points` are some of its points, or others on its axes. `seeds` replaces the set's number.
        """
        form = self._form(name)
        seeds, job = seeds or self._effort(form).seeds, self._jobs(form)
        read = self._readers[self._data.known("reader", form.read, self._readers)]
        wanted = self.points(name) if points is None else points
        if form.in_places:
            return self._runs.in_places(
                tuple(form.axes),
                wanted,
                lambda point, sight, seed: job(point, seed, sight),
                read,
                seeds,
            )
        return Found(tuple(form.axes), self._runs.over_seeds(wanted, job, read, seeds))

    def points(self, name: str) -> list[Point]:
        """Returns the points of a set: all combinations of the lists on its axes."""
        return list(itertools.product(*self._axes(self._form(name)).values()))

    def places(self, name: str) -> FoundInPlaces:
        """Does the runs of a set in places and returns their numbers."""
        found = self.found(name)
        assert isinstance(found, FoundInPlaces), f"the runs `{name}` are not in places"
        return found

    def whole(
        self, name: str, points: Sequence[Point] | None = None, *, with_tables: bool = True
    ) -> dict[Point, Results]:
        """Returns the complete results of one run of each point, for figures of single runs.

        A run in a place has line of sight. The set needs no function that reads numbers. `points`
        are as in `found`, and without `with_tables` there are no tables over time.
        """
        job = self._jobs(self._form(name))
        wanted = self.points(name) if points is None else points
        made = [job(point, 1).seeded(1, with_tables=with_tables) for point in wanted]
        return dict(zip(wanted, self._runs.whole(made), strict=True))

    def _form(self, name: str) -> Form:
        return self._forms[self._data.known("set of runs", name, self._forms)]

    def _jobs(self, form: Form) -> Callable[..., Job]:
        """Returns the function that makes the run of a point with a seed, and in a place."""
        make, effort, axes = self._maker(form), self._effort(form), tuple(form.axes)

        def job(point: Point, seed: int, sight: str = IN_SIGHT if form.in_places else "") -> Job:
            parts = dict(zip(axes, point, strict=True))
            made = make(At(parts, seed, effort, form.values, sight))
            return made.seeded(seed, with_tables=made.with_tables or form.with_tables)

        return job

    def _axes(self, form: Form) -> dict[str, list[Any]]:
        lists = {axis: self.parts(key) for axis, key in form.axes.items()}
        for axis, wanted in form.only.items():
            names = wanted if isinstance(wanted, list) else [wanted]
            by_name = {name_of(part): part for part in lists[self._data.known("axis", axis, lists)]}
            lists[axis] = [
                by_name[self._data.known(f"name on axis `{axis}`", n, by_name)] for n in names
            ]
        return lists

    def _effort(self, form: Form) -> Effort:
        """Returns the effort of a set: its seeds and its simulated time."""
        effort = self._runs.effort
        seeds = min(self._of_effort(form.seeds or "seeds"), effort.seeds)
        return replace(effort, seeds=seeds, duration_s=self._of_effort(form.length or "duration_s"))

    def _maker(self, form: Form) -> Make:
        if form.make:
            return self._makers[self._data.known("maker of runs", form.make, self._makers)]
        scenario = self._data.file.parent / form.scenario
        probes = PROBES[self._data.known("kind of probes", form.probes, PROBES)]
        return lambda at: at.job(scenario, probes)

    def _of_effort(self, key: float | str) -> Any:  # noqa: ANN401 - a number of the effort
        """Returns a number as it is, and for the name of a field that of the effort."""
        if not isinstance(key, str):
            return key
        name = key.replace("-", "_")
        known = [each for each in dir(self._runs.effort) if not each.startswith("_")]
        return getattr(self._runs.effort, self._data.known("key of the effort", name, known))

    def parts(self, keys: str | Sequence[Any]) -> list[Any]:
        """Returns the parts on an axis: numbers, lists of Python, or tables of the file."""
        parts: list[Any] = []
        for key in [keys] if isinstance(keys, str) else keys:
            if not isinstance(key, str):
                parts.append(key)
            elif key in self._lists:
                parts += self._lists[key]
            else:
                is_change = "assumption" in self._data[key][0]
                parts += self._data.all(key, Change if is_change else Choice)
        return parts

    @cached_property
    def _forms(self) -> dict[str, Form]:
        return {form.name: form for form in self._data.any(FORMS, Form)}
