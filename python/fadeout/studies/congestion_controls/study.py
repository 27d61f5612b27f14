"""The study on congestion controls: its runs and tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from fadeout.study import (
    QUIET,
    Effort,
    Estimate,
    Job,
    Numbers,
    Runs,
    Section,
    Study,
    Table,
    Values,
    estimate,
    overrides,
)

FOLDER = Path(__file__).parent

NOT_READ: Values = {
    **QUIET,
    "probe.timeouts": "false",
    "probe.flow-events": "false",
    "probe.blockages": "false",
}
"""Overrides that turn off tables which the study does not read."""

WORTH_NAMING = 0.9
"""Share of a link's best goodput that a flow needs for its short delay to be reported."""

ESTIMATES = ("goodput_mbps", "rtt_p95_ms", "retransmitted_pct", "jain", "share_pct")
"""The numbers of a run, and the estimates of a row."""


@dataclass(frozen=True)
class Point:
    """A congestion control on a link, alone or together with a CUBIC flow."""

    link: Link
    entrant: Entrant
    is_alone: bool

    def job(self, seed: int, duration: Values) -> Job:
        """Returns the run of the point with a seed."""
        values = {**NOT_READ, **duration}
        values |= {**self.link.values, **self.entrant.values, **chance(seed)}
        without = () if self.link.is_blocked else ("blockage",)
        if self.is_alone:
            # Keys of a flow that was removed cannot be overridden.
            values = {key: item for key, item in values.items() if not key.startswith(RIVAL)}
            del values["probe.congestion"]
            without = (*without, RIVAL)
        return Job(
            FOLDER / "scenario.toml", overrides(values), without, seed, with_tables=self.is_alone
        )


@dataclass(frozen=True)
class Row:
    """One congestion control on one link, over the seeds."""

    entrant: Entrant
    goodput_mbps: Estimate
    rtt_p95_ms: Estimate
    retransmitted_pct: Estimate
    jain: Estimate
    share_pct: Estimate

    @property
    def name(self) -> str:
        """Name in the table and the figures."""
        return self.entrant.name


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    compared = entrants()
    pairs = [(link, entrant) for link in LINKS for entrant in compared]
    found = runs.by_seed(
        [Point(*pair, is_alone) for pair in pairs for is_alone in (True, False)],
        lambda point, seed: point.job(seed, runs.effort.duration),
        measure,
    )
    # A seed counts only if both of its runs were done.
    numbers: dict[tuple[int, Link, Entrant], Numbers] = {
        (seed, *pair): {**alone, **found[Point(*pair, is_alone=False)][seed]}
        for pair in pairs
        for seed, alone in found[Point(*pair, is_alone=True)].items()
        if seed in found[Point(*pair, is_alone=False)]
    }
    tables = {link: gather(link, compared, numbers) for link in LINKS}
    tables = {link: rows for link, rows in tables.items() if rows}
    done, wanted = 2 * len(numbers), 2 * len(pairs) * runs.effort.seeds
    runs.facts["runs"] = done if runs.is_whole else f"{done} of {wanted}; stopped early"
    runs.records["runs"] = [
        {"link": link.name, "algorithm": entrant.name, "seed": seed, **values}
        for (seed, link, entrant), values in sorted(numbers.items(), key=lambda item: item[0][0])
    ]
    yield overview(tables)
    for link, rows in tables.items():
        yield on_link(link, rows)


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run, so that its tables need not be kept."""
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
    """Returns Jain's index of two goodputs, and the share of the tested flow.

    The index is 1 for equal goodputs, and 0.5 if one flow has all.
    """
    squares = tested**2 + cubic**2
    return {
        "jain": (tested + cubic) ** 2 / (2 * squares),
        "share_pct": 100 * tested / (tested + cubic),
        "tested_mbps": tested,
        "cubic_mbps": cubic,
    }


def gather(
    link: Link, compared: Sequence[Entrant], numbers: Mapping[tuple[int, Link, Entrant], Numbers]
) -> list[Row]:
    """Returns the rows of `link`. A congestion control without a finished run has none."""
    rows = []
    for entrant in compared:
        of_seeds = [values for (_, *pair), values in numbers.items() if pair == [link, entrant]]
        if of_seeds:
            estimates = {name: estimate([each[name] for each in of_seeds]) for name in ESTIMATES}
            rows.append(Row(entrant, **estimates))
    return rows


def overview(tables: Mapping[Link, Sequence[Row]]) -> Section:
    """Returns the section with all links in two figures."""
    return Section(
        name="overview",
        title="All links",
        figures={
            "Goodput against the 95th percentile of the round-trip time, one panel for each "
            "link. Algorithms near the upper left corner are better. Points that lie close "
            "together have their names in one block, from the highest to the lowest point. "
            "Scales differ between the panels. Bars: 95 % confidence intervals.": (
                figures.throughput_and_delay(tables)
            ),
            "Share of a flow in the total goodput of the flow and a competing CUBIC flow on the "
            "same link. A share of half is fair.": figures.shares(tables),
        },
    )


def on_link(link: Link, rows: Sequence[Row]) -> Section:
    """Returns the section with the table of a link."""
    return Section(
        name=link.name,
        title=link.title,
        table=Table.of(
            [
                {"algorithm": row.name, "family": row.entrant.family}
                | {name: getattr(row, name) for name in ESTIMATES}
                | {"seeds": row.goodput_mbps.count}
                for row in rows
            ],
            {
                "congestion control": "{algorithm}",
                "family": "{family}",
                "goodput Mbit/s": "{goodput_mbps:.1f}",
                "RTT ms": "{rtt_p95_ms:.1f}",
                "retransmitted %": "{retransmitted_pct:.2f}",
                "Jain": "{jain:.3f}",
                "share %": "{share_pct:.0f}",
            },
        ),
        conclusion=conclusion(rows),
        is_headline=True,
    )


def conclusion(rows: Sequence[Row]) -> str:
    """Returns a sentence about the best congestion controls of a link."""
    most = max(rows, key=lambda row: row.goodput_mbps.mean)
    fast = [row for row in rows if row.goodput_mbps.mean >= WORTH_NAMING * most.goodput_mbps.mean]
    quick = min(fast, key=lambda row: row.rtt_p95_ms.mean)
    others = [row for row in rows if row.entrant.algorithm != "cubic"]
    fair = max(others, key=lambda row: row.jain.mean)
    unfair = min(others, key=lambda row: row.jain.mean)
    return (
        f"Highest goodput: {most.name} ({most.goodput_mbps.mean:.1f} Mbit/s). {len(fast)} "
        f"algorithms have at least {WORTH_NAMING:.0%} of this goodput, and among them "
        f"{quick.name} has the shortest RTT ({quick.rtt_p95_ms.mean:.1f} ms). With a competing "
        f"CUBIC flow, the fairest other algorithm is {fair.name} (Jain {fair.jain.mean:.3f}). The "
        f"least fair algorithm is {unfair.name} (Jain {unfair.jain.mean:.3f}, "
        f"{unfair.share_pct.mean:.0f} % of the total goodput)."
    )


STUDY = Study(
    name="congestion-controls",
    folder=FOLDER,
    title="Congestion controls on five links",
    introduction="""\
Every congestion control of this build runs on the same links. A link has 100 Mbit/s, a base round
trip of 40 ms and a buffer of one bandwidth-delay product. The titles of the sections name the
exceptions. *Goodput*, *RTT* and *retransmitted* are measured with one flow alone on the link. *RTT*
is the 95th percentile of the RTT samples. *Retransmitted* is the share of retransmitted segments in
all segments sent. *Jain* is Jain's fairness index for the flow and a CUBIC flow that starts within
the same second. *Share* is the flow's share of the total goodput of both flows. Intervals (±) are
95 % confidence intervals (Student) over seeds. The seed determines the delay, the start times, the
losses and the time of the first blockage.

*marked*: the same algorithm with a queue that marks packets (ECN). The competing CUBIC flow does
not use ECN.
""",
    full=Effort(seeds=6, duration_s=60),
    quick=Effort(seeds=2, duration_s=10),
    count=lambda effort: 2 * len(LINKS) * len(entrants()) * effort.seeds,
    sections=sections,
)
