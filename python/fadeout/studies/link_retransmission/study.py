"""The study on retransmissions of the link: its report."""

from collections.abc import Iterator
from statistics import fmean, median
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
    DOWNLOAD_LIMIT_S,
    MODES,
    PAGE,
    PARTS,
    PUBLISHED,
    SIZES_MB,
    SWEPT_M,
    Effort,
    bulk,
    delay_length_s,
    delays,
    downloads,
    length_s,
    measure,
    sweep,
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
    mixed,
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


TABLES = Tables(DATA, PAGE, {})


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    found = bulk(runs)
    times = downloads(runs)
    yield over_distance(found)
    yield PAGE.claims([*retransmission_verdicts(found), download_verdict(found, times)])
    yield assumptions(runs)
    grid = Grid(DATA, runs, [measure])
    uplink = grid.found("uplink") | grid.found("uplink-changes")
    seeds = {"seeds": lambda at: len(uplink[at])}
    yield TABLES.section("uplink", uplink, seeds, length_s=length_s(runs.effort))
    yield delay(delays(runs), runs.effort)
    yield download_times(times)
    yield walk.section(runs)


def paper_mbps(distance_m: int, mode: str = BOTH.name) -> str:
    """Returns the paper's goodput at a point in Mbit/s, or a dash."""
    form = PUBLISHED_MBPS.get(distance_m) if mode == BOTH.name else None
    return "-" if form is None else fill(form, PUBLISHED["derived"])


def over_distance(found: FoundInPlaces) -> Section:
    """Returns the section on throughput and latency by distance."""

    def of_sight(sight: str) -> Column:
        return lambda at: fmean(each["goodput_mbps"] or 0.0 for each in found[at][sight])

    columns: dict[str, Column] = {
        "published_mbps": lambda at: paper_mbps(at[0], at[1].name),
        "in_sight_mbps": of_sight(IN_SIGHT),
        "out_of_sight_mbps": of_sight(OUT_OF_SIGHT),
        "share_in_sight": lambda at: share_in_sight(at[0]),
        "places": lambda at: sum(map(len, found[at].values())),
    }
    return TABLES.section("bulk", found, columns)


def delay(found: FoundInPlaces, effort: Effort) -> Section:
    """Returns the section on the parts of the delay on the radio."""
    means = {
        (distance, mode.name): {
            part: mixed(found[distance, mode], distance, lambda each, p=part: each[p])
            for part in PARTS
        }
        for distance, mode in found
    }
    return PAGE.section(
        "delay",
        [
            {"distance_m": distance, "mode": mode} | {f"{k}_ms": v for k, v in parts.items()}
            for (distance, mode), parts in means.items()
        ],
        figures={"delay-parts": figures.delay_parts(means, SHOWN_PARTS)},
        shown=SHOWN_PARTS,
        length_s=delay_length_s(effort),
        seeds=effort.delay_seeds,
    )


def download_times(found: FoundInPlaces) -> Section:
    """Returns the section on download times of small files."""

    def of_all(at: Point) -> list[float]:
        return [each["time_s"] for places in found[at].values() for each in places]

    medians = {at: median(of_all(at)) for at in found}
    return TABLES.section(
        "downloads",
        found,
        {
            "stopped": lambda at: sum(time_s >= DOWNLOAD_LIMIT_S for time_s in of_all(at)),
            "places": lambda at: len(of_all(at)),
        },
        {"times": figures.download_times(medians)},
        sizes=SIZES_MB,
        limit_s=DOWNLOAD_LIMIT_S,
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each open assumption."""
    effort = runs.effort.of_sweep()
    swept = sweep(runs).by_change()
    records: list[dict[str, Any]] = [
        {
            "name": change.name,
            "goodput": {d: found.mean((d, BOTH), "goodput_mbps") for d in SWEPT_M},
            "gain": {d: times_text(gain(found, d)) for d in SWEPT_M},
            "rtts_ms": latencies(found, SWEPT_M[-1]),
        }
        for change, found in swept.items()
    ]
    data = [
        {**change.data(), "distance_m": distance, "mode": mode.name}
        | {name: found.mean((distance, mode), name) for name in ("goodput_mbps", "rtt_ms")}
        | {"places": 2 * effort.seeds}
        for change, found in swept.items()
        for distance in SWEPT_M
        for mode in MODES
    ]
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        distances=SWEPT_M,
        paper_mbps={d: paper_mbps(d) for d in SWEPT_M},
        paper_gain=dict(zip(SWEPT_M, ("1", "1.5 to 3"), strict=True)),
        seeds=effort.seeds,
        length_s=length_s(effort),
        far=SWEPT_M[-1],
    )


STUDY = Study.of(DATA, PAGE, Effort, sections)
