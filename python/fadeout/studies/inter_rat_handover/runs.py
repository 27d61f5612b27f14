"""The numbers read from the runs of the study."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.studies.inter_rat_handover.setups import Found, Setting, job
from fadeout.study import Numbers, Runs, Spread

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


def found(runs: Runs[Effort], settings: Iterable[Setting], seeds: int | None = None) -> Found:
    """Returns the numbers of each setting over links, as a list over the seeds."""
    return runs.over_seeds(list(settings), job, read, seeds)


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


def of(items: Sequence[Numbers], name: str) -> Spread:
    """Returns the median of a number over the seeds, with the least and the largest value."""
    return Spread.of([item[name] for item in items])


def middle(items: Sequence[Numbers], name: str) -> float:
    """Returns the median of a number over the seeds."""
    return of(items, name).mean
