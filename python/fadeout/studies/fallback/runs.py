"""Setups of the study, its runs, and the numbers read from them.

The setups are remedies for a broken beam, senders, and lengths of a blockage.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET_CELL,
    Choice,
    Data,
    Found,
    Job,
    Numbers,
    Page,
    Runs,
    overrides,
    spread,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)

CLEAR_S = 0.0
"""Length that stands for a run without blockages."""

BLOCKAGE = "cell.small.channel.blockage"
CONTROL = "flow.download.congestion-control"
SPLIT = "ue.phone.split"
MANAGEMENT = "mobility-management"

MACRO_OF_NR = DATA.values["nr"]

KINDS = ("handover", "two legs", "notice", "Multipath TCP")
"""Kinds of remedies, in the order of the panels."""


@dataclass(frozen=True)
class Points:
    """Points of the smaller tables."""

    wide_lengths_s: tuple[float, ...]
    thresholds_kb: tuple[int, ...]
    swept_s: float


@dataclass(frozen=True)
class Remedy(Choice):
    """A measure of the network or of the sender against a broken beam."""

    has_handover: bool = False
    has_modem: bool = False
    is_coupled: bool = False
    """True if one coupled congestion control governs all paths, in place of the sender's."""
    control: str | None = None
    """Congestion control of the remedy, in place of the sender's. None for the sender's."""
    is_one_node: bool = False
    """True if both cells belong to the base station of the macro cell."""

    @property
    def has_own_sender(self) -> bool:
        """True if the remedy does not depend on the sender."""
        return self.is_coupled or self.control is not None

    @property
    def unused(self) -> tuple[str, ...]:
        """Tables of the scenario that the remedy does not use."""
        moves = self.has_handover or self.kind == "handover"
        unused = () if moves else (MANAGEMENT,)
        if self.is_one_node:
            unused = (*unused, "link.s1-small", "link.x2")
        return unused if self.has_modem else (*unused, "ue.modem")


def switching(threshold: str) -> Remedy:
    """Returns EN-DC whose LTE leg is used while more than this waits at PDCP."""
    split = (
        f'{{ primary-path = "secondary", downlink-threshold = "{threshold}", '
        'ul-data-split-threshold = "100 B", leg-choice = "demand" }'
    )
    values = {**DATA.values["en-dc"], SPLIT: split}
    return Remedy(f"switching at {threshold}", values, kind="two legs")


POINTS = DATA.one("points", Points)
REMEDIES = DATA.all("remedy", Remedy)
NOTHING = REMEDIES[0]

SENDERS = {"CUBIC": "cubic", "BBRv3": "bbr3"}

PAGE = Page.read(FOLDER, {"remedies": len(REMEDIES) - 1})

SCENARIO = FOLDER / "scenario.toml"
BIN_S = 0.01
"""Length of the bins in which bytes at the application are counted, seconds."""
SETTLED_S = 1.5
"""Time from which silences count in seconds, as earlier ones belong to the start of the
transfer.
"""

PROBES = {
    **QUIET_CELL,
    "probe.congestion": '"every-ack"',
    "probe.throughput": f'"{1000 * BIN_S:g} ms"',
    "probe.transport-blocks": "true",
}

CARRIERS = {"small": 84 * 14 * 8000.0, "macro": 100 * 14 * 1000.0}
"""Resource blocks times symbols of each carrier in a second."""
NR_OVER_LTE = 106 / 100
"""Ratio of the resource blocks of 20 MHz in NR and in LTE."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs."""

    lengths_s: tuple[float, ...]
    """Lengths of the blockages, seconds."""


@dataclass(frozen=True)
class Point:
    """A remedy with a sender and a length of blockage."""

    remedy: Remedy
    sender: str
    block_s: float
    is_vehicle: bool = False
    is_wide: bool = False
    """True if the small cell has the rate of the study `blockage`, which is twice as high."""


def points(effort: Effort) -> list[Point]:
    """Returns the points of the main tables. A remedy with its own sender is run once."""
    return [
        Point(remedy, sender, length)
        for sender in SENDERS
        for length in (CLEAR_S, *effort.lengths_s)
        for remedy in REMEDIES
        if not remedy.has_own_sender or sender == "CUBIC"
    ]


def vehicle_points() -> list[Point]:
    """Returns the points with the stated vehicle, which leaves most of the rate, for 1 s."""
    return [
        Point(remedy, "CUBIC", 1.0, is_vehicle=True)
        for remedy in REMEDIES
        if not remedy.has_own_sender
    ]


def wide_points(effort: Effort) -> list[Point]:
    """Returns the points with the paper's rate, for the lengths of blockage that decide."""
    return [
        Point(remedy, "CUBIC", length, is_wide=True)
        for length in POINTS.wide_lengths_s
        if length in effort.lengths_s
        for remedy in REMEDIES
    ]


def swept_points() -> list[Point]:
    """Returns the points for switching at each threshold, and for no remedy."""
    remedies = (NOTHING, *(switching(f"{threshold} kB") for threshold in POINTS.thresholds_kb))
    return [
        Point(remedy, sender, length)
        for sender in SENDERS
        for length in (CLEAR_S, POINTS.swept_s)
        for remedy in remedies
    ]


def found(runs: Runs[Effort], of: Iterable[Point]) -> Found:
    """Returns the numbers of each point over the seeds, by sender, remedy and blockage.

    The first blockage of a seed begins at the same time at all points.
    """

    def job(point: Point, seed: int) -> Job:
        remedy = point.remedy
        values = {**PROBES, **runs.effort.duration, **remedy.values}
        without = remedy.unused
        if remedy.is_coupled:
            without = (*without, CONTROL)
        else:
            values[CONTROL] = f'"{remedy.control or SENDERS[point.sender]}"'
        if point.block_s == CLEAR_S:
            without = (*without, BLOCKAGE)
        else:
            if point.is_vehicle:
                values |= DATA.values["vehicle"]
            values[f"{BLOCKAGE}.duration"] = f'"{point.block_s:g} s"'
            values[f"{BLOCKAGE}.first"] = f'"{first_s(seed):.3f} s"'
        if point.is_wide:
            values |= DATA.values["papers-rate"]
        return Job(SCENARIO, overrides(values), without, seed, with_tables=True)

    numbers = {
        (point.sender, point.remedy.name, head(point.block_s)): [
            _of_its_carrier(numbers, point.remedy) for numbers in of_seeds
        ]
        for point, of_seeds in runs.over_seeds(of, job, measure).items()
    }
    return Found(("sender", "remedy", "blocked"), numbers)


def head(block_s: float) -> str:
    """Returns the name of a length of blockage."""
    return "clear" if block_s == CLEAR_S else f"{block_s:g} s"


def _of_its_carrier(numbers: Numbers, remedy: Remedy) -> Numbers:
    is_nr = MACRO_OF_NR.items() <= remedy.values.items()
    return {**numbers, "macro_pct": numbers["macro_pct"] / NR_OVER_LTE} if is_nr else numbers


def first_s(seed: int) -> float:
    """Returns the start of the first blockage in seconds: after slow start, and not periodic."""
    return 2.0 + 0.8 * spread(seed)


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run."""
    row = results.flows.row(0, named=True)
    numbers = {
        "goodput_mbps": row["goodput_mbps"],
        "timeouts": float(row["timeouts"]),
        "rtt_p99_ms": 1e3 * _quantile(results.congestion["rtt_s"], 0.99),
        "silence_ms": 1e3 * _longest_silence(results, row["flow"]),
    }
    return numbers | _shares(results)


def _quantile(values: pl.Series, share: float) -> float:
    found = values.drop_nans().drop_nulls().quantile(share, "nearest")
    return float("nan") if found is None else float(found)


def _longest_silence(results: Results, flow: str) -> float:
    """Returns the longest time in which no data reached the application, in seconds."""
    rows = results.throughput.filter(pl.col("flow") == flow, pl.col("time_s") >= SETTLED_S)
    is_silent = (rows["bytes"] == 0).rle().struct.unnest()
    runs = is_silent.filter(pl.col("value"))["len"]
    longest = runs.max()
    return BIN_S * float(longest) if isinstance(longest, int) else 0.0


def _shares(results: Results) -> dict[str, float]:
    """Returns the downlink's share of each carrier's resource blocks and symbols, in percent."""
    blocks = results.transport_blocks.filter(pl.col("direction") == "downlink")
    taken = blocks.group_by("cell").agg(
        (pl.col("n_prb").cast(pl.Int64) * pl.col("symbols").cast(pl.Int64)).sum().alias("taken")
    )
    of = {str(cell): float(amount) for cell, amount in taken.iter_rows()}
    return {
        f"{cell}_pct": 100 * of.get(cell, 0.0) / (most * results.duration_s)
        for cell, most in CARRIERS.items()
    }
