"""The study: which runs, which tables."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl

from fadeout.results import Results
from fadeout.studies.link_retransmission import figures
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
from fadeout.studies.link_retransmission.setups import (
    BASE,
    CHANGES,
    DISTANCES_M,
    MODES,
    SIZES_MB,
    Change,
    Mode,
    Values,
    place,
)
from fadeout.study import (
    Batch,
    Estimate,
    Job,
    Options,
    Report,
    Section,
    Table,
    claims_section,
    estimate,
)
from fadeout.study.batch import overrides

FOLDER = Path(__file__).parent
PUBLISHED = tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8"))
CLAIMS: dict[str, str] = {claim["id"]: claim["text"] for claim in PUBLISHED["claim"]}

SWEPT_M = (50, 100, 150)
"""Distances at which assumptions are changed."""

DOWNLOAD_LIMIT_S = 30
"""A download that is not done by then counts with this time."""

DELAY_S = 2
"""Longest run in which the delay of every packet is recorded."""

PARTS = ("queue", "sr_wait", "grant_wait", "transmission", "harq", "rlc", "reordering")
"""What a radio delay is made of."""

QUIET = {
    "probe.congestion": "false",
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
    "probe.bearers": "false",
}
"""Nothing is recorded over time where only totals are read."""


@dataclass(frozen=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    swept_seeds: int
    delay_seeds: int
    duration_s: int


FULL = Effort(seeds=24, swept_seeds=8, delay_seeds=6, duration_s=4)
QUICK = Effort(seeds=2, swept_seeds=2, delay_seeds=1, duration_s=2)

Numbers = Mapping[str, float | None]
"""What a run found, by the name of the column."""


class Runner:
    """Runs points of the study."""

    def __init__(self, batch: Batch, effort: Effort) -> None:
        self._batch = batch
        self._effort = effort
        self._measured: dict[Job, Numbers | None] = {}

    def bulk(self, points: Sequence[tuple[int, Mode, Values]], seeds: int) -> list[list[Numbers]]:
        """The numbers of a long transfer at each point, a list over the seeds."""
        common = {"duration": f"{self._effort.duration_s} s", **QUIET}
        jobs = [
            Job(overrides({**place(distance), **mode.values, **values, **common}), seed=seed)
            for distance, mode, values in points
            for seed in range(1, seeds + 1)
        ]
        # The sweep's first line is part of the main table.
        missing = [job for job in jobs if job not in self._measured]
        found = self._batch.collect(missing, measure) if missing else []
        self._measured |= dict(zip(missing, found, strict=True))
        return grouped([self._measured[job] for job in jobs], seeds)

    def downloads(self, points: Sequence[tuple[int, Mode, int]], seeds: int) -> list[list[float]]:
        """Times of a download at each point in seconds, a list over the seeds."""
        jobs = []
        for distance, mode, size in points:
            transfer = f'{{ kind = "transfer", size = "{size} MB" }}'
            common = {"duration": f"{DOWNLOAD_LIMIT_S} s", **QUIET}
            values = {**place(distance), **mode.values, **common, APPLICATION: transfer}
            jobs += [Job(overrides(values), seed=seed) for seed in range(1, seeds + 1)]
        return grouped(self._batch.collect(jobs, completion_s), seeds)

    def delays(self, points: Sequence[tuple[int, Mode]], seeds: int) -> list[list[Numbers]]:
        """Mean parts of the downlink's delay in ms at each point, a list over the seeds."""
        probe = {
            "probe.radio-delay": "true",
            "duration": f"{min(self._effort.duration_s, DELAY_S)} s",
        }
        jobs = [
            Job(
                overrides({**place(distance), **mode.values, **QUIET, **probe}),
                seed=seed,
                with_tables=True,
            )
            for distance, mode in points
            for seed in range(1, seeds + 1)
        ]
        return grouped(self._batch.collect(jobs, parts_ms), seeds)


APPLICATION = "flow.download.application"


def grouped(found: Sequence[Any], seeds: int) -> list[list[Any]]:
    """`found` in lists of `seeds`; runs that did not finish are left out."""
    return [
        [item for item in found[start : start + seeds] if item is not None]
        for start in range(0, len(found), seeds)
    ]


def measure(results: Results) -> Numbers:
    """The numbers of a long transfer."""
    flow = results.flows.row(0, named=True)
    rtt_s = flow["mean_rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": None if rtt_s is None else 1e3 * rtt_s,
        "timeouts": flow["timeouts"],
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / max(1, flow["sent_segments"]),
    }


def completion_s(results: Results) -> float:
    """Time of the download, or the limit."""
    time_s = results.flows["flow_completion_time_s"][0]
    return DOWNLOAD_LIMIT_S if time_s is None else float(time_s)


def parts_ms(results: Results) -> Numbers | None:
    """Mean parts of the delay of the downlink's packets; None when none arrived."""
    rows = results.table("radio_delay").filter(pl.col("direction") == "downlink")
    if rows.is_empty():
        return None
    return {part: 1e3 * float(rows[f"{part}_s"].mean()) for part in PARTS}  # pyright: ignore[reportArgumentType]


def run(batch: Batch, options: Options) -> Report:
    """Run the study."""
    effort = QUICK if options.quick else FULL
    seeds = options.seeds or effort.seeds
    batch.expect(count_runs(effort, seeds))
    runner = Runner(batch, effort)
    points = [(distance, mode) for distance in DISTANCES_M for mode in MODES]
    bulk = dict(
        zip(
            points,
            runner.bulk([(distance, mode, {}) for distance, mode in points], seeds),
            strict=True,
        )
    )
    sized = [(distance, mode, size) for distance, mode in points for size in SIZES_MB]
    times = dict(zip(sized, runner.downloads(sized, seeds), strict=True))
    delays = dict(zip(points, runner.delays(points, effort.delay_seeds), strict=True))
    means = means_of(bulk)
    verdicts = [
        *retransmission_verdicts(means, DISTANCES_M, CLAIMS),
        download_verdict(
            means,
            {(d, mode.name, size): fmean(found) for (d, mode, size), found in times.items()},
            DISTANCES_M,
            CLAIMS,
        ),
    ]
    return Report(
        title="TCP over 28 GHz with and without retransmissions on the link",
        introduction=INTRODUCTION,
        sections=[
            claims_section(verdicts),
            bulk_section(bulk),
            delay_section(delays, effort),
            download_section(times),
            sweep_section(runner, min(seeds, effort.swept_seeds)),
            walk_section(options),
        ],
        facts={
            "seeds": seeds,
            "simulated_seconds_a_run": effort.duration_s,
            "scenario": "fadeout/studies/link_retransmission/scenario.toml",
        },
        is_whole=batch.is_whole,
    )


INTRODUCTION = """\
One CUBIC flow downloads over a 28 GHz cell of 1 GHz while its user walks across at 2 m/s. The link
repeats *none* of what is lost (one transmission, RLC UM), what *HARQ* can (three transmissions, RLC
UM), or with *HARQ + RLC AM* everything. ± is a 95 % confidence interval (Student) over seeds. A
seed draws the map of sight and shadowing, the fading and the block errors; every mode has the same
map. The paper prints no tables of this experiment: its claims in the text are what is checked."""


def means_of(bulk: Mapping[tuple[int, Mode], Sequence[Numbers]]) -> Means:
    """Means over the seeds; of the RTT, over those seeds that have a sample of it."""
    return {
        (distance, mode.name): (
            fmean(column(found, "goodput_mbps")),
            fmean(column(found, "rtt_ms") or [math.nan]),
        )
        for (distance, mode), found in bulk.items()
    }


def column(found: Sequence[Numbers], name: str) -> list[float]:
    """The values of `name` that there are."""
    values = [each[name] for each in found]
    return [value for value in values if value is not None]


def bulk_section(bulk: Mapping[tuple[int, Mode], Sequence[Numbers]]) -> Section:
    """Throughput and latency over distance."""
    rows, data = [], []
    shown: dict[tuple[int, str], dict[str, Estimate]] = {}
    for (distance, mode), found in bulk.items():
        goodput = column(found, "goodput_mbps")
        found_estimates = {
            "goodput_mbps": estimate(goodput),
            "rtt_ms": estimate_or_none(column(found, "rtt_ms")),
            "retransmitted_pct": estimate(column(found, "retransmitted_pct")),
            "timeouts": estimate(column(found, "timeouts")),
        }
        shown[distance, mode.name] = found_estimates
        rows.append(
            [
                f"{distance} m",
                mode.name,
                f"{found_estimates['goodput_mbps']:.0f}",
                f"{median(goodput):.0f}",
                f"{found_estimates['rtt_ms']:.1f}",
                f"{found_estimates['retransmitted_pct'].mean:.2f}",
                f"{found_estimates['timeouts'].mean:.1f}",
            ]
        )
        data.append(
            {"distance_m": distance, "mode": mode.name}
            | {f"{key}_mean": value.mean for key, value in found_estimates.items()}
            | {f"{key}_ci95": value.half_width for key, value in found_estimates.items()}
            | {"goodput_mbps_median": median(goodput), "seeds": len(found)}
        )
    return Section(
        name="bulk",
        title="Throughput and latency over distance",
        table=Table(
            columns=[
                "distance",
                "link repeats",
                "goodput Mbit/s",
                "median",
                "RTT ms",
                "retransmitted %",
                "timeouts",
            ],
            rows=rows,
            data=data,
        ),
        figures={
            "Goodput and mean round-trip time of one CUBIC flow by distance (the paper's Figure "
            "2a). Bars: 95 % confidence intervals.": figures.goodput_and_rtt(shown)
        },
        is_headline=True,
    )


def estimate_or_none(values: Sequence[float]) -> Estimate:
    """Their estimate; not a number where there are fewer than two."""
    return estimate(values) if len(values) > 1 else Estimate(math.nan, math.nan, 0)


def delay_section(delays: Mapping[tuple[int, Mode], Sequence[Numbers]], effort: Effort) -> Section:
    """Where the packets' time on the radio goes."""
    means = {
        (distance, mode.name): {
            part: fmean(column(found, part)) if found else math.nan for part in PARTS
        }
        for (distance, mode), found in delays.items()
    }
    shown = ("queue", "transmission", "harq", "rlc", "reordering")
    return Section(
        name="delay",
        title="Where the delay of the downlink comes from",
        text=(
            "Means over the packets that arrived, in ms: waiting at the base station, one "
            "transmission, HARQ, RLC (segments and retransmissions), and waiting for older "
            f"packets. The first {min(effort.duration_s, DELAY_S)} s of {effort.delay_seeds} of "
            "the seeds, as every packet is a row: they do not add up to the times above."
        ),
        table=Table(
            columns=["distance", "link repeats", *(part.replace("_", " ") for part in shown)],
            rows=[
                [f"{distance} m", mode, *(f"{parts[part]:.2f}" for part in shown)]
                for (distance, mode), parts in means.items()
            ],
            data=[
                {"distance_m": distance, "mode": mode} | {f"{k}_ms": v for k, v in parts.items()}
                for (distance, mode), parts in means.items()
            ],
        ),
        figures={
            "Parts of the one-way delay on the radio, by distance and by what the link repeats "
            "(N none, H HARQ, A HARQ and RLC AM).": figures.delay_parts(means, shown)
        },
    )


def download_section(times: Mapping[tuple[int, Mode, int], Sequence[float]]) -> Section:
    """Download times of small files."""
    estimates = {(d, mode.name, size): estimate(found) for (d, mode, size), found in times.items()}
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
                        f"{estimates[distance, mode.name, size].mean:.3f} "
                        f"({median(times[distance, mode, size]):.3f})"
                        for size in SIZES_MB
                    ),
                ]
                for distance in DISTANCES_M
                for mode in MODES
            ],
            data=[
                {
                    "distance_m": distance,
                    "mode": mode.name,
                    "size_mb": size,
                    "mean_s": fmean(found),
                    "median_s": median(found),
                    "ci95_s": estimates[distance, mode.name, size].half_width,
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


def sweep_section(runner: Runner, seeds: int) -> Section:
    """What each open assumption moves."""
    changes = (BASE, *CHANGES)
    points = [
        (distance, mode, change.values)
        for change in changes
        for distance in SWEPT_M
        for mode in MODES
    ]
    found = runner.bulk(points, seeds)
    each = len(SWEPT_M) * len(MODES)
    keys = [(distance, mode) for distance in SWEPT_M for mode in MODES]
    rows, data = [], []
    for index, change in enumerate(changes):
        of_change = found[index * each : (index + 1) * each]
        means = means_of(dict(zip(keys, of_change, strict=True)))
        gains = [gain(means, distance) for distance in SWEPT_M]
        far = SWEPT_M[-1]
        rows.append(
            [
                change_name(change),
                *(f"{means[distance, MODES[-1].name][0]:.0f}" for distance in SWEPT_M),
                *map(times_text, gains),
                latencies(means, far),
                yes(gain_holds(means, SWEPT_M)),
                yes(latency_holds(means, far)),
            ]
        )
        data += [
            {"assumption": change.assumption, "value": change.value, "distance_m": distance}
            | {"mode": mode.name, "goodput_mbps": means[distance, mode.name][0]}
            | {"rtt_ms": means[distance, mode.name][1], "seeds": seeds}
            for distance, mode in keys
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


def change_name(change: Change) -> str:
    """A change as people read it."""
    return f"{change.assumption}: {change.value}" if change.value else change.assumption


def yes(holds: bool) -> str:
    """A verdict in a word."""
    return "holds" if holds else "no"


WALK_BIN_S = 0.01
"""Transport blocks of the walk are averaged over this long."""


def walk_section(options: Options) -> Section:
    """SINR over time of the walk behind a building."""
    walk = Batch(FOLDER / "walk.toml", workers=options.jobs)
    seeds = 1 if options.quick else 4
    jobs = [Job(seed=seed, with_tables=True) for seed in range(1, seeds + 1)]
    runs = walk.run(jobs)
    rows, data = [], []
    for ue, name in (("phone-mmwave", "28 GHz"), ("phone-lte", "LTE 2.1 GHz")):
        drops, losses = [], []
        for results in runs:
            sinr = sinr_of(results, ue)
            before = sinr.filter(pl.col("time_s").is_between(1.0, 2.4))["sinr_db"]
            after = sinr.filter(pl.col("time_s").is_between(2.6, 4.9))["sinr_db"]
            drops.append(float(before.median()) - float(after.median()))  # pyright: ignore[reportArgumentType]
            losses.append(float(before.median()) - float(after.min()))  # pyright: ignore[reportArgumentType]
        rows.append([name, f"{fmean(drops):.1f}", f"{fmean(losses):.1f}"])
        data.append(
            {"link": name, "median_drop_db": fmean(drops), "deepest_db": fmean(losses)}
            | {"seeds": seeds}
        )
    return Section(
        name="walk",
        title="SINR of a walk behind a building",
        text=(
            "From (45 m, 0) to (55 m, 0) at 2 m/s, antennas at (75 m, 50 m), a building between "
            f"them from the middle on. *Drop*: from the median in sight to the median behind. "
            f"*Deepest*: to the lowest mean of {1e3 * WALK_BIN_S:g} ms. Means of {seeds} seeds. "
            "The paper has 10 to 15 dB for LTE and says that 28 GHz may exceed 30 dB."
        ),
        table=Table(columns=["link", "drop dB", "deepest dB"], rows=rows, data=data),
        figures={
            "SINR of transport blocks, means of 10 ms, one seed (the paper's Figure 1).": (
                figures.sinr_over_time(
                    {
                        "28 GHz": sinr_of(runs[0], "phone-mmwave"),
                        "LTE 2.1 GHz": sinr_of(runs[0], "phone-lte"),
                    }
                )
            )
        },
    )


def sinr_of(results: Results, ue: str) -> pl.DataFrame:
    """Mean SINR of a UE's downlink in bins."""
    blocks = results.table("transport_blocks").filter(
        (pl.col("ue").cast(pl.String) == ue) & (pl.col("direction") == "downlink")
    )
    time = (pl.col("time_s") / WALK_BIN_S).floor() * WALK_BIN_S
    return blocks.group_by(time).agg(pl.col("sinr_db").mean()).sort("time_s")


def count_runs(effort: Effort, seeds: int) -> int:
    """How many simulations the study takes, but for the walk."""
    points = len(DISTANCES_M) * len(MODES)
    swept = len(CHANGES) * len(SWEPT_M) * len(MODES)
    return (
        points * seeds * (1 + len(SIZES_MB))
        + points * effort.delay_seeds
        + swept * min(seeds, effort.swept_seeds)
    )
