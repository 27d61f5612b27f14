"""The study on inter-RAT handovers: the numbers of its tables over links."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.studies.inter_rat_handover import (
    behaviours,
    claims,
    figures,
    questions,
    radio,
    today,
)
from fadeout.studies.inter_rat_handover.runs import Effort, found, middle, of
from fadeout.studies.inter_rat_handover.setups import (
    ALL_SETTINGS,
    BASE,
    CELLS,
    CHANGES,
    DATA,
    FAST_BICASTING,
    FIRST,
    PAGE,
    PUBLISHED,
    QUESTIONS,
    ROWS,
    SEGMENT_BYTES,
    STACKS,
    STATED_STARTS_MS,
    Found,
    Row,
    Setting,
    job,
)
from fadeout.study import Runs, Section, Study


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    links = found(runs, ALL_SETTINGS)
    for figure in ("figure4", "figure5"):
        yield PAGE.section(figure, [figure_record(row, links) for row in rows_of(figure)])
    yield PAGE.section("radio", radio.records(runs, links))
    yield PAGE.claims(claims.of_text(runs))
    yield PAGE.claims(claims.of_figures(links, radio.found(runs, ALL_SETTINGS)), "figure-claims")
    yield behaviours.section(runs)
    yield PAGE.section(
        "stacks", stacks(runs), starts={f"{each:g}ms": f"{each:g} ms" for each in STATED_STARTS_MS}
    )
    yield PAGE.section("arithmetic", arithmetic())
    numbers = ("retransmissions", "time_s", "bin_s")
    yield radio.changes_section("assumptions", (BASE, *CHANGES), runs, found, numbers)
    yield radio.assumptions(runs)
    yield PAGE.section("note2", bicast_times(runs))
    yield PAGE.section("note1", questions.source_limit(runs))
    axes = questions.recoveries(runs)
    yield PAGE.section("figure1", axes, figures={"axes": figures.axes(axes)})
    yield PAGE.section("forward-handover", questions.forward_handover(runs))
    yield PAGE.section("today", today.records(runs), today=today.TODAY)
    yield PAGE.section("quoted", quoted(links))
    yield appendix_b(runs)


def rows_of(figure: str) -> list[Row]:
    """Returns the rows of figure 4 or 5."""
    return [row for row in ROWS if row.figure == figure]


def figure_record(row: Row, links: Found) -> dict[str, Any]:
    """Returns a row of figure 4 or 5 with our numbers."""
    record: dict[str, Any] = {"_name": row.name, "_paper": row.cells, "_again": {}, "_time": {}}
    record |= {"before_mbps": row.before, "after_mbps": row.after, "rtt_ms": row.rtt_ms}
    for cell in CELLS:
        each, name = links[row.setting(cell)], cell.name
        record["_again"][name] = of(each, "retransmissions")
        record["_time"][name] = of(each, "time_s")
        record |= {
            f"{name}_published_retransmissions": row.cells[name][0],
            f"{name}_published_s": row.cells[name][1],
            f"{name}_retransmissions": middle(each, "retransmissions"),
            f"{name}_s": middle(each, "time_s"),
            f"{name}_new_rate_s": middle(each, "new_time_s"),
            f"{name}_lost": middle(each, "lost"),
            f"{name}_timeouts": middle(each, "timeouts"),
        }
    return record


def stacks(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the recoveries of TCP stacks that the paper may have used."""
    settings = {
        (stack.name, start): Setting(1.0, 1.0, 10.0, True, "bicasting", start).changed(stack.values)
        for stack in STACKS
        for start in STATED_STARTS_MS
    }
    results = found(runs, settings.values())
    return [
        {
            "stack": stack.name,
            **{
                f"{number}_{start:g}ms": middle(results[settings[stack.name, start]], number)
                for start in STATED_STARTS_MS
                for number in ("retransmissions", "timeouts", "time_s")
            },
            "_time": {
                f"{start:g}ms": of(results[settings[stack.name, start]], "time_s")
                for start in STATED_STARTS_MS
            },
        }
        for stack in STACKS
    ]


def arithmetic() -> list[dict[str, Any]]:
    """Returns the published times beside those that follow from the published losses."""
    records = []
    for row in rows_of("figure4"):
        count, time_s = row.cells[FAST_BICASTING.name]
        segment_s = SEGMENT_BYTES * 8 / (row.after * 1e6)
        records.append(
            {
                "_name": row.name,
                "retransmissions": count,
                "published_s": time_s,
                "expected_s": 1.0 + count * (0.2 + segment_s),
            }
        )
    return records


def bicast_times(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the recoveries of note 2, by the start of bicasting."""
    stated = {
        (10.0, 50.0): PUBLISHED["note2"]["1to1_10ms_s"],
        (100.0, 50.0): PUBLISHED["note2"]["1to1_100ms_s"],
    }
    stated |= {
        (row.rtt_ms, 10.0): row.cells[FAST_BICASTING.name][1]
        for row in ROWS
        if (row.before, row.after) == (1.0, 1.0)
    }
    settings = {
        (rtt, start): Setting(1.0, 1.0, rtt, True, "bicasting", start)
        for rtt in (10.0, 100.0)
        for start in QUESTIONS.bicast_starts_ms
    }
    results = found(runs, settings.values())
    names = ("time_s", "retransmissions", "lost", "doubled", "timeouts")
    return [
        {
            "rtt_ms": rtt,
            "begins_ms_before": start,
            "published_s": stated.get((rtt, start)),
            **questions.medians(results[setting], *names),
        }
        for (rtt, start), setting in settings.items()
    ]


def quoted(links: Found) -> list[dict[str, Any]]:
    """Returns the times of figures 2 and 3, which the paper quotes from another study."""
    ref = PUBLISHED["ref5"]
    same: Mapping[str, Any] = ref["figure3_no_rate_change"]
    quotes = [
        ("2", "W-CDMA to LTE", "new_time_s", ref["figure2_wcdma_to_lte_rate_increase"]),
        ("3", "W-CDMA to LTE", "time_s", same["wcdma_to_lte"]),
        ("3", "LTE to W-CDMA", "time_s", same["lte_to_wcdma"]),
    ]
    rows = {f"{row.before:g}to{row.after:g}_{row.rtt_ms:g}ms": row for row in ROWS}
    return [
        quoted_record(figure, direction, number, rows[key], bounds, links)
        for figure, direction, number, published in quotes
        for key, bounds in published.items()
    ]


def quoted_record(
    figure: str, direction: str, number: str, row: Row, bounds: Sequence[float], links: Found
) -> dict[str, Any]:
    """Returns a quoted row with our medians. `bounds` are those of forwarding and of bicasting."""
    record: dict[str, Any] = {"figure": figure, "direction": direction, "_name": row.name}
    record |= {"before_mbps": row.before, "after_mbps": row.after, "rtt_ms": row.rtt_ms}
    # If S1 has the old rate, the new rate is that of S1, so only the fast S1 is shown.
    is_fast_only = number == "new_time_s"
    for scheme, (low, high) in (("forwarding", bounds[:2]), ("bicasting", bounds[2:])):
        ours = [middle(links[row.setting(cell)], number) for cell in CELLS if cell.scheme == scheme]
        record |= {
            f"{scheme}_published_least_s": low,
            f"{scheme}_published_most_s": high,
            f"{scheme}_same_s": None if is_fast_only else ours[0],
            f"{scheme}_fast_s": ours[1],
            f"_{scheme}": ", ".join(f"{each:.2f}" for each in ours[is_fast_only:]),
        }
    return record


def appendix_b(runs: Runs[Effort]) -> Section:
    """Returns the section with the four plots of sequence numbers."""
    every_ack = {"probe.congestion": '"every-ack"'}
    results = runs.whole([job(FIRST.setting(cell), 1, every_ack) for cell in CELLS])
    drawn = {cell.head: each for cell, each in zip(CELLS, results, strict=True)}
    return PAGE.section("appendix-b", figures={"sequences": figures.sequences(drawn)})


STUDY = Study.of(DATA, PAGE, Effort, sections)
