"""The numbers that a study has beside its own."""

import tomllib
from pathlib import Path
from typing import Any


def published(folder: Path) -> dict[str, Any]:
    """What `published.toml` of a study has."""
    return tomllib.loads((folder / "published.toml").read_text(encoding="utf-8"))


def claims_of(numbers: dict[str, Any]) -> dict[str, str]:
    """The text of each claim by its id."""
    return {claim["id"]: claim["text"] for claim in numbers["claim"]}


def beside(published: float, ours: float) -> str:
    """A cell of a table: the published number, ours, and the ratio of both."""
    return f"{published:g} / {ours:.4g} / {ours / published:.2f}"
