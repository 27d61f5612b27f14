"""Choices and changes of assumptions, and the report's section on the effects of changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from matplotlib.figure import Figure

from fadeout.study.job import Job, Values, overrides
from fadeout.study.report import Section, Table


@dataclass(frozen=True)
class Choice:
    """A named choice, such as a sender or a link, with its overrides of the scenario."""

    name: str
    values: Values = field(default_factory=dict, hash=False)
    scenario: str = ""
    """File beside the study's scenario that takes its place. Empty for the study's scenario."""
    without: tuple[str, ...] = ()
    """Tables that are removed from the scenario."""


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

    Later values replace earlier ones of the same key.
    """
    values = dict(common)
    without: tuple[str, ...] = ()
    for each in settings:
        values |= each.values
        without += each.without
        scenario = scenario.parent / each.scenario if each.scenario else scenario
    return Job(scenario, overrides(values), without)


UNCHANGED = "as in the scenario"
"""Name of the unchanged scenario in the first line of a table of changes."""


@dataclass(frozen=True)
class Moved:
    """Effect of a change: its row for people, and its data."""

    change: Change
    cells: Sequence[str]
    """The cells after the name of the change."""
    data: Sequence[Mapping[str, Any]]
    """The numbers, without those that identify the change."""


def assumptions_section(
    moved: Iterable[Moved],
    heads: Sequence[str],
    text: str,
    *,
    published: Sequence[str] | None = None,
    figures: Mapping[str, Figure] | None = None,
    is_headline: bool = False,
    named: Callable[[Change], Sequence[str]] = lambda change: [change.name],
    keyed: Callable[[Change], Mapping[str, Any]] = Change.data,
    name: str = "assumptions",
    title: str = "What each assumption moves",
    conclusion: str = "",
) -> Section:
    """Returns the section on the effect of each assumption.

    Args:
        moved: The rows; the first is that of `Change.nothing()`.
        heads: Heads of the cells.
        text: Description of the cells.
        published: The published cells, for a row before the others.
        figures: Figures by caption.
        is_headline: True to print the section on the command line.
        named: Returns the cells that name a change: one, or two for assumption and value.
        keyed: Returns the columns of the data that identify a change.
        name: Stem of the names of the section's files.
        title: The section's title.
        conclusion: The conclusion of the section.
    """
    moved = list(moved)
    names = ["assumption", "changed to"][: len(named(moved[0].change))]
    paper = [] if published is None else [["paper", *[""] * (len(names) - 1), *published]]
    return Section(
        name=name,
        title=title,
        text=text,
        table=Table(
            columns=[*names, *heads],
            rows=[*paper, *([*named(row.change), *row.cells] for row in moved)],
            data=[{**keyed(row.change), **numbers} for row in moved for numbers in row.data],
        ),
        figures=dict(figures or {}),
        conclusion=conclusion,
        is_headline=is_headline,
    )
