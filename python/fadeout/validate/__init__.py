"""Validation: recorded runs of real stacks beside the same runs here."""

REFERENCES = ("linux",)
"""What `fadeout validate` can compare with."""
