"""What throughput, delay and fairness does each congestion control get on what link?"""

from fadeout.studies.congestion_controls.study import STUDY

__all__ = ["STUDY"]
