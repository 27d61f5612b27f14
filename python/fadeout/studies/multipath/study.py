"""The study on Multipath TCP: the numbers of its tables."""

from collections.abc import Iterator, Mapping
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
    main,
    sweep,
    traces,
    variants,
)
from fadeout.studies.multipath.setups import (
    BALIA,
    BASE,
    DATA,
    FAR,
    LTE,
    MMWAVE,
    NEAR,
    PAGE,
    PUBLISHED,
    SHOWN,
    SINGLE,
    Change,
)
from fadeout.study import (
    IN_SIGHT,
    OTHER_LAWS,
    OUT_OF_SIGHT,
    Estimate,
    Law,
    Runs,
    Section,
    Study,
    mixed,
    share_in_sight,
)
from fadeout.study.forms import fill

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

SWEPT_POINTS = [(distance, setup) for distance in SWEPT_M for setup in (LTE, BALIA, MMWAVE)]

MOST_NAMED = 6
"""Largest number of assumptions that the conclusion names for a claim."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    found = main(runs)
    yield PAGE.section("beside", [beside(found, point) for point in IMPLIED])
    yield PAGE.claims(verdicts(found))
    yield over_distance(found)
    yield assumptions(runs)
    yield replication.section(runs)
    yield held_up(runs, found)
    yield kernel.section(runs)


def implied_mbps(point: Point) -> str:
    """Returns the goodput that the paper's text implies."""
    return fill(IMPLIED[point], PUBLISHED["derived"])


def beside(found: Found, point: Point) -> dict[str, Any]:
    """Returns a rate in the paper's text beside ours."""
    distance, setup = point
    record: dict[str, Any] = {"distance_m": distance, "paths": setup.name}
    record |= {"published_mbps": implied_mbps(point), "goodput_mbps": of(found, point)}
    for name, sight in (("in_sight", IN_SIGHT), ("out_of_sight", OUT_OF_SIGHT)):
        record[f"{name}_mbps"] = fmean(each["goodput_mbps"] for each in found[point][sight])
    return record | {"share_in_sight": share_in_sight(distance)}


def over_distance(found: Found) -> Section:
    """Returns the section on throughput and latency of every setup."""
    gains = {point: gain(found, point) for point in found}
    rtts = {point: of(found, point, "rtt_ms") for point in found}
    records = [
        distance_record(found, point, gains[point], rtts[point])
        for point in sorted(found, key=lambda point: point[0])
    ]
    return PAGE.section(
        "distance", records, figures={"gain-and-rtt": figures.gain_and_rtt(gains, rtts)}
    )


def distance_record(found: Found, point: Point, value: Estimate, rtt: Estimate) -> dict[str, Any]:
    """Returns a row of the main table. The single path has no gain and no second path."""
    distance, setup = point
    second = {"mbps": mean(found, point, "second_mbps")}
    second["rtt_ms"] = mean(found, point, "second_rtt_ms")
    is_alone = setup == SINGLE
    return {
        "distance_m": distance,
        "paths": setup.name,
        "coupling": setup.coupling,
        "_coupling": None if is_alone else setup.coupling,
        "goodput_mbps": of(found, point),
        "_gain": None if is_alone else value,
        "gain": value.mean,
        "gain_ci95": value.ci95,
        "_second": dict.fromkeys(second) if is_alone else second,
        "second_path_mbps": second["mbps"],
        "rtt_ms": rtt,
        "second_path_rtt_ms": second["rtt_ms"],
        "places": sum(map(len, found[point].values())),
    }


def held_up(runs: Runs[Effort], found: Found) -> Section:
    """Returns the section on the loss of coupled algorithms when LTE is added."""
    records = []
    for (distance, variant), numbers in variants(runs).items():
        value = ratio(numbers, found[distance, SINGLE], distance)
        means = {
            name: mixed(numbers, distance, lambda each, name=name: each[name])
            for name in numbers[IN_SIGHT][0]
        }
        # The redundant scheduler sends everything twice, so the difference has no meaning.
        waiting_mb = None if "redundant" in variant.name else means["waiting_mb"]
        records.append(
            {"distance_m": distance, "variant": variant.name}
            | {"_gain": value, "gain": value.mean, "gain_ci95": value.ci95}
            | {**means, "_waiting_mb": waiting_mb, "places": 2 * runs.effort.swept}
        )
    names = (variant.name for variant in SHOWN)
    drawn = figures.inside(dict(zip(names, traces(runs, SHOWN), strict=True)))
    return PAGE.section(
        "held_up",
        records,
        figures={"inside": drawn},
        seeds=runs.effort.swept,
        full_window=FULL_WINDOW,
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
    records: list[dict[str, Any]] = []
    data: list[dict[str, Any]] = []
    shown: dict[Change, dict[Point, Estimate]] = {}
    for change, found, law in rows:
        gains = {point: gain(found, point, law) for point in SWEPT_POINTS}
        shown[change] = gains
        records.append(
            {
                "name": change.name,
                "alone": {d: mean(found, (d, SINGLE), law=law) for d in SWEPT_M},
                "gain": {head(point): value for point, value in gains.items()},
            }
        )
        data += [
            {**change.data(), **sweep_data(point, found, value, law)}
            for point, value in gains.items()
        ]
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        figures={"sweep": figures.sweep(shown)},
        distances=SWEPT_M,
        points=[head(point) for point in SWEPT_POINTS],
        paper_mbps={d: implied_mbps((d, SINGLE)) for d in SWEPT_M},
        paper_gain={head(point): PAPER_GAINS.get(point) for point in SWEPT_POINTS},
        seeds=effort.seeds,
        length_s=effort.duration_s,
        reached=reached(shown),
    )


def head(point: Point) -> str:
    """Returns the name of a point in the heads of the table of assumptions."""
    distance, setup = point
    return f"+ {setup.second}{'' if setup.coupling == 'uncoupled' else ', BALIA'}, {distance} m"


def reached(shown: Mapping[Change, Mapping[Point, Estimate]]) -> str:
    """Returns a list of the assumptions with which each gain is in the paper's range."""
    lines = []
    for distance, setup, title, (low, high) in figures.PANELS:
        inside = [
            change.name for change, gains in shown.items()
            if low <= gains[distance, setup].mean <= high
        ]  # fmt: skip
        share = f"{len(inside)} of {len(shown)} rows"
        names = f": {', '.join(inside)}" if 0 < len(inside) <= MOST_NAMED else ""
        lines.append(
            f"- {title.replace('+', '28 GHz +')} at {distance} m, {low:g} to {high:g} times: "
            f"{share}{names}."
        )
    return "\n".join(lines)


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


STUDY = Study.of(DATA, PAGE, Effort, sections)
