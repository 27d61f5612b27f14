"""Means, differences and ratios of runs with confidence intervals, for campaigns and studies."""

import math
import re
import statistics
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

__all__ = [
    "FEWEST",
    "Bounded",
    "Estimate",
    "Interval",
    "Spread",
    "bootstrap",
    "estimate",
    "exactly",
    "holm",
    "interval_text",
    "limits_text",
    "number_text",
    "paired_difference",
    "paired_ratio",
    "student_t",
    "too_few",
    "value_text",
]

FEWEST = 5
"""Smallest number of values for an interval of their mean. With two values, it is 9 standard
deviations on each side.
"""

MORE_DIGITS = 3
"""Maximum number of digits that are added so that a half-width is not zero."""

DIGITS = 4
"""Number of significant digits of a value without an interval."""

MOST_DIGITS = 5
"""Largest number of significant digits of a mean with an interval."""

SMALLEST_FIXED = 1e-4
"""Smallest value that is written without an exponent."""

LARGEST_FIXED = 1e9
"""Values from here on are written with an exponent."""


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
    """A mean with its confidence interval, which is symmetric."""

    mean: float
    half_width: float
    """Half-width of the interval. NaN if there is no interval."""
    count: int
    """Number of values."""
    confidence: float = 0.95
    p_value: float = math.nan
    """Probability of a mean at least this far from zero if the true mean is zero. NaN if it was
    not computed.
    """

    def __format__(self, spec: str) -> str:
        return self.text(spec)

    def text(self, spec: str = ".4g", unit: str = "") -> str:
        """Returns the text for tables.

        A mean without an interval has the number of values instead. A mean whose interval has no
        length is the same with every seed, and stands alone. Digits are added until the half-width
        has one that is not zero, but the mean has at most five.
        """
        if self.count == 0:
            return "-"
        if not self.is_known:
            return f"{number_text(self.mean, spec)}{unit} (n = {self.count})"
        spec = _finer(spec, self.mean, self.half_width)
        # Significant digits are those of the mean. Two of the half-width suffice.
        of_width = ".2g" if spec.endswith("g") else spec.lstrip("+")
        half_width = number_text(self.half_width, of_width)
        mean = number_text(self.mean, spec)
        return f"{mean} ± {half_width}{unit}" if _has_digit(half_width) else f"{mean}{unit}"

    def above(self, bound: float) -> "Estimate":
        """Returns the excess of the estimate over a bound."""
        return replace(self, mean=self.mean - bound)

    def below(self, bound: float) -> "Estimate":
        """Returns the amount by which the estimate is below a bound."""
        return replace(self, mean=bound - self.mean)

    def scaled(self, factor: float, offset: float = 0.0) -> "Estimate":
        """Returns the estimate of `factor` times the value plus `offset`. `factor` is above 0."""
        return replace(
            self,
            mean=factor * (self.mean + offset),
            half_width=factor * self.half_width,
            p_value=math.nan,
        )

    @property
    def is_known(self) -> bool:
        """True if there is an interval."""
        return not math.isnan(self.half_width)

    @property
    def low(self) -> float:
        """The lower limit. NaN if there is no interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper limit. NaN if there is no interval."""
        return self.mean + self.half_width

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the interval. `None` if there is none."""
        return (self.low, self.high) if self.is_known else None

    @property
    def ci95(self) -> float | None:
        """Half-width for data files. None if there is no interval."""
        return self.half_width if self.is_known else None

    def data(self, name: str = "", unit: str = "") -> dict[str, float | None]:
        """Returns the columns of a data file: `NAMEmeanUNIT` and `NAMEci95UNIT`."""
        return {f"{name}mean{unit}": self.mean, f"{name}ci95{unit}": self.ci95}


@dataclass(frozen=True)
class Interval:
    """A value with an interval that need not be symmetric. The limits are NaN if there is none."""

    mean: float
    low: float
    high: float
    count: int
    """Number of runs."""
    confidence: float
    p_value: float = math.nan
    """Probability of a value at least this far from zero if the true value is zero."""

    @property
    def is_known(self) -> bool:
        """True if there is an interval."""
        return not math.isnan(self.low)


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

    def __format__(self, spec: str) -> str:
        return self.text(spec)

    def text(self, spec: str, unit: str = "") -> str:
        """Returns the text for tables, with the least and the largest value if they differ."""
        median, low, high = (number_text(each, spec) for each in (self.mean, *self.bounds))
        return f"{median}{unit}" if low == high else f"{median} ({low} to {high}){unit}"

    def data(self, name: str = "", unit: str = "") -> dict[str, float | None]:
        """Returns the columns of a data file."""
        columns = {"median": self.mean, "least": self.low, "most": self.high}
        return {f"{name}{key}{unit}": value for key, value in columns.items()}


def number_text(value: float, spec: str) -> str:
    """Returns a number as text, without the minus sign of a zero."""
    text = f"{value:{spec}}"
    return text if _has_digit(text) else text.replace("-", "")


def _has_digit(text: str) -> bool:
    return re.search("[1-9a-z]", text) is not None


def _finer(spec: str, mean: float, half_width: float) -> str:
    """Returns a format with enough digits for a half-width, unless it is next to zero."""
    match = re.fullmatch(r"(\+?)\.(\d+)f", spec)
    if match is None or half_width <= 0:
        return spec
    given = int(match[2])
    most = min(given + MORE_DIGITS, max(given, MOST_DIGITS - 1 - _exponent(mean)))
    for digits in range(given, most + 1):
        if _has_digit(f"{half_width:.{digits}f}"):
            return f"{match[1]}.{digits}f"
    return spec


def _exponent(value: float) -> int:
    """Returns the power of ten of the first digit, or 0 for a value that is zero."""
    return math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0


def _decimals(value: float, half_width: float) -> int:
    """Returns the decimals that an interval supports: two digits of its half-width.

    The value gets at most `MOST_DIGITS` significant digits. The number is below zero if the last
    digit is left of the point.
    """
    return min(1 - _exponent(half_width), MOST_DIGITS - 1 - _exponent(value))


def _rounded(value: float, decimals: int, sign: str = "", *, is_fixed: bool = True) -> str:
    """Returns a number with its decimals as text, with an exponent unless it is fixed.

    The text of a zero has no sign.
    """
    value = round(value, decimals)
    if is_fixed:
        text = f"{value:{sign},.{max(0, decimals)}f}"
    else:
        text = f"{value:{sign}.{max(1, decimals + _exponent(value) + 1)}g}"
    return text if _has_digit(text) else text.lstrip("+-")


def value_text(value: float | None, sign: str = "") -> str:
    """Returns a value without an interval: four significant digits, and commas in thousands.

    With `sign` "+", a value above zero has its sign.
    """
    if value is None or math.isnan(value):
        return "-"
    if value and not SMALLEST_FIXED <= abs(value) < LARGEST_FIXED:
        return f"{value:{sign}.{DIGITS - 1}g}"
    text = _rounded(value, DIGITS - 1 - _exponent(value), sign)
    return text.rstrip("0").rstrip(".") if "." in text else text


def interval_text(mean: float | None, half_width: float | None) -> str:
    """Returns a mean with the half-width of its interval, to the digits that this supports.

    A half-width of zero is that of equal values. One that is shorter than the last digit of the
    mean is written as "<" and this digit.
    """
    if mean is None or half_width is None or not math.isfinite(mean + half_width):
        return value_text(mean)
    if half_width == 0:
        return f"{value_text(mean)} ± 0"
    # A mean of zero has the decimals of its interval.
    decimals = _decimals(mean or half_width, half_width)
    is_fixed = max(abs(mean), half_width) >= SMALLEST_FIXED
    first, width, last = (
        _rounded(each, decimals, is_fixed=is_fixed) for each in (mean, half_width, 10.0**-decimals)
    )
    return f"{first} ± {width if _has_digit(width) else f'<{last}'}"


def limits_text(value: float | None, low: float | None, high: float | None) -> str:
    """Returns a difference with the limits of its interval, to the digits that this supports."""
    if value is None or low is None or high is None or low == high:
        return value_text(value, "+")
    # The shorter side of an interval that is not symmetric needs the digits.
    half_width = min((side for side in (value - low, high - value) if side > 0), default=high - low)
    if not math.isfinite(half_width):
        return f"{value:+.3g} [{low:+.3g}, {high:+.3g}]"
    largest = max(abs(low), abs(high))
    decimals = _decimals(value or largest, half_width)
    is_fixed = largest >= SMALLEST_FIXED
    first, least, most = (
        _rounded(each, decimals, "+", is_fixed=is_fixed) for each in (value, low, high)
    )
    return f"{first} [{least}, {most}]"


def exactly(value: float) -> Estimate:
    """Returns a published number as an estimate without an interval."""
    return Estimate(value, math.nan, 1)


def estimate(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Returns the mean of independent `values` by Student's t. Fewer than five have no interval."""
    count = len(values)
    mean = math.fsum(values) / count if count else math.nan
    if count < FEWEST:
        return Estimate(mean, math.nan, count, confidence)
    data = np.asarray(values, dtype=float)
    # Rounding may give equal values a deviation that is not zero.
    error = float(np.std(data, ddof=1)) / math.sqrt(count) if np.ptp(data) > 0 else 0.0
    half_width = student_t(count - 1, confidence) * error
    return Estimate(mean, half_width, count, confidence, _p_value(mean, error, count - 1))


def _p_value(mean: float, error: float, degrees: int) -> float:
    from scipy.special import stdtr

    if error > 0:
        return 2 * float(stdtr(degrees, -abs(mean) / error))
    return 1.0 if mean == 0 else 0.0


def student_t(degrees: int, confidence: float = 0.95) -> float:
    """Returns the quantile of Student's t for a two-sided interval, with `degrees` of freedom."""
    # `scipy.stats.t` calls the same function thirty times slower.
    from scipy.special import stdtrit

    if degrees < 1:
        raise ValueError("a confidence interval needs at least two values")
    return float(stdtrit(degrees, (1 + confidence) / 2))


def paired_difference(
    ours: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Estimate:
    """Returns the mean difference of runs that share their random numbers in pairs."""
    return estimate([a - b for a, b in zip(ours, base, strict=True)], confidence)


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


def bootstrap(
    statistic: Callable[..., float],
    *samples: Sequence[float],
    confidence: float = 0.95,
    is_paired: bool = True,
) -> Interval:
    """Returns an interval of any statistic, such as a ratio or a percentile, by bootstrap (BCa).

    Each of `samples` has one value for each run, and paired samples are drawn together. The draws
    are the same each time. Efron, Better bootstrap confidence intervals, 1987.
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    count = min(len(array) for array in arrays)
    value = float(statistic(*arrays)) if count else math.nan
    if count < FEWEST:
        return Interval(value, math.nan, math.nan, count, confidence)
    if all(np.ptp(array) == 0 for array in arrays):
        return Interval(value, value, value, count, confidence)
    method = "BCa" if len(arrays) == 1 or is_paired else "percentile"
    low, high = _bootstrap_limits(statistic, arrays, confidence, method, is_paired)
    if math.isnan(low) and method == "BCa":
        # The correction of BCa is undefined if the statistic is the same without any one run.
        low, high = _bootstrap_limits(statistic, arrays, confidence, "percentile", is_paired)
    return Interval(value, low, high, count, confidence)


def _bootstrap_limits(
    statistic: Callable[..., float],
    arrays: Sequence[np.ndarray],
    confidence: float,
    method: Literal["BCa", "percentile"],
    is_paired: bool,
) -> tuple[float, float]:
    from scipy import stats

    with np.errstate(all="ignore"), warnings.catch_warnings():
        # The caller sees undefined limits as NaN.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            arrays,
            statistic,
            n_resamples=9_999,
            vectorized=False,
            paired=is_paired and len(arrays) > 1,
            confidence_level=confidence,
            method=method,
            rng=np.random.default_rng(1),
        ).confidence_interval
    return float(found.low), float(found.high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p-values corrected for their number, in the same order. NaN stays NaN.

    The probability that any of the corrected values below a level is below it by chance is less
    than that level. Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    known = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    corrected = [math.nan] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        corrected[index] = largest
    return corrected


def too_few(count: int) -> str | None:
    """Returns a warning about results of `count` seeds, if there are too few for an interval."""
    if count < FEWEST:
        return (
            f"{count} seed{'s' * (count != 1)} a point give no interval, which needs at least "
            f"{FEWEST} seeds"
        )
    return None
