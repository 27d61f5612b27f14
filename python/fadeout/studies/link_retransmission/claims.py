"""The paper's claims, checked against what was found."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from fadeout.studies.link_retransmission.runs import ByMode, Times
from fadeout.studies.link_retransmission.setups import BOTH, HARQ, MODES, NONE, SIZES_MB, Mode
from fadeout.study import Estimate, Places, Verdict, jackknife, mixed

Found = Mapping[int, Places[ByMode]]
"""What long transfers do in each place, by distance."""

FAR_FROM_M = 100
"""From this distance on the paper's gain is asked for: beyond 50 m."""

LARGE = 100
"""Ratios beyond it say only that there was next to nothing to divide by."""


def ratio(one: float, other: float) -> float:
    """`one` over `other`; infinite over nothing."""
    return one / other if other > 0 else math.inf


def mean_of(found: Found, distance_m: int, mode: Mode, name: str) -> Estimate:
    """The mean of a number over all places at a distance."""
    return jackknife(
        lambda places: mixed(places, distance_m, lambda each: each[mode.name][name]),
        found[distance_m],
    )


def gain(found: Found, distance_m: int, ours: Mode = BOTH, base: Mode = NONE) -> Estimate:
    """Goodput of one mode over that of another."""

    def statistic(places: Places[ByMode]) -> float:
        one, other = (
            mixed(places, distance_m, lambda each, m=mode: each[m.name]["goodput_mbps"])
            for mode in (ours, base)
        )
        return ratio(one, other)

    return jackknife(statistic, found[distance_m])


def times_text(value: Estimate) -> str:
    """A ratio as people read it; what is divided by nearly nothing is only large."""
    return f"{value:.2f}" if value.mean < LARGE else f"> {LARGE}"


def latency_step(found: Found, distance_m: int, ours: Mode, base: Mode) -> Estimate:
    """Mean RTT of one mode less that of another in ms, of the places that have both."""

    def difference(each: ByMode) -> float | None:
        one, other = each[ours.name]["rtt_ms"], each[base.name]["rtt_ms"]
        return None if one is None or other is None else one - other

    return jackknife(lambda places: mixed(places, distance_m, difference), found[distance_m])


def latencies(found: Found, distance_m: int) -> str:
    """The delays at a distance, in the order of the modes; a dash where there is no sample."""
    rtts = [mean_of(found, distance_m, mode, "rtt_ms").mean for mode in MODES]
    return " / ".join("-" if math.isnan(rtt_ms) else f"{rtt_ms:.0f}" for rtt_ms in rtts)


def retransmission_verdicts(
    found: Found, distances_m: Sequence[int], texts: Mapping[str, str]
) -> list[Verdict]:
    """The claims on throughput and latency."""
    gains = {distance: gain(found, distance) for distance in distances_m}
    far = distances_m[-1]
    steps = [latency_step(found, far, HARQ, NONE), latency_step(found, far, BOTH, HARQ)]
    return [
        Verdict(
            "retx_gain",
            texts["retx_gain"],
            tuple(value.above(1) for d, value in gains.items() if d >= FAR_FROM_M),
            ", ".join(f"{times_text(value)} at {d} m" for d, value in gains.items()),
        ),
        Verdict(
            "retx_latency",
            texts["retx_latency"],
            tuple(steps),
            f"{latencies(found, far)} ms at {far} m (none / HARQ / both); "
            f"HARQ {steps[0]:+.1f} ms, RLC AM {steps[1]:+.1f} ms",
        ),
    ]


def download_verdict(
    found: Found,
    downloads: Mapping[int, Places[Times]],
    distances_m: Sequence[int],
    texts: Mapping[str, str],
) -> Verdict:
    """The claim on short files: RLC AM helps them more than it helps a long transfer."""
    margins, shown = [], []
    for distance in (d for d in distances_m if d >= FAR_FROM_M):

        def short(places: Places[Times], distance: int = distance) -> float:
            return fmean(
                ratio(
                    mixed(places, distance, lambda each, s=size: each[HARQ.name, s]),
                    mixed(places, distance, lambda each, s=size: each[BOTH.name, s]),
                )
                for size in SIZES_MB
            )

        files = jackknife(short, downloads[distance])
        long = gain(found, distance, BOTH, HARQ)
        # The places are the same, so what both have in common makes this interval too wide.
        half_width = math.hypot(files.half_width, long.half_width)
        margins.append(Estimate(files.mean - long.mean, half_width, files.count))
        shown.append(f"{distance} m: files {files:.2f}, bulk {long:.2f}")
    return Verdict("wget", texts["wget"], tuple(margins), "; ".join(shown))
