"""Kinds of measured files, by their names."""

from pathlib import Path

CAPTURES = (".pcap", ".pcapng", ".cap")
"""File endings of captures."""


def is_capture(file: Path) -> bool:
    """Returns True if a file's name is that of a capture."""
    return file.name.endswith(CAPTURES)
