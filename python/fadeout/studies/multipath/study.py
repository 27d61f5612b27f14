"""The study: which tables."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

from fadeout.studies.multipath import figures
from fadeout.studies.multipath.claims import Found, column, gain, mean, verdicts
from fadeout.studies.multipath.runs import (
    FULL_WINDOW,
    SWEPT_M,
    Point,
    count,
    main,
    sweep,
    traces,
    variants,
)
from fadeout.studies.multipath.setups import (
    BALIA,
    LTE,
    MMWAVE,
    NEAR,
    SHOWN,
    SINGLE,
    Change,
    Setup,
)
from fadeout.study import (
    Cell,
    Effort,
    Estimate,
    Runs,
    Section,
    Study,
    Table,
    claims_of,
    claims_section,
    estimate,
    paired_ratio,
    published,
)

FOLDER = Path(__file__).parent
CLAIMS = claims_of(published(FOLDER))


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """The report."""
    found = main(runs)
    yield claims_section(verdicts(found, CLAIMS))
    yield over_distance(found)
    yield held_up(runs, found)
    yield assumptions(runs)


def over_distance(found: Found) -> Section:
    """Throughput and latency of every setup."""
    gains = {point: gain(found, point) for point in found}
    rtts = {point: estimate(column(found, point, "rtt_ms")) for point in found}
    return Section(
        name="distance",
        title="Throughput and latency over distance",
        text=(
            "*Median*: of the seeds' own gains, which no single place decides. *By 2nd*: what the "
            "second path carries. *RTT*: mean of all samples, and of the second path's smoothed "
            "round-trip time."
        ),
        table=Table.of(
            [distance_record(found, point, gains[point], rtts[point]) for point in found],
            {
                "distance": "{distance_m} m",
                "paths": "{paths}",
                "coupling": or_else("{coupling}", "-"),
                "goodput Mbit/s": "{goodput_mbps:.0f}",
                "gain": or_else("{_gain:.2f}", "1"),
                "median": or_else("{gain_median:.2f}", "1"),
                "by 2nd Mbit/s": or_else("{second_path_mbps:.0f}", "-"),
                "RTT ms": "{rtt_ms:.0f}",
                "2nd RTT ms": or_else("{second_path_rtt_ms:.0f}", "-"),
            },
        ),
        figures={
            "Goodput over that of 28 GHz alone, and mean round-trip time, by distance (the paper's "
            "Figure 3): with LTE on the left, with 73 GHz on the right. Bars: 95 % confidence "
            "intervals, of the gain seed by seed.": figures.gain_and_rtt(gains, rtts)
        },
        is_headline=True,
    )


def distance_record(found: Found, point: Point, value: Estimate, rtt: Estimate) -> dict[str, Any]:
    """A row of the main table."""
    distance, setup = point
    goodputs, single = column(found, point), column(found, (distance, SINGLE))
    of_seeds = [ours / base for ours, base in zip(goodputs, single, strict=True) if base > 0]
    return {
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "goodput_mbps": estimate(goodputs),
        "_gain": value,
        "gain": value.mean,
        "gain_ci95": value.ci95,
        "gain_median": median(of_seeds),
        "second_path_mbps": mean(found, point, "second_mbps"),
        "rtt_ms": rtt,
        "second_path_rtt_ms": mean(found, point, "second_rtt_ms"),
        "seeds": len(goodputs),
    }


def or_else(form: str, alone: str) -> Cell:
    """A cell of this form, and what stands there for the single path."""
    return lambda record: alone if record["paths"] == SINGLE.name else form.format_map(record)


def held_up(runs: Runs[Effort], found: Found) -> Section:
    """Why coupled algorithms lose when LTE is added."""
    records = []
    for (distance, variant), numbers in variants(runs).items():
        single = column(found, (distance, SINGLE))[: runs.effort.swept]
        value = paired_ratio([each["goodput_mbps"] for each in numbers], single)
        records.append(
            {"distance_m": distance, "variant": variant.name}
            | {"_gain": value, "gain": value.mean, "gain_ci95": value.ci95}
            | {name: fmean(each[name] for each in numbers) for name in numbers[0]}
            | {"seeds": len(numbers)}
        )
    return Section(
        name="held_up",
        title="What holds the coupled algorithms up with LTE",
        text=(
            f"28 GHz and LTE; {runs.effort.swept} seeds. *28 GHz idle*: share of time in which "
            f"less than {FULL_WINDOW:.0%} of that path's window is in flight. *Waiting*: what "
            "has arrived by the end of the run and waits at the receiver for older data."
        ),
        table=Table.of(
            records,
            {
                "distance": "{distance_m} m",
                "variant": "{variant}",
                "gain": "{_gain:.2f}",
                "28 GHz Mbit/s": "{first_mbps:.0f}",
                "28 GHz idle %": "{first_idle_pct:.0f}",
                "LTE Mbit/s": "{second_mbps:.0f}",
                "LTE RTT ms": "{second_rtt_ms:.0f}",
                # The redundant scheduler sends everything twice.
                "waiting MB": lambda record: (
                    "-" if "redundant" in record["variant"] else f"{record['waiting_mb']:.0f}"
                ),
            },
        ),
        figures={
            f"Inside a run at {NEAR} m: round-trip time of the LTE path, what is in flight on 28 "
            "GHz, and what reaches the application in order. One seed.": figures.inside(
                {
                    variant.name: results
                    for variant, results in zip(SHOWN, traces(runs, SHOWN), strict=True)
                }
            )
        },
        is_headline=True,
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """What each open assumption moves."""
    swept = sweep(runs)
    points = [(distance, setup) for distance in SWEPT_M for setup in (LTE, BALIA, MMWAVE)]
    rows, data = [], []
    shown: dict[Change, dict[Point, Estimate]] = {}
    for change, found in swept.items():
        gains = {point: gain(found, point) for point in points}
        shown[change] = gains
        holding = [verdict.claim for verdict in verdicts(found, CLAIMS) if verdict.holds]
        rows.append(
            [
                change.name,
                *(f"{mean(found, (distance, SINGLE)):.0f}" for distance in SWEPT_M),
                *(f"{gains[point]:.2f}" for point in points),
                ", ".join(holding) or "none",
            ]
        )
        data += [change.data() | sweep_data(point, found, value) for point, value in gains.items()]
    return Section(
        name="assumptions",
        title="What each assumption moves",
        text=(
            f"One changed at a time, {runs.effort.swept} seeds. *Alone*: goodput of 28 GHz alone, "
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


def sweep_data(point: Point, found: Found, value: Estimate) -> dict[str, Any]:
    """A row of the sweep as numbers."""
    distance, setup = point
    return {
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "gain": value.mean,
        "gain_ci95": value.ci95,
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


STUDY = Study(
    name="multipath",
    folder=FOLDER,
    title="Multipath TCP over 28 GHz with LTE or 73 GHz",
    introduction="""\
One download over a 28 GHz cell alone (CUBIC), and over it and a second cell with Multipath TCP,
while the user walks across at 2 m/s. *Uncoupled* is CUBIC on each path. *Gain* is the goodput over
that of the single path: the ratio of the means over the seeds. A seed has the same channel in every
row, so gains are compared seed by seed; ± is a 95 % confidence interval (Student). The paper prints
no tables of this experiment: its claims in the text are what is checked.
""",
    full=Effort(seeds=6, swept_seeds=4, duration_s=4),
    quick=Effort(seeds=2, swept_seeds=2, duration_s=2),
    count=count,
    sections=sections,
)
