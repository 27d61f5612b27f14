"""Features of a course: numbers that do not depend on single samples.

Two runs whose timers differ by a millisecond have windows that decrease at other times. Quantiles
over the course hardly change then. Values at the start do not vary much either, because few random
events precede them. They tell delays and queues apart.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from fadeout.fit.course import Course, Numbers

QUANTILES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
PER_TRIP_QUANTILES = QUANTILES[1:]
"""Quantiles of the data for each round trip, which is near zero while a loss is repaired."""
EARLY_S = (0.1, 0.2, 0.3, 0.5, 1.0)
"""Times of the values at the start."""
SETTLED_S = 0.3
"""Time from which quantiles count."""
LEAST_S = 1e-5
LEAST_BYTES = 1000.0
LEAST_RATE = 1.0
SOME_SEGMENTS = 10.0
"""Retransmitted segments that are added to each count. Small counts then matter little."""


def features(course: Course) -> Numbers:
    """Returns the logarithms of a course's features.

    A difference of 0.05 is a difference of 5 %. Courses with the same quantities and samples have
    the same features.
    """
    return np.log(np.concatenate([values for _, values in _parts(course)]))


def labels(course: Course) -> Sequence[str]:
    """Returns the quantity of each feature."""
    return [label for label, values in _parts(course) for _ in values]


def _parts(course: Course) -> Iterator[tuple[str, Numbers]]:
    time = course.time_s
    settled = time > min(SETTLED_S, 0.2 * course.duration_s)
    early = [at for at in EARLY_S if time[0] <= at < 0.5 * course.duration_s]
    for label, values, least, quantiles in (
        ("round trip", course.round_trip_s, LEAST_S, QUANTILES),
        ("window", course.window, 1.0, QUANTILES),
        ("data for each round trip", course.per_trip_bytes, LEAST_BYTES, PER_TRIP_QUANTILES),
    ):
        if values is not None:
            some = np.maximum(values, least)
            yield label, np.quantile(some[settled], quantiles)
            yield label, np.interp(early, time, some)
    trips, load = course.round_trip_s, course.load_bytes
    if trips is not None and load is not None:
        rates = np.maximum(load, LEAST_BYTES) / np.maximum(trips, LEAST_S)
        yield "rate", np.quantile(rates[settled], (0.25, 0.5, 0.75))
    if course.delivered_bytes is not None:
        yield "rate", np.maximum(_rates(course.delivered_bytes, time), LEAST_RATE)
    if course.retransmitted is not None:
        yield "retransmissions", course.retransmitted[-1:] + SOME_SEGMENTS


def _rates(delivered: Numbers, time_s: Numbers) -> Numbers:
    """Returns the mean rates of the last two thirds and of the whole course, in bytes/s."""
    begin = len(time_s) // 3
    late = (delivered[-1] - delivered[begin]) / (time_s[-1] - time_s[begin])
    return np.array([late, delivered[-1] / time_s[-1]])


def typical_rate(course: Course) -> float | None:
    """Returns the rate of the last two thirds in bytes/s. None if it was not measured."""
    if course.delivered_bytes is not None:
        return float(_rates(course.delivered_bytes, course.time_s)[0])
    if course.round_trip_s is None or course.load_bytes is None:
        return None
    return float(np.median(course.load_bytes / np.maximum(course.round_trip_s, LEAST_S)))
