"""Checks of the paper's findings over the link and over the full stack."""

from collections.abc import Mapping, Sequence
from typing import Any

from fadeout.studies.blockage.runs import Found
from fadeout.study import Estimate, Section, Table, estimate, judged

Runs = Sequence[Sequence[Found]]
"""For each published case, from the shortest blockage on, the runs of all seeds."""


def margins(runs: Runs, shares: Sequence[float]) -> dict[str, Estimate]:
    """Returns the margin of each finding in percentage points, seed by seed.

    A finding says that one loss exceeds another. `shares` is the time that each case is blocked, in
    percent.
    """
    losses = [[run.loss_pct for run in case] for case in runs]
    first, second, third = losses

    def over_share(case: int) -> Estimate:
        return estimate([loss - shares[case] for loss in losses[case]])

    def more(ours: Sequence[float], base: Sequence[float]) -> Estimate:
        return estimate([a - b for a, b in zip(ours, base, strict=True)])

    steps = [[b - a for a, b in zip(one, two, strict=True)] for one, two in
             ((first, second), (second, third))]  # fmt: skip
    return {
        "0.1 s costs more than the time blocked": over_share(0),
        "0.2 s costs more than the time blocked": over_share(1),
        "1 s costs more than the time blocked": over_share(2),
        "0.2 s costs more than 0.1 s": more(second, first),
        "1 s costs more than 0.2 s": more(third, second),
        "the step from 0.1 to 0.2 s is larger than that to 0.1 s": more(steps[0], first),
        "the step from 0.1 to 0.2 s is larger than that to 1 s": more(steps[0], steps[1]),
    }


TIMEOUTS = {
    "runs with a timeout at 0.1 s (the paper: none)": 0,
    "runs with a timeout at 0.2 s (the paper: all)": 1,
    "runs with a timeout at 1 s (the paper: all)": 2,
}


def section(by_level: Mapping[str, Runs], cases: Sequence[dict[str, Any]]) -> Section:
    """Returns the section on the paper's findings that hold, over the link and over the
    full stack.
    """
    shares = [case["blockage_ratio_pct"] for case in cases]
    found = {level: margins(runs, shares) for level, runs in by_level.items()}
    published = margins(
        [[Found(case["degradation_pct"], case["throughput_mbps"], 0)] for case in cases], shares
    )
    rows, data = [], []
    for finding, paper in published.items():
        values = {level: of_level[finding] for level, of_level in found.items()}
        rows.append(
            [finding, f"{paper.mean:+.0f}", *(judged(value, "+.1f") for value in values.values())]
        )
        record: dict[str, Any] = {"finding": finding, "published": paper.mean}
        for level, value in values.items():
            record |= value.data(f"{key_of(level)}_")
        data.append(record)
    for finding, index in TIMEOUTS.items():
        counts = {
            level: (sum(run.timeouts > 0 for run in runs[index]), len(runs[index]))
            for level, runs in by_level.items()
        }
        rows.append([finding, "", *(f"{some} of {all_}" for some, all_ in counts.values())])
        data.append(
            {"finding": finding, "published": None}
            | {f"{key_of(level)}_mean": some / all_ for level, (some, all_) in counts.items()}
            | {f"{key_of(level)}_ci95": None for level in counts}
        )
    return Section(
        name="checks",
        title="Which of the paper's findings hold?",
        text=(
            "Each finding says that one loss, or one difference of losses, is larger than "
            "another. The table shows the difference in percentage points, computed seed by "
            "seed. A finding holds if the interval is above zero. A finding does not hold if the "
            "interval is below zero."
        ),
        table=Table(columns=["finding", "paper", *by_level], rows=rows, data=data),
    )


def key_of(name: str) -> str:
    """Returns a name as the key of a data file."""
    return name.lower().replace(", ", "_").replace(" ", "_").replace("'", "")
