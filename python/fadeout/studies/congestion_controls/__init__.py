"""Every congestion control on the same five links, alone and beside CUBIC."""

from fadeout.studies.congestion_controls.study import STUDY

__all__ = ["STUDY"]
