"""Must data be forwarded when a phone leaves LTE for 3G, or is bicasting enough for TCP?"""

from fadeout.studies.inter_rat_handover.study import STUDY

__all__ = ["STUDY"]
