"""Intervals of fitted parameters, and statements about parameters that stay unknown.

The scenario's runs near the result are fitted like the measurement. Their values are known, so the
errors of these fits are known, too. The interval has the size of these errors. If the measurement
differs from the model more than the runs differ from each other, the interval is wider by
`Local.ratio`.

A parameter whose errors exceed the region of the regression is open. Further runs then follow the
direction in which the features change least. The interval ends where a run differs more from the
measurement than the runs near the result differ from each other.

Source: Gourieroux, Monfort and Renault, Indirect inference, Journal of Applied Econometrics 8
(1993). Beaumont, Zhang and Balding, Approximate Bayesian computation in population genetics,
Genetics 162 (2002).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fadeout.fit.course import Numbers
from fadeout.fit.local import Local
from fadeout.fit.parameter import Parameter, shown
from fadeout.fit.result import FittedParameter
from fadeout.fit.runs import Matrix, Runs

LEVEL = 0.9
"""Probability that an interval contains the true value."""
OPEN = 1.0
"""Half width of an interval, by that of the region, from which a parameter is open."""
SCAN = tuple(math.log(factor) for factor in (1.02, 1.05, 1.1, 1.2, 1.4, 1.8, 2.5, 4.0, 8.0, 16.0))
"""Distances of the further runs from the result, in logarithms."""
HALVINGS = 4
"""Number of further runs that refine an end."""
TRADE = 0.2
"""Change of another parameter for each change of an open one that is stated."""
SMALL_TRADE = 0.05
"""Change of another parameter, for each change of an open one, that is ignored."""
BEYOND = 4.0
"""Distance of the run that is fitted beyond an interval, by half of the interval."""
FLAT = 0.5
"""Share of a parameter's change that a fit must find. Below it the features are flat."""
TINY = 1e-9


@dataclass(frozen=True)
class Found:
    """Parameters with intervals, and statements about them."""

    parameters: Sequence[FittedParameter]
    statements: Sequence[str]


def of(runs: Runs, local: Local) -> Found:
    """Returns the parameters with their intervals. Open parameters take further runs."""
    covariance = errors(local)
    quantile = float(stats.t.ppf(0.5 + LEVEL / 2, max(1, local.freedom)))
    half = quantile * np.sqrt(np.diag(covariance))
    parameters, statements = [], []
    for index, one in enumerate(runs.parameters):
        value = float(local.best[index])
        low, high = value - half[index], value + half[index]
        low_is_open = high_is_open = False
        if half[index] > OPEN * local.width[index]:
            direction = _direction(local, index)
            low, low_is_open = _end(runs, local, index, -direction)
            high, high_is_open = _end(runs, local, index, direction)
            statements += _trades(runs.parameters, index, direction)
        else:
            alone = np.eye(len(half))[index]
            if _is_flat(runs, local, index, -half[index]):
                low, low_is_open = _end(runs, local, index, -alone)
            if _is_flat(runs, local, index, half[index]):
                high, high_is_open = _end(runs, local, index, alone)
        found = FittedParameter(
            key=one.key,
            kind=one.kind,
            value=math.exp(value),
            low=math.exp(low),
            high=math.exp(high),
            low_is_open=low_is_open,
            high_is_open=high_is_open,
        )
        parameters.append(found)
        statements += _open_ends(found)
    return Found(parameters, statements)


def errors(local: Local) -> Matrix:
    """Returns the covariance of the errors of fits, in logarithms of the parameters."""
    estimator = np.linalg.solve(_square(local), local.slopes.T)
    of_runs = local.residuals @ estimator.T
    covariance = of_runs.T @ of_runs / max(1, local.freedom)
    return covariance * max(1.0, local.ratio) ** 2 * np.outer(local.width, local.width)


def _square(local: Local) -> Matrix:
    """Returns the information matrix of the features, which has an inverse."""
    square = local.slopes.T @ local.slopes
    return square + TINY * max(float(np.trace(square)), 1.0) * np.eye(len(square))


def _is_flat(runs: Runs, local: Local, index: int, half: float) -> bool:
    """Returns True if the features stop changing on one side of the best value.

    The regression does not show it: a queue changes features only below the largest backlog. A run
    beyond the interval is therefore fitted, too. If its value is not found, the features are flat.
    """
    moved = math.copysign(max(BEYOND * abs(half), float(local.width[index])), half)
    point = local.best + moved * np.eye(len(local.best))[index]
    (found,) = runs.add(point[None, :])
    if found is None:
        return False
    scaled = (found - runs.target) / local.scatter + local.difference
    estimate = np.linalg.solve(_square(local), local.slopes.T @ scaled)[index]
    return bool((estimate - local.step[index]) * local.width[index] / moved < FLAT)


def _direction(local: Local, index: int) -> Numbers:
    """Returns the change of all parameters for a change of one, with the least change of features.

    The parameter itself changes by 1. All changes are of logarithms.
    """
    column = np.linalg.inv(_square(local))[:, index] * local.width
    changes = column / column[index]
    # Small changes are the noise of the regression. They would move well-known parameters.
    return np.where(np.abs(changes) < SMALL_TRADE, 0.0, changes)


def _end(runs: Runs, local: Local, index: int, direction: Numbers) -> tuple[float, bool]:
    """Returns an end of the interval of an open parameter. True if no end was found."""
    best = local.best
    points = runs.clipped(best + np.outer(SCAN, direction))
    limit = largest_distance(local)
    inside, outside = best, None
    for point, found in zip(points, runs.add(points), strict=True):
        if _is_beyond(found, runs, local, limit):
            outside = point
            break
        inside = point
    if outside is None:
        return float(inside[index]), True
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        (found,) = runs.add(middle[None, :])
        if _is_beyond(found, runs, local, limit):
            outside = middle
        else:
            inside = middle
    return float(outside[index]), False


def _is_beyond(found: Numbers | None, runs: Runs, local: Local, limit: float) -> bool:
    """Returns True if a run delivers nothing, or differs too much from the measurement."""
    if found is None:
        return True
    return float(np.sqrt(np.mean(((found - runs.target) / local.scatter) ** 2))) > limit


def largest_distance(local: Local) -> float:
    """Returns the distance that 90 % of the pairs of runs near the result do not exceed.

    The measurement takes the place of one of the runs. Its own distance widens the limit.
    """
    rows = local.residuals
    pairs = np.sqrt(np.mean((rows[:, None, :] - rows[None, :, :]) ** 2, axis=2))
    usual = float(np.quantile(pairs[np.triu_indices(len(rows), 1)], LEVEL))
    return usual * max(1.0, local.ratio)


def _trades(parameters: Sequence[Parameter], index: int, direction: Numbers) -> list[str]:
    """Returns statements of parameters that the measurement does not tell apart."""
    found = []
    for other, change in enumerate(direction):
        if other != index and abs(change) > TRADE:
            how = "larger" if change > 0 else "smaller"
            found.append(
                f"{parameters[index].key} and {parameters[other].key} cannot be told apart: a "
                f"larger {parameters[index].key} with a {how} {parameters[other].key} explains "
                "the measurement as well"
            )
    return found


def _open_ends(found: FittedParameter) -> list[str]:
    if found.low_is_open and found.high_is_open:
        return [f"the measurement does not determine {found.key}"]
    for is_open, bound, how in (
        (found.low_is_open, found.high, "at most"),
        (found.high_is_open, found.low, "at least"),
    ):
        if is_open:
            return [
                f"the measurement determines one end of {found.key} only: it is {how} "
                f"{shown(found.kind, bound)}"
            ]
    return []
