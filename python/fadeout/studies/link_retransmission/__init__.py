"""What retransmissions on a 28 GHz link do for TCP."""

from fadeout.studies.link_retransmission.study import STUDY

__all__ = ["STUDY"]
