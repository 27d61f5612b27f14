"""The study on mobility: its report."""

from collections.abc import Iterator

from fadeout.studies.mobility import claims, figures
from fadeout.studies.mobility.geometry import AVERAGED_S, HELD_S, Shares, closed_form, walk
from fadeout.studies.mobility.runs import (
    AT_KMH,
    DATA,
    MIDDLE,
    PAGE,
    Effort,
    Line,
    in_network,
    lists,
    measure,
    measure_lines,
    through_pico,
)
from fadeout.study import Estimate, Found, Grid, Numbers, Runs, Section, Study, Tables, estimate
from fadeout.study.found import Point
from fadeout.study.tables import Column

OUTCOMES = {"none": "none", "failed": "failed", "ping_pong": "ping-pong"}
"""Outcomes of a line through a pico, and their heads in tables."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    runs.facts["ues_a_run"] = effort.ues
    runs.facts["lines_a_run"] = effort.lines
    makers = (in_network, through_pico)
    grid = Grid(DATA, runs, (measure, measure_lines), lists(effort), makers)
    tables = Tables(DATA, PAGE, grid)

    def in_percent(_at: Point, counts: Numbers) -> Numbers:
        none = effort.lines - counts["failed"] - counts["handed_over"]
        shares = {**counts, "none": none}
        return {f"{name}_pct": 100 * shares[name] / effort.lines for name in OUTCOMES}

    yield circle(tables, grid["circle"].with_numbers(in_percent))
    yield circle_assumptions(tables, grid["circle-assumptions"].with_numbers(in_percent))
    found, swept = grid["speeds"], grid["judged"] | grid["assumptions"]
    yield PAGE.claims(claims.verdicts(found, swept))

    def a_ue_s(at: Point) -> Estimate:
        ue_s = effort.ues * effort.length_s(at[1])
        return estimate([each["handovers"] / ue_s for each in found[at]])

    yield tables.section("speeds", columns={"handovers_a_ue_s": a_ue_s})
    yield tables.section("triggers", at_kmh=AT_KMH, filter=MIDDLE.filter)
    yield tables.section("assumptions", swept, at_kmh=AT_KMH)


def command_s(found: Found, at: Point) -> float:
    """Returns the mean time from a report to the command, in seconds."""
    handed_over = sum(each["handed_over"] for each in found[at])
    return sum(each["command_s"] for each in found[at]) / handed_over if handed_over else 0.0


def form_pct(line: Line) -> Shares:
    """Returns the shares of the closed form, in percent."""
    shares = closed_form(line.speed_kmh / 3.6, line.trigger_ms / 1e3)
    return {name: 100 * share for name, share in shares.items()}


def circle(tables: Tables, found: Found) -> Section:
    """Returns the section that compares lines through a pico with geometry."""
    walked = {
        at: walk(
            at[0].speed_kmh / 3.6,
            at[0].trigger_ms / 1e3,
            command_s=command_s(found, at),
            averaged_s=AVERAGED_S,
            held_s=HELD_S,
        )
        for at in found
    }
    columns: dict[str, Column] = {"command_ms": lambda at: 1e3 * command_s(found, at)}
    for name in OUTCOMES:
        columns[f"{name}_closed_form_pct"] = lambda at, name=name: form_pct(at[0])[name]
        columns[f"{name}_walked_pct"] = lambda at, name=name: 100 * walked[at][name]
    drawn = figures.circle(tables.records("circle", found, columns))
    return tables.section("circle", found, columns, {"circle": drawn}, outcomes=OUTCOMES)


def circle_assumptions(tables: Tables, found: Found) -> Section:
    """Returns the section on effects that the closed form omits, one at a time."""
    columns: dict[str, Column] = {"command_ms": lambda at: 1e3 * command_s(found, at)}
    (line,) = found.parts("line")
    return tables.section("circle-assumptions", found, columns, line=line, form=form_pct(line))


STUDY = Study.of(DATA, PAGE, Effort, sections)
