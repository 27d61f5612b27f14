"""Lines through a circular pico: closed forms, and a walk with effects of a real link.

Event A3 begins on the outer circle. On the inner circle the macro falls below Qout. The distance of
a line from the centre is uniform up to the outer radius. Nothing here uses the simulator.
"""

import math
from typing import Any

import numpy as np

OUTER_M = 50.0
"""Radius at which both cells have equal power, metres."""
INNER_M = 40.0
"""Radius at which the macro is at Qout, metres."""
LEAST_STAY_S = 1.0
"""Shortest stay that is not a ping-pong, seconds."""

STEP_S = 0.01
"""Interval of measurements and link evaluations, seconds."""
AVERAGED_S = 0.2
"""Time over which a link's SINR is averaged for Qout (TS 36.133 clause 7.6.1), seconds."""


HELD_S = 0.1
"""Interval between evaluations of an interfering path (docs/models/mac.md), seconds."""


Shares = dict[str, float]
"""Shares of the lines from 0 to 1, by outcome.

- `none`: lines that leave before the time to trigger has passed.
- `failed`: lines that reach the inner circle before the time to trigger has passed.
- `ping_pong`: lines that are handed over to the pico and back within the least stay.
"""


def closed_form(speed_mps: float, trigger_s: float) -> Shares:
    """Returns the shares by geometry alone, without filter and without delay after the trigger."""
    outer, inner = OUTER_M, INNER_M
    way = speed_mps * trigger_s

    def longer(chord: float) -> float:
        return math.sqrt(1 - (chord / (2 * outer)) ** 2) if chord < 2 * outer else 0.0

    if way <= outer - inner:
        failed = 0.0
    elif way >= math.sqrt(outer**2 - inner**2):
        failed = inner / outer
    else:
        along = (outer**2 - inner**2 - way**2) / (2 * way)
        failed = math.sqrt(inner**2 - along**2) / outer
    return {
        "none": 1 - longer(way),
        "failed": failed,
        "ping_pong": max(longer(way) - longer(speed_mps * LEAST_STAY_S), 0.0),
    }


def walk(
    speed_mps: float,
    trigger_s: float,
    *,
    command_s: float = 0.0,
    averaged_s: float = 0.0,
    held_s: float = 0.0,
    lines: int = 2000,
    step_s: float = STEP_S,
) -> Shares:
    """Returns the shares by a walk along the lines, with effects that the closed form omits.

    The UE receives the command `command_s` after the trigger. The macro's SINR is averaged over
    `averaged_s` before it is compared with Qout. The pico's level in it is up to `held_s` old.
    """
    offsets = OUTER_M * (np.arange(lines) + 0.5) / lines
    half = np.sqrt(OUTER_M**2 - offsets**2)
    # A condition is noticed at the next step.
    seen_s = np.ceil(-half / speed_mps / step_s) * step_s
    stays = 2 * half / speed_mps >= trigger_s
    commanded_s = np.where(stays, seen_s + trigger_s + command_s, math.inf)

    times = np.arange(-1.5 * OUTER_M / speed_mps, OUTER_M / speed_mps, step_s)
    phases = np.arange(0, held_s, STEP_S) if held_s else np.zeros(1)
    failed = np.zeros(lines)
    for phase in phases:
        looked_s = np.floor((times - phase) / held_s) * held_s + phase if held_s else times
        # Ratio of the macro's power to the pico's in free space.
        distance = np.hypot(speed_mps * looked_s[None, :], offsets[:, None])
        mean = _mean((distance / OUTER_M) ** 2, max(1, round(averaged_s / step_s)))
        is_out = mean < (INNER_M / OUTER_M) ** 2
        first_s = np.where(is_out.any(axis=1), times[is_out.argmax(axis=1)], math.inf)
        failed += (first_s < commanded_s) / len(phases)
    # The delays on entry and on exit are equal, so the stay is the time inside the circle.
    is_short = 2 * half / speed_mps < LEAST_STAY_S
    return {
        "none": float((~stays * (1 - failed)).mean()),
        "failed": float(failed.mean()),
        "ping_pong": float((stays * (1 - failed) * is_short).mean()),
    }


def _mean(values: "np.ndarray[Any, Any]", count: int) -> "np.ndarray[Any, Any]":
    """Returns for each row the running mean of the latest `count` values, or of fewer at
    the start.
    """
    sums = np.cumsum(values, axis=1)
    mean = sums / np.minimum(np.arange(1, values.shape[1] + 1), count)
    mean[:, count:] = (sums[:, count:] - sums[:, :-count]) / count
    return mean
