"""The paper's settings and numbers, the runs over links, and the numbers read from them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fadeout.results import Results
from fadeout.study import (
    At,
    Data,
    Job,
    Page,
    Tolerance,
    Values,
    claims_of,
    name_of,
    published,
    spread,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)
TOLERANCES = {name: Tolerance(**rule) for name, rule in PUBLISHED["tolerance"].items()}

STOP_S: float = PUBLISHED["setup"]["stated"]["dl_stop_s"]
"""Time at which the source stops sending, seconds."""
SEGMENT_BYTES = 1500

FAST_MBPS = 155.0

TCP = "flow.download.tcp"


@dataclass(frozen=True)
class Setting:
    """A handover: rates before and after in Mbit/s, round trip, S1's rate, and scheme for data."""

    before: float
    after: float
    rtt_ms: float
    is_fast: bool = True
    """True if S1 has 155 Mbit/s. False for the rate of the radio."""
    scheme: str = "bicasting"
    bicast_ms: float = 10.0
    """Time from the start of bicasting to the command, ms."""

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
        return values


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

    @classmethod
    def of(cls, figure: str, row: Mapping[str, Any]) -> "Row":
        """Returns a row of `published.toml`."""
        before, after = (row.get(key, row.get("rate_mbps")) for key in ("from_mbps", "to_mbps"))
        cells = {cell.name: tuple(row[cell.column][:2]) for cell in CELLS}
        return cls(figure, before, after, row["rtt_ms"], cells)

    @property
    def name(self) -> str:
        """Name of the row in tables."""
        return f"{self.before:g} to {self.after:g} Mbit/s, {self.rtt_ms:g} ms"

    def rates(self) -> dict[str, float]:
        """Returns the rates and the round trip as columns of a data file."""
        return {"before_mbps": self.before, "after_mbps": self.after, "rtt_ms": self.rtt_ms}

    def data(self) -> dict[str, Any]:
        """Returns the columns of a data file that identify the row."""
        return {"figure": self.figure, **self.rates()}


@dataclass(frozen=True)
class Download:
    """A download of section 3."""

    rate_mbps: float
    rtt_ms: float

    def data(self) -> dict[str, float]:
        """Returns the columns of a data file that identify the download."""
        return {"rate_mbps": self.rate_mbps, "rtt_ms": self.rtt_ms}


ROWS = {
    figure: [Row.of(figure, row) for row in PUBLISHED[figure]] for figure in ("figure4", "figure5")
}
FIRST = ROWS["figure4"][0]

LOSS_EVERY_S: float = DATA["questions"]["loss-every-s"]
"""Time between two losses of a cell in section 3, seconds."""

LISTS: Mapping[str, Sequence[Any]] = {
    **ROWS,
    "cell": CELLS,
    "limits": [None, *map(float, DATA["questions"]["limits"])],
    "downloads": DATA.all("download", Download),
}
"""Lists of the sets of runs that are not tables of `study.toml`."""


def setting(at: At) -> Setting:
    """Returns the setting of a point, which may have a row and a cell of a figure.

    Without a row it has the paper's first one, and without a cell bicasting over the fast S1.
    """
    row: Row = at.get("row", FIRST)
    cell: Cell = at.get("cell", FAST_BICASTING)
    start_ms = at.get("bicast_ms_before", at.get("begins_ms_before", 10.0))
    rtt_ms = at.get("rtt_ms", row.rtt_ms)
    return Setting(row.before, row.after, rtt_ms, cell.is_fast, cell.scheme, start_ms)


def over_links(at: At) -> Job:
    """Returns the run of a point over links. The source's buffer may have a limit, as in note 1."""
    limit = at.get("limit_round_trips", None)
    limited = {} if limit is None else {"handover.to-umts.source-limit": f"{limit:g}"}
    return handover(at, setting(at), limited)


def without_data(at: At) -> Job:
    """Returns the run of figure 1's axes, where all data in transit are lost.

    In the paper's worst case the window is the bandwidth-delay product.
    """
    rate, rtt_ms = at["rate_mbps"], at["rtt_ms"]
    segments = max(4, round(rate * 1e6 * rtt_ms / 1e3 / 8 / 1500) + 2)
    window = {f"{TCP}.receive-window": str(segments * 1460)}
    return handover(at, Setting(rate, rate, rtt_ms, scheme="none"), window)


def lost_cell(at: At) -> Job:
    """Returns the run of section 3, in which the old cell forwards data or none."""
    rate, rtt_ms = at["download"].rate_mbps, at["download"].rtt_ms
    scheme = "forwarding" if at["forward_handover"] else "none"
    return handover(at, Setting(rate, rate, rtt_ms, scheme=scheme))


TODAY_RTT_MS = 50.0
"""Round trip of the question for today, ms."""


def todays_stack(at: At) -> Job:
    """Returns the run of a handover with Linux's stack, large buffers and fast wired links."""
    rate = at["rate_mbps"]
    today = Setting(rate, rate, TODAY_RTT_MS, scheme=name_of(at["scheme"]))
    return handover(at, today, lengths(rate))


def both_cells(at: At) -> Job:
    """Returns the run of a multipath download whose first path ends."""
    rate = f"{at['rate_mbps']:g} Mbit/s"
    links = [f"link.{cell}{way}.rate" for way in ("", ".reverse") for cell in ("lte", "umts")]
    values = {**dict.fromkeys(links, rate), **lengths(at["rate_mbps"])}
    return at.job(FOLDER / "multipath.toml", values, with_tables=True)


def lengths(rate: float) -> Values:
    """Returns the start of the flow and the end of the run, which are shorter at high rates."""
    start, end = ("80 s", "110 s") if rate < 1000 else ("84 s", "98 s")
    return {"flow.download.start": start, "duration": end}


def handover(at: At, setting: Setting, values: Values | None = None) -> Job:
    """Returns the run of a setting over links, with further overrides."""
    given = {**setting.values(at.seed), **(values or {})}
    return at.job(FOLDER / "scenario.toml", given, with_tables=True)


WINDOW = 10
"""Number of bins of 30 ms in the window of a rate."""
STEADY = 0.9
"""Share of the previous rate from which a rate counts as reached again."""
STAYS_S = 2.0
"""Time for which the rate must stay reached, seconds."""
BEFORE_S = 5.0
"""Time before the command over which the previous rate is measured, seconds."""


LOST = ("lost_waiting", "lost_later", "lost_forwarding", "lost_at_target")
"""Counts of lost packets."""


def measure(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run."""
    row = results.link_handovers.row(0, named=True)
    counts = ("forwarded_waiting", "forwarded_later", "bicast", "doubled", "reordered", *LOST)
    return {
        **recovery(results, row["commanded_s"]),
        **{name: float(row[name]) for name in counts},
        "lost": float(sum(row[name] for name in LOST)),
        "gap_s": row["downlink_gap_s"],
    }


def measure_both_cells(results: Results) -> dict[str, float]:
    """Returns the numbers of a run without a handover.

    The previous rate is half of the rate over both cells.
    """
    lost = results.drops["time_s"].is_between(STOP_S, STOP_S + 1).sum()
    return {**recovery(results, STOP_S, share=0.5), "lost": float(lost)}


def recovery(results: Results, stop_s: float, share: float = 1.0) -> dict[str, float]:
    """Returns the retransmissions, timeouts and times of a run after the command at `stop_s`.

    `share` is the factor of the previous rate that must be reached.
    """
    again = results.retransmissions.filter(pl.col("time_s") >= stop_s)
    timeouts = results.timeouts.filter(pl.col("time_s") >= stop_s)
    download = results.throughput.filter(pl.col("flow").cast(pl.String) == "download")
    return {
        "retransmissions": float(len(again)),
        "timeouts": float(len(timeouts)),
        **spacing(again["time_s"].to_list(), stop_s),
        **convergence(download, stop_s, share),
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
