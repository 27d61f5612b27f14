"""The study: which runs, which tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fadeout.results import Results
from fadeout.studies.congestion_controls import figures
from fadeout.studies.congestion_controls.setups import (
    LINKS,
    RIVAL,
    Entrant,
    Link,
    chance,
    entrants,
)
from fadeout.study import Batch, Estimate, Job, Options, Report, Section, Table, estimate
from fadeout.study.batch import overrides


@dataclass(frozen=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    duration_s: int


FULL = Effort(seeds=6, duration_s=60)
QUICK = Effort(seeds=2, duration_s=10)

QUIET = {
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
    "probe.timeouts": "false",
    "probe.flow-events": "false",
    "probe.blockages": "false",
}
"""Only what the tables need is recorded."""

WORTH_NAMING = 0.9
"""Share of a link's best goodput below which a short delay is not worth naming."""

Numbers = Mapping[str, float]
"""What a run found, by the name of the column."""


@dataclass(frozen=True)
class Point:
    """A congestion control on a link with a seed: a run alone, and one beside CUBIC."""

    seed: int
    link: Link
    entrant: Entrant

    def job(self, duration_s: int, *, is_alone: bool) -> Job:
        """One of the two runs."""
        values = {"duration": f"{duration_s} s", **QUIET}
        values |= {**self.link.values, **self.entrant.values, **chance(self.seed)}
        without = () if self.link.is_blocked else ("blockage",)
        if is_alone:
            # What is left out cannot be overridden.
            values = {key: item for key, item in values.items() if not key.startswith(RIVAL)}
            without = (*without, RIVAL)
        else:
            values["probe.congestion"] = "false"
        return Job(overrides(values), without=without, seed=self.seed, with_tables=is_alone)


@dataclass(frozen=True)
class Row:
    """One congestion control on one link, over the seeds."""

    entrant: Entrant
    goodput_mbps: Estimate
    rtt_p95_ms: Estimate
    retransmitted_pct: Estimate
    jain: Estimate
    share_pct: Estimate


ESTIMATES = ("goodput_mbps", "rtt_p95_ms", "retransmitted_pct", "jain", "share_pct")
"""The numbers of a run, and the fields of a row."""


def run(batch: Batch, options: Options) -> Report:
    """Run the study."""
    effort = QUICK if options.quick else FULL
    seeds = options.seeds or effort.seeds
    compared = entrants()
    # The seed changes slowest: a study that is stopped has something of every point.
    points = [
        Point(seed, link, entrant)
        for seed in range(1, seeds + 1)
        for link in LINKS
        for entrant in compared
    ]
    jobs = [
        point.job(effort.duration_s, is_alone=is_alone)
        for point in points
        for is_alone in (True, False)
    ]
    found = batch.collect(jobs, measure)
    numbers = {
        point: {**alone, **beside}
        for point, alone, beside in zip(points, found[::2], found[1::2], strict=True)
        if alone is not None and beside is not None
    }
    tables = {link: gather(link, compared, numbers) for link in LINKS}
    tables = {link: rows for link, rows in tables.items() if rows}
    runs = 2 * len(numbers)
    return Report(
        title="Congestion controls on five links",
        introduction=INTRODUCTION,
        sections=[overview(tables), *(on_link(link, rows) for link, rows in tables.items())],
        facts={
            "seeds": seeds,
            "simulated_seconds_a_run": effort.duration_s,
            "runs": runs if batch.is_whole else f"{runs} of {len(jobs)}; stopped early",
            "scenario": "fadeout/studies/congestion_controls/scenario.toml",
        },
        records={
            "runs": [
                {"link": point.link.name, "algorithm": point.entrant.name, "seed": point.seed}
                | values
                for point, values in numbers.items()
            ]
        },
        is_whole=batch.is_whole,
    )


INTRODUCTION = """\
Every congestion control of this build on the same links: 100 Mbit/s, a base round trip of 40 ms
and a buffer of one bandwidth-delay product, but for what a link's title says. *Goodput*, *RTT* (the
95th percentile of its samples) and *retransmitted* (share of the segments sent) are those of one
flow alone. *Jain* is Jain's index of the goodputs of that flow and a CUBIC flow that starts within
the same second, and *share* is what the flow has of both. ± is a 95 % confidence interval (Student)
over seeds, which draw the delay, the starts, the losses and when the first blockage comes.

*marked* is the same algorithm behind a queue that marks; CUBIC beside it does not use ECN there."""


def measure(results: Results) -> Numbers:
    """The numbers of a run, so that its tables need not be kept."""
    flows = results.flows
    if len(flows) > 1:
        goodput = dict(zip(flows["flow"], flows["goodput_mbps"], strict=True))
        return fairness(goodput["tested"], goodput["cubic"])
    flow = flows.row(0, named=True)
    rtt_s = results.congestion["rtt_s"]
    p95_s = rtt_s.filter(rtt_s > 0).quantile(0.95, "nearest")
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_p95_ms": 1e3 * (p95_s or 0.0),
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / flow["sent_segments"],
    }


def fairness(tested: float, cubic: float) -> Numbers:
    """Jain's index of two goodputs (one when equal, a half when one has all), and the share."""
    squares = tested**2 + cubic**2
    return {
        "jain": (tested + cubic) ** 2 / (2 * squares),
        "share_pct": 100 * tested / (tested + cubic),
        "tested_mbps": tested,
        "cubic_mbps": cubic,
    }


def gather(link: Link, compared: Sequence[Entrant], numbers: Mapping[Point, Numbers]) -> list[Row]:
    """The rows of `link`; a congestion control without a finished run has none."""
    rows = []
    for entrant in compared:
        of_seeds = [
            values
            for point, values in numbers.items()
            if point.link is link and point.entrant is entrant
        ]
        if of_seeds:
            estimates = {name: mean([values[name] for values in of_seeds]) for name in ESTIMATES}
            rows.append(Row(entrant, **estimates))
    return rows


def mean(values: Sequence[float]) -> Estimate:
    """Their estimate; of a single value, which a stopped study may have, without an interval."""
    return estimate(values) if len(values) > 1 else Estimate(values[0], math.nan, 1)


def text(value: Estimate, spec: str) -> str:
    """An estimate as people read it."""
    return f"{value.mean:{spec}}" if math.isnan(value.half_width) else f"{value:{spec}}"


def overview(tables: Mapping[Link, Sequence[Row]]) -> Section:
    """All links in two figures."""
    return Section(
        name="overview",
        title="All links",
        figures={
            "Goodput against the 95th percentile of the round-trip time, a panel a link; better is "
            "up and to the left. Points that lie together have their names in one block, the "
            "highest first. Scales differ between the panels. Bars: 95 % confidence intervals.": (
                figures.throughput_and_delay(tables)
            ),
            "What a flow has of the goodput of itself and a CUBIC flow on the same link. Half is "
            "fair.": figures.shares(tables),
        },
    )


def on_link(link: Link, rows: Sequence[Row]) -> Section:
    """The table of a link."""
    return Section(
        name=link.name,
        title=link.title,
        table=Table(
            columns=[
                "congestion control",
                "family",
                "goodput Mbit/s",
                "RTT ms",
                "retransmitted %",
                "Jain",
                "share %",
            ],
            rows=[
                [
                    row.entrant.name,
                    row.entrant.family,
                    text(row.goodput_mbps, ".1f"),
                    text(row.rtt_p95_ms, ".1f"),
                    text(row.retransmitted_pct, ".2f"),
                    text(row.jain, ".3f"),
                    text(row.share_pct, ".0f"),
                ]
                for row in rows
            ],
            data=[as_numbers(row) for row in rows],
        ),
        conclusion=conclusion(rows),
        is_headline=True,
    )


def as_numbers(row: Row) -> dict[str, Any]:
    """A row as columns of a data file."""
    columns: dict[str, Any] = {"algorithm": row.entrant.name, "family": row.entrant.family}
    for name in ESTIMATES:
        value: Estimate = getattr(row, name)
        half_width = None if math.isnan(value.half_width) else value.half_width
        columns |= {f"{name}_mean": value.mean, f"{name}_ci95": half_width}
    return columns | {"seeds": row.goodput_mbps.count}


def conclusion(rows: Sequence[Row]) -> str:
    """Who comes first in what."""
    most = max(rows, key=lambda row: row.goodput_mbps.mean)
    fast = [row for row in rows if row.goodput_mbps.mean >= WORTH_NAMING * most.goodput_mbps.mean]
    quick = min(fast, key=lambda row: row.rtt_p95_ms.mean)
    others = [row for row in rows if row.entrant.algorithm != "cubic"]
    fair = max(others, key=lambda row: row.jain.mean)
    unfair = min(others, key=lambda row: row.jain.mean)
    return (
        f"Most goodput: {most.entrant.name} ({most.goodput_mbps.mean:.1f} Mbit/s). Shortest RTT of "
        f"the {len(fast)} with at least {WORTH_NAMING:.0%} of that: {quick.entrant.name} "
        f"({quick.rtt_p95_ms.mean:.1f} ms). Beside CUBIC, CUBIC aside: fairest "
        f"{fair.entrant.name} (Jain {fair.jain.mean:.3f}), least fair {unfair.entrant.name} "
        f"({unfair.jain.mean:.3f}, {unfair.share_pct.mean:.0f} % of both)."
    )
