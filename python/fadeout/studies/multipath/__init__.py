"""What a second path adds to a 28 GHz one."""

from fadeout.studies.multipath.study import STUDY

__all__ = ["STUDY"]
