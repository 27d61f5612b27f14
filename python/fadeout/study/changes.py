"""Assumptions that a study changes one at a time, and the section on what each moves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from matplotlib.figure import Figure

from fadeout.study.job import Values
from fadeout.study.report import Section, Table


@dataclass(frozen=True)
class Change:
    """One assumption changed, everything else as in the scenario."""

    assumption: str
    value: str
    values: Values = field(default_factory=dict, hash=False)

    @classmethod
    def nothing(cls) -> Self:
        """No change: what the others are compared with."""
        return cls(UNCHANGED, "")

    @classmethod
    def of(cls, assumption: str, value: str, key: str, given: str) -> Self:
        """The change of one key of the scenario."""
        return cls(assumption, value, {key: given})

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.assumption}: {self.value}" if self.value else self.assumption

    def data(self) -> dict[str, Any]:
        """Its columns of a data file."""
        return {"assumption": self.assumption, "value": self.value}


UNCHANGED = "as in the scenario"
"""What the first line of a table of changes is called."""


@dataclass(frozen=True)
class Moved:
    """What a change moved: its row as people read it, and as data."""

    change: Change
    cells: Sequence[str]
    """The cells after the change's name."""
    data: Sequence[Mapping[str, Any]]
    """The numbers, without the change."""


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
    """The section on what each assumption moves.

    Args:
        moved: The rows; the first is that of `Change.nothing()`.
        heads: Heads of the cells.
        text: What the cells are.
        published: The published cells, which make a row before the others.
        figures: Figures by caption.
        is_headline: Whether the command line prints it.
        named: A change's own cells: one, or two for assumption and value apart.
        keyed: A change's own columns of the data.
        name: Names the section's files.
        title: The section's title.
        conclusion: What follows.
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
