"""How much does TCP lose when a vehicle blocks a 38 GHz link every five seconds?"""

from fadeout.studies.blockage.study import STUDY

__all__ = ["STUDY"]
