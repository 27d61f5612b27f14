"""The study: which tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from fadeout.studies.link_retransmission import figures, walk
from fadeout.studies.link_retransmission.claims import (
    Means,
    download_verdict,
    gain,
    gain_holds,
    latencies,
    latency_holds,
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
    Numbers,
    Point,
    bulk,
    count,
    delay_length_s,
    delays,
    downloads,
    sweep,
)
from fadeout.studies.link_retransmission.setups import DISTANCES_M, MODES, SIZES_MB, Mode
from fadeout.study import (
    Runs,
    Section,
    Study,
    Table,
    claims_of,
    claims_section,
    estimate,
    published,
)

FOLDER = Path(__file__).parent
CLAIMS = claims_of(published(FOLDER))


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """The report."""
    found = bulk(runs)
    times = downloads(runs)
    means = means_of(found)
    mean_times = {
        (d, mode.name, size): fmean(of_seeds) for (d, mode, size), of_seeds in times.items()
    }
    yield claims_section(
        [
            *retransmission_verdicts(means, DISTANCES_M, CLAIMS),
            download_verdict(means, mean_times, DISTANCES_M, CLAIMS),
        ]
    )
    yield bulk_section(found)
    yield delay_section(delays(runs), runs.effort)
    yield download_section(times)
    yield sweep_section(runs)
    yield walk.section(runs)


def means_of(found: Mapping[Point, Sequence[Numbers]]) -> Means:
    """Means over the seeds; of the RTT, over those seeds that have a sample of it."""
    return {
        (distance, mode.name): (
            fmean(column(of_seeds, "goodput_mbps")),
            fmean(column(of_seeds, "rtt_ms") or [math.nan]),
        )
        for (distance, mode), of_seeds in found.items()
    }


def column(found: Sequence[Numbers], name: str) -> list[float]:
    """The values of `name` that there are."""
    values = [each[name] for each in found]
    return [value for value in values if value is not None]


def bulk_section(found: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Throughput and latency over distance."""
    records = [
        {"distance_m": distance, "mode": mode.name}
        | {name: estimate(column(of_seeds, name)) for name in MEASURED}
        | {"goodput_mbps_median": median(column(of_seeds, "goodput_mbps")), "seeds": len(of_seeds)}
        for (distance, mode), of_seeds in found.items()
    ]
    return Section(
        name="bulk",
        title="Throughput and latency over distance",
        table=Table.of(
            records,
            {
                "distance": "{distance_m} m",
                "link repeats": "{mode}",
                "goodput Mbit/s": "{goodput_mbps:.0f}",
                "median": "{goodput_mbps_median:.0f}",
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


def delay_section(delays: Mapping[Point, Sequence[Mapping[str, float]]], effort: Effort) -> Section:
    """Where the packets' time on the radio goes."""
    means = {
        (distance, mode.name): {
            part: fmean(parts[part] for parts in of_seeds) if of_seeds else math.nan
            for part in PARTS
        }
        for (distance, mode), of_seeds in delays.items()
    }
    shown = ("queue", "transmission", "harq", "rlc", "reordering")
    return Section(
        name="delay",
        title="Where the delay of the downlink comes from",
        text=(
            "Means over the packets that arrived, in ms: waiting at the base station, one "
            "transmission, HARQ, RLC (segments and retransmissions), and waiting for older "
            f"packets. The first {delay_length_s(effort):g} s of {effort.delay_seeds} of "
            "the seeds, as every packet is a row: they do not add up to the times above."
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
            "Parts of the one-way delay on the radio, by distance and by what the link repeats "
            "(N none, H HARQ, A HARQ and RLC AM).": figures.delay_parts(means, shown)
        },
    )


def download_section(times: Mapping[tuple[int, Mode, int], Sequence[float]]) -> Section:
    """Download times of small files."""
    return Section(
        name="downloads",
        title="Download times of 1 to 10 MB",
        text=(
            "From opening the connection to the last byte, in seconds; the mean over seeds, and in "
            f"brackets the median. What takes more than {DOWNLOAD_LIMIT_S} s is stopped and "
            "counted with that time."
        ),
        table=Table(
            columns=["distance", "link repeats", *(f"{size} MB" for size in SIZES_MB)],
            rows=[
                [
                    f"{distance} m",
                    mode.name,
                    *(
                        f"{fmean(found):.3f} ({median(found):.3f})"
                        for found in (times[distance, mode, size] for size in SIZES_MB)
                    ),
                ]
                for distance, mode in MAIN
            ],
            data=[
                {
                    "distance_m": distance,
                    "mode": mode.name,
                    "size_mb": size,
                    "mean_s": fmean(found),
                    "median_s": median(found),
                    "ci95_s": estimate(found).ci95,
                    "stopped": sum(time >= DOWNLOAD_LIMIT_S for time in found),
                    "seeds": len(found),
                }
                for (distance, mode, size), found in times.items()
            ],
        ),
        figures={
            "Download time by size and distance (the paper's Figure 2b): medians over the seeds.": (
                figures.download_times({key: median(found) for key, found in times.items()})
            )
        },
        is_headline=True,
    )


def sweep_section(runs: Runs[Effort]) -> Section:
    """What each open assumption moves."""
    seeds = runs.effort.swept
    far = SWEPT_M[-1]
    rows, data = [], []
    for change, found in sweep(runs).items():
        means = means_of(found)
        rows.append(
            [
                change.name,
                *(f"{means[distance, MODES[-1].name][0]:.0f}" for distance in SWEPT_M),
                *(times_text(gain(means, distance)) for distance in SWEPT_M),
                latencies(means, far),
                yes(gain_holds(means, SWEPT_M)),
                yes(latency_holds(means, far)),
            ]
        )
        data += [
            {**change.data(), "distance_m": distance, "mode": mode}
            | {"goodput_mbps": goodput_mbps, "rtt_ms": rtt_ms, "seeds": seeds}
            for (distance, mode), (goodput_mbps, rtt_ms) in means.items()
        ]
    return Section(
        name="assumptions",
        title="What each assumption moves",
        text=(
            f"One changed at a time. The first {seeds} of the seeds above, so the first line "
            "differs a little from the tables there. *Goodput* is that with HARQ + RLC AM, *gain* "
            "the same over that without retransmissions, *RTT* at 150 m with none / HARQ / both."
        ),
        table=Table(
            columns=[
                "assumption",
                *(f"goodput {distance} m" for distance in SWEPT_M),
                *(f"gain {distance} m" for distance in SWEPT_M),
                "RTT ms",
                "retx_gain",
                "retx_latency",
            ],
            rows=rows,
            data=data,
        ),
    )


def yes(holds: bool) -> str:
    """A verdict in a word."""
    return "holds" if holds else "no"


STUDY = Study(
    name="link-retransmission",
    folder=FOLDER,
    title="TCP over 28 GHz with and without retransmissions on the link",
    introduction="""\
One CUBIC flow downloads over a 28 GHz cell of 1 GHz while its user walks across at 2 m/s. The link
repeats *none* of what is lost (one transmission, RLC UM), what *HARQ* can (three transmissions, RLC
UM), or with *HARQ + RLC AM* everything. ± is a 95 % confidence interval (Student) over seeds. A
seed draws the map of sight and shadowing, the fading and the block errors; every mode has the same
map. The paper prints no tables of this experiment: its claims in the text are what is checked.
""",
    full=Effort(seeds=24, swept_seeds=8, delay_seeds=6, walk_seeds=4, duration_s=4),
    quick=Effort(seeds=2, swept_seeds=2, delay_seeds=1, walk_seeds=1, duration_s=2),
    count=count,
    sections=sections,
)
