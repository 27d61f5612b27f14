"""How often do handovers fail or go back among macro cells and picos, by speed and trigger?"""

from fadeout.studies.mobility.study import STUDY

__all__ = ["STUDY"]
