"""Checks of the paper's claims."""

from collections.abc import Mapping, Sequence

from fadeout.studies.vehicular.runs import (
    AT_LOAD,
    CASES,
    CLAIMS,
    CLASSES,
    CONVENTIONAL,
    CUBIC,
    MAIN,
    PLACES,
    RTW,
    RURAL_MANHATTAN,
    RURAL_RANDOM,
    URBAN_MANHATTAN,
    URBAN_RANDOM,
    Case,
    Choice,
    Found,
)
from fadeout.study import (
    Estimate,
    OfSeeds,
    Verdict,
    difference,
    estimate,
    gain_pct,
    mean,
    paired_difference,
    values,
)

HIGHEST_MBPS = 2000.0
"""Largest load of the paper over all cars at rest, Mbit/s."""

RURAL, URBAN = (RURAL_MANHATTAN, RURAL_RANDOM), (URBAN_MANHATTAN, URBAN_RANDOM)
STREETS, FREE = (RURAL_MANHATTAN, URBAN_MANHATTAN), (RURAL_RANDOM, URBAN_RANDOM)


def verdicts(found: Found, loads: Sequence[float], capacity: float) -> list[Verdict]:
    """Returns the verdicts on Figures 8 and 9."""
    high = loads[-1]
    at = found_at(found, URBAN_RANDOM, high)
    carried = {
        f"share at load {load:g}": estimate(
            [
                100 * rate / (load * capacity)
                for rate in values(mean_of(found, PLACES, load), "goodput_mbps")
            ]
        )
        for load in loads
        if load <= AT_LOAD
    }
    rural = {
        f"at load {load:g}": gain_pct(
            mean_of(found, RURAL, load), mean_of(found, URBAN, load), "goodput_mbps"
        )
        for load in loads
        if load < AT_LOAD
    }
    return [
        Verdict(CLAIMS["linear_until_1"], carried),
        Verdict(CLAIMS["rural_over_urban"], rural),
        Verdict(CLAIMS["urban_random"], over(at, CONVENTIONAL), f"The load is {high:g}"),
        Verdict(CLAIMS["mobility_sensitivity"], sensitivity(found, high)),
        Verdict(CLAIMS["rtt_gain"], round_trips(found)),
        Verdict(CLAIMS["rtt_like_throughput"], alike(found)),
    ]


def found_at(found: Found, place: Choice, load: float) -> dict[Choice, OfSeeds]:
    """Returns the numbers of each sender at a place and load."""
    return {scheme: each for (at, scheme, of), each in found.items() if (at, of) == (place, load)}


def mean_of(found: Found, places: Sequence[Choice], load: float) -> list[dict[str, float]]:
    """Returns means over the paper's senders and over places, by seed."""
    runs = [found[place, scheme, load] for place in places for scheme in MAIN]
    names = ("goodput_mbps", "rtt_ms")
    return [
        {name: mean(of_seed, name).mean for name in names} for of_seed in zip(*runs, strict=True)
    ]


def sensitivity(found: Found, load: float) -> dict[str, Estimate]:
    """Returns the gains from streets in percent, and how much they exceed that of RTW-TCP."""

    def step(scheme: Choice) -> list[float]:
        pairs = zip(
            values(found[URBAN_MANHATTAN, scheme, load], "goodput_mbps"),
            values(found[URBAN_RANDOM, scheme, load], "goodput_mbps"),
            strict=True,
        )
        return [100 * (streets / free - 1) if free else 0.0 for streets, free in pairs]

    steps = {scheme.name: step(scheme) for scheme in (RTW, *CONVENTIONAL)}
    less = {
        f"{scheme.name} less {RTW.name}": paired_difference(steps[scheme.name], steps[RTW.name])
        for scheme in CONVENTIONAL
    }
    return {name: estimate(each) for name, each in steps.items()} | less


def round_trips(found: Found) -> dict[str, Estimate]:
    """Returns by how much round trips are lower with RTW-TCP, in streets, and in rural places."""
    at = found_at(found, URBAN_RANDOM, AT_LOAD)
    lower = {
        f"{one.name} over RTW-TCP": gain_pct(at[one], at[RTW], "rtt_ms") for one in CONVENTIONAL
    }
    for name, ours, base in (
        ("random over Manhattan", FREE, STREETS),
        ("urban over rural", URBAN, RURAL),
    ):
        one, other = (mean_of(found, places, AT_LOAD) for places in (ours, base))
        lower[name] = gain_pct(one, other, "rtt_ms")
    return lower


def alike(found: Found) -> dict[str, Estimate]:
    """Returns the gains of RTW-TCP in throughput and in delay."""
    at = found_at(found, URBAN_RANDOM, AT_LOAD)
    gains: dict[str, Estimate] = {}
    for one in CONVENTIONAL:
        gains[f"throughput over {one.name}"] = gain_pct(at[RTW], at[one], "goodput_mbps")
        gains[f"delay of {one.name} over it"] = gain_pct(at[one], at[RTW], "rtt_ms")
    return gains


def motorway_verdict(found: Mapping[Choice, OfSeeds]) -> Verdict:
    """Returns the verdict on RTW-TCP on the motorway."""
    others = [scheme for scheme in MAIN if scheme is not RTW]
    return Verdict(CLAIMS["realistic"], over(found, others))


def classes_verdict(found: Found, load: float) -> Verdict:
    """Returns the verdict that RTW-TCP has more throughput than one sender of each class."""
    gains = over(found_at(found, URBAN_RANDOM, load), (CUBIC, *CLASSES))
    note = f"The place is urban-random, at load {load:g}"
    return Verdict(CLAIMS["table2"], gains, note)


def over(found: Mapping[Choice, OfSeeds], others: Sequence[Choice]) -> dict[str, Estimate]:
    """Returns the gain of RTW-TCP's throughput over each of `others` in percent."""
    return {f"over {one.name}": gain_pct(found[RTW], found[one], "goodput_mbps") for one in others}


def standing_verdict(found: Mapping[tuple[str, str, float], OfSeeds]) -> Verdict:
    """Returns the verdict that 28 GHz carries the paper's largest load, and HSPA+ loses more."""
    at = max(load for *_, load in found if load <= HIGHEST_MBPS)
    hspa, mmwave = (found[radio, "50 MB", at] for radio in ("HSPA+", "28 GHz"))
    carried = [100 * rate / at for rate in values(mmwave, "rate_mbps")]
    return Verdict(
        CLAIMS["no_congestion_mmwave"],
        {
            "share that 28 GHz carries": estimate(carried),
            "HSPA+ less 28 GHz, lost": difference(hspa, mmwave, "loss_pct"),
        },
        f"The load is {at:g} Mbit/s",
    )


def failures_verdict(found: Mapping[Case, OfSeeds]) -> Verdict:
    """Returns the verdict that 95 % of deafness and misalignment are over within 10 ms."""
    within = {
        f"{case[0].cause}, {case[0].name}": mean(found[case], "within_pct")
        for case in CASES
        if case[0].is_short and case[1] is case[0].modes[0] and case[2].name == CUBIC.name
    }
    return Verdict(CLAIMS["mac_recovery"], within)


def paths_verdict(found: Mapping[str, Sequence[Mapping[str, float]]]) -> Verdict:
    """Returns the verdict that paths to the nearest vehicle are blocked less than those
    to units.
    """
    margins = {
        f"to units less to cars, {place}": estimate(
            [each["unit_pct"] - each["nearest_pct"] for each in numbers]
        )
        for place, numbers in found.items()
    }
    return Verdict(CLAIMS["v2v"], margins)
