"""The study on congestion controls: its report."""

from collections.abc import Iterator

from fadeout.studies.congestion_controls import figures
from fadeout.studies.congestion_controls.runs import (
    ALONE,
    BESIDE_CUBIC,
    DATA,
    LINKS,
    PAGE,
    entrants,
    job,
    measure,
)
from fadeout.study import Effort, Runs, Section, Study, means

ESTIMATES = ("goodput_mbps", "rtt_p95_ms", "retransmitted_pct", "jain", "share_pct")
"""The numbers of a run whose means are in a row."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    pairs = [(link, entrant) for link in LINKS for entrant in entrants()]
    found = runs.by_seed(
        [(*pair, company) for pair in pairs for company in (ALONE, BESIDE_CUBIC)],
        lambda point, seed: job(point, seed, runs.effort.duration),
        measure,
    )
    # A seed counts only if both of its runs were done.
    numbers = {
        pair: {
            seed: {**alone, **beside[seed]}
            for seed, alone in found[*pair, ALONE].items()
            if seed in (beside := found[*pair, BESIDE_CUBIC])
        }
        for pair in pairs
    }
    tables = {
        link.name: [
            {"algorithm": entrant.name, "family": entrant.kind}
            | means(list(of_seeds.values()), *ESTIMATES)
            | {"seeds": len(of_seeds)}
            for (where, entrant), of_seeds in numbers.items()
            if where is link and of_seeds
        ]
        for link in LINKS
    }
    tables = {link: rows for link, rows in tables.items() if rows}
    records = [
        {"link": link.name, "algorithm": entrant.name, "seed": seed, **values}
        for (link, entrant), of_seeds in numbers.items()
        for seed, values in of_seeds.items()
    ]
    runs.records["runs"] = sorted(records, key=lambda record: record["seed"])
    done, wanted = 2 * len(records), 2 * len(pairs) * runs.effort.seeds
    runs.facts["runs"] = done if runs.is_whole else f"{done} of {wanted}; stopped early"
    drawn = {
        "throughput-and-delay": figures.throughput_and_delay(tables),
        "shares": figures.shares(tables),
    }
    yield PAGE.section("overview", figures=drawn)
    for name, rows in tables.items():
        yield PAGE.section(name, rows)


STUDY = Study.of(DATA, PAGE, Effort, sections)
