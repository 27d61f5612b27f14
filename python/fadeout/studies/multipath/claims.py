"""The paper's claims, checked against what was found."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from fadeout.studies.multipath.runs import Point
from fadeout.studies.multipath.setups import BALIA, FAR, LTE, MMWAVE, NEAR, SINGLE
from fadeout.study import Estimate, Numbers, Verdict, estimate, paired_ratio

Found = Mapping[Point, Sequence[Numbers]]


def column(found: Found, point: Point, name: str = "goodput_mbps") -> list[float]:
    """A column over the seeds."""
    return [each[name] for each in found[point]]


def mean(found: Found, point: Point, name: str = "goodput_mbps") -> float:
    """A mean over the seeds."""
    return fmean(column(found, point, name))


def gain(found: Found, point: Point) -> Estimate:
    """Goodput over the single path's, seed by seed; unknown where that got nothing through."""
    single = column(found, (point[0], SINGLE))
    return paired_ratio(column(found, point), single) if any(single) else estimate([])


def is_sure(value: Estimate, *bounds: float) -> bool | None:
    """Whether the interval of `value` holds none of `bounds`; None where it has none."""
    return (
        None
        if value.ci95 is None
        else all(abs(value.mean - bound) > value.half_width for bound in bounds)
    )


MMWAVE_AT_50_M = (1.2, 1.5)
LTE_AT_50_M = (0.6, 1.1)
LTE_AT_150_M = (1.6, 2.6)


def verdicts(found: Found, texts: Mapping[str, str]) -> list[Verdict]:
    """The claims, by the bounds that `published.toml` has."""
    near_mmwave, near_lte = gain(found, (NEAR, MMWAVE)), gain(found, (NEAR, LTE))
    near_balia = gain(found, (NEAR, BALIA))
    far_lte, far_mmwave = gain(found, (FAR, LTE)), gain(found, (FAR, MMWAVE))
    more_mbps = mean(found, (FAR, LTE)) - mean(found, (FAR, SINGLE))
    rtts = [f"{mean(found, (FAR, setup), 'rtt_ms'):.0f}" for setup in (LTE, SINGLE)]
    share = mean(found, (NEAR, BALIA), "second_mbps") / mean(found, (NEAR, BALIA))
    return [
        Verdict(
            "mp_50m",
            texts["mp_50m"],
            is_between(near_mmwave, MMWAVE_AT_50_M),
            times(near_mmwave),
            is_sure(near_mmwave, *MMWAVE_AT_50_M),
        ),
        Verdict(
            "mp_lte_50m",
            texts["mp_lte_50m"],
            is_between(near_lte, LTE_AT_50_M),
            times(near_lte),
            is_sure(near_lte, *LTE_AT_50_M),
        ),
        Verdict(
            "mp_lte_150m",
            texts["mp_lte_150m"],
            is_between(far_lte, LTE_AT_150_M) and far_lte.mean > far_mmwave.mean,
            f"{times(far_lte)} ({more_mbps:+.0f} Mbit/s, RTT {' for '.join(rtts)} ms); "
            f"with 73 GHz {times(far_mmwave)}",
            is_sure(far_lte, *LTE_AT_150_M),
        ),
        Verdict(
            "balia",
            texts["balia"],
            near_balia.mean < 1,
            f"{times(near_balia)} at {NEAR} m, {share:.0%} of it by LTE",
            is_sure(near_balia, 1.0),
        ),
    ]


def times(value: Estimate) -> str:
    """A gain as people read it."""
    return value.text(".2f", " times")


def is_between(value: Estimate, bounds: tuple[float, float]) -> bool:
    """Whether the mean is within `bounds`."""
    return bounds[0] <= value.mean <= bounds[1]
