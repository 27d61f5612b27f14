"""The study on mobility: its tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fadeout.studies.mobility import claims, figures
from fadeout.studies.mobility.geometry import AVERAGED_S, HELD_S, closed_form, walk
from fadeout.studies.mobility.runs import (
    BASE,
    Effort,
    Found,
    LinePoint,
    count,
    failure,
    grid,
    lines,
    ping_pong,
    short_stay,
    sweep,
    triggers,
)
from fadeout.studies.mobility.setups import (
    AT_KMH,
    CHANGES,
    CIRCLE_AT,
    CIRCLE_CHANGES,
    CIRCLE_POINTS,
    MIDDLE,
    SETS,
    Trigger,
)
from fadeout.study import (
    Change,
    Estimate,
    Moved,
    Numbers,
    Runs,
    Section,
    Study,
    Table,
    assumptions_section,
    estimate,
)

FOLDER = Path(__file__).parent

DRAWN = (
    "Share of the lines through a circular pico on which the handover fails. Only the points "
    "were computed."
)

RATES = {
    "Failures": failure,
    "Ping-pongs": ping_pong,
    "Short stays": short_stay,
}


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    through = lines(runs)
    effort = runs.effort
    runs.facts["ues_a_run"] = effort.ues
    runs.facts["lines_a_run"] = effort.lines
    yield circle_section(through, effort)
    yield leaves_out_section(through, effort)
    found = grid(runs)
    swept = sweep(runs)
    yield claims.section(found, swept, effort.speeds_kmh, effort.sets)
    yield speeds_section(found, effort)
    yield triggers_section(triggers(runs), effort)
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


def circle_section(found: Mapping[LinePoint, Sequence[Numbers]], effort: Effort) -> Section:
    """Returns the section that compares lines through a pico with geometry."""
    records = []
    drawn: dict[float, list[tuple[int, float, float, Estimate]]] = {}
    for kmh, ms in CIRCLE_POINTS:
        numbers = found[kmh, ms, BASE]
        ours = of_lines(numbers, effort.lines)
        delay_s = command_s(numbers)
        form = closed_form(kmh / 3.6, ms / 1e3).values()
        walked = walk(
            kmh / 3.6, ms / 1e3, command_s=delay_s, averaged_s=AVERAGED_S, held_s=HELD_S
        ).values()
        record: dict[str, object] = {
            "speed_kmh": kmh,
            "trigger_ms": ms,
            "command_ms": 1e3 * delay_s,
        }
        for name in form:
            record |= {
                f"{name}_closed_form_pct": 100 * form[name],
                f"{name}_walked_pct": 100 * walked[name],
                name: ours[name],
            }
            record[f"_{name}"] = (
                f"{100 * form[name]:.1f}, {100 * walked[name]:.1f}, {ours[name]:.1f}"
            )
        records.append(record)
        shown = (ms, 100 * form["failed"], 100 * walked["failed"], ours["failed"])
        drawn.setdefault(kmh, []).append(shown)
    return Section(
        name="circle",
        title="A circular pico: geometry and the simulator",
        text=(
            "UEs move along straight lines that pass a pico's centre at any distance up to 50 m. "
            "The condition of event A3 begins to hold at 50 m, and the macro is below Qout "
            "within 40 m. Each cell of the table has three percentages of all lines. They are "
            "from the closed form, from a numerical walk along the lines, and from the "
            "simulator. The walk includes the delays of the simulator. In the walk, Qout is "
            "compared with a mean over 200 ms, and interference levels are up to 100 ms old. The "
            "walk also includes the time from the report to the command. *None*: the UE leaves "
            "the pico before the time to trigger is over. *Failed*: the UE is within 40 m before "
            "it has the command. *Ping-pong*: the UE is handed over to the pico and back within "
            "1 s."
        ),
        table=Table.of(
            records,
            {
                "speed": "{speed_kmh:g} km/h",
                "time to trigger": "{trigger_ms} ms",
                "none": "{_none}",
                "failed": "{_failed}",
                "ping-pong": "{_ping_pong}",
                "command after": "{command_ms:.0f} ms",
            },
            unit="_pct",
        ),
        figures={DRAWN: figures.circle(drawn)},
        is_headline=True,
    )


def leaves_out_section(found: Mapping[LinePoint, Sequence[Numbers]], effort: Effort) -> Section:
    """Returns the section on effects that the closed form omits, one at a time."""
    form = closed_form(CIRCLE_AT[0] / 3.6, CIRCLE_AT[1] / 1e3).values()

    def moved(change: Change) -> Moved:
        numbers = found[(*CIRCLE_AT, change)]
        ours = of_lines(numbers, effort.lines)
        data: dict[str, float | None] = {}
        for name, value in ours.items():
            data |= value.data(f"{name}_", "_pct")
        cells = [f"{ours[name]:.1f}" for name in form]
        return Moved(change, [*cells, f"{1e3 * command_s(numbers):.0f}"], [data])

    return assumptions_section(
        [moved(change) for change in (BASE, *CIRCLE_CHANGES)],
        ["none %", "failed %", "ping-pong %", "command after ms"],
        f"The speed is {CIRCLE_AT[0]:g} km/h, and the time to trigger is {CIRCLE_AT[1]} ms. Each "
        "row adds one effect that the closed form omits. The closed form has "
        f"{100 * form['none']:.1f} % (*none*), {100 * form['failed']:.1f} % (*failed*) and "
        f"{100 * form['ping_pong']:.1f} % (*ping-pong*).",
        name="circle-assumptions",
        title="What the closed form leaves out",
    )


def speeds_section(found: Found, effort: Effort) -> Section:
    """Returns the section on rates by speed and set."""
    records = []
    for n in effort.sets:
        for kmh in effort.speeds_kmh:
            numbers = found[kmh, SETS[n], BASE]
            ue_seconds = effort.ues * effort.length_s(kmh)
            records.append(
                {
                    "set": n,
                    "_trigger": SETS[n].name,
                    "trigger_ms": SETS[n].trigger_ms,
                    "offset_db": SETS[n].offset_db,
                    "filter": SETS[n].filter,
                    "speed_kmh": kmh,
                    "handovers_a_ue_s": estimate(
                        [each["handovers"] / ue_seconds for each in numbers]
                    ),
                    "state_1": estimate([each["failures_state_1"] for each in numbers]),
                    "state_2": estimate([each["failures_state_2"] for each in numbers]),
                    "state_3": estimate([each["failures_state_3"] for each in numbers]),
                    "failure_pct": failure(numbers),
                    "ping_pong_pct": ping_pong(numbers),
                    "short_stay_pct": short_stay(numbers),
                }
            )
    drawn = {
        title: {
            f"set {n}": [rate(found[kmh, SETS[n], BASE]) for kmh in effort.speeds_kmh]
            for n in effort.sets
        }
        for title, rate in RATES.items()
    }
    return Section(
        name="speeds",
        title="Failures, ping-pongs and short stays by speed and set",
        text=(
            "The parameter sets of TR 36.839 (time to trigger, offset, filter) are from memory. "
            "*State 1*: number of failures in a run before the condition of A3 holds. *State 2*: "
            "number of failures from then until the UE has the command. *State 3*: number of "
            "failures in the target cell. *Failures*: failures of states 2 and 3, divided by the "
            "sum of these failures and the handovers. The shares of ping-pongs and short stays "
            "are relative to the handovers. A short stay lasts less than 1 s, and ping-pongs are "
            "short stays too."
        ),
        table=Table.of(
            records,
            {
                "set": "{set}: {_trigger}",
                "speed": "{speed_kmh:g} km/h",
                "handovers a UE and s": "{handovers_a_ue_s:.3f}",
                "state 1": "{state_1:.2f}",
                "state 2": "{state_2:.2f}",
                "state 3": "{state_3:.2f}",
                "failures %": "{failure_pct:.1f}",
                "ping-pongs %": "{ping_pong_pct:.1f}",
                "short stays %": "{short_stay_pct:.1f}",
            },
        ),
        figures={"Rates by speed.": figures.by_speed(drawn, effort.speeds_kmh)},
        is_headline=True,
    )


def triggers_section(found: Found, effort: Effort) -> Section:
    """Returns the section on rates by time to trigger and offset, at one speed."""

    def at(ms: int, db: float) -> list[Numbers]:
        return found[AT_KMH, Trigger(ms, db, MIDDLE.filter), BASE]

    records = [
        {
            "trigger_ms": ms,
            "offset_db": db,
            "failure_pct": failure(at(ms, db)),
            "ping_pong_pct": ping_pong(at(ms, db)),
            "short_stay_pct": short_stay(at(ms, db)),
        }
        for ms in effort.triggers_ms
        for db in effort.offsets_db
    ]
    drawn = {
        title: {
            f"{db:g} dB": [rate(at(ms, db)) for ms in effort.triggers_ms]
            for db in effort.offsets_db
        }
        for title, rate in RATES.items()
    }
    return Section(
        name="triggers",
        title="Time to trigger and offset",
        text=f"The speed is {AT_KMH:g} km/h, and the filter coefficient k is {MIDDLE.filter}.",
        table=Table.of(
            records,
            {
                "time to trigger": "{trigger_ms} ms",
                "offset": "{offset_db:g} dB",
                "failures %": "{failure_pct:.1f}",
                "ping-pongs %": "{ping_pong_pct:.1f}",
                "short stays %": "{short_stay_pct:.1f}",
            },
        ),
        figures={"Rates by time to trigger.": figures.by_trigger(drawn, effort.triggers_ms)},
    )


def assumptions(found: Found) -> Section:
    """Returns the section on the effect of each assumption."""

    def moved(change: Change) -> Moved:
        numbers = found[AT_KMH, MIDDLE, change]
        rates = [rate(numbers) for rate in RATES.values()]
        handovers = estimate([each["handovers"] for each in numbers])
        data = handovers.data("handovers_")
        for name, value in zip(RATES, rates, strict=True):
            data |= value.data(f"{name.lower().replace(' ', '_').replace('-', '_')}_", "_pct")
        return Moved(change, [f"{handovers:.1f}", *(f"{value:.1f}" for value in rates)], [data])

    return assumptions_section(
        [moved(change) for change in (BASE, *CHANGES)],
        ["handovers a run", *(f"{name.lower()} %" for name in RATES)],
        f"The speed is {AT_KMH:g} km/h, with set 3. Each row changes one assumption. The first "
        "two rows have all seeds.",
    )


STUDY = Study(
    name="mobility",
    folder=FOLDER,
    title="Handover failures and ping-pongs among macro cells and picos",
    introduction="""\
UEs move straight on among 19 sites at full load, as in TR 36.839. Each site has three sectors with
a pico each. The study counts handover failures by the states of TR 36.839, ping-pongs, and short
stays. The study varies the speed, the event's time to trigger and its offset. The tables of TR
36.839 were not available. The first section therefore compares our results with the closed form of
a circular pico. Intervals (±) are 95 % confidence intervals over seeds, and all points use the same
seeds. README.md lists the choices.
""",
    full=Effort(seeds=20, swept_seeds=5, duration_s=10),
    quick=Effort(
        seeds=5,
        swept_seeds=3,
        duration_s=4,
        ues=20,
        lines=30,
        circle_seeds=3,
        sets=(1, 3, 5),
        triggers_ms=(40, 160, 480),
        offsets_db=(-1.0, 3.0),
    ),
    count=count,
    sections=sections,
    other_scenarios={"scenario_of_the_circle": "circle.toml"},
)
