"""What do shorter LTE intervals and quicker uplink requests give TCP slow start?"""

from fadeout.studies.slow_start.study import STUDY

__all__ = ["STUDY"]
