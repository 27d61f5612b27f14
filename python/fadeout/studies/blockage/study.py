"""The study on blockages: its setups and its report."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.studies.blockage import figures
from fadeout.studies.blockage.claims import verdicts
from fadeout.studies.blockage.runs import (
    BUFFERS,
    CASES,
    CASES_S,
    CELL,
    CELL_CHANGES,
    CHANGES,
    DATA,
    DEPTHS,
    EFFECTS,
    GUARDED,
    LENGTH_SETUPS,
    LENGTHS,
    LINK,
    LINUX,
    MODEL_B_DB,
    NO_GUARD,
    PAGE,
    PAPER_PCT,
    PERIOD_S,
    POINTS,
    SACK,
    SENDERS,
    SETUPS,
    Change,
    Effort,
    Level,
    blocked_by,
    length,
    reduction,
    rms_error,
    round_trip,
    window,
)
from fadeout.study import (
    UNCHANGED,
    Estimate,
    Found,
    Runs,
    Section,
    Study,
    Tables,
    Values,
    exactly,
)
from fadeout.study.figures import bar_rows
from fadeout.study.found import Point

NEAREST = "nearest"
"""Name of the combination in the grid that is nearest to the paper, in tables."""

WINDOW = window(POINTS.papers_window_mb)
NEAR_POINTS = 10
"""Largest distance from the paper at which a row counts as explained, in percentage points."""
SHOWN_ROWS = 8
"""Number of rows of the fine grid in the report."""
MOMENT_S = 1.0
"""Length of the blockage that is shown over time, seconds."""
TRACED = {
    "duration": "8 s",
    "probe.transport-blocks": "true",
    "probe.bearers": "2 ms",
    "probe.throughput": "10 ms",
}
TABLES = Tables(DATA, PAGE, {})


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    nearest, grid = search(runs)
    runs.facts["seeds_of_the_full_stack's_assumptions"] = effort.cell_seeds
    found = LINK.found(runs, "setup", {(NEAREST,): nearest}, effort.seeds)
    for setup in reversed(SETUPS):
        level = CELL if setup.kind == "cell" else LINK
        found = level.found(runs, "setup", {(setup.name,): setup.values}, effort.seeds) | found
    yield headline(found)
    yield PAGE.claims({name: verdicts(each) for name, each in found.along("setup").items()})
    yield senders(runs)
    yield reductions(runs)
    yield fine(runs)
    yield lengths(runs)
    yield moment(runs)
    yield cell_assumptions(runs)
    yield depths(runs)
    yield grid
    yield assumptions(runs)
    yield curve(runs, nearest)
    yield traces(runs, nearest)


def losses(found: Found, point: Point = ()) -> list[Estimate]:
    """Returns the losses of a setup in percent, from the shortest blockages on."""
    lengths = found.parts("blocked")
    return [found.mean((*point, length), "loss_pct") for length in lengths]


def headline(found: Found) -> Section:
    """Returns the section that compares the paper's table with both levels and the nearest
    assumptions.
    """
    cases = dict(zip(LENGTHS, CASES, strict=True))
    names = found.parts("setup")
    bars = {"paper": [exactly(paper) for paper in PAPER_PCT.values()]}
    bars |= {name: losses(found, (name,)) for name in names}
    figure = bar_rows(
        {"Loss of goodput (%)": bars},
        LENGTHS,
        x_label="Blocked every 5 s",
        colors=["black", *(figures.COLORS[name] for name in names)],
        height=0.9,
    )
    return TABLES.section(
        "table",
        found,
        {
            "published_mbps": lambda at: cases[at[-1]]["throughput_mbps"],
            "published_loss_pct": lambda at: cases[at[-1]]["degradation_pct"],
        },
        {"bars": figure},
        setups=names,
        clear={name: found[name, LENGTHS[0]][0]["clear_mbps"] for name in names},
        shares=", ".join(f"{case['blockage_ratio_pct']:g} %" for case in CASES),
        off=rms_error(found, (NEAREST, LENGTHS[0])),
    )


def senders(runs: Runs[Effort]) -> Section:
    """Returns the section on the loss of each sender, with everything else equal."""
    windows: dict[str, Values] = {"never binds": {}, f"{POINTS.papers_window_mb:g} MB": WINDOW}
    setups = {(s, w): {**SENDERS[s], **windows[w]} for w in windows for s in SENDERS}
    found = LINK.found(runs, "sender window", setups, runs.effort.knee_seeds)

    # With an unlimited window, slow start overruns the buffer. A sender without SACK then loses so
    # much goodput that the effect of the blockages is hidden.
    def over(base: str) -> str:
        size = list(windows)[-1]
        margins = {
            at: found.less((NO_GUARD, size, at), (base, size, at), "loss_pct") for at in LENGTHS
        }
        return ", ".join(f"{each.text('+.1f')} points at {at}" for at, each in margins.items())

    return TABLES.section(
        "senders",
        found,
        seeds=runs.effort.knee_seeds,
        over_sack=over(SACK),
        over_guard=over(GUARDED),
    )


def reductions(runs: Runs[Effort]) -> Section:
    """Returns the section on CUBIC's window after a loss.

    The window is varied at the study's length of a run, and for the paper's sender at the second
    length too.
    """
    seeds = runs.effort.knee_seeds
    own, longer = runs.effort.lengths_s[:2]
    pairs = [*((sender, own) for sender in POINTS.reduced_senders), (NO_GUARD, longer)]
    setups = {
        (sender, share, s): {**SENDERS[sender], **WINDOW, **reduction(share), **length(s)}
        for sender, s in pairs
        for share in POINTS.reductions
    }
    found = LINK.found(runs, "sender window_after_a_loss length_s", setups, seeds)
    columns = {"rms_error": lambda at: rms_error(found, at)}
    return TABLES.section("reductions", found, columns, seeds=seeds)


def fine(runs: Runs[Effort]) -> Section:
    """Returns the section on round trip and receive window of the paper's sender, on a
    fine grid.
    """
    seeds = runs.effort.fine_seeds
    setups = {
        (ms, mb): {**SENDERS[NO_GUARD], **round_trip(ms), **window(mb)}
        for ms in POINTS.round_trips_ms
        for mb in POINTS.windows_mb
    }
    found = LINK.found(runs, "round_trip_ms window_mb", setups, seeds)
    of_setups = [[each.mean for each in losses(found, setup)] for setup in setups]
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
        count=len(setups),
        alone=", ".join(
            f"{sum(each[n] for each in near)} of {len(setups)} at {at}"
            for n, at in enumerate(LENGTHS)
        ),
        both=len(both),
        low=min(both, default=None),
        high=max(both, default=None),
    )


def nearest_first(found: Found) -> Found:
    """Returns the points from the setup that is nearest to the paper on."""
    return found.picked(sorted(found, key=lambda point: rms_error(found, point)))


def lengths(runs: Runs[Effort]) -> Section:
    """Returns the section on the length of a run. Slow start matters less in a long run."""
    seeds = runs.effort.knee_seeds
    setups = {
        (name, s): {**values, **length(s)}
        for name, values in LENGTH_SETUPS.items()
        for s in runs.effort.lengths_s
    }
    return TABLES.section("length", LINK.found(runs, "setup length_s", setups, seeds), seeds=seeds)


def moment(runs: Runs[Effort]) -> Section:
    """Returns the section with one blockage over time in every layer."""
    setups = {depth: {**values, **TRACED} for depth, values in DEPTHS.items()}
    figure = figures.moment(CELL.traces(runs, setups, MOMENT_S), (4.0, 4.0 + MOMENT_S))
    return PAGE.section("moment", figures={"moment": figure}, length_s=MOMENT_S)


def cell_assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each assumption of the full stack."""
    effort = runs.effort
    changes = CELL_CHANGES[: effort.cell_changes]
    return moved(runs, "cell_assumptions", CELL, changes, DEPTHS, effort.cell_seeds)


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of each assumption of the link."""
    return moved(runs, "assumptions", LINK, CHANGES, {"": {}}, runs.effort.seeds)


def moved(
    runs: Runs[Effort],
    name: str,
    level: Level,
    changes: Sequence[Change],
    depths: Mapping[str, Values],
    seeds: int,
) -> Section:
    """Returns the section on changes at every depth at which they can matter, seed by seed."""
    base = Change(UNCHANGED)
    setups = {
        (change, depth): {**values, **change.values}
        for change in (base, *changes)
        for depth, values in depths.items()
        if not change.depths or depth in change.depths
    }
    found = level.found(runs, "change depth", setups, seeds)
    heads = {(depth, at): f"{depth}, {at}" if depth else at for depth in depths for at in LENGTHS}
    moves: dict[Change, dict[str, dict[str, Estimate]]] = {change: {} for change in changes}
    cells = {change: dict.fromkeys(heads.values(), "-") for change in (base, *changes)}
    for change, depth, at in found:
        if change is base:
            text = found.mean((base, depth, at), "loss_pct").text(".1f", " %")
        else:
            move = found.less((change, depth, at), (base, depth, at), "loss_pct")
            moves[change].setdefault(depth, {})[at] = move
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
        figures={"tornado": figures.tornado(moves, list(depths))},
        heads=list(heads.values()),
        seeds=seeds,
    )


def depths(runs: Runs[Effort]) -> Section:
    """Returns the section on the loss of goodput by depth of the blockages."""
    seeds, losses_db = runs.effort.cell_seeds, runs.effort.losses_db
    setups = {(loss_db,): blocked_by(loss_db) for loss_db in losses_db}
    found = CELL.found(runs, "depth_db", setups, seeds)
    drawn = {at: [found.mean((db, at), "loss_pct") for db in losses_db] for at in LENGTHS}
    figure = figures.depth_curve(losses_db, drawn, MODEL_B_DB)
    shallow, deep = MODEL_B_DB
    shown = {"curve": figure}
    return TABLES.section("depth", found, {}, shown, seeds=seeds, shallow=shallow, deep=deep)


def search(runs: Runs[Effort]) -> tuple[Values, Section]:
    """Returns the assumptions that come nearest to the published losses, and the section
    on them.
    """
    effort = runs.effort
    axes: dict[str, Mapping[Any, Values]] = {
        "round_trip": {f"{ms} ms": round_trip(ms) for ms in POINTS.grid_round_trips_ms},
        "buffer": BUFFERS,
        "effect": EFFECTS,
        "stack": SENDERS,
        "reduction": {share: reduction(share) for share in effort.grid_reductions},
        "length_s": {seconds: length(seconds) for seconds in effort.grid_lengths_s},
    }
    grid: dict[Point, Values] = {}
    for point in itertools.product(*axes.values()):
        chosen = [axis[choice] for axis, choice in zip(axes.values(), point, strict=True)]
        grid[point] = {key: value for values in chosen for key, value in values.items()}
    names = " ".join(axes)
    ranked = nearest_first(LINK.found(runs, names, grid, effort.grid_seeds))
    # With few seeds the best points may be the best by chance. They are compared again with more.
    best = {point: grid[point] for point in setups_of(ranked)[: effort.refined]}
    refined = nearest_first(LINK.found(runs, names, best, effort.refined_seeds))
    found = refined | ranked.picked(point for point in ranked if point[:-1] not in best)
    nearest = setups_of(refined)[0]
    runs.facts["nearest_assumptions"] = dict(zip(axes, nearest, strict=True))
    section = TABLES.section(
        "grid",
        found,
        {"rms_error": lambda at: rms_error(found, at), "seeds": lambda at: len(found[at])},
        rows=effort.refined,
        published=" / ".join(f"{paper:.0f}" for paper in PAPER_PCT.values()),
        count=len(grid),
        seeds=effort.grid_seeds,
        refined=effort.refined,
        refined_seeds=effort.refined_seeds,
    )
    return grid[nearest], section


def setups_of(found: Found) -> list[Point]:
    """Returns the setups of points, in their order."""
    return list(dict.fromkeys(point[:-1] for point in found))


def curve(runs: Runs[Effort], nearest: Values) -> Section:
    """Returns the section on the loss by length of a blockage."""
    seeds = runs.effort.curve_seeds
    setups = {(LINUX,): {}, (NEAREST,): nearest}
    found = LINK.found(runs, "setup", setups, seeds, POINTS.curve_s)
    shares = {f"{s:g} s": s / PERIOD_S for s in POINTS.curve_s}
    figure = figures.curve(POINTS.curve_s, {name: losses(found, (name,)) for (name,) in setups})
    columns = {"share": lambda at: shares[at[-1]]}
    return TABLES.section("curve", found, columns, {"curve": figure}, seeds=seeds)


def traces(runs: Runs[Effort], nearest: Values) -> Section:
    """Returns the section with congestion window and throughput over time."""
    setups: dict[str, Values] = {LINUX: {}, NEAREST: nearest}
    drawn = {
        f"case-{number}": figures.window_and_throughput(LINK.traces(runs, setups, length_s))
        for number, length_s in enumerate(CASES_S, start=1)
    }
    return PAGE.section("window", figures=drawn)


STUDY = Study.of(DATA, PAGE, Effort, sections)
