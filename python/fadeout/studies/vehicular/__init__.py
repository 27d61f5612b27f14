"""Does TCP in cars under 28 GHz gain from knowing how long a blockage will last?"""

from fadeout.studies.vehicular.study import STUDY

__all__ = ["STUDY"]
