"""The paper's settings and numbers, the runs over links, and the numbers read from them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    Change,
    Choice,
    Data,
    Found,
    Job,
    Page,
    Runs,
    Tolerance,
    Values,
    claims_of,
    overrides,
    published,
    spread,
)
from fadeout.study.found import Point
from fadeout.study.job import Reader

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

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

    def data(self) -> dict[str, Any]:
        """Returns the columns of a data file that identify the row."""
        return {"before_mbps": self.before, "after_mbps": self.after, "rtt_ms": self.rtt_ms}

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
CELL_SETTINGS = {(row.figure, row, cell): row.setting(cell) for row in ROWS for cell in CELLS}
"""The settings of figures 4 and 5."""

QUESTIONS = DATA.one("questions", Questions)
TOLERANCES = {name: Tolerance(**rule) for name, rule in PUBLISHED["tolerance"].items()}


WINDOW = 10
"""Number of bins of 30 ms in the window of a rate."""
STEADY = 0.9
"""Share of the previous rate from which a rate counts as reached again."""
STAYS_S = 2.0
"""Time for which the rate must stay reached, seconds."""
BEFORE_S = 5.0
"""Time before the command over which the previous rate is measured, seconds."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds. A seed sets the phase of the command within the time of a segment."""


def job(setting: Setting, seed: int, values: Values | None = None) -> Job:
    """Returns the run of a setting over links."""
    given = {**setting.values(seed), **(values or {})}
    return Job(FOLDER / "scenario.toml", overrides(given), seed=seed, with_tables=True)


def read(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run."""
    row = results.link_handovers.row(0, named=True)
    counts = (
        "forwarded_waiting",
        "forwarded_later",
        "bicast",
        "doubled",
        "reordered",
        "lost_waiting",
        "lost_later",
        "lost_forwarding",
        "lost_at_target",
    )
    return {
        **recovery(results, row["commanded_s"]),
        **{name: float(row[name]) for name in counts},
        "lost": float(
            row["lost_waiting"] + row["lost_later"] + row["lost_forwarding"] + row["lost_at_target"]
        ),
        "gap_s": row["downlink_gap_s"],
    }


def found(
    runs: Runs[Effort],
    axes: str,
    settings: Mapping[Point, Setting],
    run: Callable[[Setting, int], Job] = job,
    read: Reader[dict[str, float]] = read,
    seeds: int | None = None,
) -> Found:
    """Returns the numbers of each setting over the seeds, by its point on `axes`."""
    of_setting = runs.over_seeds(dict.fromkeys(settings.values()), run, read, seeds)
    return Found(tuple(axes.split()), {at: of_setting[each] for at, each in settings.items()})


BICASTING = Setting(1.0, 1.0, 10.0, True, "bicasting")
"""The paper's first row with bicasting over the fast S1."""


def limited(setting: Setting, round_trips: float | None) -> Setting:
    """Returns the setting of note 1, with a limit of the source's buffer in round trips."""
    if round_trips is None:
        return setting
    return setting.changed({"handover.to-umts.source-limit": f"{round_trips:g}"})


def over_axes() -> dict[Point, Setting]:
    """Returns the settings of figure 1's axes, by rate in Mbit/s and round trip in ms.

    All data in transit are lost. In the paper's worst case the window is the bandwidth-delay
    product.
    """
    settings: dict[Point, Setting] = {}
    for rate in QUESTIONS.rates_mbps:
        for rtt in QUESTIONS.rtts_ms:
            segments = max(4, round(rate * 1e6 * rtt / 1e3 / 8 / 1500) + 2)
            values = {f"{TCP}.receive-window": str(segments * 1460)}
            settings[rate, rtt] = Setting(rate, rate, rtt, True, "none").changed(values)
    return settings


def forward_settings() -> dict[Point, Setting]:
    """Returns the settings of section 3.

    A point has the DRX cycle, whether data are forwarded, rate in Mbit/s and round trip in ms.
    """
    return {
        (outage, scheme == "forwarding", rate, rtt): Setting(rate, rate, rtt, True, scheme).changed(
            outage.values
        )
        for outage in DATA.all("outage", Choice)
        for scheme in ("forwarding", "none")
        for rate, rtt in QUESTIONS.downloads
    }


def changed(changes: Iterable[Change]) -> dict[Point, Setting]:
    """Returns the settings of the paper's first row with each change, by change and cell."""
    return {
        (one, cell): FIRST.setting(cell).changed(one.values) for one in changes for cell in CELLS
    }


def recovery(results: Results, stop_s: float) -> dict[str, float]:
    """Returns the retransmissions, timeouts and times of a run after the command at `stop_s`."""
    again = results.retransmissions.filter(pl.col("time_s") >= stop_s)
    timeouts = results.timeouts.filter(pl.col("time_s") >= stop_s)
    return {
        "retransmissions": float(len(again)),
        "timeouts": float(len(timeouts)),
        **spacing(again["time_s"].to_list(), stop_s),
        **convergence(results.throughput, stop_s),
    }


def spacing(times_s: Sequence[float], stop_s: float) -> dict[str, float]:
    """Returns the time to the first retransmission and the mean time between two, in seconds.

    The time to the first is NaN without a retransmission. The mean is NaN with fewer than two.
    """
    count = len(times_s)
    return {
        "silence_s": times_s[0] - stop_s if count else math.nan,
        "spacing_s": (times_s[-1] - times_s[0]) / (count - 1) if count > 1 else math.nan,
    }


def convergence(throughput: pl.DataFrame, stop_s: float, share: float = 1.0) -> dict[str, float]:
    """Returns the times at which the download reaches its previous rate again.

    Times are in seconds after the command. A rate that is never reached has the rest of the run.
    `share` is the factor of the previous rate that must be reached.

    `time_s` is the start of two seconds with at least 90 % of the rate. The rate is that of data in
    order at the receiver, over windows of ten bins. `bin_s` is the end of the first single bin with
    the rate. `new_time_s` is as `time_s`, but for the rate of the run's last two seconds.
    """
    ends = throughput["time_s"].to_list()
    sizes = throughput["bytes"].to_list()
    width = ends[1] - ends[0]
    first = next(n for n, end in enumerate(ends) if end > stop_s)
    before = int(BEFORE_S / width)
    old = sum(sizes[first - before : first]) / before * share
    late = int(STAYS_S / width)
    new = sum(sizes[-late:]) / late
    rest = ends[-1] - stop_s

    def steady(rate: float) -> float:
        sums = [sum(sizes[n : n + WINDOW]) / WINDOW for n in range(first, len(sizes) - WINDOW)]
        stays = 0
        for n, mean in enumerate(sums):
            stays = stays + 1 if mean >= STEADY * rate else 0
            if stays >= late:
                begin = ends[first + n - stays + 1] - width
                return max(begin - stop_s, 0.0)
        return rest

    single = next((ends[n] - stop_s for n in range(first, len(sizes)) if sizes[n] >= old), rest)
    return {
        "time_s": steady(old),
        "bin_s": single,
        "new_time_s": steady(new),
        "old_mbps": rate(old, width),
        "new_mbps": rate(new, width),
    }


def rate(size: float, width: float) -> float:
    """Returns the bytes of a bin as a rate in Mbit/s."""
    return size * 8 / width / 1e6
