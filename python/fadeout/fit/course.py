"""Courses of a flow over time: round trips, windows, delivered data and retransmissions.

A course comes from a table of samples, from a capture, or from a run.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fadeout import _names
from fadeout.measured.errors import MeasuredError
from fadeout.measured.files import is_capture
from fadeout.measured.table import Measurement, open_measurement

if TYPE_CHECKING:
    from fadeout.measured.capture import Flow
    from fadeout.results import Results

Numbers = npt.NDArray[np.float64]

LEAST_SAMPLES = 20
"""Smallest number of samples of a course."""
CAPTURE_SAMPLES = 300
"""Number of samples into which a capture is divided."""
QUANTITIES = ("round-trip", "window", "data", "rate", "retransmissions")
"""Quantities of a table that a fit uses."""
SAMPLED = (
    "time_s",
    "round_trip_s",
    "window",
    "per_trip_bytes",
    "delivered_bytes",
    "retransmitted",
)
"""Attributes of a course with a value for each sample."""
SEGMENTS = "segments"
SEGMENT_BYTES = 1448.0
"""Data of a full segment, for rates of windows in segments."""
START, FIRST_DATA = "start", "first data"
"""Zeros of a course's clock: the start of the flow, or its first data."""


@dataclass(frozen=True)
class Course:
    """Samples of a flow. Quantities that were not measured are None."""

    time_s: Numbers
    """Times from the start of the flow, or from its first data."""
    zero: str = START
    """Zero of `time_s`: `start` or `first data`."""
    round_trip_s: Numbers | None = None
    """Smoothed round-trip time at each sample, or the latest one if `is_smoothed` is False."""
    is_smoothed: bool = True
    window: Numbers | None = None
    """Congestion window at each sample, in bytes or segments."""
    window_unit: str = "B"
    """`B` or `segments`."""
    per_trip_bytes: Numbers | None = None
    """Bytes acknowledged within the last round trip at each sample.

    A capture has no window. Bytes in flight do not replace it, as a capture does not show which of
    them TCP regards as lost.
    """
    delivered_bytes: Numbers | None = None
    """Bytes delivered up to each sample."""
    retransmitted: Numbers | None = None
    """Segments that were sent again up to each sample."""

    @property
    def load_bytes(self) -> Numbers | None:
        """Congestion window, or bytes for each round trip if the window is unknown."""
        if self.window is None:
            return self.per_trip_bytes
        return self.window * (SEGMENT_BYTES if self.window_unit == SEGMENTS else 1.0)

    @property
    def duration_s(self) -> float:
        """Time of the last sample."""
        return float(self.time_s[-1])

    def until(self, end_s: float) -> "Course":
        """Returns the samples until a time.

        Raises:
            MeasuredError: there are too few samples.
        """
        is_used = self.time_s <= end_s
        values = {
            one: None if (all_values := getattr(self, one)) is None else all_values[is_used]
            for one in SAMPLED
        }
        return _checked(f"the measurement until {end_s:g} s", replace(self, **values))


def read_course(path: Path, flow: str | None = None) -> Course:
    """Returns the course of a flow in a capture or in a table of samples.

    Args:
        path: a capture, or a table with times and at least one of the quantities `round-trip`,
            `window`, `data`, `rate` and `retransmissions`.
        flow: the flow of a capture. Default: the flow with the most data.

    Raises:
        MeasuredError: the file is wrong, or has too few samples.
    """
    if is_capture(path):
        from fadeout.measured.capture import read_flows

        flows = {one.name: one for one in read_flows(path).flows}
        if flow is not None and flow not in flows:
            raise MeasuredError(f"{path.name}: {_names.unknown('flow', flow, list(flows))}")
        return of_capture(flows[flow] if flow is not None else next(iter(flows.values())))
    if flow is not None:
        raise MeasuredError(f"{path.name} is a table; expected a capture if a flow is given")
    return of_table(open_measurement(path, base=path.parent))


def of_table(table: Measurement) -> Course:
    """Returns the course in a table of samples.

    Raises:
        MeasuredError: the table has no quantity of a flow, or too few samples.
    """
    found = [one for one in QUANTITIES if one in table.columns]
    if not found:
        raise MeasuredError(
            f"{table.source.name} has no quantity of a flow; expected at least one column with "
            f"the {', '.join(QUANTITIES[:-1])} or {QUANTITIES[-1]}, such as `srtt_us`, "
            "`cwnd_bytes` or `sent_bytes`"
        )
    rows = table.rows(found)
    time_s = rows["t"].to_numpy() * 1e-9
    step_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else 0.0
    # A log whose clock does not begin at the flow has its first sample one step after the start.
    if not 0 <= time_s[0] <= 2 * step_s:
        time_s = time_s - time_s[0] + step_s
    values = {one: rows[one].to_numpy() for one in found}
    delivered = None
    if "data" in values:
        delivered = _totals(values["data"])
    elif "rate" in values:
        delivered = np.cumsum(values["rate"] * 125e3 * np.diff(time_s, prepend=0.0))
    return _checked(
        table.source.name,
        Course(
            time_s,
            round_trip_s=values["round-trip"] * 1e-3 if "round-trip" in values else None,
            window=values.get("window"),
            window_unit=(table.columns["window"].unit or "B") if "window" in found else "B",
            delivered_bytes=delivered,
            retransmitted=(
                _totals(values["retransmissions"]) if "retransmissions" in values else None
            ),
        ),
    )


def _totals(values: Numbers) -> Numbers:
    """Returns totals since the start. Some logs have these, others the number in each interval."""
    is_total = bool(np.all(np.diff(values) >= 0)) and values[-1] > 4 * values[0]
    return values if is_total else np.cumsum(values)


def of_capture(flow: "Flow") -> Course:
    """Returns the course of a captured flow.

    Raises:
        MeasuredError: the flow is too short.
    """
    lasts_s = flow.duration_s
    at = np.arange(1, CAPTURE_SAMPLES + 1) * (lasts_s / CAPTURE_SAMPLES) + flow.time_s[0]
    trips = None
    if not flow.is_at_receiver:
        known = ~np.isnan(flow.round_trips_s)
        # A round trip is known when its ACK arrives.
        when = flow.time_s[known] + flow.round_trips_s[known]
        order = np.argsort(when, kind="stable")
        index = np.searchsorted(when[order], at, side="right") - 1
        trips = flow.round_trips_s[known][order][np.maximum(index, 0)]
    again = np.searchsorted(flow.time_s[flow.is_again], at, side="right").astype(float)
    return _checked(
        flow.name,
        Course(
            at - flow.time_s[0],
            zero=FIRST_DATA,
            round_trip_s=trips,
            is_smoothed=False,
            per_trip_bytes=(
                None if trips is None else flow.acknowledged(at) - flow.acknowledged(at - trips)
            ),
            delivered_bytes=flow.acknowledged(at),
            retransmitted=again,
        ),
    )


def of_run(results: "Results", flow: str, like: Course) -> Course | None:
    """Returns the course of a flow of a run, at the samples of another course.

    The quantities are those of `like`. None if the flow delivers nothing.
    """
    row = results.flows.filter(results.flows["flow"] == flow).row(0, named=True)
    samples = results.congestion.filter(results.congestion["flow"] == flow)
    samples = samples.filter(samples["srtt_s"].is_not_null())
    zero_s = row["start_s"] if like.zero == START else row["established_s"]
    if len(samples) < 2 or zero_s is None:
        return None
    times_s = samples["time_s"].to_numpy()
    index = np.searchsorted(times_s, zero_s + like.time_s, side="right") - 1
    index = np.maximum(index, 0)
    mss = float(row["mss_bytes"])

    def taken(column: str, factor: float = 1.0) -> Numbers:
        return samples[column].to_numpy()[index].astype(float) * factor

    at_s = zero_s + like.time_s
    before = np.searchsorted(times_s, at_s - taken("rtt_s"), side="right") - 1
    acked = samples["acked_bytes"].to_numpy().astype(float)
    acked_before = np.where(before >= 0, acked[np.maximum(before, 0)], 0.0)
    # The table of samples counts no retransmissions. A total stands for all of its times.
    again = np.full(len(like.time_s), float(row["retransmitted_segments"]))
    return Course(
        like.time_s,
        zero=like.zero,
        round_trip_s=(
            taken("srtt_s" if like.is_smoothed else "rtt_s")
            if like.round_trip_s is not None
            else None
        ),
        is_smoothed=like.is_smoothed,
        window=(
            taken("cwnd_segments", 1.0 if like.window_unit == SEGMENTS else mss)
            if like.window is not None
            else None
        ),
        window_unit=like.window_unit,
        per_trip_bytes=(
            taken("acked_bytes") - acked_before if like.per_trip_bytes is not None else None
        ),
        delivered_bytes=taken("acked_bytes") if like.delivered_bytes is not None else None,
        retransmitted=again if like.retransmitted is not None else None,
    )


def _checked(name: str, course: Course) -> Course:
    """Returns the course if it has enough samples and data.

    Raises:
        MeasuredError: there are too few samples or no data.
    """
    if len(course.time_s) < LEAST_SAMPLES:
        raise MeasuredError(
            f"{name} has {len(course.time_s)} samples; expected at least {LEAST_SAMPLES}"
        )
    if course.delivered_bytes is not None and course.delivered_bytes[-1] <= 0:
        raise MeasuredError(f"{name} delivers no data; expected a flow that sends")
    return course
