"""Table 1: the time until a download reaches the link's rate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fadeout.results import Results
from fadeout.studies.slow_start.setups import DATA, THRESHOLD_MBPS

BIN_MS = 0.1
"""Length of the bins in which the scenario counts bytes, ms."""
STEP_MS = 5.0
"""Interval of the paper's observations, ms."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A method to read the throughput of a download. The paper mostly leaves it open."""

    name: str
    window_ms: float = 25.0
    stamp: float = 0.0
    """Position of a window's time stamp within the window: 0 at its start, 1 at its end."""
    from_opening: bool = False
    """True if time zero is the opening of the connection. False for the request."""


MEASURES = DATA.all("measure", Measure)
AS_CHOSEN = MEASURES[0]


@dataclass(frozen=True)
class Download:
    """Bytes that arrived over time, from the opening of the connection."""

    ends_ms: Array
    total_bytes: Array
    request_ms: float
    """Time at which the request was sent, ms."""

    @classmethod
    def of(cls, results: Results) -> "Download":
        """Returns the download of a run."""
        flow = results.flows.row(0, named=True)
        table = results.throughput
        return cls(
            ends_ms=table["time_s"].to_numpy() * 1e3 - flow["start_s"] * 1e3,
            total_bytes=np.cumsum(table["bytes"].to_numpy()).astype(np.float64),
            request_ms=(flow["established_s"] - flow["start_s"]) * 1e3,
        )

    def arrived(self, at_ms: Array) -> Array:
        """Returns the bytes that arrived until each of the times."""
        # The tolerance of half a bin includes a bin that ends at the time, despite rounding.
        index = np.searchsorted(self.ends_ms, at_ms + BIN_MS / 2) - 1
        return np.where(index < 0, 0.0, self.total_bytes[np.maximum(index, 0)])

    def steps(self, zero_ms: float, spare_ms: float) -> Array:
        """Returns the times of observation, except those too late for a complete window."""
        return np.arange(0.0, self.ends_ms[-1] - zero_ms - spare_ms, STEP_MS)

    def instantaneous(self, measure: Measure = AS_CHOSEN) -> tuple[Array, Array]:
        """Returns times in ms, and the throughput over the window at each in Mbit/s."""
        zero = self._zero_ms(measure)
        times = self.steps(zero, measure.window_ms)
        begins = zero + times - measure.stamp * measure.window_ms
        gained = self.arrived(begins + measure.window_ms) - self.arrived(begins)
        return times, gained * 8e-3 / measure.window_ms

    def aggregate(self, measure: Measure = AS_CHOSEN) -> tuple[Array, Array]:
        """Returns times in ms, and the mean throughput from zero to each in Mbit/s."""
        zero = self._zero_ms(measure)
        times = self.steps(zero, 0.0)[1:]
        return times, self.arrived(zero + times) * 8e-3 / times

    def numbers(self, measure: Measure) -> dict[str, float]:
        """Returns the four columns of the paper's Table 1. NaN if 90 % is not reached."""
        zero = self._zero_ms(measure)
        found: dict[str, float] = {}
        for name, (times, rates) in (
            ("ramp", self.instantaneous(measure)),
            ("upt", self.aggregate(measure)),
        ):
            reached = np.flatnonzero(rates >= THRESHOLD_MBPS)
            at = times[reached[0]] if len(reached) else np.nan
            found[f"{name}_ms"] = float(at)
            size = self.arrived(np.array([zero + at]))[0] / 1e3 if len(reached) else np.nan
            found[f"{name}_kb"] = float(size)
        return found

    def _zero_ms(self, measure: Measure) -> float:
        return 0.0 if measure.from_opening else self.request_ms


def saturated_mbps(results: Results) -> float:
    """Returns the rate of a download over the second half of the run, after the ramp, in Mbit/s."""
    half = results.duration_s / 2
    late = results.throughput.filter(results.throughput["time_s"] > half)
    return float(late["bytes"].sum()) * 8e-6 / half
