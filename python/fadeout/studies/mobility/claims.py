"""Checks of the conclusions of TR 36.839."""

from collections.abc import Callable, Sequence

from fadeout.studies.mobility.runs import TRIED, Found, more
from fadeout.studies.mobility.setups import AT_KMH, BASE, CLAIMS, MIDDLE, SETS, WITHOUT_PICOS
from fadeout.study import Estimate, Numbers, Verdict

FAILED = (("failures_state_2", "failures_state_3"), TRIED)
WENT_BACK = (("ping_pongs",), ("handovers",))

Compare = Callable[[Sequence[Numbers], Sequence[Numbers]], Estimate]


def _failures(ours: Sequence[Numbers], base: Sequence[Numbers]) -> Estimate:
    return more(ours, base, *FAILED)


def _ping_pongs(ours: Sequence[Numbers], base: Sequence[Numbers]) -> Estimate:
    return more(ours, base, *WENT_BACK)


def verdicts(
    found: Found, swept: Found, speeds: Sequence[float], sets: Sequence[int]
) -> list[Verdict]:
    """Returns the verdicts on the conclusions."""
    fast, slow = max(speeds), min(speeds)

    def at(kmh: float, number: int) -> list[Numbers]:
        return found[kmh, SETS[number], BASE]

    def by_speed(compare: Compare, ours: int, base: int) -> dict[str, Estimate]:
        return {f"{kmh:g} km/h": compare(at(kmh, ours), at(kmh, base)) for kmh in speeds}

    late, early = sets[0], sets[-1]
    of_picos = _failures(swept[AT_KMH, MIDDLE, BASE], swept[AT_KMH, MIDDLE, WITHOUT_PICOS])
    margins = {
        "speed": {f"set {n}": _failures(at(fast, n), at(slow, n)) for n in sets},
        "trigger": by_speed(_failures, late, early),
        "ping-pong": by_speed(_ping_pongs, early, late),
        "picos": {f"{AT_KMH:g} km/h, set 3": of_picos},
    }
    return [Verdict(CLAIMS[name], each) for name, each in margins.items()]
