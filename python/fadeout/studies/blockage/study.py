"""The study on blockages: its questions, runs and tables."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from fadeout.studies.blockage import cell, checks, figures, knee, link, reductions
from fadeout.studies.blockage.assumptions import (
    CHANGES,
    GEOMETRY,
    NO_GUARD,
    SENDERS,
    STATED_REDUCTION,
    candidates,
    reduction,
    window,
)
from fadeout.studies.blockage.cell_assumptions import (
    CELL_CHANGES,
    DEPTHS,
    LOSSES_DB,
    NOTHING_PASSES,
    VEHICLE,
)
from fadeout.studies.blockage.checks import key_of
from fadeout.studies.blockage.paper import CASES, FOLDER, PUBLISHED, UNBLOCKED_MBPS
from fadeout.studies.blockage.runs import CELL, LINK, Effort, Found, Point
from fadeout.studies.blockage.search import rms_error, search
from fadeout.study import Runs, Section, Study, Table, estimate, percent

FIGURE_SEED = 1

PAPERS_SENDER = "paper's sender"
"""Name of the sender that the paper's text describes, in tables."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    nearest, grid = search(runs)
    runs.facts["nearest_assumptions"] = vars(nearest)
    runs.facts["seeds_of_the_full_stack's_assumptions"] = runs.effort.cell_seeds
    entries = {
        "link, nothing passes": (LINK, {}),
        "link, vehicle": (LINK, GEOMETRY),
        "full stack, nothing passes": (CELL, DEPTHS[NOTHING_PASSES]),
        "full stack, vehicle": (CELL, DEPTHS[VEHICLE]),
        PAPERS_SENDER: (LINK, {**SENDERS[NO_GUARD], **window(knee.PAPERS_WINDOW_MB)}),
        f"{PAPERS_SENDER}, window to 20 %": (
            LINK,
            {
                **SENDERS[NO_GUARD],
                **window(knee.PAPERS_WINDOW_MB),
                **reduction(STATED_REDUCTION),
            },
        ),
        "nearest": (LINK, nearest.values()),
    }
    found: dict[str, list[list[Found]]] = {}
    clear: dict[str, float] = {}
    for name, (level, values) in entries.items():
        points = [Point(values, case["block_s"]) for case in CASES]
        found[name] = level.found(runs, points, runs.effort.seeds)
        (clear[name],) = level.unblocked(runs, [values])
    yield headline(found, clear)
    yield checks.section(found)
    yield knee.senders(runs)
    yield reductions.section(runs)
    yield knee.fine(runs)
    yield knee.length(runs)
    yield cell.moment(runs, FIGURE_SEED)
    yield cell.one_at_a_time(runs)
    yield cell.depth_curve(runs)
    yield grid
    yield link.one_at_a_time(runs)
    yield link.curve(runs, nearest)
    yield link.traces(runs, nearest, FIGURE_SEED)


def count(effort: Effort) -> int:
    """Returns the maximum number of simulations of the study."""
    rows = len(CASES)
    grid = len(list(candidates(effort.grid_reductions, effort.grid_lengths_s)))
    cell_points = len(DEPTHS) + sum(len(change.depths) for change in effort.cell_changes)
    return (
        grid * (1 + rows * effort.grid_seeds)
        + effort.refined * rows * effort.refined_seeds
        + (7 + len(CHANGES)) * (1 + rows * effort.seeds)
        + (cell_points + len(effort.losses_db)) * (1 + rows * effort.cell_seeds)
        + knee.count(effort)
        + reductions.count(effort)
        + 2 * len(link.CURVE_S) * effort.curve_seeds
        + 2 * rows
        + len(DEPTHS)
    )


def headline(runs: Mapping[str, Sequence[Sequence[Found]]], clear: Mapping[str, float]) -> Section:
    """Returns the section that compares the paper's table with both levels and the nearest
    assumptions.
    """
    found = {
        name: [estimate([run.loss_pct for run in case]) for case in cases]
        for name, cases in runs.items()
    }
    table = Table.of(
        [
            {
                "block_s": case["block_s"],
                "published_mbps": case["throughput_mbps"],
                "published_loss_pct": case["degradation_pct"],
                **{key_of(name): values[index] for name, values in found.items()},
                **{
                    f"{key_of(name)}_timeouts_a_run": fmean(run.timeouts for run in cases[index])
                    for name, cases in runs.items()
                },
            }
            for index, case in enumerate(CASES)
        ],
        {
            "blocked every 5 s": "{block_s:g} s",
            "paper Mbit/s": "{published_mbps:.0f}",
            "paper loss": "{published_loss_pct:.0f} %",
            **{name: percent(key_of(name)) for name in found},
        },
        unit="_pct",
        first=[
            ["never", f"{UNBLOCKED_MBPS:.0f}", ""]
            + [f"{rate:.0f} Mbit/s" for rate in clear.values()]
        ],
    )
    nearest = found["nearest"]
    off = rms_error([value.mean for value in nearest], clear["nearest"])
    shares = [f"{case['blockage_ratio_pct']:g} %" for case in CASES]
    return Section(
        name="table",
        title="The paper's table beside ours",
        text=(
            "All columns except the last three have a Linux sender. All columns except *nearest* "
            "have 20 ms of core delay in each direction. *Link*: a plain link with a delay of 1 ms "
            "and a buffer of 50 ms. The buffer holds packets while the link is blocked. *Full "
            "stack*: NR at 38 GHz with beams, link adaptation, HARQ, RLC in acknowledged mode and "
            "PDCP. The number of resource blocks is chosen so that the rate without blockage is "
            "nearest to the paper's. *Nothing passes*: a blockage is total. *Vehicle*: model B "
            "computes the loss in dB from the stated vehicle. *Paper's sender*: CUBIC without SACK "
            "and without RFC 6582's guard, with the paper's timeout and a receive window of "
            f"{knee.PAPERS_WINDOW_MB:g} MB, over the link. *Window to 20 %*: this sender reduces "
            "its window by 80 %, as the paper's text says. Linux reduces its window to 70 %. "
            "*Nearest*: the combination of assumptions in the grid below whose losses of "
            "throughput are nearest to the paper's."
        ),
        table=table,
        figures={
            "Loss of goodput by length of the blockages: the paper, both levels, and the nearest "
            "assumptions.": (figures.bars(found))
        },
        conclusion=(
            f"The path is blocked for {', '.join(shares)} of the time. With the nearest "
            f"assumptions the losses differ from the paper's by {off:.0f} percentage points (root "
            "mean square)."
        ),
        is_headline=True,
    )


STUDY = Study(
    name="blockage",
    folder=FOLDER,
    title="TCP over a 38 GHz link that is blocked for moments",
    introduction=f"""\
{PUBLISHED["source"]["what"]}, is repeated here on two levels. The first level is a link with a link
budget. The second level is the full protocol stack of an NR cell. One CUBIC flow downloads over a
38 GHz path. Every 5 s a vehicle 4.8 m wide and 1.4 m high blocks the path, 0.5 to 1 m from the
receiver. *Loss* is the loss of goodput, in percent of the goodput of the same run without
blockages. Intervals (±) are 95 % confidence intervals (Student) over seeds. The seed determines the
time of the first blockage and the distance at which the vehicles pass.
""",
    full=Effort(
        seeds=8,
        knee_seeds=5,
        fine_seeds=1,
        lengths_s=(15, 40, 100),
        grid_seeds=1,
        grid_reductions=(0.2, 0.7),
        grid_lengths_s=(15, 30),
        refined=8,
        refined_seeds=8,
        curve_seeds=5,
        cell_seeds=4,
        cell_changes=CELL_CHANGES,
        losses_db=LOSSES_DB,
        duration_s=15,
    ),
    quick=Effort(
        seeds=3,
        knee_seeds=2,
        fine_seeds=1,
        lengths_s=(10, 20),
        grid_seeds=1,
        grid_reductions=(0.2, 0.7),
        grid_lengths_s=(10,),
        refined=4,
        refined_seeds=2,
        curve_seeds=2,
        cell_seeds=4,
        cell_changes=CELL_CHANGES[:6],
        losses_db=(10, 25, 60),
        duration_s=10,
    ),
    count=count,
    sections=sections,
    other_scenarios={"scenario_of_the_full_stack": "cell.toml"},
)
