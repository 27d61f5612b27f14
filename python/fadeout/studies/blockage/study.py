"""The study on blockages: its setups and its report."""

from collections.abc import Iterator, Sequence

from fadeout.results import Results
from fadeout.studies.blockage import figures
from fadeout.studies.blockage.claims import verdicts
from fadeout.studies.blockage.runs import (
    BASE,
    CASES,
    DATA,
    DEPTHS,
    GUARDED,
    LENGTHS,
    MODEL_B_DB,
    NEAREST,
    NO_GUARD,
    PAGE,
    PAPER_PCT,
    PERIOD_S,
    SACK,
    Change,
    Effort,
    Plan,
    of_amounts,
    rms_error,
)
from fadeout.study import (
    Choice,
    Estimate,
    Found,
    Runs,
    Section,
    Study,
    Tables,
    Values,
    exactly,
    name_of,
)
from fadeout.study.figures import bar_rows
from fadeout.study.found import Point

NEAR_POINTS = 10
"""Largest distance from the paper at which a row counts as explained, in percentage points."""
SHOWN_ROWS = 8
"""Number of rows of the fine grid in the report."""
MOMENT_S = 1.0
"""Length of the blockage that is shown over time, seconds."""
TABLES = Tables(DATA, PAGE, {})


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    nearest, grid = search(runs)
    plan = Plan(runs, nearest)
    runs.facts["seeds_of_the_full_stack's_assumptions"] = effort.cell_seeds
    found = plan.found("link") | plan.found("full-stack") | plan.found("other-senders")
    yield headline(found)
    yield PAGE.claims({setup.name: verdicts(each) for setup, each in found.along("setup").items()})
    yield senders(plan, effort.knee_seeds)
    yield reductions(plan, effort.knee_seeds)
    yield fine(plan, effort.fine_seeds)
    lengths = plan.found("length", seeds=effort.knee_seeds)
    yield TABLES.section("length", lengths, seeds=effort.knee_seeds)
    yield moment(plan)
    yield moved(plan, "cell_assumptions", DEPTHS, effort.cell_seeds)
    yield depths(plan, effort.cell_seeds)
    yield grid
    yield moved(plan, "assumptions", plan.parts("any-depth"), effort.seeds)
    yield curve(plan, effort.curve_seeds)
    yield traces(plan)


def losses(found: Found) -> list[Estimate]:
    """Returns the losses of a setup in percent, from the shortest blockages on."""
    return [found.mean(point, "loss_pct") for point in found]


def headline(found: Found) -> Section:
    """Returns the section that compares the paper's table with both levels and the nearest
    assumptions.
    """
    cases = dict(zip(LENGTHS, CASES, strict=True))
    setups = {setup.name: each for setup, each in found.along("setup").items()}
    bars = {"paper": [exactly(paper) for paper in PAPER_PCT.values()]}
    bars |= {name: losses(each) for name, each in setups.items()}
    figure = bar_rows(
        {"Loss of goodput (%)": bars},
        LENGTHS,
        x_label="Blocked every 5 s",
        colors=["black", *(figures.COLORS[name] for name in setups)],
        height=0.9,
    )
    return TABLES.section(
        "table",
        found,
        {
            "published_mbps": lambda at: cases[at[-1].name]["throughput_mbps"],
            "published_loss_pct": lambda at: cases[at[-1].name]["degradation_pct"],
        },
        {"bars": figure},
        setups=list(setups),
        clear={name: each.at(blocked=LENGTHS[0])[0]["clear_mbps"] for name, each in setups.items()},
        shares=", ".join(f"{case['blockage_ratio_pct']:g} %" for case in CASES),
        off=rms_error(setups[NEAREST], next(iter(setups[NEAREST]))),
    )


def senders(plan: Plan, seeds: int) -> Section:
    """Returns the section on the loss of each sender, with everything else equal."""
    found = plan.found("senders", seeds=seeds)
    by_window = found.picked(
        point for window in found.parts("window") for point in found if point[1] == window
    )

    # With an unlimited window, slow start overruns the buffer. A sender without SACK then loses so
    # much goodput that the effect of the blockages is hidden.
    def over(base: Choice) -> str:
        size = found.parts("window")[-1]
        margins = {
            at.name: found.less((NO_GUARD, size, at), (base, size, at), "loss_pct")
            for at in found.parts("blocked")
        }
        return ", ".join(f"{each.text('+.1f')} points at {at}" for at, each in margins.items())

    return TABLES.section(
        "senders", by_window, seeds=seeds, over_sack=over(SACK), over_guard=over(GUARDED)
    )


def reductions(plan: Plan, seeds: int) -> Section:
    """Returns the section on CUBIC's window after a loss.

    The window is varied at the study's length of a run, and for the paper's sender at the second
    length too.
    """
    sets = [plan.found(name, seeds=seeds) for name in ("reductions", "reductions-longer")]
    found = sets[0] | sets[1]
    columns = {"rms_error": lambda at: rms_error(found, at)}
    return TABLES.section("reductions", found, columns, seeds=seeds)


def fine(plan: Plan, seeds: int) -> Section:
    """Returns the section on round trip and receive window of the paper's sender, on a
    fine grid.
    """
    found = plan.found("fine", seeds=seeds)
    of_setups = [
        [found.mean((*setup, at), "loss_pct").mean for at in found.parts("blocked")]
        for setup in setups_of(found)
    ]
    near = [
        [
            abs(loss - paper) <= NEAR_POINTS
            for loss, paper in zip(of, PAPER_PCT.values(), strict=True)
        ]
        for of in of_setups
    ]
    both = [of[0] for of, is_near in zip(of_setups, near, strict=True) if all(is_near[1:])]
    return TABLES.section(
        "fine",
        nearest_first(found),
        {"rms_error": lambda at: rms_error(found, at)},
        rows=SHOWN_ROWS,
        seeds=seeds,
        near=NEAR_POINTS,
        count=len(near),
        alone=", ".join(
            f"{sum(each[n] for each in near)} of {len(near)} at {at}"
            for n, at in enumerate(LENGTHS)
        ),
        both=len(both),
        low=min(both, default=None),
        high=max(both, default=None),
    )


def nearest_first(found: Found) -> Found:
    """Returns the points from the setup that is nearest to the paper on."""
    return found.picked(sorted(found, key=lambda point: rms_error(found, point)))


def moment(plan: Plan) -> Section:
    """Returns the section with one blockage over time in every layer."""
    of_depths = {depth.name: run for (depth, *_), run in plan.whole("moment").items()}
    figure = figures.moment(of_depths, (4.0, 4.0 + MOMENT_S))
    return PAGE.section("moment", figures={"moment": figure}, length_s=MOMENT_S)


def moved(plan: Plan, name: str, depths: Sequence[Choice], seeds: int) -> Section:
    """Returns the section on changes at every depth at which they can matter, seed by seed."""
    points = [
        (change, depth, at)
        for change, depth, at in plan.points(name)
        if not change.depths or depth.name in change.depths
    ]
    found = plan.found(name, points, seeds=seeds)
    heads = {
        (depth, at): f"{depth.name}, {at.name}" if depth.name else at.name
        for depth in depths
        for at in found.parts("blocked")
    }
    moves: dict[Change, dict[str, dict[str, Estimate]]] = {}
    cells = {change: dict.fromkeys(heads.values(), "-") for change in found.parts("change")}
    for change, depth, at in found:
        if change is BASE:
            text = found.mean((BASE, depth, at), "loss_pct").text(".1f", " %")
        else:
            move = found.less((change, depth, at), (BASE, depth, at), "loss_pct")
            moves.setdefault(change, {}).setdefault(depth.name, {})[at.name] = move
            text = move.text("+.1f")
        cells[change][heads[depth, at]] = text
    return PAGE.section(
        name,
        [{**change.data(), "cells": of} for change, of in cells.items()],
        data=[
            {**change.data(), **({"depth": depth} if depth else {}), **of}
            for change, by_depth in moves.items()
            for depth, of in by_depth.items()
        ],
        unit="_pct",
        figures={"tornado": figures.tornado(moves, [depth.name for depth in depths])},
        heads=list(heads.values()),
        seeds=seeds,
    )


def depths(plan: Plan, seeds: int) -> Section:
    """Returns the section on the loss of goodput by depth of the blockages."""
    found = plan.found("depth", seeds=seeds)
    drawn = {length.name: losses(each) for length, each in found.along("blocked").items()}
    shown = {"curve": figures.depth_curve(found.parts("depth_db"), drawn, MODEL_B_DB)}
    shallow, deep = MODEL_B_DB
    return TABLES.section("depth", found, {}, shown, seeds=seeds, shallow=shallow, deep=deep)


def search(runs: Runs[Effort]) -> tuple[Values, Section]:
    """Returns the assumptions that come nearest to the published losses, and the section
    on them.
    """
    effort, plan = runs.effort, Plan(runs)
    ranked = nearest_first(plan.found("grid", seeds=effort.grid_seeds))
    # With few seeds the best points may be the best by chance. They are compared again with more.
    setups = setups_of(ranked)
    best = [point for point in ranked if point[:-1] in setups[: effort.refined]]
    refined = nearest_first(plan.found("grid", best, seeds=effort.refined_seeds))
    found = refined | ranked.picked(point for point in ranked if point not in best)
    nearest = dict(zip(found.axes, setups_of(refined)[0], strict=False))
    runs.facts["nearest_assumptions"] = {axis: name_of(part) for axis, part in nearest.items()}
    section = TABLES.section(
        "grid",
        found,
        {"rms_error": lambda at: rms_error(found, at), "seeds": lambda at: len(found[at])},
        rows=effort.refined,
        published=" / ".join(f"{paper:.0f}" for paper in PAPER_PCT.values()),
        count=len(setups),
        seeds=effort.grid_seeds,
        refined=effort.refined,
        refined_seeds=effort.refined_seeds,
    )
    choices = [part.values for part in nearest.values() if isinstance(part, Choice)]
    return {
        key: value for of in (of_amounts(nearest), *choices) for key, value in of.items()
    }, section


def setups_of(found: Found) -> list[Point]:
    """Returns the setups of points, in their order."""
    return list(dict.fromkeys(point[:-1] for point in found))


def curve(plan: Plan, seeds: int) -> Section:
    """Returns the section on the loss by length of a blockage."""
    found = plan.found("curve", seeds=seeds)
    lengths_s = {at.name: float(at.name.removesuffix(" s")) for at in found.parts("blocked")}
    drawn = {setup.name: losses(each) for setup, each in found.along("setup").items()}
    figure = figures.curve(list(lengths_s.values()), drawn)
    columns = {"share": lambda at: lengths_s[at[-1].name] / PERIOD_S}
    return TABLES.section("curve", found, columns, {"curve": figure}, seeds=seeds)


def traces(plan: Plan) -> Section:
    """Returns the section with congestion window and throughput over time."""
    of_cases: dict[str, dict[str, Results]] = {}
    for (at, setup, _), run in plan.whole("window").items():
        of_cases.setdefault(at.name, {})[setup.name] = run
    drawn = {
        f"case-{number}": figures.window_and_throughput(of)
        for number, of in enumerate(of_cases.values(), start=1)
    }
    return PAGE.section("window", figures=drawn)


STUDY = Study.of(DATA, PAGE, Effort, sections)
