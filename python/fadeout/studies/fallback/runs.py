"""Setups of the study, its runs, and the numbers read from them.

The setups are remedies for a broken beam, senders, and lengths of a blockage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET_CELL,
    At,
    Choice,
    Data,
    Found,
    Grid,
    Job,
    Numbers,
    Page,
    Runs,
    spread,
)
from fadeout.study.found import Point

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)

BLOCKAGE = "cell.small.channel.blockage"

KINDS = ("handover", "two legs", "notice", "Multipath TCP")
"""Tags of remedies, in the order of the panels."""
OWN_SENDER = "own sender"
"""Tag of a remedy that does not depend on the sender."""

SENDERS, REMEDIES = DATA.all("sender", Choice), DATA.all("remedy", Choice)
NOTHING = REMEDIES[0]
(CLEAR,) = DATA.all("clear", Choice)

PAGE = Page.read(FOLDER, {"remedies": len(REMEDIES) - 1})

BIN_S = 0.01
"""Length of the bins in which bytes at the application are counted, seconds."""
SETTLED_S = 1.5
"""Time from which silences count in seconds, as earlier ones belong to the start of the
transfer.
"""

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
class Points:
    """Points of the smaller tables."""

    wide_lengths_s: tuple[float, ...]
    thresholds_kb: tuple[int, ...]


POINTS = DATA.one("points", Points)


def switching(threshold: str) -> Choice:
    """Returns EN-DC whose LTE leg is used while more than this waits at PDCP."""
    given = next(remedy for remedy in REMEDIES if remedy.name == "switching at 100 kB")
    values = {key: value.replace("100 kB", threshold) for key, value in given.values.items()}
    return replace(given, name=f"switching at {threshold}", values=values)


THRESHOLDS = {switching(f"{kb} kB"): kb for kb in POINTS.thresholds_kb}
"""Switching at each threshold in kB."""


class Plan(Grid):
    """The runs of the study. The first blockage of a seed begins at the same time in all runs."""

    def __init__(self, runs: Runs[Effort]) -> None:
        lengths = {
            length: Choice(f"{length:g} s", {f"{BLOCKAGE}.duration": f"{length:g} s"})
            for length in runs.effort.lengths_s
        }
        lists = {
            "lengths": list(lengths.values()),
            "decisive": [lengths[each] for each in POINTS.wide_lengths_s if each in lengths],
            "shared": [remedy for remedy in REMEDIES if OWN_SENDER not in remedy.tags],
            "own": [remedy for remedy in REMEDIES if OWN_SENDER in remedy.tags],
            "thresholds": [NOTHING, *THRESHOLDS],
        }
        super().__init__(DATA, runs, [measure], lists, [with_first_blockage])

    def found(
        self, name: str, points: Sequence[Point] | None = None, *, seeds: int | None = None
    ) -> Found:
        """Does the runs of a set and returns their numbers, with the load of the macro carrier."""
        return super().found(name, points, seeds=seeds).with_numbers(of_its_carrier)

    def main(self) -> Found:
        """Returns the numbers of the main tables, by sender and remedy in their order."""
        found = self.found("shared") | self.found("own")
        rows = [(sender, remedy) for sender in SENDERS for remedy in REMEDIES]
        return found.picked(sorted(found, key=lambda point: rows.index(point[:2])))


def of_its_carrier(point: Point, numbers: Mapping[str, Any]) -> Numbers:
    """Returns the share of the macro carrier, which has more resource blocks with NR."""
    is_nr = DATA.values["nr"].items() <= point[1].values.items()
    return {"macro_pct": numbers["macro_pct"] / (NR_OVER_LTE if is_nr else 1)}


def with_first_blockage(at: At) -> Job:
    """Returns the run of a point, in which the seed determines the start of the first blockage."""
    first = Choice("first blockage", {f"{BLOCKAGE}.first": f"{first_s(at.seed):.3f} s"})
    return at.job(FOLDER / "scenario.toml", QUIET_CELL, first, with_tables=True)


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
