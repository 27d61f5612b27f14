"""The study on Multipath TCP: its tables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout.studies.multipath import figures, kernel, replication
from fadeout.studies.multipath.claims import gain, mean, of, ratio, verdicts
from fadeout.studies.multipath.runs import (
    FULL_WINDOW,
    SWEPT_M,
    Effort,
    Found,
    Point,
    count,
    main,
    sweep,
    traces,
    variants,
)
from fadeout.studies.multipath.setups import (
    BALIA,
    BASE,
    FAR,
    LTE,
    MMWAVE,
    NEAR,
    SHOWN,
    SINGLE,
    Change,
    Setup,
)
from fadeout.study import (
    IN_SIGHT,
    OTHER_LAWS,
    OUT_OF_SIGHT,
    Cell,
    Estimate,
    Law,
    Moved,
    Runs,
    Section,
    Study,
    Table,
    assumptions_section,
    claims_of,
    claims_section,
    mixed,
    published,
    share_in_sight,
)

FOLDER = Path(__file__).parent
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

IMPLIED: dict[Point, str] = {
    (NEAR, SINGLE): "{sp_tcp_50m_mbps[0]} to {sp_tcp_50m_mbps[1]}",
    (NEAR, MMWAVE): "{mptcp_mmwave_only_50m_mbps[0]} to {mptcp_mmwave_only_50m_mbps[1]}",
    (FAR, SINGLE): "about {sp_tcp_150m_mbps}",
    (FAR, LTE): "about {mptcp_lte_mmwave_150m_mbps}",
}
"""Goodput in Mbit/s that the paper's text implies."""

PAPER_GAINS: dict[Point, str] = {
    (NEAR, LTE): "about 1 or less",
    (NEAR, BALIA): "below 1",
    (NEAR, MMWAVE): "1.3 to 1.4",
    (FAR, LTE): "about 2",
    (FAR, MMWAVE): "less than with LTE",
}
"""Gains over 28 GHz alone in the paper's text."""

MOST_NAMED = 6
"""Largest number of assumptions that the conclusion names for a claim."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    found = main(runs)
    yield beside(found)
    yield claims_section(verdicts(found, CLAIMS))
    yield over_distance(found)
    yield assumptions(runs)
    yield replication.section(runs)
    yield held_up(runs, found)
    yield kernel.section(runs)


def beside(found: Found) -> Section:
    """Returns the section that compares each rate in the paper's text with the results."""
    records = [
        {"distance_m": point[0], "paths": point[1].name}
        | {
            "published_mbps": form.format_map(PUBLISHED["derived"]),
            "goodput_mbps": of(found, point),
        }
        | {
            f"{name}_mbps": fmean(each["goodput_mbps"] for each in found[point][sight])
            for name, sight in (("in_sight", IN_SIGHT), ("out_of_sight", OUT_OF_SIGHT))
        }
        | {"share_in_sight": share_in_sight(point[0])}
        for point, form in IMPLIED.items()
    ]
    return Section(
        name="beside",
        title="Mbit/s beside the paper's",
        text=(
            "*Paper*: the rate that the paper's text implies. *Goodput*: our mean over all UE "
            "positions. *LOS* and *NLOS*: our means over the positions in LOS and in NLOS."
        ),
        table=Table.of(
            records,
            {
                "distance": "{distance_m} m",
                "paths": "{paths}",
                "paper Mbit/s": "{published_mbps}",
                "goodput Mbit/s": "{goodput_mbps:.0f}",
                "LOS": "{in_sight_mbps:.0f}",
                "NLOS": "{out_of_sight_mbps:.0f}",
                "LOS probability": "{share_in_sight:.0%}",
            },
        ),
        is_headline=True,
    )


def over_distance(found: Found) -> Section:
    """Returns the section on throughput and latency of every setup."""
    gains = {point: gain(found, point) for point in found}
    rtts = {point: of(found, point, "rtt_ms") for point in found}
    return Section(
        name="distance",
        title="Throughput and latency over distance",
        text=(
            "The column *by 2nd* shows the rate of the second path. *RTT*: mean of all RTT "
            "samples. *2nd RTT*: mean of the second path's smoothed round-trip time. *Places*: "
            "number of UE positions in LOS and in NLOS together."
        ),
        table=Table.of(
            [
                distance_record(found, point, gains[point], rtts[point])
                for point in sorted(found, key=lambda point: point[0])
            ],
            {
                "distance": "{distance_m} m",
                "paths": "{paths}",
                "coupling": or_else("{coupling}", "-"),
                "goodput Mbit/s": "{goodput_mbps:.0f}",
                "gain": or_else("{_gain:.2f}", "1"),
                "by 2nd Mbit/s": or_else("{second_path_mbps:.0f}", "-"),
                "RTT ms": "{rtt_ms:.0f}",
                "2nd RTT ms": or_else("{second_path_rtt_ms:.0f}", "-"),
                "places": "{places}",
            },
        ),
        figures={
            "Goodput relative to that of 28 GHz alone, and mean round-trip time, by distance "
            "(the paper's Figure 3). The second path is LTE on the left and 73 GHz on the right. "
            "Bars: 95 % confidence intervals.": figures.gain_and_rtt(gains, rtts)
        },
        is_headline=True,
    )


def distance_record(found: Found, point: Point, value: Estimate, rtt: Estimate) -> dict[str, Any]:
    """Returns a row of the main table."""
    distance, setup = point
    return {
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "goodput_mbps": of(found, point),
        "_gain": value,
        "gain": value.mean,
        "gain_ci95": value.ci95,
        "second_path_mbps": mean(found, point, "second_mbps"),
        "rtt_ms": rtt,
        "second_path_rtt_ms": mean(found, point, "second_rtt_ms"),
        "places": sum(map(len, found[point].values())),
    }


def or_else(form: str, alone: str) -> Cell:
    """Returns a cell of this form, with a fixed text for the single path."""
    return lambda record: alone if record["paths"] == SINGLE.name else form.format_map(record)


def held_up(runs: Runs[Effort], found: Found) -> Section:
    """Returns the section on the loss of coupled algorithms when LTE is added."""
    records = []
    for (distance, variant), numbers in variants(runs).items():
        value = ratio(numbers, found[distance, SINGLE], distance)
        names = numbers[IN_SIGHT][0]
        records.append(
            {"distance_m": distance, "variant": variant.name}
            | {"_gain": value, "gain": value.mean, "gain_ci95": value.ci95}
            | {n: mixed(numbers, distance, lambda each, n=n: each[n]) for n in names}
            | {"places": 2 * runs.effort.swept}
        )
    return Section(
        name="held_up",
        title="What holds the coupled algorithms up with LTE",
        text=(
            f"The paths are 28 GHz and LTE, at {runs.effort.swept} positions in LOS and "
            f"{runs.effort.swept} in NLOS. *28 GHz idle*: share of the time in which less than "
            f"{FULL_WINDOW:.0%} of the window of the 28 GHz path is in flight. *Waiting*: data "
            "that wait at the receiver for older data at the end of the run."
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
                # The redundant scheduler sends everything twice, so the difference has no meaning.
                "waiting MB": lambda record: (
                    "-" if "redundant" in record["variant"] else f"{record['waiting_mb']:.0f}"
                ),
            },
        ),
        figures={
            f"One run at {NEAR} m in LOS: round-trip time of the LTE path, data in flight on 28 "
            "GHz, and data that reach the application in order.": figures.inside(
                {
                    variant.name: results
                    for variant, results in zip(SHOWN, traces(runs, SHOWN), strict=True)
                }
            )
        },
        is_headline=True,
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each open assumption."""
    effort = runs.effort.of_sweep()
    swept = sweep(runs)
    rows: list[tuple[Change, Found, Law]] = [
        (change, found, share_in_sight) for change, found in swept.items()
    ]
    # A law weighs the same places in another way, so it needs no runs.
    rows += [(Change("line of sight", name), swept[BASE], law) for name, law in OTHER_LAWS.items()]
    points = [(distance, setup) for distance in SWEPT_M for setup in (LTE, BALIA, MMWAVE)]
    moved: list[Moved] = []
    shown: dict[Change, dict[Point, Estimate]] = {}
    for change, found, law in rows:
        gains = {point: gain(found, point, law) for point in points}
        shown[change] = gains
        cells = [
            *(f"{mean(found, (distance, SINGLE), law=law):.0f}" for distance in SWEPT_M),
            *(f"{gains[point]:.2f}" for point in points),
        ]
        data = [sweep_data(point, found, value, law) for point, value in gains.items()]
        moved.append(Moved(change, cells, data))
    return assumptions_section(
        moved,
        [
            *(f"alone, {distance} m" for distance in SWEPT_M),
            *(f"{short(setup)}, {distance} m" for distance, setup in points),
        ],
        f"Each row changes one assumption, at {effort.seeds} positions in LOS and {effort.seeds} "
        f"in NLOS, for {effort.duration_s:g} s. *Alone*: goodput in Mbit/s of the 28 GHz path as "
        "the only path, with the same change. The other columns show the gain of two paths over "
        "this goodput at the same positions. The rows on line of sight weigh the places of the "
        "first row by another law.",
        published=[*(IMPLIED[d, SINGLE].format_map(PUBLISHED["derived"]) for d in SWEPT_M)]
        + [PAPER_GAINS.get(point, "-") for point in points],
        figures={
            "Gain over 28 GHz alone when one assumption changes. Dotted: the unchanged scenario. "
            "Grey: the approximate range of the paper, and for BALIA all gains below 1. Bars: 95 "
            "% confidence intervals, where there are enough positions.": figures.sweep(shown)
        },
        conclusion=reached(shown),
    )


def reached(shown: Mapping[Change, Mapping[Point, Estimate]]) -> str:
    """Returns a list of the assumptions with which each gain is in the paper's range."""
    lines = []
    for distance, setup, title, (low, high) in figures.PANELS:
        inside = [
            change.name for change, gains in shown.items()
            if low <= gains[distance, setup].mean <= high
        ]  # fmt: skip
        share = f"{len(inside)} of {len(shown)} rows"
        names = f": {'; '.join(inside)}" if 0 < len(inside) <= MOST_NAMED else ""
        lines.append(
            f"- {title.replace('+', '28 GHz +')} at {distance} m, {low:g} to {high:g} times: "
            f"{share}{names}."
        )
    return "Rows in the paper's range:\n\n" + "\n".join(lines)


def sweep_data(point: Point, found: Found, value: Estimate, law: Law) -> dict[str, Any]:
    """Returns the numbers of a row of the sweep."""
    distance, setup = point
    return {
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "gain": value.mean,
        "gain_ci95": value.ci95,
        "alone_mbps": mean(found, (distance, SINGLE), law=law),
        "goodput_mbps": mean(found, point, law=law),
        "rtt_ms": mean(found, point, "rtt_ms", law),
        "second_path_mbps": mean(found, point, "second_mbps", law),
        "second_path_rtt_ms": mean(found, point, "second_rtt_ms", law),
        "places": sum(map(len, found[point].values())),
    }


def short(setup: Setup) -> str:
    """Returns the head of a setup's column."""
    return f"+ {setup.second}" + ("" if setup.coupling == "uncoupled" else ", BALIA")


STUDY = Study(
    name="multipath",
    folder=FOLDER,
    title="Multipath TCP over 28 GHz with LTE or 73 GHz",
    introduction="""\
A UE downloads over a 28 GHz cell alone (CUBIC), and over this cell and a second cell with Multipath
TCP. The user walks across at 2 m/s. *Uncoupled* is CUBIC on each path. Half of the UE positions are
in LOS and half in NLOS. All cells stand on one mast, so each position is in LOS of all cells or of
no cell. Means weight the positions by the LOS probability at 28 GHz. *Gain* is the mean goodput
divided by the mean goodput of the single path at the same positions. Intervals (±) are 95 %
confidence intervals (stratified jackknife) over positions. The paper prints no tables of this
experiment, so the claims in its text are checked.
""",
    full=Effort(seeds=6, other_seeds=3, swept_seeds=2, swept_duration_s=4, duration_s=10),
    quick=Effort(seeds=2, other_seeds=1, swept_seeds=1, duration_s=2),
    count=lambda effort: count(effort) + kernel.count(effort) + replication.count(effort),
    sections=sections,
)
