"""Confidence intervals: of means, of differences of paired runs, and by bootstrap."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["FEWEST", "Interval", "bootstrap", "holm", "mean_interval", "paired", "too_few"]

FEWEST = 5
"""Smallest number of values for an interval of their mean. With two values, it is 9 standard
deviations on each side.
"""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval. The limits are NaN if there is none."""

    mean: float
    low: float
    high: float
    count: int
    """Number of runs."""
    confidence: float
    p_value: float = math.nan
    """Probability of a mean at least this far from zero if the true mean is zero."""

    @property
    def half_width(self) -> float:
        """Half the length of the interval. Infinite if there is none."""
        return math.inf if math.isnan(self.low) else (self.high - self.low) / 2

    @property
    def is_known(self) -> bool:
        """True if there is an interval."""
        return not math.isnan(self.low)

    def text(self, spec: str = ".4g") -> str:
        """Returns the estimate as text."""
        if self.count == 0:
            return "-"
        if not self.is_known:
            return f"{self.mean:{spec}} (n = {self.count})"
        return f"{self.mean:{spec}} ± {self.half_width:.2g}"


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Returns the mean of independent `values` by Student's t, without an interval below five
    values.
    """
    count = len(values)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0, confidence)
    data = np.asarray(values, dtype=float)
    mean = math.fsum(values) / count
    if count < FEWEST:
        return Interval(mean, math.nan, math.nan, count, confidence)
    # Student's t distribution. `scipy.stats.t` calls them thirty times slower.
    from scipy.special import stdtr, stdtrit

    error = float(np.std(data, ddof=1)) / math.sqrt(count)
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * error
    if error > 0:
        p_value = 2 * float(stdtr(count - 1, -abs(mean) / error))
    else:
        p_value = 1.0 if mean == 0 else 0.0
    return Interval(mean, mean - half, mean + half, count, confidence, p_value)


def paired(ours: Sequence[float], base: Sequence[float], confidence: float = 0.95) -> Interval:
    """Returns the mean difference of runs that have the same seeds, pair by pair."""
    return mean_interval([a - b for a, b in zip(ours, base, strict=True)], confidence)


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
    from scipy import stats

    found = stats.bootstrap(
        arrays,
        statistic,
        n_resamples=9_999,
        vectorized=False,
        paired=is_paired and len(arrays) > 1,
        confidence_level=confidence,
        method="BCa" if len(arrays) == 1 or is_paired else "percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    return Interval(value, float(found.low), float(found.high), count, confidence)


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
