"""The study on inter-RAT handovers: its settings and its report."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from fadeout.studies.inter_rat_handover import behaviours, claims, figures, radio
from fadeout.studies.inter_rat_handover.runs import (
    CELL_SETTINGS,
    CELLS,
    DATA,
    FAST_BICASTING,
    FIRST,
    PAGE,
    PUBLISHED,
    QUESTIONS,
    ROWS,
    SEGMENT_BYTES,
    STATED_STARTS_MS,
    Effort,
    Row,
    Setting,
    changed,
    forward_settings,
    found,
    job,
    limited,
    over_axes,
)
from fadeout.studies.inter_rat_handover.today import TODAY, today
from fadeout.study import Change, Choice, Found, Runs, Section, Study, Tables
from fadeout.study.found import Point
from fadeout.study.tables import Column

NEVER_S = 20.0
"""Time to the old rate above which it is not reached in the rest of a run, seconds."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    links = found(runs, "figure row cell", CELL_SETTINGS)
    over_radio = found(runs, "figure row cell", CELL_SETTINGS, radio.job, radio.read)
    tables = Tables(DATA, PAGE, {"links": links})
    for figure in ("figure4", "figure5"):
        yield tables.section(figure, columns=PUBLISHED_CELLS)
    yield tables.section("radio", over_radio, PUBLISHED_CELLS | of_both(links, over_radio))
    yield PAGE.claims(claims.of_text(runs))
    yield PAGE.claims(claims.of_figures(links, over_radio), "figure-claims")
    yield behaviours.section(runs)
    starts = {start: f"{start:g} ms" for start in STATED_STARTS_MS}
    yield tables.section("stacks", stacks(runs), starts=starts)
    yield PAGE.section("arithmetic", arithmetic())
    changes, of_radio = (DATA.all(key, Change) for key in ("change", "radio-change"))
    yield tables.section("assumptions", found(runs, "change cell", changed(changes)))
    at_radio = found(runs, "change cell", changed(of_radio), radio.job, radio.read)
    yield tables.section("radio-assumptions", at_radio)
    yield tables.section("note2", bicast_times(runs), {"published_s": stated_s})
    yield tables.section("note1", source_limits(runs))
    axes = found(runs, "rate_mbps rtt_ms", over_axes())
    drawn = figures.axes(tables.records("figure1", axes))
    yield tables.section("figure1", axes, figures={"axes": drawn})
    yield forward_handover(tables, runs)
    yield tables.section("today", today(runs), today=TODAY)
    yield PAGE.section("quoted", quoted(links))
    yield appendix_b(runs)


PUBLISHED_CELLS: dict[str, Column] = {
    "published_retransmissions": lambda at: at[1].cells[at[2].name][0],
    "published_s": lambda at: at[1].cells[at[2].name][1],
}
"""Columns with the numbers of figures 4 and 5."""


def of_both(links: Found, over_radio: Found) -> dict[str, Column]:
    """Returns columns with the medians over links and with the radio.

    The time is NaN if the rate is not reached in the rest of a run.
    """

    def time_s(of: Found, at: Point) -> float:
        median_s = of.median(at, "time_s").mean
        return math.nan if median_s > NEVER_S else median_s

    return {
        "links_retransmissions": lambda at: links.median(at, "retransmissions"),
        "links_s": lambda at: time_s(links, at),
        "radio_s": lambda at: time_s(over_radio, at),
    }


def stacks(runs: Runs[Effort]) -> Found:
    """Returns the recoveries of TCP stacks that the paper may have used."""
    settings = {
        (stack, start): Setting(1.0, 1.0, 10.0, True, "bicasting", start).changed(stack.values)
        for stack in DATA.all("stack", Choice)
        for start in STATED_STARTS_MS
    }
    return found(runs, "stack bicast_ms_before", settings)


def arithmetic() -> list[dict[str, Any]]:
    """Returns the published times beside those that follow from the published losses."""
    records = []
    for row in ROWS:
        if row.figure == "figure4":
            count, time_s = row.cells[FAST_BICASTING.name]
            segment_s = SEGMENT_BYTES * 8 / (row.after * 1e6)
            record = {"_name": row.name, "retransmissions": count, "published_s": time_s}
            records.append(record | {"expected_s": 1.0 + count * (0.2 + segment_s)})
    return records


def bicast_times(runs: Runs[Effort]) -> Found:
    """Returns the recoveries of note 2, by the start of bicasting."""
    settings = {
        (rtt, start): Setting(1.0, 1.0, rtt, True, "bicasting", start)
        for rtt in (10.0, 100.0)
        for start in QUESTIONS.bicast_starts_ms
    }
    return found(runs, "rtt_ms begins_ms_before", settings)


def stated_s(at: Point) -> float | None:
    """Returns the paper's recovery time for a round trip and a start of bicasting in ms."""
    note2 = PUBLISHED["note2"]
    stated = {(10.0, 50.0): note2["1to1_10ms_s"], (100.0, 50.0): note2["1to1_100ms_s"]}
    stated |= {
        (row.rtt_ms, 10.0): row.cells[FAST_BICASTING.name][1]
        for row in ROWS
        if (row.before, row.after) == (1.0, 1.0)
    }
    return stated.get(at)


def source_limits(runs: Runs[Effort]) -> Found:
    """Returns the recoveries of note 1: the source discards data beyond some round trips."""
    settings = {
        (rtt, limit): limited(Setting(1.0, 1.0, rtt, True, "bicasting"), limit)
        for rtt in (10.0, 100.0)
        for limit in (None, *QUESTIONS.limits)
    }
    return found(runs, "rtt_ms limit_round_trips", settings)


def forward_handover(tables: Tables, runs: Runs[Effort]) -> Section:
    """Returns the section on the share of time in recovery after a lost cell (section 3)."""
    lost = found(runs, "drx forward_handover rate_mbps rtt_ms", forward_settings())
    columns: dict[str, Column] = {
        "share": lambda at: lost.median(at, "time_s").mean / QUESTIONS.loss_every_s,
        "one_percent_every_s": lambda at: 100 * lost.median(at, "time_s").mean,
    }
    return tables.section("forward-handover", lost, columns)


def quoted(links: Found) -> list[dict[str, Any]]:
    """Returns the times of figures 2 and 3, which the paper quotes from another study.

    If S1 has the old rate, the new rate of figure 2 is that of S1. Its rows have the fast S1 only.
    """
    ref = PUBLISHED["ref5"]
    same: Mapping[str, Any] = ref["figure3_no_rate_change"]
    quotes = [
        ("2", "W-CDMA to LTE", "new_time_s", ref["figure2_wcdma_to_lte_rate_increase"]),
        ("3", "W-CDMA to LTE", "time_s", same["wcdma_to_lte"]),
        ("3", "LTE to W-CDMA", "time_s", same["lte_to_wcdma"]),
    ]
    rows = {f"{row.before:g}to{row.after:g}_{row.rtt_ms:g}ms": row for row in ROWS}

    def ours_s(row: Row, scheme: str, number: str) -> list[float]:
        return [
            links.median((row.figure, row, cell), number).mean
            for cell in CELLS
            if cell.scheme == scheme and (cell.is_fast or number == "time_s")
        ]

    records = []
    for figure, direction, number, published in quotes:
        for key, bounds in published.items():
            row = rows[key]
            record: dict[str, Any] = {"figure": figure, "direction": direction, "_name": row.name}
            record |= row.data()
            for scheme, (low, high) in (("forwarding", bounds[:2]), ("bicasting", bounds[2:])):
                ours = ours_s(row, scheme, number)
                record |= {
                    f"{scheme}_published_least_s": low,
                    f"{scheme}_published_most_s": high,
                    f"{scheme}_fast_s": ours[-1],
                    f"_{scheme}": ", ".join(f"{each:.2f}" for each in ours),
                }
            records.append(record)
    return records


def appendix_b(runs: Runs[Effort]) -> Section:
    """Returns the section with the four plots of sequence numbers."""
    every_ack = {"probe.congestion": '"every-ack"'}
    results = runs.whole([job(FIRST.setting(cell), 1, every_ack) for cell in CELLS])
    drawn = {cell.head: each for cell, each in zip(CELLS, results, strict=True)}
    return PAGE.section("appendix-b", figures={"sequences": figures.sequences(drawn)})


STUDY = Study.of(DATA, PAGE, Effort, sections)
