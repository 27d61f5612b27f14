"""The paper's settings and numbers, and its open assumptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fadeout.study import (
    Change,
    Choice,
    Data,
    Job,
    Numbers,
    Page,
    Tolerance,
    Values,
    overrides,
    published,
    spread,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)

STOP_S: float = PUBLISHED["setup"]["stated"]["dl_stop_s"]
"""Time at which the source stops sending, seconds."""
SEGMENT_BYTES = 1500

FAST_MBPS = 155.0

STATED_STARTS_MS = (10.0, 50.0)
"""Starts of bicasting that the paper states, ms before the command."""

TCP = "flow.download.tcp"


@dataclass(frozen=True)
class Questions:
    """Points of the paper's open questions. `study.toml` explains them."""

    bicast_starts_ms: tuple[float, ...]
    rates_mbps: tuple[float, ...]
    rtts_ms: tuple[float, ...]
    limits: tuple[float, ...]
    downloads: tuple[tuple[float, ...], ...]
    loss_every_s: float


@dataclass(frozen=True)
class Outage:
    """Time that the phone is in no cell, for a DRX cycle."""

    drx: str
    length_s: float


@dataclass(frozen=True)
class Setting:
    """A handover: rates before and after in Mbit/s, round trip, S1's rate, and scheme for data."""

    before: float
    after: float
    rtt_ms: float
    is_fast: bool
    """True if S1 has 155 Mbit/s. False for the rate of the radio."""
    scheme: str
    bicast_ms: float = 10.0
    """Time from the start of bicasting to the command, ms."""
    extra: tuple[tuple[str, str], ...] = field(default=())

    @property
    def name(self) -> str:
        """Name of the setting in tables."""
        return f"{self.before:g} to {self.after:g} Mbit/s, {self.rtt_ms:g} ms"

    def changed(self, values: Values) -> "Setting":
        """Returns the setting with other overrides."""
        return replace(self, extra=tuple({**dict(self.extra), **values}.items()))

    def values(self, seed: int) -> Values:
        """Returns the overrides of the setting.

        The seed moves the command by a part of a segment's transmission time, so that it meets
        every phase of the link's transmissions.
        """
        segment_s = SEGMENT_BYTES * 8 / (self.before * 1e6)
        at_s = STOP_S + spread(seed) * segment_s
        wires = {
            # This rate applies above the anchor, for reasons in README.md.
            "link.internet.rate": FAST_MBPS if self.is_fast else self.before,
            "link.s1.rate": FAST_MBPS if self.is_fast else self.before,
            "link.iu.rate": FAST_MBPS if self.is_fast else self.after,
            "link.lte.rate": self.before,
            "link.lte.reverse.rate": self.before,
            "link.umts.rate": self.after,
            "link.umts.reverse.rate": self.after,
        }
        values = {key: f"{rate * 1e6:.0f} bit/s" for key, rate in wires.items()}
        values["link.internet.delay"] = f"{self.rtt_ms / 2:g} ms"
        values["handover.to-umts.at"] = f"{at_s:.9f} s"
        values["handover.to-umts.data"] = self.scheme
        if self.scheme == "bicasting":
            values["handover.to-umts.bicast-before"] = f"{self.bicast_ms:g} ms"
        return {**values, **dict(self.extra)}


Found = Mapping[Setting, Sequence[Numbers]]
"""Numbers of each setting, as a list over the seeds."""


@dataclass(frozen=True)
class Cell:
    """A column of figures 4 and 5."""

    column: str
    """Name of the column in `published.toml`."""
    name: str
    """Name of the cell in data files."""
    is_fast: bool
    scheme: str

    @property
    def head(self) -> str:
        """Head of the column in tables."""
        return f"S1 {'155' if self.is_fast else 'as radio'}, {self.scheme}"


CELLS = (
    Cell("same_fwd", "same_forwarding", False, "forwarding"),
    Cell("same_bicast", "same_bicasting", False, "bicasting"),
    Cell("fast_fwd", "fast_forwarding", True, "forwarding"),
    Cell("fast_bicast", "fast_bicasting", True, "bicasting"),
)
FAST_BICASTING = CELLS[-1]

PAGE = Page.read(FOLDER, {"cells": {cell.name: cell.head for cell in CELLS}})


@dataclass(frozen=True)
class Row:
    """A row of figure 4 or 5."""

    figure: str
    before: float
    after: float
    rtt_ms: float
    cells: Mapping[str, tuple[float, float]] = field(hash=False)
    """Published retransmissions and times in s, by the name of the cell."""

    @property
    def name(self) -> str:
        """Name of the row in tables."""
        return self.setting(FAST_BICASTING).name

    def setting(self, cell: Cell) -> Setting:
        """Returns the setting of a cell."""
        return Setting(self.before, self.after, self.rtt_ms, cell.is_fast, cell.scheme)


ROWS = tuple(
    Row(
        figure,
        row.get("from_mbps", row.get("rate_mbps")),
        row.get("to_mbps", row.get("rate_mbps")),
        row["rtt_ms"],
        {cell.name: tuple(row[cell.column][:2]) for cell in CELLS},
    )
    for figure in ("figure4", "figure5")
    for row in PUBLISHED[figure]
)
FIRST = ROWS[0]
ALL_SETTINGS = [row.setting(cell) for row in ROWS for cell in CELLS]

QUESTIONS = DATA.one("questions", Questions)
OUTAGES = DATA.all("outage", Outage)
BASE = Change.nothing()
CHANGES = DATA.all("change", Change)
STACKS = DATA.all("stack", Choice)
TOLERANCES = {name: Tolerance(**rule) for name, rule in PUBLISHED["tolerance"].items()}


def job(setting: Setting, seed: int, values: Values | None = None) -> Job:
    """Returns the run of a setting over links."""
    given = {**setting.values(seed), **(values or {})}
    return Job(FOLDER / "scenario.toml", overrides(given), seed=seed, with_tables=True)
