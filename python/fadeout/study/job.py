"""A run of a study, named by its content."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fadeout import _native, _toml
from fadeout._run import ScenarioText, read_source, with_traces
from fadeout.campaign.jobs import digest
from fadeout.results import Results

Values = Mapping[str, str]
"""Overrides of a scenario: values in TOML's form by their key."""

QUIET: Values = {
    "probe.congestion": "false",
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
}
"""Nothing is recorded over time where only totals are read."""

QUIET_CELL: Values = {**QUIET, "probe.bearers": "false"}
"""The same of a scenario with a cell."""

Item = TypeVar("Item")

Reader = Callable[[Results], Item]
"""What is read from a run: a function of a module, which other processes find by its name, with a
value that JSON has (numbers, text, lists and dicts of them)."""

MayGoOn = Callable[[dict[str, Any]], bool]
"""Says of a run, given how far it is, whether it is to go on."""


@dataclass(frozen=True)
class Job:
    """One run of a scenario: what differs from its file."""

    scenario: Path
    overrides: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Tables of the scenario that are left out, as `blockage` or `flow.cubic`."""
    seed: int = 1
    with_tables: bool = False
    """Whether the tables over time are kept; without them a run costs less memory."""

    def seeded(self, seed: int) -> "Job":
        """The same with another seed."""
        return replace(self, seed=seed)

    def name(self, read: Reader[Any]) -> str:
        """Names what `read` finds in the run by all that it depends on, the build aside."""
        reader = f"{read.__module__}.{read.__qualname__}"
        content = [self._text(), self.overrides, self.seed, self.with_tables, reader]
        return digest(content)

    def run(self, may_go_on: MayGoOn) -> Results:
        """Run it."""
        source = _source(self.scenario)
        outcome = _native.run(
            self._text(),
            source_name=source.name,
            base_dir=source.base_dir,
            overrides=with_traces(self._text(), source.name, source.base_dir, self.overrides),
            seed=self.seed,
            progress=may_go_on,
            tables=self.with_tables,
            # A study tries on purpose what advice warns of.
            advice=False,
            # Processors have runs of their own.
            threads=1,
        )
        return Results.from_outcome(outcome)

    def _text(self) -> str:
        return _text(self.scenario, self.without)


def overrides(values: Values) -> tuple[str, ...]:
    """Overrides of a job from a dict, in the command line's form."""
    return tuple(f"{key}={value}" for key, value in values.items())


@cache
def _source(scenario: Path) -> ScenarioText:
    return read_source(scenario)


@cache
def _text(scenario: Path, without: tuple[str, ...]) -> str:
    """The scenario without the tables of these dotted names."""
    text = _source(scenario).text
    if not without:
        return text
    document = tomllib.loads(text)
    for name in without:
        *parents, last = name.split(".")
        table = document
        for parent in parents:
            table = table[parent]
        del table[last]
    return _toml.dumps(document)
