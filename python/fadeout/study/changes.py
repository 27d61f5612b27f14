"""Choices and changes of assumptions, and the run of a combination of them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from fadeout.study.job import Job, Values, overrides


@dataclass(frozen=True)
class Choice:
    """A named choice, such as a sender or a link, with its overrides of the scenario."""

    name: str
    values: Values = field(default_factory=dict, hash=False)
    scenario: str = ""
    """File beside the study's scenario that takes its place. Empty for the study's scenario."""
    without: tuple[str, ...] = ()
    """Tables that are removed from the scenario."""
    kind: str = ""
    """Class of the choice, such as the cause of a failure. Empty if there is one class only."""
    tags: tuple[str, ...] = ()
    """Words by which a study selects the choice."""


@dataclass(frozen=True)
class Change:
    """A change of one assumption. Everything else is as in the scenario."""

    assumption: str
    value: str = ""
    values: Values = field(default_factory=dict, hash=False)
    scenario: str = ""
    """File beside the study's scenario that takes its place. Empty for the study's scenario."""
    without: tuple[str, ...] = ()
    """Tables that are removed from the scenario."""

    @classmethod
    def nothing(cls) -> Self:
        """Returns the unchanged scenario, with which all changes are compared."""
        return cls(UNCHANGED, "")

    @classmethod
    def of(cls, assumption: str, value: str, key: str, given: str) -> Self:
        """Returns the change of one key of the scenario."""
        return cls(assumption, value, {key: given})

    @property
    def name(self) -> str:
        """Name of the change for people."""
        return f"{self.assumption}: {self.value}" if self.value else self.assumption

    def data(self) -> dict[str, Any]:
        """Returns the columns of a data file that identify the change."""
        return {"assumption": self.assumption, "value": self.value}


def combined(scenario: Path, common: Values, *settings: Choice | Change) -> Job:
    """Returns the run of a scenario with common overrides, choices and changes.

    Later values replace earlier ones of the same key. Values of removed tables have no effect.
    """
    values = dict(common)
    without: tuple[str, ...] = ()
    for each in settings:
        values |= each.values
        without += each.without
        scenario = scenario.parent / each.scenario if each.scenario else scenario
    kept = {
        key: value
        for key, value in values.items()
        if not any(f"{key}.".startswith(f"{table}.") for table in without)
    }
    return Job(scenario, overrides(kept), without)


UNCHANGED = "as in the scenario"
"""Name of the unchanged scenario in the first line of a table of changes."""
