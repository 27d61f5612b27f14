"""Checks of the paper's claims."""

import math
from statistics import fmean

from fadeout.studies.link_retransmission.runs import BOTH, CLAIMS, HARQ, MODES, NONE
from fadeout.study import (
    Choice,
    Estimate,
    FoundInPlaces,
    Places,
    Verdict,
    jackknife,
    mixed,
    side_by_side,
)

FAR_FROM_M = 100
"""Distance from which the check of the paper's gain applies (beyond 50 m), metres."""

LARGE = 100
"""Largest ratio that is printed. A larger one has a base near zero."""


def gain(
    found: FoundInPlaces, distance_m: int, ours: Choice = BOTH, base: Choice = NONE
) -> Estimate:
    """Returns the ratio of the goodputs of two modes."""
    return found.ratio((distance_m, ours), (distance_m, base), "goodput_mbps")


def times_text(value: Estimate) -> str:
    """Returns a ratio as text. A ratio above `LARGE` is only called large."""
    return f"{value:.2f}" if value.mean < LARGE else f"> {LARGE}"


def latencies(found: FoundInPlaces, distance_m: int) -> str:
    """Returns the RTTs at a distance as text, in the order of the modes, with a dash for
    no sample.
    """
    rtts = [found.mean((distance_m, mode), "rtt_ms").mean for mode in MODES]
    return " / ".join("-" if math.isnan(rtt_ms) else f"{rtt_ms:.0f}" for rtt_ms in rtts)


def retransmission_verdicts(found: FoundInPlaces) -> list[Verdict]:
    """Returns the verdicts on throughput and latency."""
    distances: list[int] = found.parts("distance_m")
    far = max(distances)
    claim = CLAIMS["retx_gain"]
    gains = {f"gain at {distance} m": gain(found, distance) for distance in distances}
    unchecked = [
        f"The {name}, without a check, is {times_text(value)}"
        for name, value in gains.items()
        if name not in claim.checks
    ]
    return [
        Verdict(
            claim,
            {name: value for name, value in gains.items() if name in claim.checks},
            ", ".join(unchecked),
        ),
        Verdict(
            CLAIMS["retx_latency"],
            {
                "HARQ less none": found.less((far, HARQ), (far, NONE), "rtt_ms"),
                "RLC AM less HARQ": found.less((far, BOTH), (far, HARQ), "rtt_ms"),
            },
            f"{latencies(found, far)} ms at {far} m (none / HARQ / both)",
        ),
    ]


def download_verdict(found: FoundInPlaces, downloads: FoundInPlaces) -> Verdict:
    """Returns the verdict on short files: RLC AM helps them more than a long transfer."""
    margins: dict[str, Estimate] = {}
    shown = []
    for distance in (d for d in found.parts("distance_m") if d >= FAR_FROM_M):
        files = ratio_of_files(downloads, distance)
        long = gain(found, distance, BOTH, HARQ)
        # Both ratios are from the same places. As they are treated as independent, the interval is
        # too wide.
        half_width = math.hypot(files.half_width, long.half_width)
        margins[f"gap of files less gap of iperf at {distance} m"] = Estimate(
            files.mean - long.mean, half_width, files.count
        )
        shown.append(f"{distance} m: files {files:.2f}, bulk {long:.2f}")
    return Verdict(CLAIMS["wget"], margins, ", and at ".join(shown))


def ratio_of_files(downloads: FoundInPlaces, distance_m: int) -> Estimate:
    """Returns the ratio of the download times with HARQ and with both, as a mean over sizes."""
    sizes = downloads.parts("size_mb")
    at = {
        (mode, size): downloads[distance_m, mode, size] for mode in (HARQ, BOTH) for size in sizes
    }

    def ratio(places: Places[dict[tuple[Choice, int], dict[str, float]]]) -> float:
        times = {
            key: mixed(places, distance_m, lambda each, key=key: each[key]["time_s"]) for key in at
        }
        return fmean(
            times[HARQ, size] / times[BOTH, size] if times[BOTH, size] > 0 else math.inf
            for size in sizes
        )

    return jackknife(ratio, side_by_side(at))
