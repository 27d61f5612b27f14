"""Positions of a measured table on the map of a scenario."""

import numpy as np

from fadeout import _projection
from fadeout.measured.errors import MeasuredError
from fadeout.measured.table import Measurement


def projected(
    measured: Measurement,
    longitudes: np.ndarray,
    latitudes: np.ndarray,
    projection: _projection.Projection,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the metres to the east and to the north of places in degrees.

    Raises:
        MeasuredError: a place is too far from the origin.
    """
    try:
        return projection.forward(longitudes, latitudes)
    except _projection.ProjectionError as error:
        raise MeasuredError(f"{measured.source.name}: {error}", key="origin") from None
