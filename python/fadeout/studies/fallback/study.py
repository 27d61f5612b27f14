"""The study on fallback: its report."""

from collections.abc import Iterator

from fadeout.studies.fallback import answers, figures
from fadeout.studies.fallback.runs import (
    CLEAR,
    DATA,
    NOTHING,
    PAGE,
    SENDERS,
    THRESHOLDS,
    Effort,
    Plan,
)
from fadeout.study import Found, Runs, Section, Study, Tables
from fadeout.study.found import Point

LABELS = {
    "goodput": ("goodput_mbps", "Goodput (Mbit/s)"),
    "silence": ("silence_ms", "Longest silence (ms)"),
    "delay": ("rtt_p99_ms", "RTT, 99th percentile (ms)"),
}
"""Numbers that are shown over the length of a blockage, by section, with the label of an axis."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    plan = Plan(runs)
    of, tables = plan.main(), Tables(DATA, PAGE, plan)
    yield PAGE.section("answer", answers.judged(of), answer=answers.words(of))
    for name in LABELS:
        yield over_length(tables, of, name, runs.effort)
    yield tables.section("timeouts", of, lengths=names(of))
    yield cost(tables, of, runs.effort)
    yield thresholds(tables, plan["thresholds"])
    yield tables.section("vehicle")
    yield tables.section("rate")


def names(of: Found) -> list[str]:
    """Returns the names of the lengths of blockage."""
    return [length.name for length in of.parts("blocked")]


def over_length(tables: Tables, of: Found, name: str, effort: Effort) -> Section:
    """Returns the section on a number by remedy and length.

    Goodput with a remedy is shown as the gain over no remedy, in percent.
    """
    key, label = LABELS[name]

    def cell(at: Point) -> str:
        is_gain = key == "goodput_mbps" and at[1] != NOTHING
        return format(answers.gain_pct(of, at), "+.1f") if is_gain else f"{of.mean(at, key):.1f}"

    series = {
        row: [of.mean((*row, length), key) for length in answers.lengths(of)]
        for row in answers.rows(of)
    }
    drawn = figures.over_length(series, effort.lengths_s, label, log=key.endswith("_ms"))
    return tables.section(name, of, {"cell": cell}, {name: drawn}, lengths=names(of))


def cost(tables: Tables, of: Found, effort: Effort) -> Section:
    """Returns the section on the radio resources that each remedy takes."""
    longest = max(length for length in effort.lengths_s if length <= 1.0)
    shown = of.only({"blocked": [CLEAR.name, f"{longest:g} s"]})
    first = shown.along("sender")[SENDERS[0]]
    drawn = {
        carrier: {
            length.name: [at.mean(point, key) for point in at]
            for length, at in first.along("blocked").items()
        }
        for carrier, key in (("38 GHz", "small_pct"), ("2.1 GHz", "macro_pct"))
    }
    columns = {"macro_ms_per_mb": lambda at: answers.macro_ms_a_megabyte(of, at)}
    remedies = [remedy.name for remedy in first.parts("remedy")]
    return tables.section("cost", shown, columns, {"cost": figures.cost(drawn, remedies)})


def thresholds(tables: Tables, of: Found) -> Section:
    """Returns the section on the threshold at which EN-DC switches."""
    shown = of.only({"remedy": [remedy.name for remedy in THRESHOLDS]})
    columns = {
        "gain": lambda at: of.less(at, answers.nothing(of, at), "goodput_mbps"),
        "threshold_kb": lambda at: THRESHOLDS[at[1]],
        "_line": lambda at: f"{at[0].name}, {at[2].name}",
    }
    records = tables.records("threshold", shown, columns)
    drawn = {"thresholds": figures.over_threshold(records)}
    return tables.section("threshold", shown, columns, drawn)


STUDY = Study.of(DATA, PAGE, Effort, sections)
