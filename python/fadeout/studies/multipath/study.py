"""The study: which runs, which tables."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from fadeout.results import Results
from fadeout.studies.multipath import figures
from fadeout.studies.multipath.setups import DISTANCES_M, SETUPS, SINGLE, Setup
from fadeout.study import Batch, Estimate, Options, Report, Section, Table, estimate

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
CLAIMS: dict[str, str] = {claim["id"]: claim["text"] for claim in PUBLISHED["claim"]}

NEAR, FAR = DISTANCES_M[0], DISTANCES_M[-1]


@dataclass(frozen=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    duration_s: float


FULL = Effort(seeds=8, duration_s=3)
QUICK = Effort(seeds=2, duration_s=1)

Numbers = Mapping[str, float]
"""What a run found, by the name of the column."""

Point = tuple[int, Setup]
"""A distance in metres and what is used there."""


def run(batch: Batch, options: Options) -> Report:
    """Run the study."""
    effort = QUICK if options.quick else FULL
    seeds = options.seeds or effort.seeds
    points = [(distance, setup) for distance in DISTANCES_M for setup in SETUPS]
    jobs = [
        setup.job(distance, effort.duration_s, seed)
        for distance, setup in points
        for seed in range(1, seeds + 1)
    ]
    batch.expect(len(jobs))
    found = batch.collect(jobs, measure)
    runs: dict[Point, list[Numbers]] = {
        point: [each for each in found[index * seeds : (index + 1) * seeds] if each is not None]
        for index, point in enumerate(points)
    }
    return Report(
        title="Multipath TCP over 28 GHz with LTE or 73 GHz",
        introduction=INTRODUCTION,
        sections=[claims_section(runs), over_distance(runs)],
        facts={
            "seeds": seeds,
            "simulated_seconds_a_run": effort.duration_s,
            "scenario": "fadeout/studies/multipath/scenario.toml",
        },
        is_whole=batch.is_whole,
    )


INTRODUCTION = """\
One download over a 28 GHz cell alone (CUBIC), and over it and a second cell with Multipath TCP,
while the user walks across at 2 m/s. *Uncoupled* is CUBIC on each path. ± is a 95 % confidence
interval (Student) over seeds; a seed has the same channel in every row. The paper prints no tables
of this experiment: its claims in the text are what is checked."""


def measure(results: Results) -> Numbers:
    """The numbers of a run."""
    flow = results.flows.row(0, named=True)
    return {"goodput_mbps": flow["goodput_mbps"], "rtt_ms": 1e3 * (flow["mean_rtt_s"] or 0.0)}


def mean(
    runs: Mapping[Point, Sequence[Numbers]], point: Point, name: str = "goodput_mbps"
) -> float:
    """A mean over the seeds."""
    return fmean(each[name] for each in runs[point])


def claims_section(runs: Mapping[Point, Sequence[Numbers]]) -> Section:
    """What the paper says, and what was found."""
    lte, mmwave, balia = Setup("LTE"), Setup("73 GHz"), Setup("LTE", "balia")
    near_single, far_single = mean(runs, (NEAR, SINGLE)), mean(runs, (FAR, SINGLE))
    near_mmwave, near_lte = mean(runs, (NEAR, mmwave)), mean(runs, (NEAR, lte))
    far_lte, far_mmwave = mean(runs, (FAR, lte)), mean(runs, (FAR, mmwave))
    near_balia = mean(runs, (NEAR, balia))
    checks = [
        (
            "mp_50m",
            1.2 <= near_mmwave / near_single <= 1.5,
            f"{near_mmwave / near_single - 1:+.0%}",
        ),
        ("mp_lte_50m", 0.6 <= near_lte / near_single <= 1.1, f"{near_lte / near_single:.2f} times"),
        (
            "mp_lte_150m",
            1.6 <= far_lte / far_single <= 2.6 and far_lte > far_mmwave,
            f"{far_lte / far_single:.2f} times ({far_lte - far_single:+.0f} Mbit/s); with 73 GHz "
            f"{far_mmwave / far_single:.2f} times",
        ),
        (
            "balia",
            near_balia < near_single,
            f"{near_balia / near_single:.2f} times at {NEAR} m",
        ),
    ]
    verdicts = [
        (claim, CLAIMS[claim], what, "holds" if holds else "does not hold")
        for claim, holds, what in checks
    ]
    return Section(
        name="claims",
        title="The paper's claims",
        table=Table(
            columns=["claim", "published", "found", "verdict"],
            rows=[list(verdict) for verdict in verdicts],
            data=[
                dict(zip(("claim", "text", "found", "verdict"), verdict, strict=True))
                for verdict in verdicts
            ],
        ),
        is_headline=True,
    )


def over_distance(runs: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Throughput and latency of every setup."""
    rows: list[list[str]] = []
    data: list[dict[str, Any]] = []
    shown: dict[Point, tuple[Estimate, Estimate]] = {}
    for (distance, setup), found in runs.items():
        goodputs = [each["goodput_mbps"] for each in found]
        goodput, rtt = estimate(goodputs), estimate([each["rtt_ms"] for each in found])
        shown[distance, setup] = goodput, rtt
        gain = goodput.mean / mean(runs, (distance, SINGLE))
        rows.append(
            [
                f"{distance} m",
                setup.name,
                "-" if setup is SINGLE else setup.coupling,
                f"{goodput:.0f}",
                f"{median(goodputs):.0f}",
                f"{gain:.2f}",
                f"{rtt:.0f}",
            ]
        )
        data.append(
            {"distance_m": distance, "paths": setup.name, "coupling": setup.coupling}
            | {"goodput_mbps_mean": goodput.mean, "goodput_mbps_ci95": goodput.half_width}
            | {"goodput_mbps_median": median(goodputs), "gain": gain}
            | {"rtt_ms_mean": rtt.mean, "rtt_ms_ci95": rtt.half_width, "seeds": len(found)}
        )
    return Section(
        name="distance",
        title="Throughput and latency over distance",
        table=Table(
            columns=["distance", "paths", "coupling", "goodput Mbit/s", "median", "gain", "RTT ms"],
            rows=rows,
            data=data,
        ),
        figures={
            "Goodput and mean round-trip time by distance (the paper's Figure 3): with LTE on the "
            "left, with 73 GHz on the right. Bars: 95 % confidence intervals.": (
                figures.goodput_and_rtt(shown)
            )
        },
        is_headline=True,
    )
