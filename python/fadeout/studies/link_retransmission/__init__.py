"""What do HARQ and RLC retransmissions on a 28 GHz link do for TCP, by distance?"""

from fadeout.studies.link_retransmission.study import STUDY

__all__ = ["STUDY"]
