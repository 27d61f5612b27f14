"""The runs of the study, and what is read from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.inter_rat_handover.setups import Setting
from fadeout.study import Job, Numbers, Runs, overrides

SCENARIO = Path(__file__).parent / "scenario.toml"

WINDOW = 10
"""Bins of 30 ms over which a rate is taken."""
STEADY = 0.9
"""Share of the rate before that counts as the same rate."""
STAYS_S = 2.0
"""How long it must stay."""
BEFORE_S = 5.0
"""How long the rate before is taken over."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs. `seeds` are phases of the command within the time of a segment."""


def job(setting: Setting, seed: int, values: Mapping[str, str] | None = None) -> Job:
    """A run of a setting."""
    given = {**setting.values(seed), **(values or {})}
    return Job(SCENARIO, overrides(given), seed=seed, with_tables=True)


def found(runs: Runs[Effort], settings: Iterable[Setting]) -> dict[Setting, list[Numbers]]:
    """What each setting does, a list over the seeds."""
    return runs.over_seeds(list(settings), job, read)


def changed(setting: Setting, values: Mapping[str, str]) -> Setting:
    """The setting with other overrides."""
    return replace(setting, extra=tuple({**dict(setting.extra), **values}.items()))


def read(results: Results) -> dict[str, float]:
    """Retransmissions, times and packets of a run."""
    row = results.link_handovers.row(0, named=True)
    stop_s = row["commanded_s"]
    again = results.retransmissions.filter(pl.col("time_s") >= stop_s)
    timeouts = results.timeouts.filter(pl.col("time_s") >= stop_s)
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
        "retransmissions": float(len(again)),
        "timeouts": float(len(timeouts)),
        **convergence(results.throughput, stop_s),
        **{name: float(row[name]) for name in counts},
        "lost": float(
            row["lost_waiting"] + row["lost_later"] + row["lost_forwarding"] + row["lost_at_target"]
        ),
        "gap_s": row["downlink_gap_s"],
    }


def convergence(throughput: pl.DataFrame, stop_s: float, share: float = 1.0) -> dict[str, float]:
    """When the download runs at its old rate again, in seconds after the command.

    `time_s`: from when on the rate in order at the receiver, over windows of ten bins, is at least
    90 % of the old one for two seconds. `bin_s`: the end of the first single bin with the old rate.
    `new_time_s`: as the first, of the rate of the last two seconds of the run. What never happens
    counts as the rest of the run. `share` of the rate before is the old one.
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
    """Bytes in a bin as Mbit/s."""
    return size * 8 / width / 1e6


def middle(items: Sequence[Numbers], name: str) -> float:
    """The median over the seeds."""
    return median(item[name] for item in items)


def spread(items: Sequence[Numbers], name: str, form: str = ".2f") -> str:
    """The median over the seeds, with the least and the most where they differ."""
    values = [item[name] for item in items]
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    text = f"{median(values):{form}}"
    return text if low == high else f"{text} ({low} to {high})"
