"""The study on retransmissions of the link: its report."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from fadeout.studies.link_retransmission import figures, walk
from fadeout.studies.link_retransmission.claims import (
    download_verdict,
    gain,
    latencies,
    retransmission_verdicts,
    times_text,
)
from fadeout.studies.link_retransmission.runs import (
    BOTH,
    DATA,
    MODES,
    PAGE,
    PARTS,
    PUBLISHED,
    Effort,
    across,
    completion,
    measure,
    parts_ms,
)
from fadeout.study import (
    IN_SIGHT,
    OUT_OF_SIGHT,
    FoundInPlaces,
    Grid,
    Runs,
    Section,
    Study,
    Tables,
    share_in_sight,
)
from fadeout.study.forms import fill
from fadeout.study.found import Point
from fadeout.study.tables import Column

PUBLISHED_MBPS = {
    50: "about {sp_tcp_50m_central_mbps} ({sp_tcp_50m_mbps[0]} to {sp_tcp_50m_mbps[1]})",
    150: "about {sp_tcp_150m_mbps}",
}
"""Goodput of one path with all retransmissions in Mbit/s, as the paper's text implies."""

SHOWN_PARTS = ("queue", "transmission", "harq", "rlc", "reordering")
"""Parts of the delay in the table."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    grid = Grid(DATA, runs, [measure, completion, parts_ms], makers=[across])
    tables = Tables(DATA, PAGE, grid)
    found, times = grid.places("bulk"), grid.places("downloads")
    yield over_distance(tables, found)
    yield PAGE.claims([*retransmission_verdicts(found), download_verdict(found, times)])
    yield assumptions(grid.places("assumptions"), effort)
    uplink = grid["uplink"] | grid["uplink-changes"]
    seeds = {"seeds": lambda at: len(uplink[at])}
    yield tables.section("uplink", uplink, seeds, length_s=effort.duration_s)
    yield delay(tables, grid.places("delay"), effort)
    yield download_times(tables, times, effort.limit_s)
    yield walk.section(runs)


def paper_mbps(distance_m: int, mode: str = BOTH.name) -> str:
    """Returns the paper's goodput at a point in Mbit/s, or a dash."""
    form = PUBLISHED_MBPS.get(distance_m) if mode == BOTH.name else None
    return "-" if form is None else fill(form, PUBLISHED["derived"])


def over_distance(tables: Tables, found: FoundInPlaces) -> Section:
    """Returns the section on throughput and latency by distance."""
    columns: dict[str, Column] = {
        "published_mbps": lambda at: paper_mbps(at[0], at[1].name),
        "in_sight_mbps": lambda at: found.of_sight(at, "goodput_mbps", IN_SIGHT),
        "out_of_sight_mbps": lambda at: found.of_sight(at, "goodput_mbps", OUT_OF_SIGHT),
        "share_in_sight": lambda at: share_in_sight(at[0]),
        "places": found.count,
    }
    return tables.section("bulk", columns=columns)


def delay(tables: Tables, found: FoundInPlaces, effort: Effort) -> Section:
    """Returns the section on the parts of the delay on the radio."""
    columns: dict[str, Column] = {
        f"{part}_ms": lambda at, part=part: found.plain_mean(at, part) for part in PARTS
    }
    return tables.section(
        "delay",
        columns=columns,
        figures={"delay-parts": figures.delay_parts(found, SHOWN_PARTS)},
        shown=SHOWN_PARTS,
        length_s=effort.delay_s,
        seeds=found.count(next(iter(found))) // 2,
    )


def download_times(tables: Tables, found: FoundInPlaces, limit_s: float) -> Section:
    """Returns the section on download times of small files."""

    def of_all(at: Point) -> list[float]:
        return [each["time_s"] for places in found[at].values() for each in places]

    medians = {at: median(of_all(at)) for at in found}
    columns: dict[str, Column] = {
        "stopped": lambda at: sum(time_s >= limit_s for time_s in of_all(at)),
        "places": found.count,
    }
    return tables.section(
        "downloads",
        columns=columns,
        figures={"times": figures.download_times(medians)},
        sizes=found.parts("size_mb"),
        limit_s=limit_s,
    )


def assumptions(found: FoundInPlaces, effort: Effort) -> Section:
    """Returns the section on the effect of each open assumption."""
    swept, distances = found.by_change(), found.parts("distance_m")
    records: list[dict[str, Any]] = [
        {
            "name": change.name,
            "goodput": {d: found.mean((d, BOTH), "goodput_mbps") for d in distances},
            "gain": {d: times_text(gain(found, d)) for d in distances},
            "rtts_ms": latencies(found, distances[-1]),
        }
        for change, found in swept.items()
    ]
    data = [
        {**change.data(), "distance_m": distance, "mode": mode.name}
        | {name: found.mean((distance, mode), name) for name in ("goodput_mbps", "rtt_ms")}
        | {"places": found.count((distance, mode))}
        for change, found in swept.items()
        for distance in distances
        for mode in MODES
    ]
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        distances=distances,
        paper_mbps={d: paper_mbps(d) for d in distances},
        paper_gain=dict(zip(distances, ("1", "1.5 to 3"), strict=True)),
        seeds=effort.swept,
        length_s=effort.swept_s,
        far=distances[-1],
    )


STUDY = Study.of(DATA, PAGE, Effort, sections)
