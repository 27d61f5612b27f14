"""Coupling loss and geometry in the standard deployments, beside 3GPP's calibration curves."""

from fadeout.studies.calibration.study import STUDY

__all__ = ["STUDY"]
