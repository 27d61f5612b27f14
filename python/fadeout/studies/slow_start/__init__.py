"""What TCP slow start gains from shorter LTE intervals and from more requests for the uplink."""

from fadeout.studies.slow_start.study import STUDY

__all__ = ["STUDY"]
