"""Our TCP beside Linux's own: the same scenario twice, once with a kernel at the ends of its flows.

`compare` does one scenario, `matrix` the list of cases that is part of the package.
"""

from fadeout.validate.kernel.compared import Compared, Verdict
from fadeout.validate.kernel.runs import compare
from fadeout.validate.kernel.scenario import Sides, sides

__all__ = ["Compared", "Sides", "Verdict", "compare", "sides"]
