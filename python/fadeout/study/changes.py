"""Assumptions that a study changes one at a time."""

from dataclasses import dataclass, field
from typing import Any

from fadeout.study.job import Values


@dataclass(frozen=True)
class Change:
    """One assumption changed, everything else as in the scenario."""

    assumption: str
    value: str
    values: Values = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.assumption}: {self.value}" if self.value else self.assumption

    def data(self) -> dict[str, Any]:
        """Its columns of a data file."""
        return {"assumption": self.assumption, "value": self.value}


UNCHANGED = "as in the scenario"
"""What the first line of a table of changes is called."""
