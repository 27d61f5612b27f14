"""The study on Multipath TCP: its report."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from fadeout.studies.multipath import figures, kernel, replication
from fadeout.studies.multipath.claims import GOODPUT, gain, mean, verdicts
from fadeout.studies.multipath.runs import (
    BALIA,
    DATA,
    FAR,
    FULL_WINDOW,
    LTE,
    MMWAVE,
    NEAR,
    PAGE,
    PUBLISHED,
    SINGLE,
    SWEPT_M,
    Effort,
    Point,
    main,
    sweep,
    traces,
    variants,
)
from fadeout.study import (
    IN_SIGHT,
    OUT_OF_SIGHT,
    Change,
    Estimate,
    FoundInPlaces,
    Runs,
    Section,
    Study,
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


def beside(found: FoundInPlaces, point: Point) -> dict[str, Any]:
    """Returns a rate in the paper's text beside ours."""
    distance, setup = point
    record: dict[str, Any] = {"distance_m": distance, "paths": setup.name}
    record |= {"published_mbps": implied_mbps(point), GOODPUT: found.mean(point, GOODPUT)}
    for name, sight in (("in_sight", IN_SIGHT), ("out_of_sight", OUT_OF_SIGHT)):
        record[f"{name}_mbps"] = fmean(each[GOODPUT] for each in found[point][sight])
    return record | {"share_in_sight": share_in_sight(distance)}


def over_distance(found: FoundInPlaces) -> Section:
    """Returns the section on throughput and latency. The single path has no second one."""
    gains = {point: gain(found, point) for point in found}
    rtts = {point: found.mean(point, "rtt_ms") for point in found}
    records = []
    for point in sorted(found, key=lambda point: point[0]):
        distance, setup = point
        second: Mapping[str, float | None] = (
            dict.fromkeys(("second_mbps", "second_rtt_ms"))
            if setup == SINGLE
            else {name: mean(found, point, name) for name in ("second_mbps", "second_rtt_ms")}
        )
        records.append(
            {"distance_m": distance, **setup.data(), **second}
            | {"_coupling": None if setup == SINGLE else setup.coupling}
            | {"_gain": None if setup == SINGLE else gains[point], "gain": gains[point]}
            | {GOODPUT: found.mean(point, GOODPUT), "rtt_ms": rtts[point]}
            | {"places": sum(map(len, found[point].values()))}
        )
    drawn = {"gain-and-rtt": figures.gain_and_rtt(gains, rtts)}
    return PAGE.section("distance", records, figures=drawn)


def held_up(runs: Runs[Effort], found: FoundInPlaces) -> Section:
    """Returns the section on the loss of coupled algorithms when LTE is added."""
    inside = variants(runs)
    # The single path has more places. A comparison has the first ones.
    alone = {(at_m, SINGLE): found[at_m, SINGLE] for at_m in SWEPT_M}
    compared = FoundInPlaces(("distance_m", "variant"), {**inside.numbers, **alone})
    records = []
    for point in inside:
        numbers = {name: mean(inside, point, name) for name in inside[point][IN_SIGHT][0]}
        value = compared.ratio(point, (point[0], SINGLE), GOODPUT)
        # The redundant scheduler sends everything twice, so the difference has no meaning.
        waiting_mb = None if "redundant" in point[1].name else numbers["waiting_mb"]
        records.append(
            {**inside.labels(point), "gain": value, **numbers, "_waiting_mb": waiting_mb}
            | {"places": 2 * runs.effort.swept}
        )
    return PAGE.section(
        "held_up",
        records,
        figures={"inside": figures.inside(traces(runs))},
        seeds=runs.effort.swept,
        full_window=FULL_WINDOW,
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each open assumption."""
    effort = runs.effort.of_sweep()
    swept = sweep(runs).by_change()
    gains = {
        change: {point: gain(found, point) for point in SWEPT_POINTS}
        for change, found in swept.items()
    }
    numbers = (GOODPUT, "rtt_ms", "second_mbps", "second_rtt_ms")
    data = [
        {**change.data(), "distance_m": point[0], **point[1].data(), "gain": value}
        | {"alone_mbps": mean(swept[change], (point[0], SINGLE))}
        | {name: mean(swept[change], point, name) for name in numbers}
        for change, of_change in gains.items()
        for point, value in of_change.items()
    ]
    records = [
        {
            "name": change.name,
            "alone": {d: mean(found, (d, SINGLE)) for d in SWEPT_M},
            "gain": {head(point): value for point, value in gains[change].items()},
        }
        for change, found in swept.items()
    ]
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        figures={"sweep": figures.sweep(gains)},
        distances=SWEPT_M,
        points=[head(point) for point in SWEPT_POINTS],
        paper_mbps={d: implied_mbps((d, SINGLE)) for d in SWEPT_M},
        paper_gain={head(point): PAPER_GAINS.get(point) for point in SWEPT_POINTS},
        seeds=effort.seeds,
        length_s=effort.duration_s,
        reached=reached(gains),
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


STUDY = Study.of(DATA, PAGE, Effort, sections)
