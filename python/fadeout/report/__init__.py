"""Reports: a run or a campaign as one HTML file that needs no other file.

A report compares the scenario with its defaults. It also has the commands that repeat the run,
warnings and tables. Series and a map over time play together.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from fadeout._files import new_file
from fadeout._native import ResultError

__all__ = ["write"]

DEFAULT_SIZE = 500_000
"""Default of the size limit of a page, in bytes."""

LARGEST = 5_000_000
"""Largest size limit that a user may set, in bytes."""

SMALLEST = 200_000
"""Smallest size limit that a user may set, in bytes."""


def write(
    folder: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    size: int = DEFAULT_SIZE,
    remarks: Sequence[str] = (),
    base: str | PathLike[str] | None = None,
) -> Path:
    """Writes the report of a run or a campaign as one HTML file, and returns its path.

    The page loads nothing from elsewhere. Series keep their peaks and troughs if they are thinned
    to the size.

    Args:
        folder: the folder of a run or of a campaign.
        out: the file. Default: `report.html` in the folder. An existing file is replaced.
        size: the largest size of the page in bytes, 200,000 to 5,000,000. Larger pages have more
            points. Tables are never left out for the size.
        remarks: warnings of the run, which its folder does not contain.
        base: the folder to which files named in the scenario are relative. Default: the working
            folder. The map needs these files.

    Raises:
        ResultError: the folder has no run and no campaign, or a file cannot be read or written.
        ValueError: the size is out of range.
    """
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"size: expected {SMALLEST:,} to {LARGEST:,} bytes, found {size:,}")
    folder = Path(folder)
    if (folder / "campaign.json").is_file():
        from fadeout.campaign import Campaign
        from fadeout.report.campaign_page import campaign_page

        text = campaign_page(Campaign.open(folder))
    else:
        from fadeout.report.run_page import run_page
        from fadeout.results import Results

        if not folder.is_dir():
            raise ResultError(f"{folder}: expected the folder of a run or of a campaign")
        files = None if base is None else Path(base)
        text = run_page(Results.open(folder), size, remarks, files)
    path = folder / "report.html" if out is None else Path(out)
    try:
        # A full disk leaves the report that was there, and no part of the new one.
        with new_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror or error}") from error
    return path
