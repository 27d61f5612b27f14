"""The example scenarios that come with the package."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Example:
    """Example scenario of the package."""

    name: str
    path: Path

    @property
    def text(self) -> str:
        """The text of the scenario file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def title(self) -> str:
        """The subject of the scenario, in one line."""
        return str(tomllib.loads(self.text).get("title", ""))

    @property
    def files(self) -> list[Path]:
        """The files that the scenario reads, in the folder of the scenario."""
        tables = tomllib.loads(self.text).get("channel-file", {}).values()
        return [self.path.parent / str(table["file"]) for table in tables]


@cache
def examples() -> dict[str, Example]:
    """Returns every example by name."""
    return {path.stem: Example(path.stem, path) for path in sorted(FOLDER.glob("*.toml"))}
