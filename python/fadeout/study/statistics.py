"""Means with confidence intervals."""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fadeout.campaign.intervals import FEWEST

# The 97.5 % quantile of Student's t, for 1 to 30 degrees of freedom.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


class Bounded(Protocol):
    """Interface of a value with an interval."""

    @property
    def mean(self) -> float:
        """The value, which need not be a mean."""
        ...

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the interval. `None` if there is none."""
        ...

    def text(self, spec: str, unit: str = "") -> str:
        """Returns the text for tables."""
        ...

    def data(self, name: str = "", unit: str = "") -> dict[str, float | None]:
        """Returns the columns of a data file."""
        ...


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % confidence interval. NaN if there is no interval."""

    mean: float
    half_width: float
    count: int

    def __format__(self, spec: str) -> str:
        return self.text(spec)

    def text(self, spec: str, unit: str = "") -> str:
        """Returns the text for tables.

        A mean without an interval has the number of values instead. A mean whose interval has no
        length is the same with every seed, and stands alone. Digits are added until the half-width
        has one that is not zero.
        """
        if self.count == 0:
            return "-"
        if math.isnan(self.half_width):
            return f"{number_text(self.mean, spec)}{unit} (n = {self.count})"
        spec = _finer(spec, self.half_width)
        half_width = number_text(self.half_width, spec.lstrip("+"))
        mean = number_text(self.mean, spec)
        return f"{mean} ± {half_width}{unit}" if _has_digit(half_width) else f"{mean}{unit}"

    def above(self, bound: float) -> "Estimate":
        """Returns the excess of the estimate over a bound."""
        return replace(self, mean=self.mean - bound)

    def below(self, bound: float) -> "Estimate":
        """Returns the amount by which the estimate is below a bound."""
        return replace(self, mean=bound - self.mean)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval. `None` if there is none."""
        if math.isnan(self.half_width):
            return None
        return self.mean - self.half_width, self.mean + self.half_width

    @property
    def ci95(self) -> float | None:
        """Half-width for data files. None if there is no interval."""
        return None if math.isnan(self.half_width) else self.half_width

    def data(self, name: str = "", unit: str = "") -> dict[str, float | None]:
        """Returns the columns of a data file: `NAMEmeanUNIT` and `NAMEci95UNIT`."""
        return {f"{name}mean{unit}": self.mean, f"{name}ci95{unit}": self.ci95}


@dataclass(frozen=True)
class Spread:
    """A median with the least and the largest value, for values that are not a sample.

    An example are all phases of a command within the time of a segment.
    """

    mean: float
    """The median."""
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Returns the spread of `values`."""
        return cls(statistics.median(values), min(values), max(values))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value."""
        return self.low, self.high

    def text(self, spec: str, unit: str = "") -> str:
        """Returns the text for tables, with the least and the largest value if they differ."""
        median, low, high = (number_text(each, spec) for each in (self.mean, *self.bounds))
        return f"{median}{unit}" if low == high else f"{median} ({low} to {high}){unit}"

    def data(self, name: str = "", unit: str = "") -> dict[str, float | None]:
        """Returns the columns of a data file."""
        columns = {"median": self.mean, "least": self.low, "most": self.high}
        return {f"{name}{key}{unit}": value for key, value in columns.items()}


MORE_DIGITS = 3
"""Maximum number of digits that are added so that a half-width is not zero."""


def number_text(value: float, spec: str) -> str:
    """Returns a number as text, without the minus sign of a zero."""
    text = f"{value:{spec}}"
    return text if _has_digit(text) else text.replace("-", "")


def _has_digit(text: str) -> bool:
    return re.search("[1-9a-z]", text) is not None


def _finer(spec: str, half_width: float) -> str:
    """Returns a format with enough digits for a half-width, unless it is next to zero."""
    match = re.fullmatch(r"(\+?)\.(\d+)f", spec)
    if match is None or half_width <= 0:
        return spec
    given = int(match[2])
    for digits in range(given, given + MORE_DIGITS + 1):
        if _has_digit(f"{half_width:.{digits}f}"):
            return f"{match[1]}.{digits}f"
    return spec


def exactly(value: float) -> Estimate:
    """Returns a published number as an estimate without an interval."""
    return Estimate(value, math.nan, 1)


def estimate(values: Sequence[float]) -> Estimate:
    """Returns the mean of independent `values`. It has no interval if there are fewer than five."""
    if len(values) < FEWEST:
        return Estimate(statistics.fmean(values) if values else math.nan, math.nan, len(values))
    half_width = student_t(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(statistics.fmean(values), half_width, len(values))


def paired_difference(ours: Sequence[float], base: Sequence[float]) -> Estimate:
    """Returns the mean difference of runs that share their random numbers in pairs."""
    return estimate([a - b for a, b in zip(ours, base, strict=True)])


def paired_ratio(ours: Sequence[float], base: Sequence[float]) -> Estimate:
    """Returns the ratio of the means of runs that share their random numbers in pairs.

    The half-width is that of the residuals of a line through the origin (Cochran, Sampling
    Techniques, 3rd ed., section 6.4). Variation that both runs of a pair share does not widen it.
    """
    mean = statistics.fmean(base)
    if mean == 0:
        raise ValueError("a ratio needs a base that is not zero")
    ratio = statistics.fmean(ours) / mean
    residuals = estimate([a - ratio * b for a, b in zip(ours, base, strict=True)])
    return Estimate(ratio, residuals.half_width / abs(mean), len(ours))


def student_t(degrees: int) -> float:
    """Returns the 97.5 % quantile of Student's t with `degrees` of freedom."""
    if degrees < 1:
        raise ValueError("a confidence interval needs at least two values")
    if degrees <= len(_T):
        return _T[degrees - 1]
    # Abramowitz and Stegun 26.7.5, to the second term. The error is at most 0.0002 from 31 on.
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
