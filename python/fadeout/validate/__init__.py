"""Validation of fadeout against recorded runs of real stacks, and against kernels that run here."""

REFERENCES = ("linux", "kernel")
"""References that `fadeout validate` can compare with."""
