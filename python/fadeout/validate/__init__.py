"""Validation of fadeout against recorded runs of real stacks, against kernels that run here, and
against published measurements of radio networks.
"""

REFERENCES = ("linux", "kernel", "measured", "fit")
"""References that `fadeout validate` can compare with."""
