"""The study on vehicles: its report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from fadeout import _traces
from fadeout.results import Results
from fadeout.studies.vehicular import claims, figures
from fadeout.studies.vehicular.runs import (
    CASES,
    CLAIMS,
    CUBIC,
    DATA,
    MAIN,
    PAGE,
    PLACES,
    PUBLISHED,
    RTW,
    STEP_S,
    Effort,
    Plan,
    of_city,
)
from fadeout.study import Found, Outcome, Runs, Section, Study, Tables
from fadeout.study.found import Point

SHADED_S = 0.01
"""Shortest interruption that is shaded in the figure of windows, seconds."""

PAPERS_MS: Mapping[str, float] = PUBLISHED["table3_rtt_ms"]
"""Round-trip times of the paper's Table 3, by sender."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort, plan = runs.effort, Plan(runs)
    runs.facts["capacity of a link in Mbit/s"] = round(plan.capacity_mbps, 1)
    every = plan["square"] | plan["classes"]
    between_cars = plan["blocked"] | plan["blocked-on-motorway"]
    standing, failures = plan["load"], plan.found("failures", CASES)
    tables = Tables(DATA, PAGE, plan)
    yield tables.section("motorway", columns={"paper_ms": lambda at: PAPERS_MS[at[0].name]})
    yield PAGE.claims(
        [
            claims.standing_verdict(standing),
            claims.failures_verdict(failures),
            *claims.verdicts(every, effort.loads, plan.capacity_mbps),
            claims.motorway_verdict(plan["motorway"]),
            claims.classes_verdict(every, effort.class_loads[-1]),
            claims.paths_verdict(between_cars),
        ]
    )
    yield handovers(tables, plan, "handovers", "urban_random", "7.5 %", load=effort.loads[-1])
    yield handovers(tables, plan, "motorway-handovers", "realistic", "11 %")
    yield tables.section("assumptions")
    names = [place.name for place in PLACES]
    yield tables.section("throughput", loads=[f"{load:g}" for load in effort.loads])
    yield tables.section("rtt", places=names)
    yield classes(tables, every, effort.class_loads[-1])
    yield tables.section("load", figures={"load": figures.rate_and_loss(tables.records("load"))})
    yield tables.section("failures", failures, figures={"failing": failing(plan)})
    yield maps(plan)
    yield windows(plan)
    yield tables.section("predictions")
    yield tables.section("between-cars", between_cars)
    yield tables.section("today")
    yield city(tables, plan, effort)


def handovers(
    tables: Tables,
    plan: Plan,
    name: str,
    claim: str,
    paper: str,
    **values: Any,  # noqa: ANN401
) -> Section:
    """Returns a section on other networks, with the senders that have the paper's gain there."""
    found = plan.found(name)
    check = CLAIMS[claim].check(f"over {CUBIC}")

    def verdict(at: Point) -> str:
        base = found.moved(at, {"sender": CUBIC})
        return str(check.outcome(found.gain_pct(at, base, "goodput_mbps")))

    columns = {"verdict": verdict}
    others = {one.name for one in MAIN} - {RTW}
    shown = [one.name for one in found.parts("sender") if one.name not in others]
    return tables.section(
        name,
        found,
        columns,
        shown=shown,
        timed=list(PAPERS_MS),
        timed_ms=PAPERS_MS,
        paper_gain={each: "+11" if each == RTW else "" for each in shown},
        appears=appears(tables.records(name, found, columns), f"the paper's {paper}"),
        **values,
    )


def appears(records: Sequence[Mapping[str, Any]], what: str) -> str:
    """Returns a list of the senders, and of the networks in which each has the paper's gain."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        sender, verdict = record["sender"], record["verdict"]
        if verdict in (Outcome.HOLDS, Outcome.OPEN) and sender != CUBIC:
            found.setdefault((sender, verdict), []).append(record["_network"])
    head = f"Senders whose gain over CUBIC is {what}, by the check of `published.toml`"
    lines = [
        "\n".join([f"- *{sender}*: {verdict} with", *(f"  - {name}" for name in networks)])
        for (sender, verdict), networks in found.items()
    ]
    return f"{head}:\n\n" + "\n".join(lines) if lines else f"{head}: none."


def classes(tables: Tables, found: Found, load: float) -> Section:
    """Returns the section on the paper's Table 2, with numbers."""
    at = found.only({"load": f"{load:g}"})

    def cell(point: Point) -> str:
        base = at.moved(point, {"sender": CUBIC})
        gain = at.gain_pct(point, base, "goodput_mbps").text("+.2f", " %")
        rate = f"{at.mean(point, 'goodput_mbps').mean:.0f} Mbit/s"
        return f"{rate if point == base else gain}, {at.mean(point, 'timeouts').mean:.1f}"

    places = [place.name for place in PLACES]
    return tables.section("classes", at, {"cell": cell}, load=load, places=places)


def failing(plan: Plan) -> Figure:
    """Returns the figure of the windows of one car with each kind of failure."""
    drawn = [case for case in CASES if "drawn" in case[0].tags]
    panels: dict[str, dict[str, Results]] = {}
    for (failure, mode, sender), run in plan.whole("failures", drawn).items():
        title = f"{failure.kind}: {failure.name}\n{mode.name}"
        panels.setdefault(title, {})[sender.name] = run
    return figures.windows(panels, 2, share_y="row", step_s=STEP_S)


def maps(plan: Plan) -> Section:
    """Returns the section on figures 6 and 7."""
    drawn = {place.name: run for (place,), run in plan.whole("maps", with_tables=False).items()}
    shown_s = next(iter(drawn.values())).duration_s
    return PAGE.section("maps", figures={"maps": figures.maps(drawn)}, shown_s=shown_s)


def windows(plan: Plan) -> Section:
    """Returns the section on figures 10 and 11."""
    panels = {
        f"{place.name}\n{sender.name}": {"": run}
        for (place, _, sender), run in plan.whole("windows").items()
    }
    figure = figures.windows(panels, len(MAIN), step_s=SHADED_S)
    return PAGE.section("windows", figures={"windows": figure})


def why_no_city(effort: Effort) -> str | None:
    """Returns the reason why the city is left out. None if it is not."""
    if effort.city_s <= 0:
        return "Left out of a quick study: 200 vehicles take minutes of a processor."
    return None if _traces.find_sumo() is not None else f"Left out: {_traces.MISSING}."


def city(tables: Tables, plan: Plan, effort: Effort) -> Section:
    """Returns the section that compares the choices in a city of SUMO."""
    left_out = why_no_city(effort)
    if left_out is not None:
        return Section(name="city", title=PAGE.titles["city"], text=left_out)
    found = plan["city"].with_numbers(of_city)
    shares = {choice.name: found[choice,][0]["goodputs_mbps"] for (choice,) in found}
    drawn = {"shares": figures.shares(shares)}
    return tables.section("city", found, figures=drawn, length_s=effort.city_s)


STUDY = Study.of(DATA, PAGE, Effort, sections)
