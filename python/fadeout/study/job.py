"""A run of a study, identified by a digest of its content."""

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
"""Overrides of a scenario: values in TOML syntax by key."""

QUIET: Values = {
    "probe.congestion": "false",
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
}
"""Overrides that turn off all tables over time, for studies that read only totals."""

QUIET_CELL: Values = {**QUIET, "probe.bearers": "false"}
"""Overrides of `QUIET` for scenarios with a cell."""

Item = TypeVar("Item")

Reader = Callable[[Results], Item]
"""Function that reads a value from the results of a run.

The function is at the top level of a module, so that other processes can import it. The value must
be representable in JSON (numbers, text, lists and dicts of them).
"""

MayGoOn = Callable[[dict[str, Any]], bool]
"""Called with the progress of a run. Returns False to stop the run."""


@dataclass(frozen=True)
class Job:
    """One run of a scenario: its file and the differences from it."""

    scenario: Path
    overrides: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Tables to remove from the scenario, such as `blockage` or `flow.cubic`."""
    seed: int = 1
    with_tables: bool = False
    """True to keep the tables over time. Without them a run needs less memory."""

    def seeded(self, seed: int, *, with_tables: bool | None = None) -> "Job":
        """Returns the same run with another seed, and with its tables over time or without."""
        keeps = self.with_tables if with_tables is None else with_tables
        return replace(self, seed=seed, with_tables=keeps)

    def name(self, read: Reader[Any]) -> str:
        """Returns a digest of all inputs of the value that `read` returns, except the build."""
        reader = f"{read.__module__}.{read.__qualname__}"
        content = [self._text(), self.overrides, self.seed, self.with_tables, reader]
        return digest(content)

    def check(self) -> None:
        """Checks the scenario without a run. Raises `ScenarioError` if it is wrong."""
        source = _source(self.scenario)
        _native.check(
            self._text(),
            source_name=source.name,
            base_dir=source.base_dir,
            overrides=with_traces(self._text(), source.name, source.base_dir, self.overrides),
        )

    def run(self, may_go_on: MayGoOn) -> Results:
        """Runs the scenario and returns its results."""
        source = _source(self.scenario)
        outcome = _native.run(
            self._text(),
            source_name=source.name,
            base_dir=source.base_dir,
            overrides=with_traces(self._text(), source.name, source.base_dir, self.overrides),
            seed=self.seed,
            progress=may_go_on,
            tables=self.with_tables,
            # Studies use unusual values on purpose, so advice is turned off.
            advice=False,
            # One thread a run, as each processor has a run of its own.
            threads=1,
        )
        return Results.from_outcome(outcome)

    def _text(self) -> str:
        return _text(self.scenario, self.without)


def overrides(values: Values) -> tuple[str, ...]:
    """Returns overrides as `key=value`, the form of the command line, with texts in quotes."""
    return tuple(f"{key}={_quoted(value)}" for key, value in values.items())


@cache
def _quoted(value: str) -> str:
    """Returns a value in TOML syntax, so that equal overrides are equal texts."""
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return _toml.value(value)
    return value


@cache
def _source(scenario: Path) -> ScenarioText:
    return read_source(scenario)


@cache
def _text(scenario: Path, without: tuple[str, ...]) -> str:
    """Returns the scenario's text without the tables of these dotted names."""
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
