"""Places in two strata, with and without line of sight, weighted by the probability of sight."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from fadeout.statistics import FEWEST, Estimate, student_t

Item = TypeVar("Item")
Key = TypeVar("Key")

IN_SIGHT = "clear"
"""The stratum of places with line of sight. The value is that of the key `line-of-sight`."""

OUT_OF_SIGHT = "obstructed"
"""The stratum of places without line of sight."""

SIGHTS = (IN_SIGHT, OUT_OF_SIGHT)
"""Both strata."""

Places = Mapping[str, Sequence[Item]]
"""Values found in the places of each stratum."""


def share_in_sight(distance_m: float) -> float:
    """Returns the probability of line of sight at 28 and 73 GHz.

    The law is `exp(-d / 67.1 m)`, without outage below 156 m: Akdeniz et al., IEEE JSAC 32(6),
    2014, equation 8 and Table I.
    """
    if not 0 < distance_m < 156:
        raise ValueError("a distance of 0 to 156 m, where the law has no outage")
    return math.exp(-distance_m / 67.1)


def share_of_3gpp(distance_m: float, decay_m: float) -> float:
    """Returns an urban cell's probability of line of sight. The UE is at most 13 m high.

    The decay is 36 m in UMi and 63 m in UMa.

    Standard: TR 38.901 Table 7.4.2-1.
    """
    near = min(1.0, 18 / distance_m)
    return near + math.exp(-distance_m / decay_m) * (1 - near)


def share_within_50_m(distance_m: float) -> float:
    """Returns 1 up to 50 m and 0 beyond, as a bound of all laws."""
    return float(distance_m <= 50)


Law = Callable[[float], float]
"""Returns the probability of line of sight at a distance in metres."""

OTHER_LAWS: Mapping[str, Law] = {
    "UMi's law (TR 38.901)": partial(share_of_3gpp, decay_m=36),
    "UMa's law (TR 38.901)": partial(share_of_3gpp, decay_m=63),
    "all up to 50 m, none beyond": share_within_50_m,
}
"""Laws that weigh the same places in another way, for tables of assumptions."""


def mixed(
    places: Places[Item],
    distance_m: float,
    read: Callable[[Item], float | None],
    law: Law = share_in_sight,
) -> float:
    """Returns the weighted mean at a distance. Places where `read` returns None are left out."""
    share = law(distance_m)
    total = weight = 0.0
    for sight, of_stratum in places.items():
        values = [value for value in map(read, of_stratum) if value is not None]
        if values:
            part = share if sight == IN_SIGHT else 1 - share
            total += part * math.fsum(values) / len(values)
            weight += part
    return total / weight if weight else math.nan


def side_by_side(found: Mapping[Key, Places[Item]]) -> Places[dict[Key, Item]]:
    """Returns the values of several setups at each place that all of them have.

    A setup with fewer places has the first ones.
    """
    return {
        sight: [
            dict(zip(found, items, strict=True))
            for items in zip(*(places[sight] for places in found.values()), strict=False)
        ]
        for sight in next(iter(found.values()))
    }


def mean_over_places(
    places: Places[Item],
    distance_m: float,
    read: Callable[[Item], float | None],
    law: Law = share_in_sight,
) -> Estimate:
    """Returns the weighted mean at a distance, with its 95 % interval."""
    return jackknife(lambda each: mixed(each, distance_m, read, law), places)


def ratio_over_places(
    places: Places[Item],
    distance_m: float,
    ours: Callable[[Item], float | None],
    base: Callable[[Item], float | None],
    law: Law = share_in_sight,
) -> Estimate:
    """Returns the ratio of two weighted means at a distance, with its 95 % interval.

    The ratio is infinite if the base is zero.
    """

    def statistic(each: Places[Item]) -> float:
        one, other = (mixed(each, distance_m, read, law) for read in (ours, base))
        return one / other if other > 0 else math.inf

    return jackknife(statistic, places)


def jackknife(statistic: Callable[[Places[Item]], float], places: Places[Item]) -> Estimate:
    """Returns a statistic of stratified places, with its 95 % interval.

    The variance is that of the stratified jackknife, which leaves out one place at a time (Lohr,
    Sampling: Design and Analysis, 2nd ed., section 9.3). The degrees of freedom are those of the
    smallest stratum. A stratum with fewer than five places yields no interval.
    """
    whole = statistic(places)
    count = sum(len(of_stratum) for of_stratum in places.values())
    fewest = min(len(of_stratum) for of_stratum in places.values())
    if fewest < FEWEST or not math.isfinite(whole):
        return Estimate(whole, math.nan, count)
    variance = 0.0
    for sight, of_stratum in places.items():
        n = len(of_stratum)
        without = [
            statistic({**places, sight: [*of_stratum[:i], *of_stratum[i + 1 :]]}) for i in range(n)
        ]
        mean = math.fsum(without) / n
        variance += (n - 1) / n * math.fsum((value - mean) ** 2 for value in without)
    return Estimate(whole, student_t(fewest - 1) * math.sqrt(variance), count)
