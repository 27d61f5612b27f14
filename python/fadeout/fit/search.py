"""Search for the parameters of a scenario that explain a measurement.

Each round runs the scenario at some points around the best one, in parallel. A linear regression of
the features on the parameters gives the next point (Gauss and Newton's step). The points of a round
depend on earlier rounds only, so the result does not depend on the number of workers.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from fadeout import _run
from fadeout.fit import intervals
from fadeout.fit.course import Course
from fadeout.fit.features import features, labels
from fadeout.fit.local import Local, regression
from fadeout.fit.parameter import REACH, first_value, parameter
from fadeout.fit.result import Fit
from fadeout.fit.runs import Matrix, Progress, Runs, open_runs
from fadeout.measured.errors import MeasuredError

FIRST_POINTS = 64
"""Number of points of the first round."""
ROUND_POINTS = 16
"""Number of points of a later round."""
MOST_ROUNDS = 16
"""Largest number of rounds after the first."""
USUAL_ROUNDS = 8
"""Number of rounds for the progress."""
NARROWER = 0.4
"""Factor of the width of a parameter whose best value is within the region."""
WITHIN = 0.9
"""Step, by the width of the region, from which the best point is at the edge."""
LEAST_WIDTH = {"rate": 0.004, "delay": 0.006, "queue": 0.03}
"""Smallest half widths of a round in logarithms. A queue has whole packets."""
USUAL_RUNS = FIRST_POINTS + USUAL_ROUNDS * ROUND_POINTS
SEED = 1
"""Seed of the points."""


def fit(
    source: _run.Source,
    observed: Course,
    free: Sequence[str],
    *,
    flow: str | None = None,
    set: _run.Overrides | None = None,  # noqa: A002 - as in `fadeout.run`
    workers: int | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Returns the values of the free parameters that explain a measurement.

        from fadeout.fit import fit, read_course

        found = fit("my.toml", read_course(Path("tcp.csv")), ["link.path.rate", "link.path.delay"])

    Args:
        source: the scenario.
        observed: the measurement.
        free: keys of rates, delays and queue limits, such as `link.path.rate`. The scenario's own
            values of these keys are not used.
        flow: the flow of the scenario that is compared with the measurement. Default: its only
            flow.
        set: other values in place of the scenario's, as in `fadeout.run`.
        workers: number of parallel runs. The result does not depend on it. Default: one for each
            processor.
        progress: a callback with the number of runs and the expected number of runs.

    Raises:
        MeasuredError: a key can not be fitted, or the flow does not exist or delivers nothing.
        ScenarioError: the scenario is wrong.
    """
    with warnings.catch_warnings():
        # Runs far from the measurement warn of their own results.
        warnings.simplefilter("ignore")
        return _fit(source, observed, free, flow, set, workers, progress)


def _fit(
    source: _run.Source,
    observed: Course,
    free: Sequence[str],
    flow: str | None,
    given: _run.Overrides | None,
    workers: int | None,
    progress: Progress | None,
) -> Fit:
    parameters = [parameter(key) for key in _different(free)]
    first = np.array([first_value(one.kind, observed) for one in parameters])
    runs = open_runs(source, observed, parameters, first, flow=flow, given=given)
    runs.workers, runs.progress, runs.expected = workers, progress, USUAL_RUNS
    width = np.array([REACH[one.kind] for one in parameters])
    least = np.array([LEAST_WIDTH[one.kind] for one in parameters])
    runs.add(runs.clipped(first + width * _design(FIRST_POINTS, len(first), SEED)))
    runs.require_data(first)
    local = regression(runs, width)
    for number in range(MOST_ROUNDS):
        # A best point at the edge of the region means that a better one may lie outside.
        is_within = np.abs(local.step) < WITHIN
        if np.all(is_within & (width <= least)):
            break
        width = np.where(is_within, np.maximum(width * NARROWER, least), width)
        points = local.best + width * _design(ROUND_POINTS, len(first), SEED + 1 + number)
        points[0] = local.best
        runs.add(runs.clipped(points))
        local = regression(runs, width, before=local)
    return _result(runs, local, labels(observed))


def _different(keys: Sequence[str]) -> Sequence[str]:
    """Returns the keys if there is at least one, and none twice."""
    if not keys:
        raise MeasuredError("expected at least one key, such as link.path.rate", key="free")
    for key in keys:
        if list(keys).count(key) > 1:
            raise MeasuredError(f"{key} is given twice; expected each key once", key="free")
    return keys


def _design(points: int, dimensions: int, seed: int) -> Matrix:
    """Returns points that fill the cube from -1 to 1 evenly."""
    return 2 * qmc.Sobol(dimensions, rng=seed).random(points) - 1


def _result(runs: Runs, local: Local, quantities: Sequence[str]) -> Fit:
    """Returns the result with intervals, which take further runs for open parameters."""
    found = intervals.of(runs, local)
    fitted = runs.course_at(local.best)
    differences = (
        np.full(len(runs.target), np.nan) if fitted is None else features(fitted) - runs.target
    )
    return Fit(
        parameters=found.parameters,
        quantities={
            one: float(np.sqrt(np.mean(differences[np.array(quantities) == one] ** 2)))
            for one in dict.fromkeys(quantities)
        },
        runs=runs.count,
        statements=found.statements,
        observed=runs.observed,
        fitted=fitted,
    )
