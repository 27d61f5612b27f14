"""The study on retransmissions of the link: the numbers of its tables."""

from collections.abc import Iterator, Mapping
from statistics import fmean, median
from typing import Any

from fadeout.studies.link_retransmission import figures, walk
from fadeout.studies.link_retransmission.claims import (
    Found,
    download_verdict,
    gain,
    latencies,
    mean_of,
    retransmission_verdicts,
    times_text,
)
from fadeout.studies.link_retransmission.runs import (
    DOWNLOAD_LIMIT_S,
    MAIN,
    MEASURED,
    PARTS,
    SWEPT_M,
    Effort,
    Point,
    Times,
    bulk,
    delay_length_s,
    delays,
    downloads,
    length_s,
    sweep,
    uplink,
)
from fadeout.studies.link_retransmission.setups import (
    BASE,
    BOTH,
    DATA,
    DISTANCES_M,
    MODES,
    PAGE,
    PUBLISHED,
    SIZES_MB,
)
from fadeout.study import (
    IN_SIGHT,
    OTHER_LAWS,
    OUT_OF_SIGHT,
    Change,
    Estimate,
    Law,
    Places,
    Runs,
    Section,
    Study,
    mean_over_places,
    means,
    mixed,
    series,
    share_in_sight,
)
from fadeout.study.figures import bar_rows
from fadeout.study.forms import fill

PUBLISHED_MBPS = {
    50: "about {sp_tcp_50m_central_mbps} ({sp_tcp_50m_mbps[0]} to {sp_tcp_50m_mbps[1]})",
    150: "about {sp_tcp_150m_mbps}",
}
"""Goodput of one path with all retransmissions in Mbit/s, as the paper's text implies."""

SHOWN_PARTS = ("queue", "transmission", "harq", "rlc", "reordering")
"""Parts of the delay in the table."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    found = bulk(runs)
    times = downloads(runs)
    yield over_distance(found)
    yield PAGE.claims([*retransmission_verdicts(found), download_verdict(found, times)])
    yield assumptions(runs)
    yield PAGE.section("uplink", uplink_records(runs), length_s=length_s(runs.effort))
    yield delay(delays(runs), runs.effort)
    yield download_times(times)
    yield walk.section(runs)


def of_sight(found: Found, distance_m: int, mode: str, sight: str) -> float:
    """Returns the mean goodput in Mbit/s over the places of a stratum."""
    of_stratum = found[distance_m][sight]
    return fmean(each[mode]["goodput_mbps"] or 0.0 for each in of_stratum)


def paper_mbps(distance_m: int, mode: str = BOTH.name) -> str:
    """Returns the paper's goodput at a point in Mbit/s, or a dash."""
    form = PUBLISHED_MBPS.get(distance_m) if mode == BOTH.name else None
    return "-" if form is None else fill(form, PUBLISHED["derived"])


def over_distance(found: Found) -> Section:
    """Returns the section on throughput and latency by distance."""
    records = [
        {
            "distance_m": distance,
            "mode": mode.name,
            "published_mbps": paper_mbps(distance, mode.name),
        }
        | {name: mean_of(found, distance, mode, name) for name in MEASURED}
        | {
            "in_sight_mbps": of_sight(found, distance, mode.name, IN_SIGHT),
            "out_of_sight_mbps": of_sight(found, distance, mode.name, OUT_OF_SIGHT),
            "share_in_sight": share_in_sight(distance),
            "places": sum(map(len, found[distance].values())),
        }
        for distance, mode in MAIN
    ]
    labels = {"Goodput (Mbit/s)": "goodput_mbps", "Mean RTT (ms)": "rtt_ms"}
    bars = {label: series(records, "mode", value=name) for label, name in labels.items()}
    groups = [f"{distance} m" for distance in DISTANCES_M]
    drawn = {"goodput-and-rtt": bar_rows(bars, groups, x_label="Distance", height=1.0)}
    return PAGE.section("bulk", records, figures=drawn)


def delay(found: Mapping[Point, Places[Mapping[str, float]]], effort: Effort) -> Section:
    """Returns the section on the parts of the delay on the radio."""
    means = {
        (distance, mode.name): {
            part: mixed(places, distance, lambda each, p=part: each[p]) for part in PARTS
        }
        for (distance, mode), places in found.items()
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


def download_times(times: Mapping[int, Places[Times]]) -> Section:
    """Returns the section on download times of small files."""

    def of_all(distance: int, mode: str, size: int) -> list[float]:
        return [each[mode, size] for places in times[distance].values() for each in places]

    def mean(distance: int, mode: str, size: int) -> Estimate:
        return mean_over_places(times[distance], distance, lambda each: each[mode, size])

    records, data = [], []
    for distance, mode in MAIN:
        means = {size: mean(distance, mode.name, size) for size in SIZES_MB}
        records.append({"distance_m": distance, "mode": mode.name, "time": means})
        for size, value in means.items():
            each = of_all(distance, mode.name, size)
            stopped = sum(time_s >= DOWNLOAD_LIMIT_S for time_s in each)
            data.append(
                {"distance_m": distance, "mode": mode.name, "size_mb": size}
                | {"stopped": stopped, "places": len(each)}
                | value.data("", "_s")
            )
    medians = {
        (distance, mode, size): median(of_all(distance, mode.name, size))
        for distance, mode in MAIN
        for size in SIZES_MB
    }
    return PAGE.section(
        "downloads",
        records,
        data=data,
        figures={"times": figures.download_times(medians)},
        sizes=SIZES_MB,
        limit_s=DOWNLOAD_LIMIT_S,
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
    for change, found, law in rows:
        records.append(
            {
                "name": change.name,
                "goodput": {d: mean_of(found, d, BOTH, "goodput_mbps", law) for d in SWEPT_M},
                "gain": {d: times_text(gain(found, d, law=law)) for d in SWEPT_M},
                "rtts_ms": latencies(found, SWEPT_M[-1], law),
            }
        )
        data += [
            {"assumption": change.name, "distance_m": distance, "mode": mode.name}
            | mean_of(found, distance, mode, "goodput_mbps", law).data("goodput_", "_mbps")
            | mean_of(found, distance, mode, "rtt_ms", law).data("rtt_", "_ms")
            | {"places": 2 * effort.seeds}
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


def uplink_records(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the numbers of the uplink scenario of the author's public script."""
    return [
        {"assumption": change.name, "mode": mode.name}
        | means(of_seeds, "goodput_mbps", "rtt_ms")
        | {"seeds": len(of_seeds)}
        for (change, mode), of_seeds in uplink(runs).items()
    ]


STUDY = Study.of(DATA, PAGE, Effort, sections)
