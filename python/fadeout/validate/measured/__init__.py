"""Comparison with published measurements of radio networks.

An entry in `entries/` names a data set, the scenario that repeats its set-up, and the values that
are compared. `tables.csv` has quantiles of the data sets whose licences allow derived tables, and
`figures.csv` has numbers that publications show in their figures.
"""

MEDIAN_TOLERANCE = 0.15
"""Largest relative error of a median."""

P90_TOLERANCE = 0.25
"""Largest relative error of a 90th percentile."""
