"""What should a network do when a 38 GHz beam breaks, and from which length of blockage on?"""

from fadeout.studies.fallback.study import STUDY

__all__ = ["STUDY"]
