"""Claims of a publication, and verdicts of a study on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fadeout.study.report import Section, Table
from fadeout.study.statistics import Estimate


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim, from the signs of its margins and their intervals."""

    claim: str
    text: str
    margins: tuple[Estimate, ...]
    """Differences that are all above zero if the claim is true."""
    found: str

    @property
    def holds(self) -> bool | None:
        """True if the claim holds. None if an interval includes zero, or seeds are too few."""
        signs = [sign(margin) for margin in self.margins]
        if False in signs:
            return False
        return None if None in signs else True

    @property
    def word(self) -> str:
        """The verdict for people."""
        if self.holds is None:
            if any(margin.ci95 is None for margin in self.margins):
                return "too few seeds"
            return "open: an interval has zero in it"
        return "holds" if self.holds else "does not hold"

    def row(self) -> list[str]:
        """Returns the row of the claim for people."""
        return [self.claim, self.text, self.found, self.word]

    def data(self) -> dict[str, Any]:
        """Returns the row of the claim for a data file."""
        return {
            "claim": self.claim,
            "text": self.text,
            "found": self.found,
            "verdict": self.word,
            "margins": "; ".join(f"{margin:.4g}" for margin in self.margins),
        }


def sign(margin: Estimate) -> bool | None:
    """Returns True if a margin is above zero. None if its interval includes zero or is missing."""
    if margin.ci95 is None or abs(margin.mean) <= margin.ci95:
        return None
    return margin.mean > 0


def judged(margin: Estimate, spec: str) -> str:
    """Returns the margin as text, with its verdict as one word if it has an interval."""
    words = {True: "holds", False: "no", None: "open"}
    word = f": {words[sign(margin)]}" if margin.ci95 is not None else ""
    return f"{margin:{spec}}{word}"


def claims_section(verdicts: Sequence[Verdict]) -> Section:
    """Returns the section that compares the paper's claims with the results."""
    return Section(
        name="claims",
        title="The paper's claims",
        text=(
            "A claim says that one value is larger than another. The sign of the difference and "
            "its 95 % interval decide. The claim is *open* if the interval includes zero."
        ),
        table=Table(
            columns=["claim", "published", "found", "verdict"],
            rows=[verdict.row() for verdict in verdicts],
            data=[verdict.data() for verdict in verdicts],
        ),
        is_headline=True,
    )
