"""The study on Multipath TCP: its report."""

from collections.abc import Iterator, Mapping
from typing import Any

from fadeout.studies.multipath import figures, kernel, replication
from fadeout.studies.multipath.claims import GOODPUT, gain, verdicts
from fadeout.studies.multipath.runs import (
    BALIA,
    DATA,
    FULL_WINDOW,
    LISTS,
    LTE,
    MMWAVE,
    PAGE,
    PUBLISHED,
    RANGES,
    SINGLE,
    STATED,
    SWEPT_M,
    Effort,
    Point,
    download,
    measure,
    measure_paths,
)
from fadeout.study import (
    IN_SIGHT,
    OUT_OF_SIGHT,
    Change,
    Estimate,
    FoundInPlaces,
    Grid,
    Runs,
    Section,
    Study,
    share_in_sight,
)
from fadeout.study.forms import fill

READERS = (measure, measure_paths, kernel.measure_kernel)
MAKERS = (download, kernel.beside_kernel)

IMPLIED_MBPS = {
    point: fill(row["mbps"], PUBLISHED["derived"])
    for point, row in sorted(STATED.items(), key=lambda each: each[0][0])
    if "mbps" in row
}
"""Goodput in Mbit/s that the paper's text implies, by distance."""

SWEPT_POINTS = [(distance, setup) for distance in SWEPT_M for setup in (LTE, BALIA, MMWAVE)]

MOST_NAMED = 6
"""Largest number of assumptions that the conclusion names for a claim."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    lists = {**LISTS, "kernel": kernel.POINTS}
    grid = Grid(DATA, runs, READERS, lists, MAKERS)
    found = grid.places("claimed") | grid.places("between") | grid.places("couplings")
    yield PAGE.section("beside", [beside(found, point) for point in IMPLIED_MBPS])
    yield PAGE.claims(verdicts(found))
    yield over_distance(found)
    yield assumptions(grid.places("assumptions"), runs.effort)
    uplinks = grid.places("replication") | grid.places("replication-changes")
    yield replication.section(uplinks)
    yield held_up(grid, found)
    yield kernel.section(grid, runs.effort)


def beside(found: FoundInPlaces, point: Point) -> dict[str, Any]:
    """Returns a rate in the paper's text beside ours."""
    distance, setup = point
    record: dict[str, Any] = {"distance_m": distance, "paths": setup.name}
    record |= {"published_mbps": IMPLIED_MBPS[point], GOODPUT: found.mean(point, GOODPUT)}
    for name, sight in (("in_sight", IN_SIGHT), ("out_of_sight", OUT_OF_SIGHT)):
        record[f"{name}_mbps"] = found.of_sight(point, GOODPUT, sight)
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
            else {name: found.plain_mean(point, name) for name in ("second_mbps", "second_rtt_ms")}
        )
        records.append(
            {"distance_m": distance, **setup.data(), **second}
            | {"_coupling": None if setup == SINGLE else setup.coupling}
            | {"_gain": None if setup == SINGLE else gains[point], "gain": gains[point]}
            | {GOODPUT: found.mean(point, GOODPUT), "rtt_ms": rtts[point]}
            | {"places": found.count(point)}
        )
    drawn = {"gain-and-rtt": figures.gain_and_rtt(gains, rtts)}
    return PAGE.section("distance", records, figures=drawn)


def held_up(grid: Grid, found: FoundInPlaces) -> Section:
    """Returns the section on the loss of coupled algorithms when LTE is added."""
    inside = grid.places("variants")
    # The single path has more places. A comparison has the first ones.
    alone = {(at_m, SINGLE): found[at_m, SINGLE] for at_m in SWEPT_M}
    compared = FoundInPlaces(("distance_m", "variant"), {**inside.numbers, **alone})
    records = []
    for point in inside:
        numbers = {name: inside.plain_mean(point, name) for name in inside[point][IN_SIGHT][0]}
        value = compared.ratio(point, (point[0], SINGLE), GOODPUT)
        # The redundant scheduler sends everything twice, so the difference has no meaning.
        waiting_mb = None if "redundant" in point[1].name else numbers["waiting_mb"]
        records.append(
            {**inside.labels(point), "gain": value, **numbers, "_waiting_mb": waiting_mb}
            | {"places": inside.count(point)}
        )
    drawn = {variant.name: run for (_, variant), run in grid.whole("inside").items()}
    return PAGE.section(
        "held_up",
        records,
        figures={"inside": figures.inside(drawn)},
        seeds=records[0]["places"] // 2,
        full_window=FULL_WINDOW,
    )


def assumptions(found: FoundInPlaces, effort: Effort) -> Section:
    """Returns the section on the effect of each open assumption."""
    swept = found.by_change()
    gains = {
        change: {point: gain(found, point) for point in SWEPT_POINTS}
        for change, found in swept.items()
    }
    numbers = (GOODPUT, "rtt_ms", "second_mbps", "second_rtt_ms")
    data = [
        {**change.data(), "distance_m": point[0], **point[1].data(), "gain": value}
        | {"alone_mbps": swept[change].plain_mean((point[0], SINGLE), GOODPUT)}
        | {name: swept[change].plain_mean(point, name) for name in numbers}
        for change, of_change in gains.items()
        for point, value in of_change.items()
    ]
    records = [
        {
            "name": change.name,
            "alone": {d: found.plain_mean((d, SINGLE), GOODPUT) for d in SWEPT_M},
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
        paper_mbps={d: IMPLIED_MBPS[d, SINGLE] for d in SWEPT_M},
        paper_gain={head(point): STATED.get(point, {}).get("gain") for point in SWEPT_POINTS},
        seeds=effort.swept,
        length_s=effort.swept_s,
        reached=reached(gains),
    )


def head(point: Point) -> str:
    """Returns the name of a point in the heads of the table of assumptions."""
    distance, setup = point
    return f"+ {setup.second}{'' if setup.coupling == 'uncoupled' else ', BALIA'}, {distance} m"


def reached(shown: Mapping[Change, Mapping[Point, Estimate]]) -> str:
    """Returns a list of the assumptions with which each gain is in the paper's range."""
    lines = []
    for point, (low, high) in RANGES.items():
        inside = [
            change.name for change, gains in shown.items() if low <= gains[point].mean <= high
        ]
        share = f"{len(inside)} of {len(shown)} rows"
        names = f": {', '.join(inside)}" if 0 < len(inside) <= MOST_NAMED else ""
        distance, setup = point
        lines.append(
            f"- 28 GHz {setup.added} at {distance} m, {low:g} to {high:g} times: {share}{names}."
        )
    return "\n".join(lines)


STUDY = Study.of(DATA, PAGE, Effort, sections)
