"""The study on blockages: the numbers of its tables."""

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
    Outcome,
    blocked_by,
    length,
    reduction,
    round_trip,
    window,
)
from fadeout.study import (
    UNCHANGED,
    Estimate,
    Runs,
    Section,
    Study,
    Values,
    difference,
    exactly,
)
from fadeout.study.figures import bar_rows

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


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    nearest, grid = search(runs)
    runs.facts["seeds_of_the_full_stack's_assumptions"] = effort.cell_seeds
    found = {}
    for setup in SETUPS:
        level = CELL if setup.has_cell else LINK
        found |= level.found(runs, {setup.name: setup.values}, effort.seeds)
    found |= LINK.found(runs, {NEAREST: nearest}, effort.seeds)
    yield headline(found)
    yield PAGE.claims({name: verdicts(outcome) for name, outcome in found.items()})
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


def key_of(name: str) -> str:
    """Returns a name as the key of a data file."""
    return name.lower().replace(" %", "").replace(", ", "_").replace(" ", "_").replace("'", "")


def headline(found: Mapping[str, Outcome]) -> Section:
    """Returns the section that compares the paper's table with both levels and the nearest
    assumptions.
    """
    losses = {name: outcome.losses for name, outcome in found.items()}
    timeouts = {name: outcome.means("timeouts") for name, outcome in found.items()}
    records = [
        {
            "block_s": case["block_s"],
            "published_mbps": case["throughput_mbps"],
            "published_loss_pct": case["degradation_pct"],
            "_loss": {name: each[at] for name, each in losses.items()},
            **{key_of(name): each[at] for name, each in losses.items()},
            **{f"{key_of(name)}_timeouts_a_run": each[at] for name, each in timeouts.items()},
        }
        for at, case in zip(LENGTHS, CASES, strict=True)
    ]
    bars = {"paper": [exactly(paper) for paper in PAPER_PCT.values()]}
    bars |= {name: list(each.values()) for name, each in losses.items()}
    figure = bar_rows(
        {"Loss of goodput (%)": bars},
        LENGTHS,
        x_label="Blocked every 5 s",
        colors=["black", *(figures.COLORS[name] for name in found)],
        height=0.9,
    )
    return PAGE.section(
        "table",
        records,
        unit="_pct",
        figures={"bars": figure},
        setups=list(found),
        clear={name: outcome.clear_mbps for name, outcome in found.items()},
        shares=", ".join(f"{case['blockage_ratio_pct']:g} %" for case in CASES),
        off=found[NEAREST].rms_error,
    )


def senders(runs: Runs[Effort]) -> Section:
    """Returns the section on the loss of each sender, with everything else equal."""
    seeds = runs.effort.knee_seeds
    windows: dict[str, Values] = {"never binds": {}, f"{POINTS.papers_window_mb:g} MB": WINDOW}
    found = LINK.found(
        runs,
        {(s, w): {**SENDERS[s], **windows[w]} for w in windows for s in SENDERS},
        seeds,
    )
    records = [
        {"sender": sender, "window": size, "unblocked_mbps": outcome.clear_mbps}
        | {"loss": outcome.losses}
        | {name: outcome.means(name) for name in ("recoveries", "timeouts")}
        for (sender, size), outcome in found.items()
    ]

    # With an unlimited window, slow start overruns the buffer. A sender without SACK then loses so
    # much goodput that the effect of the blockages is hidden.
    def over(base: str) -> str:
        ours, its = (found[sender, list(windows)[-1]].runs for sender in (NO_GUARD, base))
        return ", ".join(
            f"{difference(ours[at], its[at], 'loss_pct').text('+.1f')} points at {at}"
            for at in LENGTHS
        )

    return PAGE.section(
        "senders",
        records,
        unit="_pct",
        seeds=seeds,
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
    found = LINK.found(
        runs,
        {
            (sender, share, s): {**SENDERS[sender], **WINDOW, **reduction(share), **length(s)}
            for sender, s in pairs
            for share in POINTS.reductions
        },
        seeds,
    )
    records = [
        {"sender": sender, "window_after_a_loss": share, "length_s": seconds}
        | {"unblocked_mbps": outcome.clear_mbps, "loss": outcome.losses}
        | {"rms_error": outcome.rms_error}
        for (sender, share, seconds), outcome in found.items()
    ]
    return PAGE.section("reductions", records, unit="_pct", seeds=seeds)


def fine(runs: Runs[Effort]) -> Section:
    """Returns the section on round trip and receive window of the paper's sender, on a
    fine grid.
    """
    seeds = runs.effort.fine_seeds
    found = LINK.found(
        runs,
        {
            (ms, mb): {**SENDERS[NO_GUARD], **round_trip(ms), **window(mb)}
            for ms in POINTS.round_trips_ms
            for mb in POINTS.windows_mb
        },
        seeds,
    )
    losses = [outcome.means("loss_pct") for outcome in found.values()]
    records = [
        {"round_trip_ms": ms, "window_mb": mb, "unblocked_mbps": outcome.clear_mbps}
        | {f"loss_{at}_pct": mean for at, mean in loss.items()}
        | {"_loss": loss, "rms_error": outcome.rms_error, "seeds": seeds}
        for ((ms, mb), outcome), loss in zip(found.items(), losses, strict=True)
    ]
    near = [{at: abs(loss[at] - PAPER_PCT[at]) <= NEAR_POINTS for at in LENGTHS} for loss in losses]
    shortest, *others = LENGTHS
    both = [
        loss[shortest]
        for loss, is_near in zip(losses, near, strict=True)
        if all(is_near[at] for at in others)
    ]
    return PAGE.section(
        "fine",
        sorted(records, key=lambda record: record["rms_error"])[:SHOWN_ROWS],
        data=records,
        seeds=seeds,
        near=NEAR_POINTS,
        count=len(records),
        alone=", ".join(
            f"{sum(each[at] for each in near)} of {len(records)} at {at}" for at in LENGTHS
        ),
        both=len(both),
        low=min(both, default=None),
        high=max(both, default=None),
    )


def lengths(runs: Runs[Effort]) -> Section:
    """Returns the section on the length of a run. Slow start matters less in a long run."""
    seeds = runs.effort.knee_seeds
    found = LINK.found(
        runs,
        {
            (name, s): {**values, **length(s)}
            for name, values in LENGTH_SETUPS.items()
            for s in runs.effort.lengths_s
        },
        seeds,
    )
    records = [
        {"setup": name, "length_s": seconds, "loss": outcome.losses}
        for (name, seconds), outcome in found.items()
    ]
    return PAGE.section("length", records, unit="_pct", seeds=seeds)


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
    found = level.found(
        runs,
        {
            (change, depth): {**values, **change.values}
            for change in (base, *changes)
            for depth, values in depths.items()
            if not change.depths or depth in change.depths
        },
        seeds,
    )
    moves: dict[Change, dict[str, dict[str, Estimate]]] = {change: {} for change in changes}
    for (change, depth), outcome in found.items():
        if change is not base:
            was = found[base, depth].runs
            moves[change][depth] = {
                at: difference(outcome.runs[at], was[at], "loss_pct") for at in LENGTHS
            }
    heads = {(depth, at): f"{depth}, {at}" if depth else at for depth in depths for at in LENGTHS}
    unchanged = {
        head: found[base, depth].losses[at].text(".1f", " %") for (depth, at), head in heads.items()
    }
    records: list[dict[str, Any]] = [{**base.data(), "cells": unchanged}]
    for change, by_depth in moves.items():
        cells = {
            head: by_depth[depth][at].text("+.1f") if depth in by_depth else "-"
            for (depth, at), head in heads.items()
        }
        records.append({**change.data(), "cells": cells})
    return PAGE.section(
        name,
        records,
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
    found = CELL.found(runs, {loss: blocked_by(loss) for loss in losses_db}, seeds)
    losses = {loss_db: outcome.losses for loss_db, outcome in found.items()}
    drawn = {at: [each[at] for each in losses.values()] for at in LENGTHS}
    shallow, deep = MODEL_B_DB
    return PAGE.section(
        "depth",
        [{"depth_db": loss_db, "_loss": each, **each} for loss_db, each in losses.items()],
        unit="_pct",
        figures={"curve": figures.depth_curve(losses_db, drawn, MODEL_B_DB)},
        seeds=seeds,
        shallow=shallow,
        deep=deep,
    )


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
    grid: dict[tuple[Any, ...], Values] = {}
    for point in itertools.product(*axes.values()):
        chosen = [axis[choice] for axis, choice in zip(axes.values(), point, strict=True)]
        grid[point] = {key: value for values in chosen for key, value in values.items()}
    ranked = by_error(LINK.found(runs, grid, effort.grid_seeds))
    # With few seeds the best points may be the best by chance. They are compared again with more.
    best = {point: grid[point] for point in list(ranked)[: effort.refined]}
    refined = by_error(LINK.found(runs, best, effort.refined_seeds))
    ranked = refined | {point: ranked[point] for point in ranked if point not in refined}
    records = [
        dict(zip(axes, point, strict=True))
        | {"unblocked_mbps": outcome.clear_mbps}
        | {"seeds": effort.refined_seeds if point in refined else effort.grid_seeds}
        | {"loss": outcome.means("loss_pct"), "rms_error": outcome.rms_error}
        for point, outcome in ranked.items()
    ]
    nearest = next(iter(refined))
    runs.facts["nearest_assumptions"] = dict(zip(axes, nearest, strict=True))
    section = PAGE.section(
        "grid",
        records[: effort.refined],
        data=records,
        published=" / ".join(f"{paper:.0f}" for paper in PAPER_PCT.values()),
        count=len(grid),
        seeds=effort.grid_seeds,
        refined=effort.refined,
        refined_seeds=effort.refined_seeds,
    )
    return grid[nearest], section


def by_error(found: Mapping[tuple[Any, ...], Outcome]) -> dict[tuple[Any, ...], Outcome]:
    """Returns outcomes from the one that is nearest to the paper on."""
    return dict(sorted(found.items(), key=lambda each: each[1].rms_error))


def curve(runs: Runs[Effort], nearest: Values) -> Section:
    """Returns the section on the loss by length of a blockage."""
    seeds = runs.effort.curve_seeds
    found = LINK.found(runs, {LINUX: {}, NEAREST: nearest}, seeds, POINTS.curve_s)
    drawn = {name: list(outcome.losses.values()) for name, outcome in found.items()}
    records = [
        {"block_s": length_s, "_share": length_s / PERIOD_S}
        | {name.lower(): values[index] for name, values in drawn.items()}
        for index, length_s in enumerate(POINTS.curve_s)
    ]
    figure = figures.curve(POINTS.curve_s, drawn)
    return PAGE.section("curve", records, unit="_pct", figures={"curve": figure}, seeds=seeds)


def traces(runs: Runs[Effort], nearest: Values) -> Section:
    """Returns the section with congestion window and throughput over time."""
    setups: dict[str, Values] = {LINUX: {}, NEAREST: nearest}
    drawn = {
        f"case-{number}": figures.window_and_throughput(LINK.traces(runs, setups, length_s))
        for number, length_s in enumerate(CASES_S, start=1)
    }
    return PAGE.section("window", figures=drawn)


STUDY = Study.of(DATA, PAGE, Effort, sections)
