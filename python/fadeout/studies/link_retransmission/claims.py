"""Checks of the paper's claims."""

import math
from collections.abc import Mapping
from statistics import fmean

from fadeout.studies.link_retransmission.runs import ByMode, Times
from fadeout.studies.link_retransmission.setups import (
    BOTH,
    CLAIMS,
    HARQ,
    MODES,
    NONE,
    SIZES_MB,
    Mode,
)
from fadeout.study import (
    Estimate,
    Law,
    Places,
    Verdict,
    jackknife,
    mean_over_places,
    mixed,
    ratio_over_places,
    share_in_sight,
)

Found = Mapping[int, Places[ByMode]]
"""Numbers of long transfers in each place, by distance."""

NEAR_M = 50
"""Distance at which the paper has no gain, metres."""

FAR_FROM_M = 100
"""Distance from which the check of the paper's gain applies (beyond 50 m), metres."""

LARGE = 100
"""Largest ratio that is printed. A larger one has a base near zero."""


def ratio(one: float, other: float) -> float:
    """Returns `one / other`. Infinite if `other` is zero."""
    return one / other if other > 0 else math.inf


def mean_of(
    found: Found, distance_m: int, mode: Mode, name: str, law: Law = share_in_sight
) -> Estimate:
    """Returns the mean of a number over all places at a distance."""
    return mean_over_places(found[distance_m], distance_m, lambda each: each[mode.name][name], law)


def gain(
    found: Found,
    distance_m: int,
    ours: Mode = BOTH,
    base: Mode = NONE,
    law: Law = share_in_sight,
) -> Estimate:
    """Returns the ratio of the goodputs of two modes."""

    one, other = (lambda each, m=mode: each[m.name]["goodput_mbps"] for mode in (ours, base))
    return ratio_over_places(found[distance_m], distance_m, one, other, law)


def times_text(value: Estimate) -> str:
    """Returns a ratio as text. A ratio above `LARGE` is only called large."""
    return f"{value:.2f}" if value.mean < LARGE else f"> {LARGE}"


def latency_step(found: Found, distance_m: int, ours: Mode, base: Mode) -> Estimate:
    """Returns the difference of two modes' mean RTT in ms, over places that have both."""

    def difference(each: ByMode) -> float | None:
        one, other = each[ours.name]["rtt_ms"], each[base.name]["rtt_ms"]
        return None if one is None or other is None else one - other

    return mean_over_places(found[distance_m], distance_m, difference)


def latencies(found: Found, distance_m: int, law: Law = share_in_sight) -> str:
    """Returns the RTTs at a distance as text, in the order of the modes, with a dash for
    no sample.
    """
    rtts = [mean_of(found, distance_m, mode, "rtt_ms", law).mean for mode in MODES]
    return " / ".join("-" if math.isnan(rtt_ms) else f"{rtt_ms:.0f}" for rtt_ms in rtts)


def retransmission_verdicts(found: Found) -> list[Verdict]:
    """Returns the verdicts on throughput and latency."""
    gains = {distance: gain(found, distance) for distance in found}
    far = max(found)
    checked = {f"gain at {d} m": value for d, value in gains.items()}
    others = {d: times_text(value) for d, value in gains.items() if NEAR_M < d < FAR_FROM_M}
    return [
        Verdict(
            CLAIMS["retx_gain"],
            {name: value for name, value in checked.items() if name in CLAIMS["retx_gain"].checks},
            ", ".join(
                f"The gain at {d} m, without a check, is {text}" for d, text in others.items()
            ),
        ),
        Verdict(
            CLAIMS["retx_latency"],
            {
                "HARQ less none": latency_step(found, far, HARQ, NONE),
                "RLC AM less HARQ": latency_step(found, far, BOTH, HARQ),
            },
            f"{latencies(found, far)} ms at {far} m (none / HARQ / both)",
        ),
    ]


def download_verdict(found: Found, downloads: Mapping[int, Places[Times]]) -> Verdict:
    """Returns the verdict on short files: RLC AM helps them more than a long transfer."""
    margins: dict[str, Estimate] = {}
    shown = []
    for distance in (d for d in found if d >= FAR_FROM_M):

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
        # Both ratios are from the same places. As they are treated as independent, the interval is
        # too wide.
        half_width = math.hypot(files.half_width, long.half_width)
        margins[f"gap of files less gap of iperf at {distance} m"] = Estimate(
            files.mean - long.mean, half_width, files.count
        )
        shown.append(f"{distance} m: files {files:.2f}, bulk {long:.2f}")
    return Verdict(CLAIMS["wget"], margins, ", and at ".join(shown))
