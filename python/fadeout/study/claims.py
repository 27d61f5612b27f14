"""What a publication claims, and whether a study finds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fadeout.study.report import Section, Table
from fadeout.study.statistics import Estimate


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds: by the sign of its margins, where their intervals leave no doubt."""

    claim: str
    text: str
    margins: tuple[Estimate, ...]
    """Differences, each above zero where the claim is true."""
    found: str

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None where an interval has zero in it, or seeds are too few."""
        signs = [sign(margin) for margin in self.margins]
        if False in signs:
            return False
        return None if None in signs else True

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        if self.holds is None:
            if any(margin.ci95 is None for margin in self.margins):
                return "too few seeds"
            return "open: an interval has zero in it"
        return "holds" if self.holds else "does not hold"

    def row(self) -> list[str]:
        """Its row as people read it."""
        return [self.claim, self.text, self.found, self.word]

    def data(self) -> dict[str, Any]:
        """Its row as data."""
        return {
            "claim": self.claim,
            "text": self.text,
            "found": self.found,
            "verdict": self.word,
            "margins": "; ".join(f"{margin:.4g}" for margin in self.margins),
        }


def sign(margin: Estimate) -> bool | None:
    """Whether a margin is above zero; None where its interval has zero in it, or there is none."""
    if margin.ci95 is None or abs(margin.mean) <= margin.ci95:
        return None
    return margin.mean > 0


def judged(margin: Estimate, spec: str) -> str:
    """A margin with the verdict on what it is of, in a word; none where there is no interval."""
    words = {True: "holds", False: "no", None: "open"}
    word = f": {words[sign(margin)]}" if margin.ci95 is not None else ""
    return f"{margin:{spec}}{word}"


def claims_section(verdicts: Sequence[Verdict]) -> Section:
    """What the paper says, and what was found."""
    return Section(
        name="claims",
        title="The paper's claims",
        text=(
            "A claim is judged by the sign of what it says is more, and by the 95 % interval of "
            "that: *open* where the interval has zero in it."
        ),
        table=Table(
            columns=["claim", "published", "found", "verdict"],
            rows=[verdict.row() for verdict in verdicts],
            data=[verdict.data() for verdict in verdicts],
        ),
        is_headline=True,
    )
