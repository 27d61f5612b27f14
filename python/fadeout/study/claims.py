"""Claims of a publication with their checks, and verdicts of a study on them."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fadeout.statistics import Bounded, Estimate
from fadeout.study.report import Section, Table


class Outcome(StrEnum):
    """Result of a check, and of a claim. The worst result is the last."""

    HOLDS = "holds"
    SIGN_ONLY = "holds in sign only"
    OPEN = "open"
    FEW_SEEDS = "too few seeds"
    FAILS = "does not hold"


@dataclass(frozen=True)
class Check:
    """Values of a quantity with which a claim holds, as `published.toml` states them."""

    published: str = ""
    """The published value as text."""
    low: float = -math.inf
    high: float = math.inf
    neutral: float | None = None
    """Value without any effect, which separates both signs. `None` if the check has no sign."""
    unit: str = ""
    spec: str = ".2f"
    """Format of the study's value."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Check":
        """Returns a check of `published.toml`.

        The entry has `within` (two limits), `above` or `below` (one limit, itself excluded).
        """
        low, high = entry.get("within", (entry.get("above"), entry.get("below")))
        assert low is not None or high is not None, f"a check without a limit: {dict(entry)}"
        return cls(
            published=str(entry.get("published", "")),
            low=-math.inf if low is None else float(low),
            high=math.inf if high is None else float(high),
            neutral=entry.get("neutral"),
            unit=entry.get("unit", ""),
            spec=f"{'+' if entry.get('signed') else ''}.{entry.get('digits', 2)}f",
        )

    @property
    def limits(self) -> str:
        """The limits as text."""
        if math.isinf(self.high):
            return f"above {self.low:g}{self.unit}"
        if math.isinf(self.low):
            return f"below {self.high:g}{self.unit}"
        if self.low == self.high:
            return f"{self.low:g}{self.unit}"
        return f"{self.low:g} to {self.high:g}{self.unit}"

    def outcome(self, found: Bounded) -> Outcome:
        """Returns the result for a value.

        The check holds if the whole interval is within the limits. It is open if the interval
        includes a limit. Outside the limits, the sign holds if the whole interval and the limits
        are on the same side of the neutral value.
        """
        if math.isinf(found.mean) or found.bounds is None:
            return Outcome.FEW_SEEDS
        low, high = found.bounds
        # A value that is equal to a single limit is neither above nor below it.
        is_one_sided = math.isinf(self.low) or math.isinf(self.high)
        less = operator.lt if is_one_sided else operator.le
        if less(self.low, low) and less(high, self.high):
            return Outcome.HOLDS
        if less(self.low, high) and less(low, self.high):
            return Outcome.OPEN
        return Outcome.SIGN_ONLY if self._has_sign(low, high) else Outcome.FAILS

    def _has_sign(self, low: float, high: float) -> bool:
        if self.neutral is None:
            return False
        return low > self.neutral if self.low >= self.neutral else high < self.neutral


@dataclass(frozen=True)
class Tolerance:
    """Rule that gives the check of each number of a published table."""

    factor: float
    """Factor by which a value may be larger or smaller than the published one."""
    least: float = 0.0
    """Difference that is always allowed, in the unit of the value."""
    significant: int = 4
    """Significant digits of the limits."""
    unit: str = ""
    digits: int = 0
    """Digits of the study's value after the decimal point."""

    def check(self, published: float, within: Sequence[float] | None = None) -> Check:
        """Returns the check of a published number. `within` replaces the limits of the rule."""
        low = max(0.0, min(published / self.factor, published - self.least))
        high = max(published * self.factor, published + self.least)
        low, high = within or (low, high)
        return Check(
            published=f"{published:g}{self.unit}",
            low=float(f"{low:.{self.significant}g}"),
            high=float(f"{high:.{self.significant}g}"),
            unit=self.unit,
            spec=f".{self.digits}f",
        )


@dataclass(frozen=True)
class Claim:
    """A claim of a publication: its text, and a check for each value that it states."""

    name: str
    text: str
    checks: Mapping[str, Check] = field(default_factory=dict)
    each: Check | None = None
    """Check of values that `checks` does not have. `None` if `checks` has all values."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Claim":
        """Returns a claim of `published.toml`."""
        each = entry.get("each")
        return cls(
            name=entry["id"],
            text=entry["text"],
            checks={check["value"]: Check.of(check) for check in entry.get("checks", ())},
            each=None if each is None else Check.of(each),
        )

    def check(self, value: str) -> Check:
        """Returns the check of a value."""
        check = self.checks.get(value, self.each)
        assert check is not None, f"published.toml has no check of {value} for {self.name}"
        return check


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim: the study's values, and the outcome of each check."""

    claim: Claim
    values: Mapping[str, Bounded]
    """The study's values, by the names of the claim's checks."""
    note: str = ""
    """Findings about the claim without a check."""

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each check."""
        return {name: self.claim.check(name).outcome(each) for name, each in self.values.items()}

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the checks."""
        return max(self.outcomes.values(), key=list(Outcome).index)

    @property
    def holds(self) -> bool | None:
        """True if every check holds at least in sign. `None` if one is open, or seeds are few."""
        if self.outcome in (Outcome.OPEN, Outcome.FEW_SEEDS):
            return None
        return self.outcome != Outcome.FAILS

    def value_text(self, name: str) -> str:
        """Returns the study's value as text."""
        check = self.claim.check(name)
        return self.values[name].text(check.spec, check.unit)

    def data(self, setup: str = "") -> list[dict[str, Any]]:
        """Returns the rows of a data file, one for each check."""
        return [
            {
                **({"setup": setup} if setup else {}),
                "claim": self.claim.name,
                "text": self.claim.text,
                "value": name,
                "published": self.claim.check(name).published,
                "check": self.claim.check(name).limits,
                **self.values[name].data("ours_"),
                "verdict": str(outcome),
                "verdict_on_the_claim": str(self.outcome),
            }
            for name, outcome in self.outcomes.items()
        ]


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


EXPLANATION = (
    "*Check*: values with which the claim holds, as the study's `published.toml` states them. A "
    "claim *holds* if the whole 95 % interval is within the check. It is *open* if the interval "
    "includes a limit of the check. It *holds in sign only* if the value is outside, but on the "
    "published side of no effect. A claim with several checks has the worst of their verdicts."
)


def claims_section(
    verdicts: Sequence[Verdict] | Mapping[str, Sequence[Verdict]],
    *,
    title: str = "The paper's claims",
    text: str = EXPLANATION,
    name: str = "claims",
) -> Section:
    """Returns the section that compares the paper's claims with the results.

    `verdicts` may have several setups by name, which all have the same claims and values.
    """
    setups = verdicts if isinstance(verdicts, Mapping) else {"": verdicts}
    first = next(iter(setups.values()))
    heads = ["ours", "verdict"] if "" in setups else list(setups)
    rows: list[list[str]] = []
    for number, verdict in enumerate(first):
        for index, value in enumerate(verdict.values):
            check = verdict.claim.check(value)
            words = f"`{verdict.claim.name}`: {verdict.claim.text}" if index == 0 else ""
            cells = [
                [each[number].value_text(value), str(each[number].outcomes[value])]
                for each in setups.values()
            ]
            found = cells[0] if "" in setups else [": ".join(cell) for cell in cells]
            rows.append([words, value, check.published, check.limits, *found])
    return Section(
        name=name,
        title=title,
        text=text,
        table=Table(
            columns=["claim", "value", "published", "check", *heads],
            rows=rows,
            data=[row for setup, each in setups.items() for one in each for row in one.data(setup)],
        ),
        conclusion="\n\n".join(_summary(setup, each) for setup, each in setups.items()),
        is_headline=True,
    )


def _summary(setup: str, verdicts: Sequence[Verdict]) -> str:
    """Returns the number of checks of each outcome, and the findings without a check."""
    counted = counts(outcome for one in verdicts for outcome in one.outcomes.values())
    if setup:
        return f"{setup[:1].upper()}{setup[1:]}: {counted}."
    notes = [f"- `{one.claim.name}`: {one.note}." for one in verdicts if one.note]
    return "\n".join([f"Checks: {counted}.", *([""] if notes else []), *notes])


def counts(outcomes: Iterable[Outcome]) -> str:
    """Returns the number of checks of each outcome as text."""
    found = list(outcomes)
    shown = [f"{found.count(outcome)} {outcome}" for outcome in Outcome if found.count(outcome) > 0]
    return f"{', '.join(shown)} (of {len(found)})"
