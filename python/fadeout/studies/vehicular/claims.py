"""Checks of the paper's claims."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from fadeout.studies.vehicular.runs import Numbers, Point
from fadeout.studies.vehicular.setups import (
    AT_LOAD,
    CLASSES,
    COMPOUND,
    CUBIC,
    MAIN,
    PLACES,
    RTW,
    RURAL_MANHATTAN,
    RURAL_RANDOM,
    URBAN_MANHATTAN,
    URBAN_RANDOM,
    Place,
    Scheme,
)
from fadeout.study import Claim, Estimate, Verdict, estimate, paired_difference, paired_ratio

Found = Mapping[Point, Sequence[Numbers]]
"""Numbers of each sender by place and load, for each seed."""

CONVENTIONAL = (COMPOUND, CUBIC)


def values(numbers: Sequence[Numbers], name: str) -> list[float]:
    """Returns a number of each seed, and zero for a run without it."""
    return [each[name] or 0.0 for each in numbers]


def gain(ours: Sequence[Numbers], base: Sequence[Numbers], name: str) -> Estimate:
    """Returns the difference of two means in percent. Zero if both are zero."""
    if not any(values(base, name)):
        return Estimate(0.0, 0.0, len(base))
    return paired_ratio(values(ours, name), values(base, name)).scaled(100, -1)


def _of(found: Found, place: Place, scheme: Scheme, load: float) -> Sequence[Numbers]:
    return found[place, scheme, load]


def _mean_of(found: Found, places: Sequence[Place], load: float) -> list[Numbers]:
    """Returns means over the paper's senders and over places, by seed."""
    runs = [_of(found, place, scheme, load) for place in places for scheme in MAIN]
    names = ("goodput_mbps", "rtt_ms")
    return [
        {name: fmean(each[name] or 0.0 for each in of_seed) for name in names}
        for of_seed in zip(*runs, strict=True)
    ]


def verdicts(
    found: Found, loads: Sequence[float], capacity: float, claims: Mapping[str, Claim]
) -> list[Verdict]:
    """Returns the verdicts on Figures 8 and 9."""
    return [
        _linear(found, loads, capacity, claims),
        _rural(found, loads, claims),
        _urban_random(found, loads, claims),
        _sensitivity(found, loads, claims),
        _rtt(found, claims),
        _alike(found, claims),
    ]


def _linear(
    found: Found, loads: Sequence[float], capacity: float, claims: Mapping[str, Claim]
) -> Verdict:
    """Returns the verdict that up to load 1 at least 95 % of the offered load arrives."""
    shares = {}
    for load in (each for each in loads if each <= AT_LOAD):
        got = values(_mean_of(found, PLACES, load), "goodput_mbps")
        shares[f"share at load {load:g}"] = estimate([100 * one / (load * capacity) for one in got])
    return Verdict(claims["linear_until_1"], shares)


def _rural(found: Found, loads: Sequence[float], claims: Mapping[str, Claim]) -> Verdict:
    below = [load for load in loads if load < AT_LOAD]
    gains = {
        f"at load {load:g}": gain(
            _mean_of(found, (RURAL_MANHATTAN, RURAL_RANDOM), load),
            _mean_of(found, (URBAN_MANHATTAN, URBAN_RANDOM), load),
            "goodput_mbps",
        )
        for load in below
    }
    return Verdict(claims["rural_over_urban"], gains)


def _urban_random(found: Found, loads: Sequence[float], claims: Mapping[str, Claim]) -> Verdict:
    high = loads[-1]
    ours = _of(found, URBAN_RANDOM, RTW, high)
    gains = {
        f"over {scheme.name}": gain(ours, _of(found, URBAN_RANDOM, scheme, high), "goodput_mbps")
        for scheme in CONVENTIONAL
    }
    return Verdict(claims["urban_random"], gains, f"The load is {high:g}")


def _sensitivity(found: Found, loads: Sequence[float], claims: Mapping[str, Claim]) -> Verdict:
    """Returns the verdict that RTW-TCP gains more from streets than the other senders."""
    high = loads[-1]

    def step(scheme: Scheme) -> list[float]:
        pairs = zip(
            values(_of(found, URBAN_MANHATTAN, scheme, high), "goodput_mbps"),
            values(_of(found, URBAN_RANDOM, scheme, high), "goodput_mbps"),
            strict=True,
        )
        return [100 * (streets / free - 1) if free else 0.0 for streets, free in pairs]

    ours = step(RTW)
    steps = {scheme.name: estimate(step(scheme)) for scheme in (RTW, *CONVENTIONAL)}
    less = {
        f"{scheme.name} less {RTW.name}": paired_difference(step(scheme), ours)
        for scheme in CONVENTIONAL
    }
    return Verdict(claims["mobility_sensitivity"], {**steps, **less})


def _rtt(found: Found, claims: Mapping[str, Claim]) -> Verdict:
    """Returns the verdict on RTTs: lower with RTW-TCP, higher in random and urban places."""
    margins: dict[str, Estimate] = {}
    for scheme in CONVENTIONAL:
        ours = _of(found, URBAN_RANDOM, RTW, AT_LOAD)
        lower = gain(_of(found, URBAN_RANDOM, scheme, AT_LOAD), ours, "rtt_ms")
        margins[f"{scheme.name} over RTW-TCP"] = lower
    random = _mean_of(found, (RURAL_RANDOM, URBAN_RANDOM), AT_LOAD)
    streets = _mean_of(found, (RURAL_MANHATTAN, URBAN_MANHATTAN), AT_LOAD)
    margins["random over Manhattan"] = gain(random, streets, "rtt_ms")
    urban = _mean_of(found, (URBAN_MANHATTAN, URBAN_RANDOM), AT_LOAD)
    rural = _mean_of(found, (RURAL_MANHATTAN, RURAL_RANDOM), AT_LOAD)
    margins["urban over rural"] = gain(urban, rural, "rtt_ms")
    return Verdict(claims["rtt_gain"], margins)


def _alike(found: Found, claims: Mapping[str, Claim]) -> Verdict:
    """Returns the verdict that RTW-TCP has less delay if it has more throughput."""
    gains = {}
    for scheme in CONVENTIONAL:
        ours = _of(found, URBAN_RANDOM, RTW, AT_LOAD)
        other = _of(found, URBAN_RANDOM, scheme, AT_LOAD)
        gains[f"throughput over {scheme.name}"] = gain(ours, other, "goodput_mbps")
        gains[f"delay of {scheme.name} over it"] = gain(other, ours, "rtt_ms")
    return Verdict(claims["rtt_like_throughput"], gains)


def motorway_verdict(
    found: Mapping[Scheme, Sequence[Numbers]], claims: Mapping[str, Claim]
) -> Verdict:
    """Returns the verdict on RTW-TCP on the motorway."""
    gains = {
        f"over {scheme.name}": gain(found[RTW], found[scheme], "goodput_mbps")
        for scheme in MAIN
        if scheme is not RTW
    }
    return Verdict(claims["realistic"], gains)


def classes_verdict(found: Found, load: float, claims: Mapping[str, Claim]) -> Verdict:
    """Returns the verdict that RTW-TCP has more throughput than one sender of each class."""
    ours = _of(found, URBAN_RANDOM, RTW, load)
    gains = {
        f"over {scheme.name}": gain(ours, _of(found, URBAN_RANDOM, scheme, load), "goodput_mbps")
        for scheme in (CUBIC, *CLASSES)
    }
    return Verdict(claims["table2"], gains, f"The place is urban-random, at load {load:g}")
