"""The study on congestion controls: its runs, and the numbers of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fadeout.results import Results
from fadeout.studies.congestion_controls import figures
from fadeout.studies.congestion_controls.setups import (
    DATA,
    FOLDER,
    LINKS,
    PAGE,
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
    Values,
    estimate,
    overrides,
)

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
    yield PAGE.section(
        "overview",
        figures={
            "throughput-and-delay": figures.throughput_and_delay(tables),
            "shares": figures.shares(tables),
        },
    )
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


def on_link(link: Link, rows: Sequence[Row]) -> Section:
    """Returns the section with the table of a link, and with its best congestion controls."""
    most = max(rows, key=lambda row: row.goodput_mbps.mean)
    fast = [row for row in rows if row.goodput_mbps.mean >= WORTH_NAMING * most.goodput_mbps.mean]
    others = [row for row in rows if row.entrant.algorithm != "cubic"]
    return PAGE.section(
        link.name,
        [
            {"algorithm": row.name, "family": row.entrant.family}
            | {name: getattr(row, name) for name in ESTIMATES}
            | {"seeds": row.goodput_mbps.count}
            for row in rows
        ],
        most=most,
        fast=len(fast),
        worth_naming=WORTH_NAMING,
        quick=min(fast, key=lambda row: row.rtt_p95_ms.mean),
        fair=max(others, key=lambda row: row.jain.mean),
        unfair=min(others, key=lambda row: row.jain.mean),
    )


STUDY = Study.of(DATA, PAGE, Effort, sections)
