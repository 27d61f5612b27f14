"""Verdicts on the paper's findings over the link and over the full stack."""

from collections.abc import Mapping, Sequence

from fadeout.studies.blockage.paper import CLAIMS
from fadeout.studies.blockage.runs import Found
from fadeout.study import Section, Verdict, claims_section, estimate

Runs = Sequence[Sequence[Found]]
"""For each published case, from the shortest blockage on, the runs of all seeds."""

LENGTHS = ("0.1 s", "0.2 s", "1 s")


def verdicts(runs: Runs) -> list[Verdict]:
    """Returns the verdicts on the paper's findings, seed by seed."""
    kept = [[100 - run.loss_pct for run in case] for case in runs]
    falls = [
        [before - after for before, after in zip(one, other, strict=True)]
        for one, other in zip([[100.0] * len(kept[0]), *kept], kept, strict=False)
    ]
    steps = ("never less 0.1 s", "0.1 s less 0.2 s", "0.2 s less 1 s")

    def larger(other: int) -> list[float]:
        return [fall - base for fall, base in zip(falls[1], falls[other], strict=True)]

    timed_out = {
        f"runs with an RTO at {at}": estimate([100.0 * (run.timeouts > 0) for run in case])
        for at, case in zip(LENGTHS, runs, strict=True)
    }
    return [
        Verdict(CLAIMS["kept"], dict(zip(LENGTHS, map(estimate, kept), strict=True))),
        Verdict(CLAIMS["ordering"], dict(zip(steps, map(estimate, falls), strict=True))),
        Verdict(
            CLAIMS["knee"],
            {
                "fall to 0.2 s less fall to 0.1 s": estimate(larger(0)),
                "fall to 0.2 s less fall to 1 s": estimate(larger(2)),
            },
        ),
        Verdict(CLAIMS["timeouts"], timed_out),
    ]


def section(by_level: Mapping[str, Runs]) -> Section:
    """Returns the section with the verdicts for each setup."""
    return claims_section(
        {name: verdicts(runs) for name, runs in by_level.items()},
        title="Which of the paper's findings hold?",
    )


def key_of(name: str) -> str:
    """Returns a name as the key of a data file."""
    return name.lower().replace(" %", "").replace(", ", "_").replace(" ", "_").replace("'", "")
