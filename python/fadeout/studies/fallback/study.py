"""The study on fallback: the numbers of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.studies.fallback import answers, figures
from fadeout.studies.fallback.answers import Found
from fadeout.studies.fallback.runs import (
    Effort,
    Point,
    found,
    points,
    swept_points,
    vehicle_points,
    wide_points,
)
from fadeout.studies.fallback.setups import (
    CLEAR_S,
    DATA,
    NOTHING,
    PAGE,
    POINTS,
    SENDERS,
    switching,
)
from fadeout.study import Numbers, Runs, Section, Study, difference, mean, means, series


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    of = Found(found(runs, points(runs.effort)), runs.effort.lengths_s)
    judged = [of.judged(sender, remedy) for sender, remedy in of.rows if remedy != NOTHING.name]
    yield PAGE.section("answer", judged, answer=answers.words(of))
    yield over_length(of, "goodput", "goodput_mbps", "Goodput (Mbit/s)")
    yield over_length(of, "silence", "silence_ms", "Longest silence (ms)")
    yield over_length(of, "delay", "rtt_p99_ms", "RTT, 99th percentile (ms)")
    yield PAGE.section("timeouts", length_records(of, "timeouts", ".1f"), lengths=heads(of))
    yield cost(of)
    yield thresholds(found(runs, swept_points()))
    yield PAGE.section("vehicle", beside_nothing(found(runs, vehicle_points())))
    yield PAGE.section(
        "rate", beside_nothing(found(runs, wide_points(runs.effort)), by_length=True)
    )


def head(length: float) -> str:
    """Returns the name of a length of blockage."""
    return "clear" if length == CLEAR_S else f"{length:g} s"


def heads(of: Found) -> list[str]:
    """Returns the names of all lengths."""
    return [head(length) for length in of.all_lengths]


def length_records(of: Found, key: str, spec: str) -> list[dict[str, Any]]:
    """Returns a number of each sender and remedy by length.

    Goodput with a remedy is the gain over no remedy, in percent.
    """
    records = []
    for sender, remedy in of.rows:
        is_gain = key == "goodput_mbps" and remedy != NOTHING.name
        values = {
            head(length): of.gain_pct(sender, remedy, length)
            if is_gain
            else of.estimate(sender, remedy, length, key)
            for length in of.all_lengths
        }
        cells = {
            name: format(value, f"+{spec}" if is_gain else spec) for name, value in values.items()
        }
        records.append({"sender": sender, "remedy": remedy, **values, "_cells": cells})
    return records


def over_length(of: Found, name: str, key: str, label: str) -> Section:
    """Returns the section on a number by remedy and length."""
    is_time = key.endswith("_ms")
    return PAGE.section(
        name,
        length_records(of, key, ".0f" if is_time else ".1f"),
        figures={name: figures.over_length(of.series(key), of.lengths, label, log=is_time)},
        lengths=heads(of),
    )


def cost(of: Found) -> Section:
    """Returns the section on the radio resources that each remedy takes."""
    sender = next(iter(SENDERS))
    names = [remedy for each, remedy in of.rows if each == sender]
    shown = [CLEAR_S, max(length for length in of.lengths if length <= 1.0)]
    records = [
        {
            "sender": each,
            "remedy": remedy,
            "block_s": length,
            "_blocked": head(length),
            "small": of.estimate(each, remedy, length, "small_pct"),
            "macro": of.estimate(each, remedy, length, "macro_pct"),
            "macro_ms_per_mb": of.macro_ms_a_megabyte(each, remedy, length),
        }
        for each, remedy in of.rows
        for length in shown
    ]
    drawn = {
        carrier: {
            head(length): [of.estimate(sender, name, length, key) for name in names]
            for length in shown
        }
        for carrier, key in (("38 GHz", "small_pct"), ("2.1 GHz", "macro_pct"))
    }
    return PAGE.section("cost", records, figures={"cost": figures.cost(drawn, names)})


def thresholds(of: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Returns the section on the threshold at which EN-DC switches."""
    by_key = {
        (point.sender, point.block_s, point.remedy.name): numbers for point, numbers in of.items()
    }
    lengths = (CLEAR_S, POINTS.swept_s)
    records: list[dict[str, Any]] = []
    for sender in SENDERS:
        for threshold in POINTS.thresholds_kb:
            for length in lengths:
                ours = by_key[sender, length, switching(f"{threshold} kB").name]
                base = by_key[sender, length, NOTHING.name]
                records.append(
                    {
                        "sender": sender,
                        "threshold_kb": threshold,
                        "block_s": length,
                        "_blocked": head(length),
                        "_line": f"{sender}, {head(length)}",
                        "gain": difference(ours, base, "goodput_mbps"),
                        **means(ours, "goodput_mbps", "macro_pct", "silence_ms"),
                    }
                )
    drawn = {
        "Goodput against nothing (Mbit/s)": series(records, "_line", value="gain"),
        "Macro carrier (%)": series(records, "_line", value="macro_pct"),
    }
    panels = figures.over_threshold(drawn, POINTS.thresholds_kb)
    return PAGE.section("threshold", records, figures={"thresholds": panels})


def beside_nothing(
    of: Mapping[Point, Sequence[Numbers]], *, by_length: bool = False
) -> list[dict[str, Any]]:
    """Returns the numbers of each remedy beside no remedy."""
    by_key = {(point.remedy.name, point.block_s): numbers for point, numbers in of.items()}
    lengths = sorted({length for _, length in by_key})
    records = []
    for remedy in dict.fromkeys(name for name, _ in by_key):
        for length in lengths:
            numbers = by_key[remedy, length]
            records.append(
                {
                    "remedy": remedy,
                    "goodput": mean(numbers, "goodput_mbps"),
                    "change": difference(numbers, by_key[NOTHING.name, length], "goodput_mbps"),
                    "silence": mean(numbers, "silence_ms"),
                    "macro": mean(numbers, "macro_pct"),
                    **({"block_s": length, "_blocked": head(length)} if by_length else {}),
                }
            )
    return records


STUDY = Study.of(DATA, PAGE, Effort, sections)
