"""The study: which tables."""

import tomllib
from pathlib import Path
from statistics import fmean, median
from typing import Any

from fadeout.studies.multipath import figures, runs
from fadeout.studies.multipath.claims import Runs, column, gain, mean, verdicts
from fadeout.studies.multipath.runs import SWEPT_M, Point, Runner
from fadeout.studies.multipath.setups import (
    BALIA,
    LTE,
    MMWAVE,
    NEAR,
    SHOWN,
    SINGLE,
    VARIANTS,
    Change,
    Setup,
)
from fadeout.study import (
    Batch,
    Estimate,
    Options,
    Report,
    Section,
    Table,
    claims_section,
    estimate,
    paired_ratio,
)

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
CLAIMS: dict[str, str] = {claim["id"]: claim["text"] for claim in PUBLISHED["claim"]}

INTRODUCTION = """\
One download over a 28 GHz cell alone (CUBIC), and over it and a second cell with Multipath TCP,
while the user walks across at 2 m/s. *Uncoupled* is CUBIC on each path. *Gain* is the goodput over
that of the single path: the ratio of the means over the seeds. A seed has the same channel in every
row, so gains are compared seed by seed; ± is a 95 % confidence interval (Student). The paper prints
no tables of this experiment: its claims in the text are what is checked."""


def run(batch: Batch, options: Options) -> Report:
    """Run the study."""
    effort = runs.QUICK if options.quick else runs.FULL
    runner = Runner(batch, effort, options.seeds or effort.seeds)
    found = runner.main()
    sections = [claims_section(verdicts(found, CLAIMS)), over_distance(found)]
    # Once stopped, nothing more is begun.
    if batch.is_whole:
        sections += held_up(runner, found)
    if batch.is_whole:
        sections.append(assumptions(runner))
    return Report(
        title="Multipath TCP over 28 GHz with LTE or 73 GHz",
        introduction=INTRODUCTION,
        sections=sections,
        facts={
            "seeds": runner.seeds,
            "simulated_seconds_a_run": effort.duration_s,
            "scenario": "fadeout/studies/multipath/scenario.toml",
        },
        is_whole=batch.is_whole,
    )


def over_distance(found: Runs) -> Section:
    """Throughput and latency of every setup."""
    rows: list[list[str]] = []
    data: list[dict[str, Any]] = []
    gains: dict[Point, Estimate] = {}
    rtts: dict[Point, Estimate] = {}
    for point in found:
        distance, setup = point
        goodputs = column(found, point)
        goodput, rtt = estimate(goodputs), estimate(column(found, point, "rtt_ms"))
        single = column(found, (distance, SINGLE))
        each = [ours / base for ours, base in zip(goodputs, single, strict=True) if base > 0]
        gains[point], rtts[point] = gain(found, point), rtt
        second_mbps = mean(found, point, "second_mbps")
        rows.append(
            [
                f"{distance} m",
                setup.name,
                "-" if setup is SINGLE else setup.coupling,
                f"{goodput:.0f}",
                "1" if setup is SINGLE else f"{gains[point]:.2f}",
                "1" if setup is SINGLE else f"{median(each):.2f}",
                "-" if setup is SINGLE else f"{second_mbps:.0f}",
                f"{rtt:.0f}",
                "-" if setup is SINGLE else f"{mean(found, point, 'second_rtt_ms'):.0f}",
            ]
        )
        data.append(
            {"distance_m": distance, "paths": setup.name, "coupling": setup.coupling}
            | {"goodput_mbps_mean": goodput.mean, "goodput_mbps_ci95": goodput.half_width}
            | {"gain": gains[point].mean, "gain_ci95": gains[point].half_width}
            | {"gain_median": median(each), "second_path_mbps": second_mbps}
            | {"rtt_ms_mean": rtt.mean, "rtt_ms_ci95": rtt.half_width}
            | {"second_path_rtt_ms": mean(found, point, "second_rtt_ms"), "seeds": len(goodputs)}
        )
    return Section(
        name="distance",
        title="Throughput and latency over distance",
        text=(
            "*Median*: of the seeds' own gains, which no single place decides. *By 2nd*: what the "
            "second path carries. *RTT*: mean of all samples, and of the second path's smoothed "
            "round-trip time."
        ),
        table=Table(
            columns=[
                "distance",
                "paths",
                "coupling",
                "goodput Mbit/s",
                "gain",
                "median",
                "by 2nd Mbit/s",
                "RTT ms",
                "2nd RTT ms",
            ],
            rows=rows,
            data=data,
        ),
        figures={
            "Goodput over that of 28 GHz alone, and mean round-trip time, by distance (the paper's "
            "Figure 3): with LTE on the left, with 73 GHz on the right. Bars: 95 % confidence "
            "intervals, of the gain seed by seed.": figures.gain_and_rtt(gains, rtts)
        },
        is_headline=True,
    )


def held_up(runner: Runner, found: Runs) -> list[Section]:
    """Why coupled algorithms lose when LTE is added; nothing when the batch was stopped."""
    inside = runner.variants()
    if any(len(numbers) < runner.swept_seeds for numbers in inside.values()):
        return []
    rows, data = [], []
    for distance in SWEPT_M:
        single = column(found, (distance, SINGLE))[: runner.swept_seeds]
        for variant in VARIANTS:
            numbers = inside[distance, variant]
            value = paired_ratio([each["goodput_mbps"] for each in numbers], single)
            means = {name: fmean(each[name] for each in numbers) for name in numbers[0]}
            rows.append(
                [
                    f"{distance} m",
                    variant.name,
                    f"{value:.2f}",
                    f"{means['first_mbps']:.0f}",
                    f"{means['first_idle_pct']:.0f}",
                    f"{means['second_mbps']:.0f}",
                    f"{means['second_rtt_ms']:.0f}",
                    "-" if "redundant" in variant.name else f"{means['waiting_mb']:.0f}",
                ]
            )
            data.append(
                {"distance_m": distance, "variant": variant.name}
                | {"gain": value.mean, "gain_ci95": value.half_width}
                | means
                | {"seeds": len(numbers)}
            )
    section = Section(
        name="held_up",
        title="What holds the coupled algorithms up with LTE",
        text=(
            f"28 GHz and LTE; {runner.swept_seeds} seeds. *28 GHz idle*: share of time in which "
            f"less than {runs.FULL_WINDOW:.0%} of that path's window is in flight. *Waiting*: what "
            "has arrived by the end of the run and waits at the receiver for older data."
        ),
        table=Table(
            columns=[
                "distance",
                "variant",
                "gain",
                "28 GHz Mbit/s",
                "28 GHz idle %",
                "LTE Mbit/s",
                "LTE RTT ms",
                "waiting MB",
            ],
            rows=rows,
            data=data,
        ),
        figures={
            f"Inside a run at {NEAR} m: round-trip time of the LTE path, what is in flight on 28 "
            "GHz, and what reaches the application in order. One seed.": figures.inside(
                {
                    variant.name: results
                    for variant, results in zip(SHOWN, runner.traces(SHOWN), strict=True)
                }
            )
        },
        is_headline=True,
    )
    return [section]


def assumptions(runner: Runner) -> Section:
    """What each open assumption moves."""
    swept = runner.sweep()
    points = [(distance, setup) for distance in SWEPT_M for setup in (LTE, BALIA, MMWAVE)]
    rows, data = [], []
    shown: dict[Change, dict[Point, Estimate]] = {}
    for change, found in swept.items():
        gains = {point: gain(found, point) for point in points}
        shown[change] = gains
        judged = verdicts(found, CLAIMS)
        rows.append(
            [
                change.name,
                *(f"{mean(found, (distance, SINGLE)):.0f}" for distance in SWEPT_M),
                *(f"{gains[point]:.2f}" for point in points),
                ", ".join(verdict.claim for verdict in judged if verdict.holds) or "none",
            ]
        )
        data += [sweep_row(change, point, found, gains[point]) for point in points]
    return Section(
        name="assumptions",
        title="What each assumption moves",
        text=(
            f"One changed at a time, {runner.swept_seeds} seeds. *Alone*: goodput of 28 GHz alone, "
            "Mbit/s, under the same change. The others are gains over that, seed by seed, and the "
            "last column the claims that hold by their bounds."
        ),
        table=Table(
            columns=[
                "assumption",
                *(f"alone, {distance} m" for distance in SWEPT_M),
                *(f"{short(setup)}, {distance} m" for distance, setup in points),
                "claims that hold",
            ],
            rows=rows,
            data=data,
        ),
        figures={
            "Gain over 28 GHz alone when one assumption changes. Dotted: as in the scenario. "
            "Grey: the paper's range, as the checks have it; for BALIA all below 1. Bars: 95 % "
            "confidence intervals, seed by seed.": figures.sweep(shown)
        },
    )


def sweep_row(change: Change, point: Point, found: Runs, value: Estimate) -> dict[str, Any]:
    """A row of the sweep as numbers."""
    distance, setup = point
    return {
        "assumption": change.assumption,
        "value": change.value,
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "gain": value.mean,
        "gain_ci95": value.half_width,
        "alone_mbps": mean(found, (distance, SINGLE)),
        "goodput_mbps": mean(found, point),
        "rtt_ms": mean(found, point, "rtt_ms"),
        "second_path_mbps": mean(found, point, "second_mbps"),
        "second_path_rtt_ms": mean(found, point, "second_rtt_ms"),
        "seeds": len(found[point]),
    }


def short(setup: Setup) -> str:
    """A setup as the head of a column."""
    return f"+ {setup.second}" + ("" if setup.coupling == "uncoupled" else ", BALIA")
