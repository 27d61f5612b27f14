"""What does a second path over LTE or 73 GHz add to TCP over 28 GHz, by distance?"""

from fadeout.studies.multipath.study import STUDY

__all__ = ["STUDY"]
