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
from fadeout.study import Estimate, Verdict, paired_difference, paired_ratio

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
    ratio = paired_ratio(values(ours, name), values(base, name))
    return Estimate(100 * (ratio.mean - 1), 100 * ratio.half_width, ratio.count)


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


def _shown(gains: Mapping[str, Estimate]) -> str:
    return ", ".join(f"{name} {value.text('+.2f', ' %')}" for name, value in gains.items())


def verdicts(
    found: Found, loads: Sequence[float], capacity: float, texts: Mapping[str, str]
) -> list[Verdict]:
    """Returns the verdicts on Figures 8 and 9."""
    return [
        _linear(found, loads, capacity, texts),
        _rural(found, loads, texts),
        _urban_random(found, loads, texts),
        _sensitivity(found, loads, texts),
        _rtt(found, texts),
        _alike(found, texts),
    ]


def _linear(
    found: Found, loads: Sequence[float], capacity: float, texts: Mapping[str, str]
) -> Verdict:
    """Returns the verdict that up to load 1 at least 95 % of the offered load arrives."""
    margins, shown = [], []
    for load in (each for each in loads if each <= AT_LOAD):
        got = values(_mean_of(found, PLACES, load), "goodput_mbps")
        share = paired_difference([100 * one / (load * capacity) for one in got], [95.0] * len(got))
        margins.append(share)
        shown.append(f"{share.mean + 95:.1f} % at {load:g}")
    return Verdict("linear_until_1", texts["linear_until_1"], tuple(margins), ", ".join(shown))


def _rural(found: Found, loads: Sequence[float], texts: Mapping[str, str]) -> Verdict:
    below = [load for load in loads if load < AT_LOAD]
    gains = {
        f"at {load:g}": gain(
            _mean_of(found, (RURAL_MANHATTAN, RURAL_RANDOM), load),
            _mean_of(found, (URBAN_MANHATTAN, URBAN_RANDOM), load),
            "goodput_mbps",
        )
        for load in below
    }
    return Verdict(
        "rural_over_urban", texts["rural_over_urban"], tuple(gains.values()), _shown(gains)
    )


def _urban_random(found: Found, loads: Sequence[float], texts: Mapping[str, str]) -> Verdict:
    high = loads[-1]
    ours = _of(found, URBAN_RANDOM, RTW, high)
    gains = {
        scheme.name: gain(ours, _of(found, URBAN_RANDOM, scheme, high), "goodput_mbps")
        for scheme in CONVENTIONAL
    }
    text = f"RTW-TCP at load {high:g} over {_shown(gains)}"
    return Verdict("urban_random", texts["urban_random"], tuple(gains.values()), text)


def _sensitivity(found: Found, loads: Sequence[float], texts: Mapping[str, str]) -> Verdict:
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
    margins = [paired_difference(step(scheme), ours) for scheme in CONVENTIONAL]
    shown = ", ".join(f"{one.name} {fmean(step(one)):+.1f} %" for one in (RTW, *CONVENTIONAL))
    return Verdict("mobility_sensitivity", texts["mobility_sensitivity"], tuple(margins), shown)


def _rtt(found: Found, texts: Mapping[str, str]) -> Verdict:
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
    return Verdict("rtt_gain", texts["rtt_gain"], tuple(margins.values()), _shown(margins))


def _alike(found: Found, texts: Mapping[str, str]) -> Verdict:
    """Returns the verdict that RTW-TCP has less delay if it has more throughput."""
    gains = {}
    for scheme in CONVENTIONAL:
        ours = _of(found, URBAN_RANDOM, RTW, AT_LOAD)
        other = _of(found, URBAN_RANDOM, scheme, AT_LOAD)
        gains[f"throughput over {scheme.name}"] = gain(ours, other, "goodput_mbps")
        gains[f"delay of {scheme.name} over it"] = gain(other, ours, "rtt_ms")
    return Verdict(
        "rtt_like_throughput", texts["rtt_like_throughput"], tuple(gains.values()), _shown(gains)
    )


def motorway_verdict(
    found: Mapping[Scheme, Sequence[Numbers]], texts: Mapping[str, str]
) -> Verdict:
    """Returns the verdict on RTW-TCP on the motorway."""
    gains = {
        scheme.name: gain(found[RTW], found[scheme], "goodput_mbps")
        for scheme in MAIN
        if scheme is not RTW
    }
    return Verdict("realistic", texts["realistic"], tuple(gains.values()), _shown(gains))


def classes_verdict(found: Found, load: float, texts: Mapping[str, str]) -> Verdict:
    """Returns the verdict that RTW-TCP has more throughput than one sender of each class."""
    ours = _of(found, URBAN_RANDOM, RTW, load)
    gains = {
        scheme.name: gain(ours, _of(found, URBAN_RANDOM, scheme, load), "goodput_mbps")
        for scheme in (CUBIC, *CLASSES)
    }
    text = f"RTW-TCP at urban-random and load {load:g} over {_shown(gains)}"
    return Verdict("table2", texts["table2"], tuple(gains.values()), text)
