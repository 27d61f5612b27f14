"""Checks of the conclusions of TR 36.839."""

from collections.abc import Sequence

from fadeout.studies.mobility.runs import AT_KMH, BASE, CLAIMS, MIDDLE, WITHOUT_PICOS, Set
from fadeout.study import Estimate, Found, Numbers, Verdict, paired_difference

FAILED = ("failures_state_2", "failures_state_3")
TRIED = (*FAILED, "handovers")
"""Counts of the handover failure rate (TR 36.839 clause 5.2.1.2)."""


def verdicts(found: Found, swept: Found) -> list[Verdict]:
    """Returns the verdicts on the conclusions, from the numbers by set and speed."""
    sets: list[Set] = found.parts("trigger")
    speeds: list[float] = found.parts("speed_kmh")
    late, early = sets[0], sets[-1]
    fast, slow = max(speeds), min(speeds)
    with_picos, without = (swept[AT_KMH, MIDDLE, change] for change in (BASE, WITHOUT_PICOS))
    margins = {
        "speed": {
            f"set {each.number}": more(found[each, fast], found[each, slow], FAILED, TRIED)
            for each in sets
        },
        "trigger": {
            f"{kmh:g} km/h": more(found[late, kmh], found[early, kmh], FAILED, TRIED)
            for kmh in speeds
        },
        "ping-pong": {
            f"{kmh:g} km/h": more(
                found[early, kmh], found[late, kmh], ["ping_pongs"], ["handovers"]
            )
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
