"""Files in the user's cache that replace traces and tables of other tools."""

import hashlib
import os
from pathlib import Path


def cache_dir() -> Path:
    """Returns the folder of the files."""
    base = os.environ.get("FADEOUT_CACHE") or os.environ.get("XDG_CACHE_HOME")
    folder = Path(base) if base else Path.home() / ".cache"
    folder = folder / "fadeout" / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept_table(text: str) -> Path:
    """Returns the file with the text of a table, named by its content."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    kept = cache_dir() / f"{digest[:32]}.csv"
    if not kept.exists():
        scratch = kept.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(text)
        scratch.replace(kept)
    return kept
