"""Checks of the paper's claims."""

from collections.abc import Callable

from fadeout.studies.multipath.runs import Found, Point
from fadeout.studies.multipath.setups import BALIA, CLAIMS, FAR, LTE, MMWAVE, NEAR, SINGLE, Setup
from fadeout.study import (
    Estimate,
    Law,
    Numbers,
    Places,
    Verdict,
    jackknife,
    mixed,
    share_in_sight,
)

Pair = tuple[Numbers, Numbers]
"""Numbers of two setups in the same place."""


def of(found: Found, point: Point, name: str = "goodput_mbps") -> Estimate:
    """Returns the mean of a number over all places, with its interval."""
    return jackknife(lambda places: mixed(places, point[0], lambda each: each[name]), found[point])


def mean(
    found: Found, point: Point, name: str = "goodput_mbps", law: Law = share_in_sight
) -> float:
    """Returns the mean of a number over all places."""
    return mixed(found[point], point[0], lambda each: each[name], law)


def compared(
    ours: Places[Numbers],
    base: Places[Numbers],
    statistic: Callable[[Places[Pair]], float],
) -> Estimate:
    """Returns a statistic of two setups in the same places."""
    pairs = {
        sight: list(zip(ours[sight], base[sight][: len(ours[sight])], strict=True))
        for sight in ours
    }
    return jackknife(statistic, pairs)


def ratio(
    ours: Places[Numbers],
    base: Places[Numbers],
    distance_m: int,
    law: Law = share_in_sight,
) -> Estimate:
    """Returns the ratio of two setups' mean goodputs."""

    def statistic(pairs: Places[Pair]) -> float:
        one = mixed(pairs, distance_m, lambda pair: pair[0]["goodput_mbps"], law)
        other = mixed(pairs, distance_m, lambda pair: pair[1]["goodput_mbps"], law)
        return one / other if other > 0 else float("nan")

    return compared(ours, base, statistic)


def gain(found: Found, point: Point, law: Law = share_in_sight) -> Estimate:
    """Returns the ratio of the goodput to that of 28 GHz alone."""
    return ratio(found[point], found[point[0], SINGLE], point[0], law)


def more_mbps(found: Found, point: Point, base: Setup = SINGLE) -> Estimate:
    """Returns the difference of the goodput from another setup's, in Mbit/s."""
    return compared(
        found[point],
        found[point[0], base],
        lambda pairs: mixed(
            pairs, point[0], lambda pair: pair[0]["goodput_mbps"] - pair[1]["goodput_mbps"]
        ),
    )


def beyond_the_second(found: Found, point: Point) -> Estimate:
    """Returns the gain in goodput less the second path's own goodput, in Mbit/s."""
    return compared(
        found[point],
        found[point[0], SINGLE],
        lambda pairs: mixed(
            pairs,
            point[0],
            lambda pair: pair[0]["goodput_mbps"] - pair[1]["goodput_mbps"] - pair[0]["second_mbps"],
        ),
    )


def gain_pct(found: Found, point: Point) -> Estimate:
    """Returns the gain of the goodput over that of 28 GHz alone, in percent."""
    times = gain(found, point)
    return times.scaled(100, -1)


def verdicts(found: Found) -> list[Verdict]:
    """Returns the verdicts on the claims, by their checks."""
    near_balia, far_lte = gain(found, (NEAR, BALIA)), gain(found, (FAR, LTE))
    beyond = beyond_the_second(found, (FAR, LTE))
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
