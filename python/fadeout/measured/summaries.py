"""Summaries of a table's rows in bounded memory, for rows that come in blocks."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

DIGITS = 4
"""Significant digits of the steps that are counted. The number of different steps is bounded."""
MOST_NAMES = 10_000
"""Largest number of different names that are counted."""


@dataclass(frozen=True, order=True)
class Step:
    """The time between two rows."""

    lasts_ns: int
    until_ns: int
    """Time of the later row."""


@dataclass
class StepSummary:
    """Times of rows in the order in which they come."""

    longest_kept: int
    """Number of the longest steps that are kept."""
    rows: int = 0
    first_ns: int = 0
    last_ns: int = 0
    repeated: int = 0
    """Number of rows with the time of the row before."""
    disordered: int = 0
    """Number of rows that are earlier than the row before."""
    _counts: dict[int, int] = field(default_factory=dict)
    """Number of increasing steps by their nanoseconds, rounded to `DIGITS` digits."""
    _longest: list[Step] = field(default_factory=list)

    def add(self, at: np.ndarray) -> None:
        """Adds rows with these times in nanoseconds."""
        if not len(at):
            return
        if self.rows == 0:
            self.first_ns = int(at[0])
        else:
            at = np.concatenate([[self.last_ns], at])
        self.rows += len(at) - (self.rows > 0)
        self.last_ns = int(at[-1])
        steps = np.diff(at)
        self.repeated += int((steps == 0).sum())
        self.disordered += int((steps < 0).sum())
        later = np.flatnonzero(steps > 0)
        if not len(later):
            return
        most = later[np.argsort(steps[later], kind="stable")[-self.longest_kept :]]
        found = [Step(int(steps[row]), int(at[row + 1])) for row in most]
        self._longest = heapq.nlargest(self.longest_kept, [*self._longest, *found])
        for step, count in zip(*np.unique(_rounded(steps[later]), return_counts=True), strict=True):
            self._counts[int(step)] = self._counts.get(int(step), 0) + int(count)

    @property
    def usual_ns(self) -> float:
        """Median step. Zero without steps."""
        ordered = sorted(self._counts.items())
        ends = np.cumsum([count for _, count in ordered])
        if not len(ends):
            return 0.0
        middle = [np.searchsorted(ends, rank, side="right") for rank in _middle(int(ends[-1]))]
        return float(np.mean([ordered[int(row)][0] for row in middle]))

    def steps_above(self, nanoseconds: float) -> int:
        """Returns the number of longer steps."""
        return sum(count for step, count in self._counts.items() if step > nanoseconds)

    @property
    def longest(self) -> Sequence[Step]:
        """Longest steps, the longest first."""
        return self._longest


def _middle(count: int) -> tuple[int, int]:
    """Returns the ranks of the two middle values, from 0."""
    return (count - 1) // 2, count // 2


def _rounded(steps: np.ndarray) -> np.ndarray:
    """Returns positive numbers rounded to `DIGITS` significant digits."""
    grain = np.maximum(np.floor(np.log10(steps)) - (DIGITS - 1), 0).astype(np.int64)
    unit = np.power(10, grain)
    return (steps + unit // 2) // unit * unit


@dataclass
class NumberSummary:
    """Range and mean of numbers."""

    rows: int = 0
    missing: int = 0
    low: float = np.inf
    high: float = -np.inf
    _sum: float = 0.0

    def add(self, values: pl.Series) -> None:
        """Adds numbers. Null if missing."""
        known = values.drop_nulls().to_numpy()
        self.rows += len(known)
        self.missing += len(values) - len(known)
        if len(known):
            self.low = min(self.low, float(known.min()))
            self.high = max(self.high, float(known.max()))
            self._sum += float(known.sum())

    def described(self) -> str:
        """Returns the range and the mean."""
        return f"{self.low:g} to {self.high:g}, mean {self._sum / self.rows:.4g}"


@dataclass
class NameSummary:
    """Different names, in the order in which they first come."""

    rows: int = 0
    missing: int = 0
    _names: dict[str, None] = field(default_factory=dict)

    def add(self, values: pl.Series) -> None:
        """Adds names. Null if missing."""
        known = values.drop_nulls()
        self.rows += len(known)
        self.missing += len(values) - len(known)
        if len(self._names) <= MOST_NAMES:
            self._names.update(dict.fromkeys(known.unique(maintain_order=True)))

    def described(self) -> str:
        """Returns the first names and their number."""
        names = [*self._names]
        if len(names) <= 4:
            return ", ".join(names)
        count = f"more than {MOST_NAMES:,}" if len(names) > MOST_NAMES else f"{len(names)}"
        return f"{', '.join(names[:4])}, … ({count})"


@dataclass(frozen=True)
class Jump:
    """A step between two positions that is too fast."""

    way_m: float
    lasts_s: float
    until_ns: int
    """Time of the later position."""


ROW = np.dtype([("at", np.int64), ("x", float), ("y", float), ("speed", float)])
"""Time in nanoseconds, position in metres and speed in m/s."""


@dataclass
class WaySummary:
    """Way between positions in the order of their times."""

    fastest_mps: float
    """Speed above which a step is a jump."""
    way_m: float = 0.0
    """Way by the positions."""
    driven_m: float = 0.0
    """Way by the reported speeds."""
    jumps: int = 0
    worst: Jump | None = None
    """Jump over the longest way."""
    _low: np.ndarray = field(default_factory=lambda: np.full(2, np.inf))
    _high: np.ndarray = field(default_factory=lambda: np.full(2, -np.inf))
    _last: np.ndarray | None = None
    """Time, position and speed of the last row, as a row of an array."""

    @property
    def extent_m(self) -> np.ndarray:
        """Size of the area of the positions along both axes."""
        return self._high - self._low

    def add(self, at: np.ndarray, places: np.ndarray, speeds_mps: np.ndarray) -> None:
        """Adds positions.

        Args:
            at: times in nanoseconds, of shape (n,).
            places: positions in metres, of shape (n, 2).
            speeds_mps: reported speeds, of shape (n,). NaN if there are none.
        """
        if not len(at):
            return
        rows = np.empty(len(at), dtype=ROW)
        rows["at"], rows["x"], rows["y"], rows["speed"] = at, *places.T, speeds_mps
        if self._last is not None:
            rows = np.concatenate([self._last, rows])
        # The last of the rows with one time counts.
        rows = rows[np.append(np.diff(rows["at"]) != 0, True)]
        self._last = rows[-1:]
        self._low = np.minimum(self._low, [rows["x"].min(), rows["y"].min()])
        self._high = np.maximum(self._high, [rows["x"].max(), rows["y"].max()])
        lasts_s = np.diff(rows["at"]) * 1e-9
        way_m = np.hypot(np.diff(rows["x"]), np.diff(rows["y"]))
        self.way_m += float(way_m.sum())
        self.driven_m += float((rows["speed"][:-1] * lasts_s).sum())
        found = np.flatnonzero(way_m > self.fastest_mps * lasts_s)
        self.jumps += len(found)
        if len(found):
            worst = int(found[np.argmax(way_m[found])])
            jump = Jump(float(way_m[worst]), float(lasts_s[worst]), int(rows["at"][worst + 1]))
            if self.worst is None or jump.way_m > self.worst.way_m:
                self.worst = jump
