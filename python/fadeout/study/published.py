"""The published numbers that a study compares its own with."""

import tomllib
from pathlib import Path
from typing import Any

from fadeout.study.claims import Claim


def published(folder: Path) -> dict[str, Any]:
    """Returns the content of a study's `published.toml`."""
    return tomllib.loads((folder / "published.toml").read_text(encoding="utf-8"))


def claims_of(numbers: dict[str, Any]) -> dict[str, Claim]:
    """Returns the claims with their checks, by id."""
    return {entry["id"]: Claim.of(entry) for entry in numbers["claim"]}
