"""What a publication claims, and whether a study finds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fadeout.study.report import Section, Table


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds."""

    claim: str
    text: str
    holds: bool
    found: str
    is_sure: bool | None = None
    """Whether no bound of it lies within the confidence interval; None where there is none."""

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        word = "holds" if self.holds else "does not hold"
        return f"{word}, within the interval of a bound" if self.is_sure is False else word

    def row(self) -> list[str]:
        """Its row as people read it."""
        return [self.claim, self.text, self.found, self.word]

    def data(self) -> dict[str, Any]:
        """Its row as data."""
        return {name: value for name, value in vars(self).items() if value is not None}


def claims_section(verdicts: Sequence[Verdict]) -> Section:
    """What the paper says, and what was found."""
    return Section(
        name="claims",
        title="The paper's claims",
        table=Table(
            columns=["claim", "published", "found", "verdict"],
            rows=[verdict.row() for verdict in verdicts],
            data=[verdict.data() for verdict in verdicts],
        ),
        is_headline=True,
    )
