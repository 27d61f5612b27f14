"""The study on mobility: the numbers of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.studies.mobility import claims, figures
from fadeout.studies.mobility.geometry import AVERAGED_S, HELD_S, closed_form, walk
from fadeout.studies.mobility.runs import (
    Found,
    LinePoint,
    grid,
    lines,
    rates,
    sweep,
    triggers,
)
from fadeout.studies.mobility.setups import (
    AT_KMH,
    BASE,
    CHANGES,
    CIRCLE_CHANGES,
    DATA,
    LINES,
    MIDDLE,
    PAGE,
    SETS,
    Effort,
    Trigger,
)
from fadeout.study import Estimate, Numbers, Runs, Section, Study, estimate, series
from fadeout.study.figures import line_panels

OUTCOMES = {"none": "none", "failed": "failed", "ping_pong": "ping-pong"}
"""Outcomes of a line through a pico, and their heads in tables."""

RATES = {
    "failure_pct": "Failures",
    "ping_pong_pct": "Ping-pongs",
    "short_stay_pct": "Short stays",
}
"""Rates, and their titles in figures."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    through = lines(runs)
    effort = runs.effort
    runs.facts["ues_a_run"] = effort.ues
    runs.facts["lines_a_run"] = effort.lines
    yield circle(through, effort)
    yield circle_assumptions(through, effort)
    found = grid(runs)
    swept = sweep(runs)
    yield PAGE.claims(claims.verdicts(found, swept, effort.speeds_kmh, effort.sets))
    yield speeds(found, effort)
    yield trigger_grid(triggers(runs), effort)
    yield assumptions(swept)


def of_lines(numbers: Sequence[Numbers], lines: int) -> dict[str, Estimate]:
    """Returns the outcomes of lines in percent."""
    counts = {
        "none": [lines - each["failed"] - each["handed_over"] for each in numbers],
        "failed": [each["failed"] for each in numbers],
        "ping_pong": [each["ping_pong"] for each in numbers],
    }
    return {name: estimate([100 * n / lines for n in each]) for name, each in counts.items()}


def command_s(numbers: Sequence[Numbers]) -> float:
    """Returns the mean time from a report to the command, in seconds."""
    handed_over = sum(each["handed_over"] for each in numbers)
    return sum(each["command_s"] for each in numbers) / handed_over if handed_over else 0.0


def percent(shares: Mapping[str, float]) -> dict[str, float]:
    """Returns shares in percent."""
    return {name: 100 * share for name, share in shares.items()}


def circle(found: Mapping[LinePoint, Sequence[Numbers]], effort: Effort) -> Section:
    """Returns the section that compares lines through a pico with geometry."""
    records = []
    drawn: dict[float, list[tuple[int, float, float, Estimate]]] = {}
    for kmh, ms in LINES.points:
        numbers = found[kmh, ms, BASE]
        ours = of_lines(numbers, effort.lines)
        delay_s = command_s(numbers)
        form = percent(closed_form(kmh / 3.6, ms / 1e3).values())
        walked = percent(
            walk(
                kmh / 3.6, ms / 1e3, command_s=delay_s, averaged_s=AVERAGED_S, held_s=HELD_S
            ).values()
        )
        record: dict[str, Any] = {
            "speed_kmh": kmh,
            "trigger_ms": ms,
            "command_ms": 1e3 * delay_s,
        }
        for name in OUTCOMES:
            record |= {
                f"{name}_closed_form_pct": form[name],
                f"{name}_walked_pct": walked[name],
                name: ours[name],
            }
        records.append(record)
        shown = (ms, form["failed"], walked["failed"], ours["failed"])
        drawn.setdefault(kmh, []).append(shown)
    return PAGE.section(
        "circle",
        records,
        unit="_pct",
        figures={"circle": figures.circle(drawn)},
        outcomes=OUTCOMES,
    )


def circle_assumptions(found: Mapping[LinePoint, Sequence[Numbers]], effort: Effort) -> Section:
    """Returns the section on effects that the closed form omits, one at a time."""
    kmh, ms = LINES.at
    records = []
    for change in (BASE, *CIRCLE_CHANGES):
        numbers = found[kmh, ms, change]
        records.append(
            {"_change": change, **change.data(), **of_lines(numbers, effort.lines)}
            | {"_command_ms": 1e3 * command_s(numbers)}
        )
    return PAGE.section(
        "circle-assumptions",
        records,
        unit="_pct",
        at=LINES.at,
        form=percent(closed_form(kmh / 3.6, ms / 1e3).values()),
    )


def speeds(found: Found, effort: Effort) -> Section:
    """Returns the section on rates by speed and set."""
    records = []
    for n in effort.sets:
        trigger = SETS[n]
        for kmh in effort.speeds_kmh:
            numbers = found[kmh, trigger, BASE]
            ue_seconds = effort.ues * effort.length_s(kmh)
            records.append(
                {
                    "set": n,
                    "_trigger": trigger.name,
                    "trigger_ms": trigger.trigger_ms,
                    "offset_db": trigger.offset_db,
                    "filter": trigger.filter,
                    "speed_kmh": kmh,
                    "handovers_a_ue_s": estimate(
                        [each["handovers"] / ue_seconds for each in numbers]
                    ),
                    **{
                        f"state_{state}": estimate(
                            [each[f"failures_state_{state}"] for each in numbers]
                        )
                        for state in (1, 2, 3)
                    },
                    **rates(numbers),
                }
            )
    drawn = {
        title: {f"set {n}": each for n, each in series(records, "set", value=name).items()}
        for name, title in RATES.items()
    }
    by_speed = line_panels(drawn, effort.speeds_kmh, x_label="Speed (km/h)", y_label="Share (%)")
    return PAGE.section("speeds", records, figures={"by-speed": by_speed})


def trigger_grid(found: Found, effort: Effort) -> Section:
    """Returns the section on rates by time to trigger and offset, at one speed."""
    records = [
        {"trigger_ms": ms, "offset_db": db}
        | rates(found[AT_KMH, Trigger(ms, db, MIDDLE.filter), BASE])
        for ms in effort.triggers_ms
        for db in effort.offsets_db
    ]
    drawn = {
        title: {f"{db:g} dB": each for db, each in series(records, "offset_db", value=name).items()}
        for name, title in RATES.items()
    }
    triggers_ms = effort.triggers_ms
    figure = line_panels(drawn, triggers_ms, x_label="Time to trigger (ms)", y_label="Share (%)")
    return PAGE.section(
        "triggers",
        records,
        figures={"by-trigger": figure},
        at_kmh=AT_KMH,
        filter=MIDDLE.filter,
    )


def assumptions(found: Found) -> Section:
    """Returns the section on the effect of each assumption."""
    records = []
    for change in (BASE, *CHANGES):
        numbers = found[AT_KMH, MIDDLE, change]
        of_change = dict(
            zip(("failures", "ping_pongs", "short_stays"), rates(numbers).values(), strict=True)
        )
        handovers = estimate([each["handovers"] for each in numbers])
        data = handovers.data("handovers_")
        for name, value in of_change.items():
            data |= value.data(f"{name}_", "_pct")
        records.append(
            {"_change": change, "_shown": {"handovers": handovers, **of_change}}
            | change.data()
            | data
        )
    return PAGE.section("assumptions", records, at_kmh=AT_KMH)


STUDY = Study.of(DATA, PAGE, Effort, sections)
