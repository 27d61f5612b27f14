"""The study on mobility: its report."""

from collections.abc import Iterator

from fadeout.studies.mobility import claims, figures
from fadeout.studies.mobility.geometry import AVERAGED_S, HELD_S, Shares, closed_form, walk
from fadeout.studies.mobility.runs import (
    AT_KMH,
    CIRCLE_CHANGES,
    DATA,
    LINES,
    MIDDLE,
    PAGE,
    Effort,
    grid,
    lines,
    sweep,
    triggers,
)
from fadeout.study import Estimate, Found, Runs, Section, Study, Tables, estimate
from fadeout.study.found import Point
from fadeout.study.tables import Column

OUTCOMES = {"none": "none", "failed": "failed", "ping_pong": "ping-pong"}
"""Outcomes of a line through a pico, and their heads in tables."""

TABLES = Tables(DATA, PAGE, {})


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    through = lines(runs)
    effort = runs.effort
    runs.facts["ues_a_run"] = effort.ues
    runs.facts["lines_a_run"] = effort.lines
    yield circle(through)
    yield circle_assumptions(through)
    found = grid(runs)
    swept = sweep(runs)
    yield PAGE.claims(claims.verdicts(found, swept, effort.speeds_kmh, effort.sets))

    def a_ue_s(at: Point) -> Estimate:
        ue_s = effort.ues * effort.length_s(at[2])
        return estimate([each["handovers"] / ue_s for each in found[at]])

    yield TABLES.section("speeds", found, {"handovers_a_ue_s": a_ue_s})
    yield TABLES.section("triggers", triggers(runs), at_kmh=AT_KMH, filter=MIDDLE.filter)
    yield TABLES.section("assumptions", swept, at_kmh=AT_KMH)


def command_s(found: Found, at: Point) -> float:
    """Returns the mean time from a report to the command, in seconds."""
    handed_over = sum(each["handed_over"] for each in found[at])
    return sum(each["command_s"] for each in found[at]) / handed_over if handed_over else 0.0


def form(at: Point) -> Shares:
    """Returns the shares of the closed form, in percent."""
    return closed_form(at[0] / 3.6, at[1] / 1e3).in_percent()


def circle(found: Found) -> Section:
    """Returns the section that compares lines through a pico with geometry."""
    unchanged = found.along("change")[CIRCLE_CHANGES[0]]
    walked = {
        at: walk(
            at[0] / 3.6,
            at[1] / 1e3,
            command_s=command_s(unchanged, at),
            averaged_s=AVERAGED_S,
            held_s=HELD_S,
        ).in_percent()
        for at in unchanged
    }
    columns: dict[str, Column] = {"command_ms": lambda at: 1e3 * command_s(unchanged, at)}
    for name in OUTCOMES:
        columns[f"{name}_closed_form_pct"] = lambda at, name=name: getattr(form(at), name)
        columns[f"{name}_walked_pct"] = lambda at, name=name: getattr(walked[at], name)
    records = TABLES.records("circle", unchanged, columns)
    return TABLES.section(
        "circle", unchanged, columns, {"circle": figures.circle(records)}, outcomes=OUTCOMES
    )


def circle_assumptions(found: Found) -> Section:
    """Returns the section on effects that the closed form omits, one at a time."""
    columns: dict[str, Column] = {"command_ms": lambda at: 1e3 * command_s(found, at)}
    return TABLES.section(
        "circle-assumptions",
        found.picked(point for point in found if point[:2] == LINES.at),
        columns,
        at=LINES.at,
        form=form(LINES.at),
    )


STUDY = Study.of(DATA, PAGE, Effort, sections)
