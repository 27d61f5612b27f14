"""What do QUIC and Multipath QUIC change over a radio, compared with TCP and Multipath TCP?"""

from fadeout.studies.quic.study import STUDY

__all__ = ["STUDY"]
