"""Checks of the conclusions of TR 36.839."""

from collections.abc import Sequence

from fadeout.studies.mobility.runs import (
    AT_KMH,
    BASE,
    CLAIMS,
    MIDDLE,
    SETS,
    WITHOUT_PICOS,
)
from fadeout.study import Estimate, Found, Numbers, Verdict, paired_difference

FAILED = ("failures_state_2", "failures_state_3")
TRIED = (*FAILED, "handovers")
"""Counts of the handover failure rate (TR 36.839 clause 5.2.1.2)."""


def verdicts(
    found: Found, swept: Found, speeds: Sequence[float], sets: Sequence[int]
) -> list[Verdict]:
    """Returns the verdicts on the conclusions."""
    fast, slow = max(speeds), min(speeds)
    late, early = sets[0], sets[-1]

    def at(kmh: float, number: int) -> list[Numbers]:
        return found[number, SETS[number], kmh]

    with_picos, without = (swept[AT_KMH, MIDDLE, change] for change in (BASE, WITHOUT_PICOS))
    margins = {
        "speed": {f"set {n}": more(at(fast, n), at(slow, n), FAILED, TRIED) for n in sets},
        "trigger": {
            f"{kmh:g} km/h": more(at(kmh, late), at(kmh, early), FAILED, TRIED) for kmh in speeds
        },
        "ping-pong": {
            f"{kmh:g} km/h": more(at(kmh, early), at(kmh, late), ["ping_pongs"], ["handovers"])
            for kmh in speeds
        },
        "picos": {f"{AT_KMH:g} km/h, set 3": more(with_picos, without, FAILED, TRIED)},
    }
    return [Verdict(CLAIMS[name], each) for name, each in margins.items()]


def more(
    ours: Sequence[Numbers], base: Sequence[Numbers], above: Sequence[str], below: Sequence[str]
) -> Estimate:
    """Returns the difference of two shares of counts in percentage points, over common seeds.

    The interval is that of the difference of both ratios' residuals.
    """

    def residuals(numbers: Sequence[Numbers]) -> tuple[float, list[float]]:
        tops = [sum(each[name] for name in above) for each in numbers]
        bottoms = [sum(each[name] for name in below) for each in numbers]
        mean = sum(bottoms) / len(bottoms)
        if mean == 0:
            return 0.0, [0.0] * len(bottoms)
        ratio = sum(tops) / sum(bottoms)
        return ratio, [(a - ratio * b) / mean for a, b in zip(tops, bottoms, strict=True)]

    (one, first), (other, second) = residuals(ours), residuals(base)
    spread = paired_difference(first, second)
    return Estimate(100 * (one - other), 100 * spread.half_width, spread.count)
