"""Checks of the paper's claims."""

from collections.abc import Mapping

from fadeout.studies.multipath.runs import Found, Point
from fadeout.studies.multipath.setups import BALIA, CLAIMS, FAR, LTE, MMWAVE, NEAR, SINGLE, Setup
from fadeout.study import (
    Estimate,
    Law,
    Numbers,
    Places,
    Verdict,
    mean_over_places,
    mixed,
    ratio_over_places,
    share_in_sight,
    side_by_side,
)


def of(found: Found, point: Point, name: str = "goodput_mbps") -> Estimate:
    """Returns the mean of a number over all places, with its interval."""
    return mean_over_places(found[point], point[0], lambda each: each[name])


def mean(
    found: Found, point: Point, name: str = "goodput_mbps", law: Law = share_in_sight
) -> float:
    """Returns the mean of a number over all places."""
    return mixed(found[point], point[0], lambda each: each[name], law)


def ratio(
    ours: Places[Numbers], base: Places[Numbers], distance_m: int, law: Law = share_in_sight
) -> Estimate:
    """Returns the ratio of two setups' mean goodputs, in the places that both have."""
    return ratio_over_places(
        side_by_side({"ours": ours, "base": base}),
        distance_m,
        lambda both: both["ours"]["goodput_mbps"],
        lambda both: both["base"]["goodput_mbps"],
        law,
    )


def gain(found: Found, point: Point, law: Law = share_in_sight) -> Estimate:
    """Returns the ratio of the goodput to that of 28 GHz alone."""
    return ratio(found[point], found[point[0], SINGLE], point[0], law)


def more_mbps(
    found: Found, point: Point, base: Setup = SINGLE, *, less_second: bool = False
) -> Estimate:
    """Returns the difference of the goodput from another setup's, in Mbit/s.

    `less_second` subtracts the second path's own goodput.
    """

    def difference(both: Mapping[str, Numbers]) -> float:
        ours = both["ours"]
        more = ours["goodput_mbps"] - both["base"]["goodput_mbps"]
        return more - ours["second_mbps"] if less_second else more

    both = side_by_side({"ours": found[point], "base": found[point[0], base]})
    return mean_over_places(both, point[0], difference)


def gain_pct(found: Found, point: Point) -> Estimate:
    """Returns the gain of the goodput over that of 28 GHz alone, in percent."""
    times = gain(found, point)
    return times.scaled(100, -1)


def verdicts(found: Found) -> list[Verdict]:
    """Returns the verdicts on the claims, by their checks."""
    near_balia, far_lte = gain(found, (NEAR, BALIA)), gain(found, (FAR, LTE))
    beyond = more_mbps(found, (FAR, LTE), less_second=True)
    rtts = [f"{mean(found, (FAR, setup), 'rtt_ms'):.0f}" for setup in (LTE, SINGLE)]
    share = mean(found, (NEAR, BALIA), "second_mbps") / (mean(found, (NEAR, BALIA)) or 1)
    return [
        Verdict(
            CLAIMS["mp_50m"],
            {"gain": gain_pct(found, (NEAR, MMWAVE))},
            f"The gain is {more_mbps(found, (NEAR, MMWAVE)):+.0f} Mbit/s",
        ),
        Verdict(
            CLAIMS["mp_lte_50m"],
            {"ratio": gain(found, (NEAR, LTE))},
            f"The gain is {more_mbps(found, (NEAR, LTE)):+.0f} Mbit/s",
        ),
        Verdict(
            CLAIMS["mp_lte_150m"],
            {
                "ratio": far_lte,
                "LTE + 28 GHz less 28 + 73 GHz": more_mbps(found, (FAR, LTE), MMWAVE),
                "gain less LTE's own rate": beyond,
            },
            f"The gain is {more_mbps(found, (FAR, LTE)):+.0f} Mbit/s, and the RTT "
            f"{' ms in place of '.join(rtts)} ms",
        ),
        Verdict(
            CLAIMS["balia"],
            {"ratio": near_balia},
            f"LTE carries {share:.0%} of BALIA's goodput at {NEAR} m",
        ),
    ]
