"""Fits of a link to recorded Linux senders, whose links are known.

Each fit gets the window, the smoothed round-trip time and the retransmissions of a recording. It
also gets the scenario of the recording without rate, delay and queue limit of the bottleneck.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from fadeout.fit import Course, Fit, fit
from fadeout.fit.course import SEGMENTS
from fadeout.validate import recordings

FREE = ("link.bottleneck.rate", "link.bottleneck.delay", "link.bottleneck.queue.limit")
GROUPS = ("buffer", "block", "slowstart")
"""Groups of recordings that are fitted. Random losses leave neither rate nor queue visible."""
USED_S = 6.0
"""Duration of each recording that is used, in seconds."""
LIMITS = {"rate": 0.02, "delay": 0.05, "queue": 0.15}
"""Largest medians of the relative errors."""
COVERED = {"rate": (0.8, 0.98), "delay": (0.8, 0.98), "queue": (0.8, 1.0)}
"""Smallest and largest share of intervals that contain the known value. They are 90 % intervals.

An interval of a queue has whole packets, so it contains the known number more often.
"""
UNKNOWN = {"rate": "1 Mbit/s", "delay": "1 ms"}
"""Values of the scenario in place of the known ones. A fit does not use them."""


@dataclass(frozen=True)
class FitRow:
    """A fit to a recording, beside the known values of the link."""

    name: str
    found: Fit
    true: Sequence[float]
    """Rate in bit/s, one-way delay in seconds and limit in packets."""

    def errors(self) -> list[float]:
        """Returns the relative errors of the values."""
        pairs = zip(self.found.parameters, self.true, strict=True)
        return [one.value / true - 1 for one, true in pairs]

    def covered(self) -> list[bool]:
        """Returns True for each interval that contains the known value."""
        pairs = zip(self.found.parameters, self.true, strict=True)
        return [one.contains(true) for one, true in pairs]


def names() -> list[str]:
    """Returns the recordings that are fitted."""
    return [row.name for row in recordings.recorded().values() if row.group in GROUPS and _run(row)]


def _run(row: recordings.Recorded) -> dict[str, Any] | None:
    rows = [run for run in recordings.exact_runs() if run["run"] == row.name]
    return rows[0] if rows else None


def fits(
    chosen: Sequence[str] | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[FitRow]:
    """Yields a fit to each recording.

    Args:
        chosen: names of recordings. Default: all of `names`.
        workers: number of parallel runs. Default: one for each processor.
        progress: a callback with the number of finished fits and of all fits.
    """
    wanted = list(chosen or names())
    for number, name in enumerate(wanted):
        yield one_fit(name, workers=workers)
        if progress is not None:
            progress(number + 1, len(wanted))


def one_fit(name: str, *, workers: int | None = None) -> FitRow:
    """Returns the fit to a recording."""
    row = recordings.recorded()[name]
    run = _run(row)
    assert run is not None, "only recordings with exact clocks are fitted"
    scenario = copy.deepcopy(row.scenarios[0])
    bottleneck = scenario["link"]["bottleneck"]
    bottleneck |= UNKNOWN
    bottleneck["queue"]["limit"] = "1000 packets"
    true = (
        float(run["rate_mbps"]) * 1e6,
        float(run["delay_ms"]) * 1e-3,
        float(run["limit_packets"]),
    )
    return FitRow(name, fit(scenario, course(name), FREE, workers=workers), true)


def course(name: str) -> Course:
    """Returns the course of a recording, until `USED_S`."""
    frame = pl.read_parquet(recordings.EXACT / "samples.parquet").filter(pl.col("run") == name)
    frame = frame.filter(pl.col("t_s") < USED_S + 0.05)
    return Course(
        np.round(frame["t_s"].to_numpy().astype(np.float64), 6),
        round_trip_s=frame["srtt_us"].to_numpy() * 1e-6,
        window=frame["cwnd_segments"].to_numpy().astype(float),
        window_unit=SEGMENTS,
        retransmitted=np.cumsum(frame["retransmitted"].to_numpy().astype(float)),
    )


@dataclass(frozen=True)
class Score:
    """Result for one parameter over all recordings."""

    kind: str
    recordings: int
    median_error: float
    """Median of the relative errors without sign."""
    covered: int
    """Number of intervals that contain the known value."""

    @property
    def is_met(self) -> bool:
        """True if the median error and the share of intervals are within their limits."""
        low, high = (round(share * self.recordings) for share in COVERED[self.kind])
        return self.median_error <= LIMITS[self.kind] and low <= self.covered <= high


def scores(rows: Sequence[FitRow]) -> list[Score]:
    """Returns the result for each parameter."""
    return [
        Score(
            kind=kind,
            recordings=len(rows),
            median_error=median(abs(row.errors()[index]) for row in rows),
            covered=sum(row.covered()[index] for row in rows),
        )
        for index, kind in enumerate(LIMITS)
    ]
