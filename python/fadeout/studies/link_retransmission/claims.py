"""The paper's claims, checked against what was found."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from fadeout.studies.link_retransmission.setups import BOTH, HARQ, MODES, NONE
from fadeout.study import Verdict

Means = Mapping[tuple[int, str], tuple[float, float]]
"""Mean goodput in Mbit/s and mean RTT in ms, by distance and mode."""

LARGE = 100
"""Ratios beyond it say only that there was next to nothing to divide by."""

GAIN_AT = 100
"""From this distance on the paper's gain is asked for."""


def ratio(one: float, other: float) -> float:
    """`one` over `other`; infinite over nothing."""
    return one / other if other > 0 else math.inf


def gain(means: Means, distance_m: int) -> float:
    """Goodput with both retransmissions over that with none."""
    return ratio(means[distance_m, BOTH.name][0], means[distance_m, NONE.name][0])


def times_text(value: float) -> str:
    """A ratio as people read it; what is divided by nearly nothing is only large."""
    return f"{value:.2f}" if value < LARGE else f"> {LARGE}"


def gain_holds(means: Means, distances_m: Sequence[int]) -> bool:
    """1.3 to 3.5 at 100 m and beyond, 1 at the shortest within a tenth."""
    far = [distance for distance in distances_m if distance >= GAIN_AT]
    return abs(gain(means, distances_m[0]) - 1) <= 0.1 and all(
        1.3 <= gain(means, distance) <= 3.5 for distance in far
    )


def latency_holds(means: Means, distance_m: int) -> bool:
    """More retransmissions, more delay; not without a sample of each."""
    none, harq, both = (means[distance_m, mode.name][1] for mode in (NONE, HARQ, BOTH))
    return none < harq < both


def latencies(means: Means, distance_m: int) -> str:
    """The delays at a distance, in the order of the modes; a dash where there is no sample."""
    found = [means[distance_m, mode.name][1] for mode in MODES]
    return " / ".join("-" if math.isnan(rtt_ms) else f"{rtt_ms:.0f}" for rtt_ms in found)


def retransmission_verdicts(
    means: Means, distances_m: Sequence[int], texts: Mapping[str, str]
) -> list[Verdict]:
    """The claims on throughput and latency."""
    gains = ", ".join(
        f"{times_text(gain(means, distance))} at {distance} m" for distance in distances_m
    )
    far = distances_m[-1]
    return [
        Verdict("retx_gain", texts["retx_gain"], gain_holds(means, distances_m), gains),
        Verdict(
            "retx_latency",
            texts["retx_latency"],
            latency_holds(means, far),
            f"{latencies(means, far)} ms at {far} m (none / HARQ / both)",
        ),
    ]


def download_verdict(
    means: Means,
    downloads: Mapping[tuple[int, str, int], float],
    distances_m: Sequence[int],
    texts: Mapping[str, str],
) -> Verdict:
    """The claim on short files: RLC AM helps them more than it helps a long transfer.

    `downloads` has the mean time in seconds by distance, mode and size.
    """
    far = [distance for distance in distances_m if distance >= GAIN_AT]
    sizes = sorted({size for _, _, size in downloads})
    long = {d: ratio(means[d, BOTH.name][0], means[d, HARQ.name][0]) for d in far}
    short = {
        d: fmean(downloads[d, HARQ.name, s] / downloads[d, BOTH.name, s] for s in sizes)
        for d in far
    }
    found = ", ".join(
        f"{distance} m: files {short[distance]:.2f}, bulk {long[distance]:.2f}" for distance in far
    )
    return Verdict("wget", texts["wget"], all(short[d] > long[d] for d in far), found)
