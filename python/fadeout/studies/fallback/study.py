"""The study on fallback: its report."""

from collections.abc import Callable, Iterator

from fadeout.studies.fallback import answers, figures
from fadeout.studies.fallback.runs import (
    CLEAR_S,
    DATA,
    NOTHING,
    PAGE,
    POINTS,
    SENDERS,
    Effort,
    found,
    head,
    points,
    swept_points,
    switching,
    vehicle_points,
    wide_points,
)
from fadeout.study import Estimate, Found, Runs, Section, Study, Tables
from fadeout.study.found import Point

TABLES = Tables(DATA, PAGE, {})

LABELS = {
    "goodput": ("goodput_mbps", "Goodput (Mbit/s)"),
    "silence": ("silence_ms", "Longest silence (ms)"),
    "delay": ("rtt_p99_ms", "RTT, 99th percentile (ms)"),
}
"""Numbers that are shown over the length of a blockage, by section, with the label of an axis."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    of = in_order(found(runs, points(runs.effort)))
    yield PAGE.section("answer", answers.judged(of), answer=answers.words(of))
    for name in LABELS:
        yield over_length(of, name, runs.effort)
    yield TABLES.section("timeouts", of, lengths=of.parts("blocked"))
    yield cost(of, runs.effort)
    yield thresholds(found(runs, swept_points()))
    yield TABLES.section("vehicle", found(runs, vehicle_points()))
    yield TABLES.section("rate", in_order(found(runs, wide_points(runs.effort))))


def in_order(of: Found) -> Found:
    """Returns the points by sender, then by remedy, then by length."""
    lengths = of.parts("blocked")
    at = [(*row, length) for row in dict.fromkeys(point[:2] for point in of) for length in lengths]
    return of.picked(at)


def over_length(of: Found, name: str, effort: Effort) -> Section:
    """Returns the section on a number by remedy and length.

    Goodput with a remedy is shown as the gain over no remedy, in percent.
    """
    key, label = LABELS[name]

    def cell(at: Point) -> str:
        is_gain = key == "goodput_mbps" and at[1] != NOTHING.name
        return format(answers.gain_pct(of, at), "+.1f") if is_gain else f"{of.mean(at, key):.1f}"

    series = {
        row: [of.mean((*row, length), key) for length in answers.lengths(of)]
        for row in answers.rows(of)
    }
    drawn = figures.over_length(series, effort.lengths_s, label, log=key.endswith("_ms"))
    return TABLES.section(name, of, {"cell": cell}, {name: drawn}, lengths=of.parts("blocked"))


def cost(of: Found, effort: Effort) -> Section:
    """Returns the section on the radio resources that each remedy takes."""
    shown = [head(CLEAR_S), head(max(length for length in effort.lengths_s if length <= 1.0))]
    first = next(iter(SENDERS))
    names = [remedy for sender, remedy in answers.rows(of) if sender == first]
    drawn = {
        carrier: {
            length: [of.mean((first, name, length), key) for name in names] for length in shown
        }
        for carrier, key in (("38 GHz", "small_pct"), ("2.1 GHz", "macro_pct"))
    }
    columns = {"macro_ms_per_mb": lambda at: answers.macro_ms_a_megabyte(of, at)}
    figure = {"cost": figures.cost(drawn, names)}
    return TABLES.section("cost", of.only({"blocked": shown}), columns, figure)


def thresholds(of: Found) -> Section:
    """Returns the section on the threshold at which EN-DC switches."""
    names = {switching(f"{kb} kB").name: kb for kb in POINTS.thresholds_kb}
    lengths = of.parts("blocked")
    at = [(sender, name, length) for sender in SENDERS for name in names for length in lengths]

    def gain(point: Point) -> Estimate:
        return of.less(point, answers.nothing(of, point), "goodput_mbps")

    def over(read: Callable[[Point], Estimate]) -> dict[str, list[Estimate]]:
        lines: dict[str, list[Estimate]] = {}
        for point in at:
            lines.setdefault(f"{point[0]}, {point[2]}", []).append(read(point))
        return lines

    drawn = {
        "Goodput against nothing (Mbit/s)": over(gain),
        "Macro carrier (%)": over(lambda point: of.mean(point, "macro_pct")),
    }
    return TABLES.section(
        "threshold",
        of.picked(at),
        {"gain": gain, "threshold_kb": lambda point: names[point[1]]},
        {"thresholds": figures.over_threshold(drawn, POINTS.thresholds_kb)},
    )


STUDY = Study.of(DATA, PAGE, Effort, sections)
