"""The paper's findings, checked on each level."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from fadeout.studies.blockage.runs import Found
from fadeout.study import Section, Table

Runs = Sequence[Sequence[Found]]
"""Runs of the published cases, from the shortest blockage on: a list over the seeds each."""


def section(
    by_level: Mapping[str, Runs],
    cases: Sequence[dict[str, Any]],
    unblocked: Mapping[str, float],
    published: Mapping[str, Any],
) -> Section:
    """Which of the paper's findings hold on which level."""
    tolerances = published["tolerance_relative"]
    checks = {
        "goodput falls from row to row": lambda runs, clear: is_falling([clear, *means(runs)]),
        **{
            f"at {case['block_s']:g} s {100 * low:g} to {100 * high:g} % of the clear rate": (
                lambda runs, clear, i=i, low=low, high=high: low <= means(runs)[i] / clear <= high
            )
            for i, case in enumerate(cases)
            for low, high in [tolerances[case["id"]]]
        },
        "the largest fall is between 0.1 and 0.2 s": lambda runs, clear: (
            knee([clear, *means(runs)]) == 1
        ),
        "no timeout at 0.1 s": lambda runs, _: all(run.timeouts == 0 for run in runs[0]),
        "a timeout in every run at 0.2 s": lambda runs, _: all(run.timeouts > 0 for run in runs[1]),
        "a timeout in every run at 1 s": lambda runs, _: all(run.timeouts > 0 for run in runs[2]),
    }
    verdicts = {
        text: {level: bool(check(runs, unblocked[level])) for level, runs in by_level.items()}
        for text, check in checks.items()
    }
    return Section(
        name="checks",
        title="Which of the paper's findings hold?",
        text=(
            "From the paper's table, with room for chance (`checks` in `published.toml`), and "
            "from its text: no timeout at 0.1 s, slow starts at 0.2 and 1 s."
        ),
        table=Table(
            columns=["finding", *by_level],
            rows=[
                [text, *("holds" if holds else "no" for holds in found.values())]
                for text, found in verdicts.items()
            ],
            data=[
                {"finding": text, **{key_of(level): holds for level, holds in found.items()}}
                for text, found in verdicts.items()
            ],
        ),
    )


def means(runs: Runs) -> list[float]:
    """Mean goodput of each case in Mbit/s."""
    return [fmean(run.goodput_mbps for run in case) for case in runs]


def is_falling(values: Sequence[float]) -> bool:
    """Whether each value is below the one before."""
    return all(after < before for before, after in pairwise(values))


def knee(values: Sequence[float]) -> int:
    """The step with the largest fall."""
    falls = [before - after for before, after in pairwise(values)]
    return falls.index(max(falls))


def key_of(name: str) -> str:
    """A name as the key of a data file."""
    return name.lower().replace(", ", "_").replace(" ", "_").replace("'", "")
