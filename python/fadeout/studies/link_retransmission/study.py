"""The study on retransmissions of the link: its tables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median

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
    count,
    delay_length_s,
    delays,
    downloads,
    length_s,
    sweep,
    uplink,
)
from fadeout.studies.link_retransmission.setups import BASE, BOTH, DISTANCES_M, MODES, SIZES_MB
from fadeout.study import (
    IN_SIGHT,
    OTHER_LAWS,
    OUT_OF_SIGHT,
    Change,
    Law,
    Moved,
    Places,
    Runs,
    Section,
    Study,
    Table,
    assumptions_section,
    claims_of,
    claims_section,
    estimate,
    jackknife,
    mixed,
    published,
    share_in_sight,
)

FOLDER = Path(__file__).parent
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

PUBLISHED_MBPS = {
    50: "about {sp_tcp_50m_central_mbps} ({sp_tcp_50m_mbps[0]} to {sp_tcp_50m_mbps[1]})",
    150: "about {sp_tcp_150m_mbps}",
}
"""Goodput of one path with all retransmissions in Mbit/s, as the paper's text implies."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    found = bulk(runs)
    times = downloads(runs)
    yield bulk_section(found)
    yield claims_section(
        [
            *retransmission_verdicts(found, DISTANCES_M, CLAIMS),
            download_verdict(found, times, DISTANCES_M, CLAIMS),
        ]
    )
    yield sweep_section(runs)
    yield uplink_section(runs)
    yield delay_section(delays(runs), runs.effort)
    yield download_section(times)
    yield walk.section(runs)


def of_sight(found: Found, distance_m: int, mode: str, sight: str) -> float:
    """Returns the mean goodput in Mbit/s over the places of a stratum."""
    of_stratum = found[distance_m][sight]
    return fmean(each[mode]["goodput_mbps"] or 0.0 for each in of_stratum)


def paper_mbps(distance_m: int, mode: str) -> str:
    """Returns the paper's goodput at a point in Mbit/s, or a dash."""
    form = PUBLISHED_MBPS.get(distance_m) if mode == BOTH.name else None
    return "-" if form is None else form.format_map(PUBLISHED["derived"])


def bulk_section(found: Found) -> Section:
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
    return Section(
        name="bulk",
        title="Throughput and latency over distance",
        text=(
            "*Paper*: the rate in Mbit/s that the paper's text implies. *LOS* and *NLOS*: mean "
            "goodput over the UE positions in LOS and in NLOS. The column *goodput* weights "
            "these two means by the LOS probability."
        ),
        table=Table.of(
            records,
            {
                "distance": "{distance_m} m",
                "link repeats": "{mode}",
                "paper Mbit/s": "{published_mbps}",
                "goodput Mbit/s": "{goodput_mbps:.0f}",
                "LOS": "{in_sight_mbps:.0f}",
                "NLOS": "{out_of_sight_mbps:.0f}",
                "LOS probability": "{share_in_sight:.0%}",
                "RTT ms": "{rtt_ms:.1f}",
                "retransmitted %": "{retransmitted_pct.mean:.2f}",
                "timeouts": "{timeouts.mean:.1f}",
            },
        ),
        figures={
            "Goodput and mean round-trip time of one CUBIC flow by distance (the paper's Figure "
            "2a). Bars: 95 % confidence intervals.": figures.goodput_and_rtt(records)
        },
        is_headline=True,
    )


def delay_section(delays: Mapping[Point, Places[Mapping[str, float]]], effort: Effort) -> Section:
    """Returns the section on the parts of the delay on the radio."""
    means = {
        (distance, mode.name): {
            part: mixed(places, distance, lambda each, p=part: each[p]) for part in PARTS
        }
        for (distance, mode), places in delays.items()
    }
    shown = ("queue", "transmission", "harq", "rlc", "reordering")
    return Section(
        name="delay",
        title="Where the delay of the downlink comes from",
        text=(
            "The columns show the parts of the delay in ms, as means over the packets that "
            "arrived. The parts are waiting at the base station, one transmission, HARQ, RLC "
            "(segments and retransmissions), and waiting for older packets. The means are over "
            f"the first {delay_length_s(effort):g} s at {effort.delay_seeds} positions in LOS and "
            "as many in NLOS, because every packet is recorded. The parts therefore do not add "
            "up to the round-trip times above."
        ),
        table=Table.of(
            [
                {"distance_m": distance, "mode": mode} | {f"{k}_ms": v for k, v in parts.items()}
                for (distance, mode), parts in means.items()
            ],
            {"distance": "{distance_m} m", "link repeats": "{mode}"}
            | {part: f"{{{part}_ms:.2f}}" for part in shown},
        ),
        figures={
            "Parts of the one-way delay on the radio link, by distance and retransmissions (N: "
            "none, H: HARQ, A: HARQ and RLC AM).": figures.delay_parts(means, shown)
        },
    )


def download_section(times: Mapping[int, Places[Times]]) -> Section:
    """Returns the section on download times of small files."""

    def of_all(distance: int, mode: str, size: int) -> list[float]:
        return [each[mode, size] for places in times[distance].values() for each in places]

    records = [
        {"distance_m": distance, "mode": mode.name, "size_mb": size}
        | {
            "time": jackknife(
                lambda places, d=distance, key=(mode.name, size): mixed(
                    places, d, lambda each: each[key]
                ),
                times[distance],
            ),
            "stopped": sum(t >= DOWNLOAD_LIMIT_S for t in of_all(distance, mode.name, size)),
            "places": len(of_all(distance, mode.name, size)),
        }
        for distance, mode in MAIN
        for size in SIZES_MB
    ]
    cells = iter(f"{record['time']:.2f}" for record in records)
    return Section(
        name="downloads",
        title="Download times of 1 to 10 MB",
        text=(
            "The table shows the time from the opening of the connection to the last byte, in "
            f"seconds. A download that takes more than {DOWNLOAD_LIMIT_S} s is stopped and counts "
            f"as {DOWNLOAD_LIMIT_S} s."
        ),
        table=Table(
            columns=["distance", "link repeats", *(f"{size} MB" for size in SIZES_MB)],
            rows=[
                [f"{distance} m", mode.name, *(next(cells) for _ in SIZES_MB)]
                for distance, mode in MAIN
            ],
            data=[
                {key: value for key, value in record.items() if key != "time"}
                | record["time"].data("", "_s")
                for record in records
            ],
        ),
        figures={
            "Download time by size and distance (the paper's Figure 2b): medians.": (
                figures.download_times(
                    {
                        (distance, mode, size): median(of_all(distance, mode.name, size))
                        for distance, mode in MAIN
                        for size in SIZES_MB
                    }
                )
            )
        },
        is_headline=True,
    )


def sweep_section(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each open assumption."""
    effort = runs.effort.of_sweep()
    count_ = effort.seeds
    far = SWEPT_M[-1]
    swept = sweep(runs)
    rows: list[tuple[Change, Found, Law]] = [
        (change, found, share_in_sight) for change, found in swept.items()
    ]
    # A law weighs the same places in another way, so it needs no runs.
    rows += [(Change("line of sight", name), swept[BASE], law) for name, law in OTHER_LAWS.items()]
    moved = []
    for change, found, law in rows:
        goodputs = {d: mean_of(found, d, BOTH, "goodput_mbps", law) for d in SWEPT_M}
        cells = [
            *(f"{goodputs[distance]:.0f}" for distance in SWEPT_M),
            *(times_text(gain(found, distance, law=law)) for distance in SWEPT_M),
            latencies(found, far, law),
        ]
        data = [
            {"distance_m": distance, "mode": mode.name}
            | mean_of(found, distance, mode, "goodput_mbps", law).data("goodput_", "_mbps")
            | mean_of(found, distance, mode, "rtt_ms", law).data("rtt_", "_ms")
            | {"places": 2 * count_}
            for distance in SWEPT_M
            for mode in MODES
        ]
        moved.append(Moved(change, cells, data))
    return assumptions_section(
        moved,
        [
            *(f"goodput {distance} m" for distance in SWEPT_M),
            *(f"gain {distance} m" for distance in SWEPT_M),
            "RTT ms",
        ],
        f"Each row changes one assumption. The runs use only the first {count_} positions in LOS "
        f"and the first {count_} in NLOS, for {length_s(effort):g} s. The first row therefore "
        "differs a little from the tables above. *Goodput*: goodput with HARQ + RLC AM in "
        "Mbit/s. *Gain*: this goodput "
        f"divided by the goodput without retransmissions. *RTT*: mean round-trip time at {far} m "
        "without retransmissions, with HARQ, and with HARQ and RLC AM. The rows on line of sight "
        "weigh the places of the first row by another law.",
        published=[*(paper_mbps(d, BOTH.name) for d in SWEPT_M), "1", "1.5 to 3", "-"],
        keyed=lambda change: {"assumption": change.name},
        is_headline=True,
    )


def uplink_section(runs: Runs[Effort]) -> Section:
    """Returns the section on the uplink scenario of the author's public script."""
    records = [
        {"assumption": change.name, "mode": mode.name}
        | {
            each: estimate([value for one in of_seeds if (value := one[each]) is not None])
            for each in ("goodput_mbps", "rtt_ms")
        }
        | {"seeds": len(of_seeds)}
        for (change, mode), of_seeds in uplink(runs).items()
    ]
    return Section(
        name="uplink",
        title="Uplink past a building",
        text=(
            "A public script by the same author has a related scenario with an uplink. The phone "
            "moves from (100, -20) to (100, 20) m. It passes a building at (80, -10) to (90, 10) "
            "m that is 10 m high. The cell is 3 m high at the origin. Here the carrier has 400 "
            f"MHz, the channel is UMa, and a run lasts {length_s(runs.effort):g} s. An "
            "independent run of the script on another simulator has 54 Mbit/s for one path. The "
            "last rows change one assumption each."
        ),
        table=Table.of(
            records,
            {
                "changed": "{assumption}",
                "link repeats": "{mode}",
                "goodput Mbit/s": "{goodput_mbps:.1f}",
                "RTT ms": "{rtt_ms:.0f}",
            },
        ),
        is_headline=True,
    )


STUDY = Study(
    name="link-retransmission",
    folder=FOLDER,
    title="TCP over 28 GHz with and without retransmissions on the link",
    introduction="""\
One CUBIC flow downloads over a 28 GHz cell of 1 GHz while its user walks across at 2 m/s. With
*none* the link repeats no lost data (one transmission, RLC UM). *HARQ* has three transmissions and
RLC UM, and *HARQ + RLC AM* repeats everything that is lost. Half of the UE positions are in LOS and
half in NLOS. Means weight the two kinds by the LOS probability. Intervals (±) are 95 % confidence
intervals (stratified jackknife) over positions. A seed determines the shadowing, the fading and the
block errors at a position, and all modes share them. The paper prints no tables of this experiment,
so the claims in its text are checked.
""",
    full=Effort(
        seeds=6, swept_seeds=3, swept_duration_s=4, delay_seeds=2, walk_seeds=3, duration_s=10
    ),
    quick=Effort(seeds=2, swept_seeds=2, delay_seeds=1, walk_seeds=1, duration_s=2),
    count=count,
    sections=sections,
    other_scenarios={"scenario_of_the_uplink": "uplink.toml"},
)
