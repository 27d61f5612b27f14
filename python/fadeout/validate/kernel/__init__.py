"""Comparison with Linux: each scenario runs with our TCP and with a kernel at its ends.

`compare` does one scenario, and `matrix` the list of cases that is part of the package.
"""

from fadeout.validate.kernel.compared import Compared, Verdict
from fadeout.validate.kernel.runs import compare
from fadeout.validate.kernel.scenario import Sides, sides

__all__ = ["Compared", "Sides", "Verdict", "compare", "sides"]
