"""Fit of a scenario's parameters to a measurement: `fadeout fit`.

`course` reads the measurement, and `features` compares it with a run. `search` finds the parameters
with the smallest difference. `intervals` states how well the measurement determines them.
"""

from fadeout.fit.course import Course, read_course
from fadeout.fit.result import Fit, FittedParameter
from fadeout.fit.search import fit

__all__ = ["Course", "Fit", "FittedParameter", "fit", "read_course"]
