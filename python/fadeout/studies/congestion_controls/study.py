"""The study on congestion controls: its report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.studies.congestion_controls import figures
from fadeout.studies.congestion_controls.runs import (
    DATA,
    LINKS,
    PAGE,
    Entrant,
    Link,
    Point,
    entrants,
    measure,
)
from fadeout.study import Effort, Numbers, Runs, Section, Study, means

ESTIMATES = ("goodput_mbps", "rtt_p95_ms", "retransmitted_pct", "jain", "share_pct")
"""The numbers of a run whose means are in a row."""


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
    tables = {link: rows_of(link, compared, numbers) for link in LINKS}
    tables = {link: rows for link, rows in tables.items() if rows}
    done, wanted = 2 * len(numbers), 2 * len(pairs) * runs.effort.seeds
    runs.facts["runs"] = done if runs.is_whole else f"{done} of {wanted}; stopped early"
    runs.records["runs"] = [
        {"link": link.name, "algorithm": entrant.name, "seed": seed, **values}
        for (seed, link, entrant), values in sorted(numbers.items(), key=lambda item: item[0][0])
    ]
    drawn = {
        "throughput-and-delay": figures.throughput_and_delay(tables),
        "shares": figures.shares(tables),
    }
    yield PAGE.section("overview", figures=drawn)
    for link, rows in tables.items():
        yield PAGE.section(link.name, rows)


def rows_of(
    link: Link, compared: Sequence[Entrant], numbers: Mapping[tuple[int, Link, Entrant], Numbers]
) -> list[dict[str, Any]]:
    """Returns the rows of `link`. A congestion control without a finished run has none."""
    rows = []
    for entrant in compared:
        of_seeds = [values for (_, *pair), values in numbers.items() if pair == [link, entrant]]
        if of_seeds:
            row = {"algorithm": entrant.name, "family": entrant.family}
            rows.append(row | means(of_seeds, *ESTIMATES) | {"seeds": len(of_seeds)})
    return rows


STUDY = Study.of(DATA, PAGE, Effort, sections)
