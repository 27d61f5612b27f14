"""How much a TCP download loses when a 38 GHz link is blocked for moments."""

from fadeout.studies.blockage.study import STUDY

__all__ = ["STUDY"]
