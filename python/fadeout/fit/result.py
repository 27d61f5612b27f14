"""The result of a fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fadeout import _toml
from fadeout.fit.course import Course
from fadeout.fit.parameter import shown, written


@dataclass(frozen=True)
class FittedParameter:
    """A parameter with its 90 % interval. Values are bit/s, seconds or packets."""

    key: str
    kind: str
    """`rate`, `delay` or `queue`."""
    value: float
    low: float
    high: float
    low_is_open: bool = False
    """True if the true value may be smaller than `low`."""
    high_is_open: bool = False

    def contains(self, value: float) -> bool:
        """Returns True if the interval contains a value. Queues have whole packets."""
        low, high = self.low, self.high
        if self.kind == "queue":
            low, high = round(low), round(high)
        return (self.low_is_open or low <= value) and (self.high_is_open or value <= high)

    def text(self) -> str:
        """Returns the value in the form of a scenario."""
        return written(self.kind, self.value)

    def shown(self) -> str:
        """Returns the value in a readable unit."""
        return shown(self.kind, self.value)

    def interval(self) -> str:
        """Returns the interval in readable units."""
        low, high = shown(self.kind, self.low), shown(self.kind, self.high)
        if self.low_is_open and self.high_is_open:
            return "open"
        if self.high_is_open:
            return f"at least {low}"
        return f"at most {high}" if self.low_is_open else f"{low} to {high}"


@dataclass(frozen=True)
class Fit:
    """Values that explain a measurement."""

    parameters: Sequence[FittedParameter]
    quantities: Mapping[str, float]
    """Root mean square of the relative differences, by quantity."""
    runs: int
    """Number of runs."""
    statements: Sequence[str]
    """Sentences about parameters that the measurement does not determine."""
    observed: Course
    fitted: Course | None
    """The course of the run with the values. None if it delivers nothing."""

    def overrides(self) -> dict[str, str]:
        """Returns the values as overrides of the scenario, for `fadeout.run(..., set=...)`."""
        return {one.key: one.text() for one in self.parameters}

    def toml(self) -> str:
        """Returns the result as TOML: a table with value and interval for each key."""
        parts = [f"runs = {self.runs}\n"]
        if self.statements:
            parts[0] += f"statements = {_toml.value(list(self.statements))}\n"
        for one in self.parameters:
            table = {"value": one.text()}
            if not one.low_is_open:
                table["low"] = written(one.kind, one.low)
            if not one.high_is_open:
                table["high"] = written(one.kind, one.high)
            parts.append(f"[{_toml.value(one.key)}]\n{_toml.dumps(table)}")
        differences = {name: round(value, 5) for name, value in self.quantities.items()}
        parts.append(f"[difference]\n{_toml.dumps(differences)}")
        return "\n".join(parts)
