"""The runs of the study, and what is read from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.fallback.setups import (
    BLOCKAGE,
    CLEAR_S,
    CONTROL,
    MACRO_OF_NR,
    NOTHING,
    PAPERS_RATE,
    REMEDIES,
    SENDERS,
    SWEPT_S,
    THRESHOLDS_KB,
    VEHICLE,
    WIDE_LENGTHS_S,
    Remedy,
    switching,
)
from fadeout.study import QUIET_CELL, Job, Numbers, Runs, overrides, spread

SCENARIO = Path(__file__).parent / "scenario.toml"
BIN_S = 0.01
"""Time in which bytes that reach the application are counted together."""
SETTLED_S = 1.5
"""Silences before this belong to the start of the transfer."""

PROBES = {
    **QUIET_CELL,
    "probe.congestion": '"every-ack"',
    "probe.throughput": f'"{1000 * BIN_S:g} ms"',
    "probe.transport-blocks": "true",
}

CARRIERS = {"small": 84 * 14 * 8000.0, "macro": 100 * 14 * 1000.0}
"""Resource blocks times symbols in a second of either carrier."""
NR_OVER_LTE = 106 / 100
"""Resource blocks of 20 MHz of NR over those of LTE."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs, and how long."""

    lengths_s: Sequence[float]
    """Lengths of the blockages."""


@dataclass(frozen=True)
class Point:
    """A remedy with a sender and a length of blockage."""

    remedy: Remedy
    sender: str
    block_s: float
    is_vehicle: bool = False
    is_wide: bool = False
    """Whether the small cell has the rate of the study `blockage`, twice that."""


def points(effort: Effort) -> list[Point]:
    """The points of the main tables; a control of its own has no other sender beside it."""
    return [
        Point(remedy, sender, length)
        for sender in SENDERS
        for length in (CLEAR_S, *effort.lengths_s)
        for remedy in REMEDIES
        if not remedy.has_own_sender or sender == "CUBIC"
    ]


def vehicle_points() -> list[Point]:
    """The stated vehicle, which leaves most of the rate, for a second."""
    return [
        Point(remedy, "CUBIC", 1.0, is_vehicle=True)
        for remedy in REMEDIES
        if not remedy.has_own_sender
    ]


def wide_points(effort: Effort) -> list[Point]:
    """All remedies with the paper's rate, with the lengths of blockage that decide."""
    return [
        Point(remedy, "CUBIC", length, is_wide=True)
        for length in WIDE_LENGTHS_S
        if length in effort.lengths_s
        for remedy in REMEDIES
    ]


def swept_points() -> list[Point]:
    """Switching at each threshold, in the clear and with blockages, and nothing beside it."""
    remedies = (NOTHING, *(switching(f"{threshold} kB") for threshold in THRESHOLDS_KB))
    return [
        Point(remedy, sender, length)
        for sender in SENDERS
        for length in (CLEAR_S, SWEPT_S)
        for remedy in remedies
    ]


def count(effort: Effort) -> int:
    """How many simulations the study takes."""
    tables = (points(effort), vehicle_points(), wide_points(effort), swept_points())
    return sum(len(each) for each in tables) * effort.seeds


def found(runs: Runs[Effort], of: Iterable[Point]) -> dict[Point, list[Numbers]]:
    """What each point finds, a list over the seeds: a seed's first blockage is the same at all."""

    def job(point: Point, seed: int) -> Job:
        remedy = point.remedy
        values = {**PROBES, **runs.effort.duration, **remedy.values}
        without = remedy.without
        if remedy.is_coupled:
            without = (*without, CONTROL)
        elif remedy.control is not None:
            values[CONTROL] = f'"{remedy.control}"'
        else:
            values[CONTROL] = f'"{SENDERS[point.sender]}"'
        if point.block_s == CLEAR_S:
            without = (*without, BLOCKAGE)
        else:
            if point.is_vehicle:
                values[BLOCKAGE] = VEHICLE
            values[f"{BLOCKAGE}.duration"] = f'"{point.block_s:g} s"'
            values[f"{BLOCKAGE}.first"] = f'"{first_s(seed):.3f} s"'
        if point.is_wide:
            values |= PAPERS_RATE
        return Job(SCENARIO, overrides(values), without, seed, with_tables=True)

    return {
        point: [_of_its_carrier(numbers, point.remedy) for numbers in of_seeds]
        for point, of_seeds in runs.over_seeds(of, job, measure).items()
    }


def _of_its_carrier(numbers: Numbers, remedy: Remedy) -> Numbers:
    is_nr = MACRO_OF_NR.items() <= remedy.values.items()
    return {**numbers, "macro_pct": numbers["macro_pct"] / NR_OVER_LTE} if is_nr else numbers


def first_s(seed: int) -> float:
    """When the first blockage begins: slow start is over, and nothing is in step with it."""
    return 2.0 + 0.8 * spread(seed)


def measure(results: Results) -> Numbers:
    """What is read from a run."""
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
    """The longest time in which the application got nothing, in seconds."""
    rows = results.throughput.filter(pl.col("flow") == flow, pl.col("time_s") >= SETTLED_S)
    is_silent = (rows["bytes"] == 0).rle().struct.unnest()
    runs = is_silent.filter(pl.col("value"))["len"]
    longest = runs.max()
    return BIN_S * float(longest) if isinstance(longest, int) else 0.0


def _shares(results: Results) -> dict[str, float]:
    """Share of either carrier's resource blocks and symbols that the downlink took, in percent."""
    blocks = results.transport_blocks.filter(pl.col("direction") == "downlink")
    taken = blocks.group_by("cell").agg(
        (pl.col("n_prb").cast(pl.Int64) * pl.col("symbols").cast(pl.Int64)).sum().alias("taken")
    )
    of = {str(cell): float(amount) for cell, amount in taken.iter_rows()}
    return {
        f"{cell}_pct": 100 * of.get(cell, 0.0) / (most * results.duration_s)
        for cell, most in CARRIERS.items()
    }
