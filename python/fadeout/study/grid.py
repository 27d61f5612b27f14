"""Sets of runs that `study.toml` describes: the combinations of choices, changes and values."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fadeout.study.changes import Change, Choice
from fadeout.study.data import Data
from fadeout.study.found import Found, name_of
from fadeout.study.job import QUIET, QUIET_CELL, Reader, Values
from fadeout.study.runs import Runs

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
    only: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Names on an axis to which its list is limited, in this order."""
    scenario: str = "scenario.toml"
    seeds: str = ""
    """Field of the effort with the largest number of seeds. Empty for the seeds of the study."""
    length: str = ""
    """Field of the effort with the simulated time in seconds. Empty for that of the study."""
    probes: str = "cell"
    with_tables: bool = False
    values: Values = field(default_factory=dict, hash=False)


class Grid:
    """The sets of runs of a study, each done once."""

    def __init__(
        self,
        data: Data,
        runs: Runs[Any],
        readers: Sequence[Reader[Any]],
        lists: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Describes the runs of `data`.

        Args:
            data: `study.toml`.
            runs: does the runs.
            readers: functions that the file names with `read`.
            lists: lists of choices by name that are not tables of the file.
        """
        self._data = data
        self._runs = runs
        self._readers = {read.__name__: read for read in readers}
        self._lists = lists or {}

    def found(self, name: str) -> Found:
        """Does the runs of a set and returns their numbers."""
        form = self._forms[self._data.known("set of runs", name, self._forms)]
        lists = {axis: self.parts(key) for axis, key in form.axes.items()}
        for axis, wanted in form.only.items():
            names = wanted if isinstance(wanted, list) else [wanted]
            by_name = {name_of(part): part for part in lists[self._data.known("axis", axis, lists)]}
            lists[axis] = [
                by_name[self._data.known(f"name on axis `{axis}`", n, by_name)] for n in names
            ]
        effort = self._runs.effort
        values = {**PROBES[self._data.known("kind of probes", form.probes, PROBES)], **form.values}
        if form.length:
            values["duration"] = f"{self._of_effort(form.length):g} s"
        seeds = self._of_effort(form.seeds) if form.seeds else effort.seeds
        found = self._runs.combinations(
            list(itertools.product(*lists.values())),
            self._data.file.parent / form.scenario,
            self._readers[self._data.known("reader", form.read, self._readers)],
            values,
            seeds=min(seeds, effort.seeds),
            with_tables=form.with_tables,
        )
        return Found(tuple(lists), found)

    def _of_effort(self, key: str) -> Any:  # noqa: ANN401 - a number of the effort
        name = key.replace("-", "_")
        known = [each for each in dir(self._runs.effort) if not each.startswith("_")]
        return getattr(self._runs.effort, self._data.known("key of the effort", name, known))

    def parts(self, keys: str | Sequence[str]) -> list[Any]:
        """Returns the parts on an axis: lists of Python, or tables of the file."""
        parts: list[Any] = []
        for key in [keys] if isinstance(keys, str) else keys:
            if key in self._lists:
                parts += self._lists[key]
            else:
                is_change = "assumption" in self._data[key][0]
                parts += self._data.all(key, Change if is_change else Choice)
        return parts

    @cached_property
    def _forms(self) -> dict[str, Form]:
        return {form.name: form for form in self._data.any(FORMS, Form)}
