"""Checks of the paper's claims."""

from fadeout.studies.multipath.runs import (
    BALIA,
    CLAIMS,
    FAR,
    LTE,
    MMWAVE,
    NEAR,
    SINGLE,
    Point,
    Setup,
)
from fadeout.study import Estimate, FoundInPlaces, Numbers, Verdict

GOODPUT = "goodput_mbps"


def gain(found: FoundInPlaces, point: Point) -> Estimate:
    """Returns the ratio of the goodput to that of 28 GHz alone."""
    return found.ratio(point, (point[0], SINGLE), GOODPUT)


def more_mbps(found: FoundInPlaces, point: Point, base: Setup = SINGLE) -> Estimate:
    """Returns the difference of the goodput from another setup's, in Mbit/s."""
    return found.less(point, (point[0], base), GOODPUT)


def more_than_second_mbps(found: FoundInPlaces, point: Point) -> Estimate:
    """Returns the gain over 28 GHz alone less the second path's own goodput, in Mbit/s."""

    def difference(ours: Numbers, base: Numbers) -> float:
        return ours[GOODPUT] - base[GOODPUT] - ours["second_mbps"]

    return found.mean_of_pairs(point, (point[0], SINGLE), difference)


def verdicts(found: FoundInPlaces) -> list[Verdict]:
    """Returns the verdicts on the claims, by their checks."""
    rtts = [f"{found.plain_mean((FAR, setup), 'rtt_ms'):.0f}" for setup in (LTE, SINGLE)]
    of_lte, of_both = (found.plain_mean((NEAR, BALIA), each) for each in ("second_mbps", GOODPUT))
    return [
        Verdict(
            CLAIMS["mp_50m"],
            {"gain": found.gain_pct((NEAR, MMWAVE), (NEAR, SINGLE), GOODPUT)},
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
                "ratio": gain(found, (FAR, LTE)),
                "LTE + 28 GHz less 28 + 73 GHz": more_mbps(found, (FAR, LTE), MMWAVE),
                "gain less LTE's own rate": more_than_second_mbps(found, (FAR, LTE)),
            },
            f"The gain is {more_mbps(found, (FAR, LTE)):+.0f} Mbit/s, and the RTT "
            f"{' ms in place of '.join(rtts)} ms",
        ),
        Verdict(
            CLAIMS["balia"],
            {"ratio": gain(found, (NEAR, BALIA))},
            f"LTE carries {of_lte / (of_both or 1):.0%} of BALIA's goodput at {NEAR} m",
        ),
    ]
