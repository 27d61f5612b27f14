"""Parameters that a fit may vary: rates, delays and limits of queues."""

import math
from dataclasses import dataclass

import numpy as np

from fadeout import _names
from fadeout.fit.course import Course
from fadeout.fit.features import typical_rate
from fadeout.measured.errors import MeasuredError

HEADERS = 1500 / 1448
"""Bytes of an IP packet for each byte of its data, in full segments with timestamps."""
PACKET_BYTES = 1500
USUAL_RATE = 1.25e6
"""First rate in bytes/s if the measurement gives none."""
USUAL_ROUND_TRIP_S = 0.05
"""First round-trip time if the measurement gives none."""
KINDS = {"rate": "rate", "delay": "delay", "limit": "queue"}
"""Kinds of parameters by the last part of their key."""
TEXT_UNITS = {"rate": 1.0, "delay": 1e-6, "queue": 1.0}
"""Factors of the numbers that `written` writes."""
LIMITS = {"rate": (1e3, 1e12), "delay": (1e-6, 100.0), "queue": (2.0, 1e7)}
"""Smallest and largest value: bit/s, seconds, packets."""
REACH = {"rate": math.log(1.6), "delay": math.log(1.6), "queue": math.log(5.0)}
"""Half width of the first region around the first value, in logarithms. Later regions move."""


@dataclass(frozen=True)
class Parameter:
    """A key of the scenario that is varied. Values are bit/s, seconds or packets."""

    key: str
    kind: str
    """`rate`, `delay` or `queue`."""

    def text(self, logarithm: float) -> str:
        """Returns the value with a given logarithm in the form of a scenario."""
        return written(self.kind, math.exp(logarithm))

    def written_value(self, logarithm: float) -> float:
        """Returns the logarithm of the value that `text` writes, such as whole packets."""
        return math.log(float(self.text(logarithm).split()[0]) * TEXT_UNITS[self.kind])


def parameter(key: str) -> Parameter:
    """Returns the parameter of a key.

    Raises:
        MeasuredError: the key is neither a rate, nor a delay, nor a limit of a queue.
    """
    parts = key.strip().split(".")
    kind = KINDS.get(parts[-1])
    if kind is None or (kind == "queue" and parts[-2:-1] != ["queue"]) or len(parts) < 2:
        names = [*KINDS, "queue"]
        near = _names.unknown("kind of key", parts[-1], names) if parts[-1] not in names else ""
        raise MeasuredError(
            f"{key} cannot be fitted{'; ' + near if near else ''}; expected a rate, a delay or a "
            "limit of a queue, such as link.path.rate, link.path.delay or link.path.queue.limit",
            key="free",
        )
    return Parameter(key.strip(), kind)


def first_value(kind: str, observed: Course) -> float:
    """Returns the logarithm of the first value of a parameter.

    The rate is that of the data. The delay is half of the least round trip, and the queue holds
    the difference between long and short round trips.
    """
    rate = max(typical_rate(observed) or USUAL_RATE, 1e3) * HEADERS
    trips = observed.round_trip_s
    least, most = USUAL_ROUND_TRIP_S, 3 * USUAL_ROUND_TRIP_S
    if trips is not None:
        least = max(float(np.quantile(trips, 0.02)), 1e-4)
        most = float(np.quantile(trips, 0.95))
    match kind:
        case "rate":
            return math.log(rate * 8)
        case "delay":
            return math.log(least / 2)
        case _:
            return math.log(max(20.0, rate * (most - least / 2) / PACKET_BYTES))


def written(kind: str, value: float) -> str:
    """Returns a value in the form of a scenario."""
    match kind:
        case "rate":
            return f"{max(value, 1e3):.0f} bit/s"
        case "delay":
            return f"{max(value, 1e-6) * 1e6:.1f} us"
        case _:
            return f"{max(round(value), 2)} packets"


def shown(kind: str, value: float) -> str:
    """Returns a value in a readable unit."""
    match kind:
        case "rate":
            return f"{value / 1e6:.4g} Mbit/s"
        case "delay":
            return f"{value * 1e3:.4g} ms"
        case _:
            return f"{round(value)} packets"
