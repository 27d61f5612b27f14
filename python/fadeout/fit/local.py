"""Linear regression of the features on the parameters, near the best point."""

from dataclasses import dataclass

import numpy as np

from fadeout.fit.course import Numbers
from fadeout.fit.runs import Matrix, Runs

NEIGHBOURS = 8
"""Number of nearest points for each coefficient of a regression."""
RESOLUTION = 5e-4
"""Smallest standard deviation of a feature: half of the last of three digits."""
RIDGE = 1e-2
"""Weight that keeps steps finite along parameters which change no feature."""


@dataclass(frozen=True)
class Local:
    """The features near a point as linear functions of the parameters.

    Features are divided by their scatter, and parameters by the half width of the region.
    """

    centre: Numbers
    """Point with the smallest difference so far, in logarithms of the parameters."""
    width: Numbers
    """Half widths of the region."""
    scatter: Numbers
    """Standard deviation of each feature around the regression."""
    slopes: Matrix
    """Change of each feature for each parameter."""
    difference: Numbers
    """Difference of the measurement from the features at the centre."""
    residuals: Matrix
    """Differences of the runs from the regression, a row for each run."""
    step: Numbers
    """Step from the centre to the best point."""

    @property
    def best(self) -> Numbers:
        """Best point: that of the regression, if it is within the region."""
        return self.centre + self.width * np.clip(self.step, -1, 1)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of each feature's scatter."""
        return len(self.residuals) - len(self.centre) - 1

    @property
    def ratio(self) -> float:
        """Distance of the measurement from the model, by the usual distance of a run.

        About 1 if the scenario describes the measured system exactly.
        """
        left = self.difference - self.slopes @ self.step
        free = max(1, len(left) - len(self.centre))
        return float(np.sqrt(np.sum(left**2) / free))


def regression(runs: Runs, width: Numbers, before: Local | None = None) -> Local:
    """Returns the regression around the best of the runs.

    Args:
        runs: the runs so far.
        width: half widths of the region.
        before: the regression of the previous round, whose scatter weights the features.
    """
    points, found = np.array(runs.points), runs.differences()
    weights = 1.0 if before is None else before.scatter**-2.0
    centre = points[np.argmin(np.mean(found**2 * weights, axis=1))]
    scaled = (points - centre) / width
    count = NEIGHBOURS * (1 + len(centre))
    near = np.argsort(np.sum(scaled**2, axis=1), kind="stable")[:count]
    known = np.column_stack([np.ones(len(near)), scaled[near]])
    coefficients = np.linalg.lstsq(known, found[near])[0]
    residuals = found[near] - known @ coefficients
    free = max(1, len(near) - len(centre) - 1)
    scatter = np.maximum(np.sqrt(np.sum(residuals**2, axis=0) / free), RESOLUTION)
    slopes = (coefficients[1:] / scatter).T
    difference = -coefficients[0] / scatter
    square = slopes.T @ slopes + RIDGE * np.eye(len(centre))
    step = np.linalg.solve(square, slopes.T @ difference)
    return Local(centre, width, scatter, slopes, difference, residuals / scatter, step)
