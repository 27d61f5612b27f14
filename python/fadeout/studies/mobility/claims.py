"""Checks of the conclusions of TR 36.839."""

from collections.abc import Callable, Sequence

from fadeout.studies.mobility.runs import BASE, TRIED, Found, more
from fadeout.studies.mobility.setups import AT_KMH, MIDDLE, SETS, WITHOUT_PICOS
from fadeout.study import Check, Claim, Estimate, Numbers, Section, Verdict, claims_section

FAILED = (("failures_state_2", "failures_state_3"), TRIED)
WENT_BACK = (("ping_pongs",), ("handovers",))

MORE = Check(published="more", low=0.0, unit=" points", spec="+.1f")
"""Check of a conclusion of the report, which says that one number is larger than another."""

Compare = Callable[[Sequence[Numbers], Sequence[Numbers]], Estimate]


def _failures(ours: Sequence[Numbers], base: Sequence[Numbers]) -> Estimate:
    return more(ours, base, *FAILED)


def _ping_pongs(ours: Sequence[Numbers], base: Sequence[Numbers]) -> Estimate:
    return more(ours, base, *WENT_BACK)


def _verdict(name: str, text: str, margins: dict[str, Estimate]) -> Verdict:
    return Verdict(Claim(name, text, each=MORE), margins)


def section(found: Found, swept: Found, speeds: Sequence[float], sets: Sequence[int]) -> Section:
    """Returns the section with the verdicts."""
    fast, slow = max(speeds), min(speeds)

    def at(kmh: float, number: int) -> list[Numbers]:
        return found[kmh, SETS[number], BASE]

    def by_speed(compare: Compare, ours: int, base: int) -> dict[str, Estimate]:
        return {f"{kmh:g} km/h": compare(at(kmh, ours), at(kmh, base)) for kmh in speeds}

    long, short = sets[0], sets[-1]
    verdicts = [
        _verdict(
            "speed",
            "Faster UEs have more handover failures.",
            {f"set {n}": _failures(at(fast, n), at(slow, n)) for n in sets},
        ),
        _verdict(
            "trigger",
            f"A late trigger (set {long}) fails more often than an early one (set {short}).",
            by_speed(_failures, long, short),
        ),
        _verdict(
            "ping-pong",
            f"An early trigger (set {short}) goes back more often than a late one (set {long}).",
            by_speed(_ping_pongs, short, long),
        ),
        _verdict(
            "picos",
            "Picos on the macros' carrier make failures more frequent.",
            {
                f"{AT_KMH:g} km/h, set 3": _failures(
                    swept[AT_KMH, MIDDLE, BASE], swept[AT_KMH, MIDDLE, WITHOUT_PICOS]
                )
            },
        ),
    ]
    return claims_section(
        verdicts,
        title="What TR 36.839 concludes",
        text=(
            "The conclusions of TR 36.839 are stated in words, from memory, because its tables "
            "were not available. Values are differences in percentage points. A claim holds if "
            "the 95 % intervals of its differences are above zero. A claim is *open* if an "
            "interval includes zero."
        ),
    )
