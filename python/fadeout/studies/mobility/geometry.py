"""Lines through a circular pico: closed forms, and a walk that adds what a real link has.

A pico is entered by event A3 on a circle, and on a smaller one the macro is below Qout. Lines have
a distance from the centre that is uniform up to the outer radius. Nothing here is of the simulator.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

OUTER_M = 50.0
"""Where both cells are equal."""
INNER_M = 40.0
"""Where the macro is at Qout."""
LEAST_STAY_S = 1.0
"""What is shorter is a ping-pong."""

STEP_S = 0.01
"""From one measurement, and one evaluation of the link, to the next."""
AVERAGED_S = 0.2
"""Over which a link's SINR is averaged for Qout (TS 36.133 clause 7.6.1)."""


HELD_S = 0.1
"""From one look at a path that interferes to the next (docs/models/mac.md)."""


@dataclass(frozen=True)
class Shares:
    """Shares of the lines, from 0 to 1."""

    none: float
    """Leave before the time to trigger is over."""
    failed: float
    """Reach the inner circle before it is."""
    ping_pong: float
    """Are handed over and back within the least stay."""

    def values(self) -> dict[str, float]:
        """By name."""
        return {"none": self.none, "failed": self.failed, "ping_pong": self.ping_pong}


def closed_form(speed_mps: float, trigger_s: float) -> Shares:
    """What geometry alone has: no filter, and nothing between the trigger and the handover."""
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
    return Shares(
        none=1 - longer(way),
        failed=failed,
        ping_pong=max(longer(way) - longer(speed_mps * LEAST_STAY_S), 0.0),
    )


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
    """The same by walking: with a time from the trigger until the UE has the command, with the
    macro's SINR averaged before it is compared with Qout, and with the pico's level in it as old as
    up to `held_s`.
    """
    offsets = OUTER_M * (np.arange(lines) + 0.5) / lines
    half = np.sqrt(OUTER_M**2 - offsets**2)
    # What is measured is seen at the next step.
    seen_s = np.ceil(-half / speed_mps / step_s) * step_s
    stays = 2 * half / speed_mps >= trigger_s
    commanded_s = np.where(stays, seen_s + trigger_s + command_s, math.inf)

    times = np.arange(-1.5 * OUTER_M / speed_mps, OUTER_M / speed_mps, step_s)
    phases = np.arange(0, held_s, STEP_S) if held_s else np.zeros(1)
    failed = np.zeros(lines)
    for phase in phases:
        looked_s = np.floor((times - phase) / held_s) * held_s + phase if held_s else times
        # The macro over the pico in free space.
        distance = np.hypot(speed_mps * looked_s[None, :], offsets[:, None])
        mean = _mean((distance / OUTER_M) ** 2, max(1, round(averaged_s / step_s)))
        is_out = mean < (INNER_M / OUTER_M) ** 2
        first_s = np.where(is_out.any(axis=1), times[is_out.argmax(axis=1)], math.inf)
        failed += (first_s < commanded_s) / len(phases)
    # The same time passes on the way out.
    is_short = 2 * half / speed_mps < LEAST_STAY_S
    return Shares(
        none=float((~stays * (1 - failed)).mean()),
        failed=float(failed.mean()),
        ping_pong=float((stays * (1 - failed) * is_short).mean()),
    )


def _mean(values: "np.ndarray[Any, Any]", count: int) -> "np.ndarray[Any, Any]":
    """Along each row the mean of the latest `count`, or of as many as there are."""
    sums = np.cumsum(values, axis=1)
    mean = sums / np.minimum(np.arange(1, values.shape[1] + 1), count)
    mean[:, count:] = (sums[:, count:] - sums[:, :-count]) / count
    return mean
