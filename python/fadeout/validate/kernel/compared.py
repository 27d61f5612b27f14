"""Comparison of the numbers of both sides, and the tolerances."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

from fadeout.validate.beside import Quantity
from fadeout.validate.kernel.measured import Values

QUANTITIES = (
    Quantity("goodput Mbit/s", "goodput_mbps", ".3f"),
    Quantity("mean sRTT ms", "mean_srtt_ms", ".2f"),
    Quantity("retransmitted", "retransmitted_segments", ".0f"),
    Quantity("timeouts", "timeouts", ".0f"),
    Quantity("largest cwnd", "max_cwnd_segments", ".0f"),
    Quantity("mean cwnd", "mean_cwnd_segments", ".1f"),
)

GOODPUT = 0.03
"""Largest relative error of the median goodput."""
GOODPUT_WORST = 0.10
"""Largest relative error of the goodput of any seed."""
RTT = 0.03
RETRANSMISSIONS = 0.15
RETRANSMITTED_SEGMENTS = 10.0
"""Largest absolute error of retransmissions. The larger of both limits applies."""
CHAOTIC_MEDIAN = 0.10
"""Largest relative error of a median in chaotic cases, where runs of one side differ by chance."""
SIGNIFICANCE = 0.01
"""Significance level of the two-sample Kolmogorov-Smirnov test."""
JUDGED = ("goodput_mbps", "mean_srtt_ms", "retransmitted_segments")
"""The quantities with a tolerance. The others are only shown."""

TOLERANCES = (
    ("goodput", "median 3 %, each seed 10 %"),
    ("mean smoothed round-trip time", "median 3 %"),
    ("retransmitted segments", "median 15 % or 10 segments, whichever is more"),
    (
        "all of them in chaotic rows",
        "no difference of the distributions at 1 % (Kolmogorov, Smirnov), medians within 10 % "
        "or 10 segments",
    ),
)


class Verdict(StrEnum):
    """Verdict on a quantity."""

    WITHIN = "within"
    MISSED = "missed"
    SHOWN = "shown"


@dataclass(frozen=True)
class Judged:
    """A quantity of a flow on both sides."""

    quantity: Quantity
    kernel: tuple[float, ...]
    ours: tuple[float, ...]
    """One value for each seed."""
    is_chaotic: bool

    @property
    def error(self) -> float:
        """Relative error of our median against the kernel's. Absolute if the kernel's is zero."""
        theirs = median(self.kernel)
        return median(self.ours) / theirs - 1 if theirs else median(self.ours)

    @property
    def worst(self) -> float:
        """The largest error of one seed."""
        pairs = zip(self.kernel, self.ours, strict=False)
        errors = [ours / theirs - 1 if theirs else ours for theirs, ours in pairs]
        return max(errors, key=abs)

    @property
    def p_value(self) -> float:
        """p-value of the two-sample Kolmogorov-Smirnov test."""
        from scipy.stats import ks_2samp

        with warnings.catch_warnings():
            # A rounding error can lift scipy's exact value above one. scipy then warns, and returns
            # the asymptotic value, which is one.
            warnings.simplefilter("ignore", RuntimeWarning)
            found: Any = ks_2samp(self.kernel, self.ours)
        return float(found.pvalue)

    @property
    def reasons(self) -> list[str]:
        """Reasons why the quantity is outside its tolerance. Empty if it is inside."""
        key = self.quantity.key
        if key not in JUDGED:
            return []
        theirs, ours = median(self.kernel), median(self.ours)
        is_few = key == "retransmitted_segments" and abs(ours - theirs) <= RETRANSMITTED_SEGMENTS
        if self.is_chaotic:
            found = []
            if abs(self.error) > CHAOTIC_MEDIAN and not is_few:
                found.append(f"median {self.error:+.1%} where {CHAOTIC_MEDIAN:.0%} is allowed")
            if self.p_value < SIGNIFICANCE and not is_few:
                found.append(f"distributions differ (p = {self.p_value:.1g})")
            return found
        if key == "retransmitted_segments":
            if is_few or abs(self.error) <= RETRANSMISSIONS:
                return []
            return [f"median {self.error:+.1%} where {RETRANSMISSIONS:.0%} or 10 are allowed"]
        allowed = GOODPUT if key == "goodput_mbps" else RTT
        found = []
        if abs(self.error) > allowed:
            found.append(f"median {self.error:+.1%} where {allowed:.0%} is allowed")
        if key == "goodput_mbps" and abs(self.worst) > GOODPUT_WORST:
            found.append(f"a seed {self.worst:+.1%} where {GOODPUT_WORST:.0%} is allowed")
        return found

    @property
    def verdict(self) -> Verdict:
        """Verdict on the quantity by its tolerance."""
        if self.quantity.key not in JUDGED:
            return Verdict.SHOWN
        return Verdict.MISSED if self.reasons else Verdict.WITHIN

    def cells(self) -> list[str]:
        """Returns the row of the quantity in a table."""
        form = self.quantity.form
        error = f"{self.error:+.1%}" if median(self.kernel) else f"{self.error:+.0f}"
        return [
            self.quantity.name,
            _range(self.kernel, form),
            _range(self.ours, form),
            error,
            {Verdict.WITHIN: "", Verdict.MISSED: "✗ " + "; ".join(self.reasons)}.get(
                self.verdict, "shown"
            ),
        ]


def _range(values: Sequence[float], form: str) -> str:
    middle, least, most = (format(f(values), form) for f in (median, min, max))
    return middle if least == most else f"{middle} ({least} to {most})"


@dataclass(frozen=True)
class Compared:
    """A flow of a scenario or of a case, on both sides."""

    name: str
    kernel: tuple[Values, ...]
    ours: tuple[Values, ...]
    """Values for each seed."""
    is_chaotic: bool = False

    def rows(self) -> list[Judged]:
        """Returns the quantities of the flow that both sides have."""
        return [
            Judged(
                quantity,
                tuple(one[quantity.key] for one in self.kernel),
                tuple(one[quantity.key] for one in self.ours),
                self.is_chaotic,
            )
            for quantity in QUANTITIES
            if all(quantity.key in one for one in (*self.kernel, *self.ours))
        ]

    def misses(self) -> list[str]:
        """Returns descriptions of the quantities outside their tolerance."""
        return [
            f"{self.name}: {row.quantity.name}: {'; '.join(row.reasons)}"
            for row in self.rows()
            if row.verdict == Verdict.MISSED
        ]
