"""The study on inter-RAT handovers: its settings and its report."""

import math
from collections.abc import Iterator
from typing import Any

from fadeout.studies.inter_rat_handover import behaviours, claims, figures
from fadeout.studies.inter_rat_handover.radio import measure_radio, over_radio
from fadeout.studies.inter_rat_handover.runs import (
    CELLS,
    DATA,
    FAST_BICASTING,
    FIRST,
    LISTS,
    LOSS_EVERY_S,
    PAGE,
    PUBLISHED,
    ROWS,
    SEGMENT_BYTES,
    both_cells,
    lost_cell,
    measure,
    measure_both_cells,
    over_links,
    todays_stack,
    without_data,
)
from fadeout.study import Effort, Found, Grid, Runs, Section, Study, Tables
from fadeout.study.found import Point
from fadeout.study.tables import Column

READERS = (measure, measure_radio, measure_both_cells)
MAKERS = (over_links, over_radio, without_data, lost_cell, todays_stack, both_cells)

NEVER_S = 20.0
"""Time to the old rate above which it is not reached in the rest of a run, seconds."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    grid = Grid(DATA, runs, READERS, LISTS, MAKERS)
    tables = Tables(DATA, PAGE, grid)
    links, with_radio = grid["figure4"] | grid["figure5"], grid["radio"]
    for figure in ROWS:
        yield tables.section(figure, columns=PUBLISHED_CELLS)
    yield tables.section("radio", columns=PUBLISHED_CELLS | of_both(links, with_radio))
    yield PAGE.claims(claims.of_text(grid))
    yield PAGE.claims(claims.of_figures(links, with_radio), "figure-claims")
    yield behaviours.section(grid["behaviours"])
    starts = {start: f"{start:g} ms" for start in behaviours.PAPER_S}
    yield tables.section("stacks", starts=starts)
    yield PAGE.section("arithmetic", arithmetic())
    yield tables.section("assumptions")
    yield tables.section("radio-assumptions")
    yield tables.section("note2", columns={"published_s": stated_s})
    yield tables.section("note1")
    drawn = figures.axes(tables.records("figure1"))
    yield tables.section("figure1", figures={"axes": drawn})
    yield forward_handover(tables, grid["forward-handover"])
    today = grid["today"] | grid["both-cells"]
    yield tables.section("today", today.picked(sorted(today, key=lambda point: point[0])))
    yield PAGE.section("quoted", quoted(links))
    plots = {cell.head: run for (cell,), run in grid.whole("appendix-b").items()}
    yield PAGE.section("appendix-b", figures={"sequences": figures.sequences(plots)})


PUBLISHED_CELLS: dict[str, Column] = {
    "published_retransmissions": lambda at: at[0].cells[at[1].name][0],
    "published_s": lambda at: at[0].cells[at[1].name][1],
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


def arithmetic() -> list[dict[str, Any]]:
    """Returns the published times beside those that follow from the published losses."""
    records = []
    for row in ROWS["figure4"]:
        count, time_s = row.cells[FAST_BICASTING.name]
        segment_s = SEGMENT_BYTES * 8 / (row.after * 1e6)
        record = {"_name": row.name, "retransmissions": count, "published_s": time_s}
        records.append(record | {"expected_s": 1.0 + count * (0.2 + segment_s)})
    return records


def stated_s(at: Point) -> float | None:
    """Returns the paper's recovery time for a round trip and a start of bicasting in ms."""
    note2 = PUBLISHED["note2"]
    stated = {(10.0, 50.0): note2["1to1_10ms_s"], (100.0, 50.0): note2["1to1_100ms_s"]}
    stated |= {
        (row.rtt_ms, 10.0): row.cells[FAST_BICASTING.name][1]
        for row in ROWS["figure4"]
        if row.before == FIRST.before
    }
    return stated.get(at)


def forward_handover(tables: Tables, lost: Found) -> Section:
    """Returns the section on the share of time in recovery after a lost cell (section 3)."""
    columns: dict[str, Column] = {
        "share": lambda at: lost.median(at, "time_s").mean / LOSS_EVERY_S,
        "one_percent_every_s": lambda at: 100 * lost.median(at, "time_s").mean,
    }
    return tables.section("forward-handover", columns=columns)


def quoted(links: Found) -> list[dict[str, Any]]:
    """Returns the times of figures 2 and 3, which the paper quotes from another study.

    If S1 has the old rate, the new rate of figure 2 is that of S1. Its rows have the fast S1 only.
    """
    rows = {row.name: row for of_figure in ROWS.values() for row in of_figure}
    records = []
    for quote in PUBLISHED["ref5"]:
        row, has_new_rate = rows[quote["row"]], quote["figure"] == "2"
        record = {"figure": quote["figure"], "direction": quote["direction"], "_name": row.name}
        record |= row.rates()
        for scheme in ("forwarding", "bicasting"):
            low, high = quote[scheme]
            ours = [
                links.median((row, cell), "new_time_s" if has_new_rate else "time_s").mean
                for cell in CELLS
                if cell.scheme == scheme and (cell.is_fast or not has_new_rate)
            ]
            record |= {
                f"{scheme}_published_least_s": low,
                f"{scheme}_published_most_s": high,
                f"{scheme}_fast_s": ours[-1],
                f"_{scheme}": ", ".join(f"{each:.2f}" for each in ours),
            }
        records.append(record)
    return records


STUDY = Study.of(DATA, PAGE, Effort, sections)
