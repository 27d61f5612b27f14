"""Sections on the experiment over a link."""

from fadeout.studies.blockage import figures
from fadeout.studies.blockage.assumptions import CHANGES, LINK_DEPTH, Candidate
from fadeout.studies.blockage.moved import compare
from fadeout.studies.blockage.paper import CASES, PERIOD_S
from fadeout.studies.blockage.runs import LINK, Effort, Point
from fadeout.study import Runs, Section, Table, Values, estimate, percent

CURVE_S = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""Lengths of a blockage on the curve, seconds."""


def one_at_a_time(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each assumption of the link."""
    moved = compare(runs, LINK, CHANGES, {LINK_DEPTH: {}}, runs.effort.seeds)
    return moved.section(
        "assumptions",
        "What each assumption of the link moves",
        "The first row shows the loss of goodput of the unchanged scenario. The other rows show "
        "the change of this loss, in percentage points, when one assumption changes. Runs are "
        "compared seed by seed.",
        {
            "Change of the loss when one assumption changes, in percentage points.": (
                figures.tornado(moved)
            )
        },
    )


def curve(runs: Runs[Effort], nearest: Candidate) -> Section:
    """Returns the section on the loss by length of the blockages."""
    stacks: dict[str, Values] = {"Linux": {}, "nearest": nearest.values()}
    points = [Point(values, length) for values in stacks.values() for length in CURVE_S]
    losses = iter(LINK.losses(runs, points, runs.effort.curve_seeds))
    found = {name: [estimate(next(losses)) for _ in CURVE_S] for name in stacks}
    table = Table.of(
        [
            {"block_s": length, **{name.lower(): found[name][index] for name in stacks}}
            for index, length in enumerate(CURVE_S)
        ],
        {
            "blocked every 5 s": "{block_s:g} s",
            "share of time": lambda record: f"{record['block_s'] / PERIOD_S:.1%}",
            **{name: percent(name.lower()) for name in stacks},
        },
        unit="_pct",
    )
    return Section(
        name="curve",
        title="From 10 ms to 2 s, over the link",
        text=(
            "The table shows the loss of goodput by the length of total blockages, with "
            f"{runs.effort.curve_seeds} seeds a point."
        ),
        table=table,
        figures={
            "Loss of goodput against the length of a blockage every 5 s. Grey: the share of time "
            "in which the link is blocked.": figures.curve(CURVE_S, found)
        },
    )


def traces(runs: Runs[Effort], nearest: Candidate, seed: int) -> Section:
    """Returns the section with congestion window and throughput over time."""
    stacks: dict[str, Values] = {"Linux": {}, "nearest": nearest.values()}
    points = [Point(values, case["block_s"]) for case in CASES for values in stacks.values()]
    results = iter(LINK.traces(runs, points, seed))
    drawn = {}
    for case in CASES:
        pair = {name: next(results) for name in stacks}
        caption = (
            f"Throughput and congestion window with {case['block_s']:g} s blocked every 5 s "
            f"(the paper's Figure {CASES.index(case) + 1})."
        )
        drawn[caption] = figures.window_and_throughput(pair)
    return Section(
        name="window",
        title="Throughput and congestion window over time, over the link",
        text="Each figure shows one run, with blockages that start at 4 s, 9 s and so on.",
        figures=drawn,
    )
