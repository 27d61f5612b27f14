"""Checks of the paper's claims."""

from collections.abc import Mapping, Sequence

from fadeout.studies.vehicular.runs import (
    AT_LOAD,
    CLAIMS,
    CLASSES,
    CONVENTIONAL,
    CUBIC,
    MAIN,
    RTW,
)
from fadeout.study import (
    Estimate,
    Found,
    OfSeeds,
    Verdict,
    difference,
    estimate,
    gain_pct,
    mean,
    paired_difference,
    values,
)

HIGHEST_MBPS = 2000
"""Largest load of the paper over all cars at rest, Mbit/s."""

RURAL, URBAN = (("rural-manhattan", "rural-random"), ("urban-manhattan", "urban-random"))
STREETS, FREE = zip(RURAL, URBAN, strict=True)
CROWDED = "urban-random"


def verdicts(found: Found, loads: Sequence[float], capacity: float) -> list[Verdict]:
    """Returns the verdicts on Figures 8 and 9."""
    high = f"{loads[-1]:g}"
    carried: dict[str, Estimate] = {}
    more: dict[str, Estimate] = {}
    for load in loads:
        rural, urban, every = (
            mean_of(found, places, f"{load:g}") for places in (RURAL, URBAN, (*RURAL, *URBAN))
        )
        if load <= AT_LOAD:
            shares = [100 * each["goodput_mbps"] / (load * capacity) for each in every]
            carried[f"share at load {load:g}"] = estimate(shares)
        if load < AT_LOAD:
            more[f"at load {load:g}"] = gain_pct(rural, urban, "goodput_mbps")
    crowded = of_senders(found, place=CROWDED, load=high)
    at_1 = of_senders(found, place=CROWDED, load=f"{AT_LOAD:g}")
    return [
        Verdict(CLAIMS["linear_until_1"], carried),
        Verdict(CLAIMS["rural_over_urban"], more),
        Verdict(CLAIMS["urban_random"], over(crowded, CONVENTIONAL), f"The load is {high}"),
        Verdict(CLAIMS["mobility_sensitivity"], sensitivity(found, high)),
        Verdict(CLAIMS["rtt_gain"], round_trips(found)),
        Verdict(CLAIMS["rtt_like_throughput"], alike(at_1)),
    ]


def of_senders(found: Found, **only: str) -> dict[str, OfSeeds]:
    """Returns the numbers of each sender at a point of all other axes."""
    at = found.only(only)
    return {point[-1].name: at[point] for point in at}


def mean_of(found: Found, places: Sequence[str], load: str) -> list[dict[str, float]]:
    """Returns means over the paper's senders and over places, by seed."""
    runs = [found.at(place=place, load=load, sender=one.name) for place in places for one in MAIN]
    names = ("goodput_mbps", "rtt_ms")
    return [
        {name: mean(of_seed, name).mean for name in names} for of_seed in zip(*runs, strict=True)
    ]


def sensitivity(found: Found, load: str) -> dict[str, Estimate]:
    """Returns the gains from streets in percent, and how much they exceed that of RTW-TCP."""

    def step(sender: str) -> list[float]:
        streets, free = (
            values(found.at(place=place, load=load, sender=sender), "goodput_mbps")
            for place in URBAN
        )
        return [100 * (a / b - 1) if b else 0.0 for a, b in zip(streets, free, strict=True)]

    steps = {sender: step(sender) for sender in (RTW, *CONVENTIONAL)}
    less = {
        f"{sender} less {RTW}": paired_difference(steps[sender], steps[RTW])
        for sender in CONVENTIONAL
    }
    return {sender: estimate(each) for sender, each in steps.items()} | less


def round_trips(found: Found) -> dict[str, Estimate]:
    """Returns by how much round trips are lower with RTW-TCP, in streets, and in rural places."""
    load = f"{AT_LOAD:g}"
    at = of_senders(found, place=CROWDED, load=load)
    lower = {f"{one} over RTW-TCP": gain_pct(at[one], at[RTW], "rtt_ms") for one in CONVENTIONAL}
    free, streets, urban, rural = (
        mean_of(found, places, load) for places in (FREE, STREETS, URBAN, RURAL)
    )
    lower["random over Manhattan"] = gain_pct(free, streets, "rtt_ms")
    lower["urban over rural"] = gain_pct(urban, rural, "rtt_ms")
    return lower


def alike(at: Mapping[str, OfSeeds]) -> dict[str, Estimate]:
    """Returns the gains of RTW-TCP in throughput and in delay."""
    gains: dict[str, Estimate] = {}
    for one in CONVENTIONAL:
        gains[f"throughput over {one}"] = gain_pct(at[RTW], at[one], "goodput_mbps")
        gains[f"delay of {one} over it"] = gain_pct(at[one], at[RTW], "rtt_ms")
    return gains


def motorway_verdict(found: Found) -> Verdict:
    """Returns the verdict on RTW-TCP on the motorway."""
    at = of_senders(found)
    return Verdict(CLAIMS["realistic"], over(at, [name for name in at if name != RTW]))


def classes_verdict(found: Found, load: float) -> Verdict:
    """Returns the verdict that RTW-TCP has more throughput than one sender of each class."""
    others = (CUBIC, *(one.name for one in CLASSES))
    gains = over(of_senders(found, place=CROWDED, load=f"{load:g}"), others)
    return Verdict(CLAIMS["table2"], gains, f"The place is {CROWDED}, at load {load:g}")


def over(found: Mapping[str, OfSeeds], others: Sequence[str]) -> dict[str, Estimate]:
    """Returns the gain of RTW-TCP's throughput over each of `others` in percent."""
    return {f"over {one}": gain_pct(found[RTW], found[one], "goodput_mbps") for one in others}


def standing_verdict(found: Found) -> Verdict:
    """Returns the verdict that 28 GHz carries the paper's largest load, and HSPA+ loses more."""
    loads = map(int, found.parts("load_mbps"))
    load = max(load for load in loads if load <= HIGHEST_MBPS)
    at = found.only({"standing": "50 MB", "load_mbps": f"{load}"})
    hspa, mmwave = (at[point] for point in at)
    found_at = {
        "share that 28 GHz carries": estimate([100 * each["rate_mbps"] / load for each in mmwave]),
        "HSPA+ less 28 GHz, lost": difference(hspa, mmwave, "loss_pct"),
    }
    return Verdict(CLAIMS["no_congestion_mmwave"], found_at, f"The load is {load} Mbit/s")


def failures_verdict(found: Found) -> Verdict:
    """Returns the verdict that 95 % of deafness and misalignment are over within 10 ms."""
    within = {
        f"{failure.kind}, {failure.name}": found.mean((failure, mode, sender), "within_pct")
        for failure, mode, sender in found
        if "short" in failure.tags and "repeats" in mode.tags and sender.name == CUBIC
    }
    return Verdict(CLAIMS["mac_recovery"], within)


def paths_verdict(found: Found) -> Verdict:
    """Returns the verdict that paths to vehicles are blocked less than paths to units."""
    margins = {
        f"to units less to cars, {place.name}": estimate(
            [each["unit_pct"] - each["nearest_pct"] for each in found[place,]]
        )
        for (place,) in found
    }
    return Verdict(CLAIMS["v2v"], margins)
