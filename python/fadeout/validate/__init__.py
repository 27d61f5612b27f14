"""Validation: recorded runs of real stacks, and kernels that run here, beside our own."""

REFERENCES = ("linux", "kernel")
"""What `fadeout validate` can compare with."""
