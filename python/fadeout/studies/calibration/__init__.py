"""Do losses and geometry in the standard deployments lie on 3GPP's calibration curves?"""

from fadeout.studies.calibration.study import STUDY

__all__ = ["STUDY"]
