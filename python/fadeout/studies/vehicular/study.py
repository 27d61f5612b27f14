"""The study on vehicles: the numbers of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout import _traces
from fadeout.results import Results
from fadeout.studies.vehicular import figures
from fadeout.studies.vehicular.between_cars import paths
from fadeout.studies.vehicular.claims import (
    URBAN,
    classes_verdict,
    failures_verdict,
    motorway_verdict,
    paths_verdict,
    standing_verdict,
    verdicts,
)
from fadeout.studies.vehicular.runs import (
    AT_LOAD,
    CAR_SENDERS,
    CASES,
    CHANGES,
    CHOICES,
    CITY,
    CITY_CHOICES,
    CLAIMS,
    CLASSES,
    COMPOUND,
    CUBIC,
    DATA,
    DENSITIES,
    MAIN,
    MOTORWAY,
    MOTORWAY_NETWORKS,
    MOTORWAY_READINGS,
    MOTORWAY_SENDERS,
    NETWORKS,
    ONE_CAR,
    PAGE,
    PLACES,
    PUBLISHED,
    READINGS,
    RTW,
    SENDERS,
    SQUARE,
    STACKS,
    STANDING,
    STANDING_CARS,
    URBAN_RANDOM,
    WITH_LTE,
    Case,
    Choice,
    Effort,
    Found,
    at_load,
    capacity_mbps,
    grid,
    measure,
    measure_city,
    measure_failure,
    measure_handovers,
    measure_standing,
)
from fadeout.study import (
    QUIET,
    QUIET_CELL,
    Change,
    Numbers,
    OfSeeds,
    Outcome,
    Runs,
    Section,
    Study,
    combined,
    estimate,
    gain_pct,
    judged,
    mean,
    means,
    pivot,
    series,
)
from fadeout.study.figures import bar_rows, line_panels

PAPERS_MS = dict(zip((one.name for one in MAIN), PUBLISHED["table3_rtt_ms"].values(), strict=True))
"""Round-trip times of the paper's Table 3, by sender."""

SHOWN_S = 3.0
"""Length of the tracks on the maps in seconds, in which a car at 30 m/s crosses the square."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    capacity = capacity_mbps(runs)
    runs.facts["capacity of a link in Mbit/s"] = round(capacity, 1)
    effort = runs.effort
    found = grid(runs, capacity)
    roads = runs.combinations([(sender,) for sender in MAIN], MOTORWAY, measure)
    at_rest = standing(runs)
    cut = failures(runs)
    blocked = between_cars(runs)
    yield PAGE.section("motorway", [of_motorway(one, numbers) for (one,), numbers in roads.items()])
    yield PAGE.claims(
        [
            standing_verdict(at_rest),
            failures_verdict(cut),
            *verdicts(found, effort.loads, capacity),
            motorway_verdict({one: numbers for (one,), numbers in roads.items()}),
            classes_verdict(found, effort.class_loads[-1]),
            paths_verdict(blocked),
        ]
    )
    yield handovers(runs, capacity)
    yield motorway_handovers(runs)
    yield assumptions(runs, capacity)
    yield throughput(found, effort)
    yield round_trips(found)
    yield classes(found, effort)
    yield load(at_rest, effort)
    yield failures_section(cut, runs)
    yield maps(runs)
    yield windows(runs, capacity)
    yield PAGE.section("predictions", [predictions(found, place) for place in PLACES])
    names = ("unit_pct", "nearest_pct", "as_far_pct")
    records = [{"place": place} | means(each, *names) for place, each in blocked.items()]
    yield PAGE.section("between-cars", records)
    yield today(runs, capacity)
    yield city(runs)


def of_motorway(scheme: Choice, numbers: OfSeeds) -> dict[str, Any]:
    """Returns a sender on the motorway, beside the paper's Table 3."""
    found = means(numbers, "rtt_ms", "goodput_mbps", "timeouts", "cuts")
    return {
        "sender": scheme.name,
        "paper_ms": PAPERS_MS[scheme.name],
        **{name.partition("_")[0]: value for name, value in found.items()},
    }


def of_networks(
    runs: Runs[Effort],
    scenario: Path,
    points: Sequence[tuple[Change, Choice]],
    claim: str,
    *load: Choice,
) -> list[dict[str, Any]]:
    """Returns the numbers of networks and senders, with the check of the paper's gain."""
    found = runs.combinations(
        [(*load, *point) for point in points],
        scenario,
        measure_handovers,
        seeds=min(runs.effort.seeds, runs.effort.handover_seeds),
        with_tables=True,
    )
    names = ("handovers", "lost_packets", "goodput_mbps", "timeouts", "rtt_ms")
    records = []
    for network, sender in points:
        numbers = found[*load, network, sender]
        gain, over_compound = (
            gain_pct(numbers, found[*load, network, base], "goodput_mbps")
            for base in (CUBIC, COMPOUND)
        )
        records.append(
            {"network": network.name, "sender": sender.name}
            | means(numbers, *names)
            | {"over_cubic_pct": gain, "over_compound_pct": over_compound}
            | {"verdict": str(CLAIMS[claim].check("over CUBIC").outcome(gain))}
            | {"seeds": len(numbers)}
        )
    return records


def handovers(runs: Runs[Effort], capacity: float) -> Section:
    """Returns the section on site structure and handover at urban-random and the highest load."""
    high = runs.effort.loads[-1]
    points = [(network, sender) for network in NETWORKS for sender in SENDERS]
    records = of_networks(runs, SQUARE, points, "urban_random", at_load(high * capacity))
    return PAGE.section(
        "handovers",
        pivot(records, "sender", "network"),
        data=records,
        load=high,
        shown=[one.name for one in (*STACKS, *READINGS)],
        appears=appears(records, "the paper's 7.5 %"),
    )


def motorway_handovers(runs: Runs[Effort]) -> Section:
    """Returns the section on Table 3 and Figure 12 with other networks."""
    points = [(network, sender) for network in MOTORWAY_NETWORKS for sender in MOTORWAY_SENDERS]
    records = of_networks(runs, MOTORWAY, points, "realistic")
    shown = [one.name for one in MOTORWAY_READINGS]
    return PAGE.section(
        "motorway-handovers",
        pivot(records, "sender", "network"),
        data=records,
        timed=list(PAPERS_MS),
        timed_ms=PAPERS_MS,
        shown=shown,
        paper_gain={name: "+11" if name == RTW.name else "" for name in shown},
        appears=appears(records, "the paper's 11 %"),
    )


def appears(records: Sequence[Mapping[str, Any]], what: str) -> str:
    """Returns a list of the senders, and of the networks in which each has the paper's gain."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        sender, verdict = record["sender"], record["verdict"]
        if verdict in (Outcome.HOLDS, Outcome.OPEN) and sender != CUBIC.name:
            found.setdefault((sender, verdict), []).append(record["network"])
    head = f"Senders whose gain over CUBIC is {what}, by the check of `published.toml`"
    lines = [
        "\n".join([f"- *{sender}*: {verdict} with", *(f"  - {name}" for name in networks)])
        for (sender, verdict), networks in found.items()
    ]
    return f"{head}:\n\n" + "\n".join(lines) if lines else f"{head}: none."


def assumptions(runs: Runs[Effort], capacity: float) -> Section:
    """Returns the section on the effect of each open assumption."""
    load = at_load(AT_LOAD * capacity)
    found = runs.combinations(
        [(URBAN_RANDOM, load, sender, change) for change in CHANGES for sender in (RTW, CUBIC)],
        SQUARE,
        measure,
        seeds=runs.effort.swept,
    )
    records, data = [], []
    for change in CHANGES:
        ours, cubic = (found[URBAN_RANDOM, load, sender, change] for sender in (RTW, CUBIC))
        numbers = means(cubic, "goodput_mbps", "timeouts", "cuts")
        goodput, timeouts, cuts = numbers.values()
        gain, delay = gain_pct(ours, cubic, "goodput_mbps"), gain_pct(cubic, ours, "rtt_ms")
        records.append(
            {"name": change.name, "goodput": goodput, "timeouts": timeouts.mean, "cuts": cuts.mean}
            | {"gain": judged(gain, "+.2f"), "delay": judged(delay, "+.1f")}
        )
        data.append(
            {**change.data(), **goodput.data("cubic_", "_mbps"), **gain.data("gain_", "_pct")}
            | delay.data("delay_", "_pct")
            | {"timeouts": timeouts.mean, "cuts": cuts.mean}
        )
    return PAGE.section("assumptions", records, data=data)


def throughput(found: Found, effort: Effort) -> Section:
    """Returns the section on figure 8."""
    records = [
        {"place": place.name, "sender": scheme.name, "load": load}
        | {"goodput": mean(found[place, scheme, load], "goodput_mbps")}
        for place in PLACES
        for scheme in MAIN
        for load in effort.loads
    ]
    figure = line_panels(
        series(records, "place", "sender", value="goodput"),
        effort.loads,
        x_label="Normalised load",
        y_label="Throughput of all cars (Mbit/s)",
        share_y=True,
    )
    return PAGE.section(
        "throughput",
        pivot(records, "load", "place", "sender"),
        data=records,
        unit="_mbps",
        figures={"throughput": figure},
        loads={load: f"{load:g}" for load in effort.loads},
    )


def round_trips(found: Found) -> Section:
    """Returns the section on figure 9."""
    records = [
        {"place": place.name, "sender": scheme.name}
        | {"rtt": mean(found[place, scheme, AT_LOAD], "rtt_ms")}
        for place in PLACES
        for scheme in MAIN
    ]
    names = [place.name for place in PLACES]
    bars = {"Mean RTT (ms)": series(records, "sender", value="rtt")}
    return PAGE.section(
        "rtt",
        pivot(records, "place", "sender"),
        data=records,
        unit="_ms",
        figures={"rtt": bar_rows(bars, [name.replace("-", "\n") for name in names])},
        places=names,
    )


def classes(found: Found, effort: Effort) -> Section:
    """Returns the section on the paper's Table 2, with numbers."""
    load = effort.class_loads[-1]

    def cell(scheme: Choice, place: Choice) -> str:
        ours, cubic = (found[place, one, load] for one in (scheme, CUBIC))
        gain = gain_pct(ours, cubic, "goodput_mbps").text("+.2f", " %")
        rate = f"{mean(ours, 'goodput_mbps').mean:.0f} Mbit/s" if scheme is CUBIC else gain
        return f"{rate}, {mean(ours, 'timeouts').mean:.1f}"

    data = []
    for (place, scheme, at), numbers in found.items():
        goodput, rtt, timeouts = means(numbers, "goodput_mbps", "rtt_ms", "timeouts").values()
        data.append(
            {"place": place.name, "sender": scheme.name, "load": at}
            | goodput.data("goodput_", "_mbps")
            | rtt.data("rtt_", "_ms")
            | timeouts.data("timeouts_")
        )
    records = [
        {"sender": scheme.name, "class": scheme.kind}
        | {"cells": {place.name: cell(scheme, place) for place in PLACES}}
        for scheme in (*MAIN, *CLASSES)
    ]
    places = [place.name for place in PLACES]
    return PAGE.section("classes", records, data=data, load=load, places=places)


def standing(runs: Runs[Effort]) -> dict[tuple[str, str, float], OfSeeds]:
    """Returns the numbers of cars at rest, by radio, buffer and load."""
    found: dict[tuple[str, str, float], OfSeeds] = {}
    for one in STANDING:
        loads = [at_load(mbps, STANDING_CARS, one.flows) for mbps in runs.effort.static_loads]
        common = QUIET_CELL if len(one.flows) == 1 else QUIET
        of = runs.combinations([(one, at) for at in loads], SQUARE, measure_standing, common)
        for mbps, numbers in zip(runs.effort.static_loads, of.values(), strict=True):
            found[one.radio, one.buffer, mbps] = numbers
    return found


def load(found: Mapping[tuple[str, str, float], OfSeeds], effort: Effort) -> Section:
    """Returns the section on figure 2."""
    records = [
        {"network": radio, "buffer": buffer, "load_mbps": at}
        | means(numbers, "rate_mbps", "loss_pct", "rtt_ms", "timeouts")
        for (radio, buffer, at), numbers in found.items()
    ]
    lines = [{**record, "line": f"{record['network']}, {record['buffer']}"} for record in records]
    drawn = {
        "Rate of all cars (Mbit/s)": series(lines, "line", value="rate_mbps"),
        "Lost to full buffers (%)": series(lines, "line", value="loss_pct"),
    }
    figure = figures.rate_and_loss(drawn, effort.static_loads)
    return PAGE.section("load", records, figures={"load": figure})


def failures(runs: Runs[Effort]) -> Mapping[Case, OfSeeds]:
    """Returns the numbers of one car with each failure."""
    length = {"duration": f"{runs.effort.failure_s:g} s"}
    seeds = runs.effort.swept
    return runs.combinations(CASES, ONE_CAR, measure_failure, length, seeds=seeds, with_tables=True)


def failures_section(found: Mapping[Case, OfSeeds], runs: Runs[Effort]) -> Section:
    """Returns the section on figures 3 to 5."""
    names = ("cuts", "longest_ms", "goodput_mbps", "timeouts", "recoveries", "least_segments")
    records = []
    for failure, mode in dict.fromkeys((failure, mode) for failure, mode, _ in CASES):
        cubic, rtw, linux = (found[failure, mode, sender] for sender in CAR_SENDERS)
        records.append(
            {"cause": failure.cause, "failure": failure.name, "link": mode.name}
            | means(cubic, *names)
            | {"rtw_pct": gain_pct(rtw, cubic, "goodput_mbps")}
            | {"linux_pct": gain_pct(linux, cubic, "goodput_mbps")}
        )
    length = {"duration": f"{runs.effort.failure_s:g} s"}
    drawn = [case for case in CASES if case[0].is_drawn]
    jobs = [combined(ONE_CAR, length, *case).seeded(1, with_tables=True) for case in drawn]
    panels: dict[str, dict[str, Results]] = {}
    for (failure, mode, sender), results in zip(drawn, runs.whole(jobs), strict=True):
        title = f"{failure.cause}: {failure.name}\n{mode.name}"
        panels.setdefault(title, {})[sender.name] = results
    figure = figures.windows(panels, 2, marks_cuts=True)
    return PAGE.section("failures", records, figures={"failing": figure})


def between_cars(runs: Runs[Effort]) -> dict[str, list[Numbers]]:
    """Returns the shares of blocked paths in each place, by seed."""
    squares = runs.combinations([(place,) for place in PLACES[1:]], SQUARE, paths)
    road = runs.combinations([()], MOTORWAY, paths)
    return {place.name: numbers for (place,), numbers in squares.items()} | {"motorway": road[()]}


def maps(runs: Runs[Effort]) -> Section:
    """Returns the section on figures 6 and 7."""
    shown = {"duration": f"{SHOWN_S:g} s"}
    made = runs.whole([combined(SQUARE, shown, place, at_load(100.0)) for place in PLACES])
    drawn = dict(zip((place.name for place in PLACES), made, strict=True))
    return PAGE.section("maps", figures={"maps": figures.maps(drawn)}, shown_s=SHOWN_S)


def windows(runs: Runs[Effort], capacity: float) -> Section:
    """Returns the section on figures 10 and 11."""
    points = [(place, at_load(AT_LOAD * capacity), one) for place in URBAN for one in MAIN]
    jobs = [combined(SQUARE, runs.effort.duration, *point) for point in points]
    made = runs.whole([job.seeded(1, with_tables=True) for job in jobs])
    panels = {
        f"{place.name}\n{sender.name}": {"": run}
        for (place, _, sender), run in zip(points, made, strict=True)
    }
    figure = figures.windows(panels, len(MAIN), marks_cuts=False)
    return PAGE.section("windows", figures={"windows": figure})


def predictions(found: Found, place: Choice) -> dict[str, Any]:
    """Returns the quality of the predictions at a place, over the runs that have any."""
    names = ("cuts", "precision", "recall", "lead_s", "length_error_s")
    return {"place": place.name} | means(found[place, RTW, AT_LOAD], *names)


def today(runs: Runs[Effort], capacity: float) -> Section:
    """Returns the section on the choices of today at urban-random and load 1."""
    load = at_load(AT_LOAD * capacity)
    points = [(load, density, choice) for density in DENSITIES for choice in CHOICES]
    found = runs.combinations(points, WITH_LTE, measure)
    records = []
    for (_, density, choice), numbers in found.items():
        goodput, rtt, timeouts = means(numbers, "goodput_mbps", "rtt_ms", "timeouts").values()
        gain = gain_pct(numbers, found[load, density, CHOICES[0]], "goodput_mbps")
        records.append(
            {"units": density.name, "choice": choice.name, "goodput": goodput, "gain": gain}
            | {"rtt": rtt, "timeouts": timeouts}
        )
    return PAGE.section("today", records)


def why_no_city(effort: Effort) -> str | None:
    """Returns the reason why the city is left out. None if it is not."""
    if effort.city_s <= 0:
        return "Left out of a quick study: 200 vehicles take minutes of a processor."
    return None if _traces.find_sumo() is not None else f"Left out: {_traces.MISSING}."


def city(runs: Runs[Effort]) -> Section:
    """Returns the section that compares the choices in a city of SUMO."""
    left_out = why_no_city(runs.effort)
    if left_out is not None:
        return Section(name="city", title=PAGE.parts["city"].title.text, text=left_out)
    effort = runs.effort
    found = runs.combinations(
        [(choice,) for choice in CITY_CHOICES],
        CITY,
        measure_city,
        {**QUIET_CELL, "duration": f"{effort.city_s:g} s"},
        seeds=min(effort.city_seeds, effort.seeds),
        with_tables=True,
    )
    records = []
    for (choice,), numbers in found.items():
        goodputs = [each["goodputs_mbps"] for each in numbers]
        rtt, timeouts, changes = means(numbers, "rtt_ms", "timeouts", "handovers").values()
        records.append(
            {
                "choice": choice.name,
                "goodput": estimate([sum(each) for each in goodputs]),
                "worst": estimate([fmean(each[: max(1, len(each) // 10)]) for each in goodputs]),
                "rtt": rtt,
                "timeouts": timeouts,
                "handovers": changes,
            }
        )
    shares = {choice.name: numbers[0]["goodputs_mbps"] for (choice,), numbers in found.items()}
    figure = figures.shares(shares)
    return PAGE.section("city", records, figures={"shares": figure}, length_s=effort.city_s)


STUDY = Study.of(DATA, PAGE, Effort, sections)
