"""Sections on the paper's tables, and on possible causes of its numbers."""

from collections.abc import Iterator

from fadeout.studies.inter_rat_handover import figures
from fadeout.studies.inter_rat_handover.runs import Effort, found, job, middle, shown
from fadeout.studies.inter_rat_handover.setups import (
    CELLS,
    FIRST,
    HEADS,
    PUBLISHED,
    ROWS,
    STACKS,
    STATED_STARTS_MS,
    Row,
    Setting,
    column,
)
from fadeout.study import Runs, Section, Table

BICAST_STARTS_MS = (10.0, 50.0, 100.0, 600.0)


def handovers(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections on figures 4 and 5, with every row."""
    settings = [row.setting(*cell) for row in ROWS for cell in CELLS]
    results = found(runs, settings)
    titles = {"figure4": "Figure 4: no change of rate", "figure5": "Figure 5: a change of rate"}
    for figure, title in titles.items():
        rows = [row for row in ROWS if row.figure == figure]
        records = []
        for row in rows:
            record: dict[str, object] = {"_name": row.setting(True, "forwarding").name}
            record |= {"before_mbps": row.before, "after_mbps": row.after, "rtt_ms": row.rtt_ms}
            for is_fast, scheme in CELLS:
                each = results[row.setting(is_fast, scheme)]
                name = column((is_fast, scheme))
                published = row.cells[is_fast, scheme]
                record |= {
                    f"{name}_published_retransmissions": published[0],
                    f"{name}_published_s": published[1],
                    f"{name}_retransmissions": middle(each, "retransmissions"),
                    f"{name}_s": middle(each, "time_s"),
                    f"{name}_new_rate_s": middle(each, "new_time_s"),
                    f"{name}_lost": middle(each, "lost"),
                    f"{name}_timeouts": middle(each, "timeouts"),
                    f"_{name}": f"{published[0]:g} / {published[1]:g}; "
                    f"{shown(each, 'retransmissions', '.0f')} / {shown(each, 'time_s')}",
                }
            records.append(record)
        yield Section(
            name=figure,
            title=title,
            text=(
                "The table shows the number of retransmissions, and the time in s until TCP has "
                "its old rate again. Each cell has the paper's numbers, and then our medians "
                "with the range in brackets. The runs of a median differ in the time of the "
                "handover command within a segment. Bicasting begins 10 ms before the command."
            ),
            table=Table.of(
                records,
                {
                    "rates, round trip": "{_name}",
                    **{HEADS[cell]: f"{{_{column(cell)}}}" for cell in CELLS},
                },
            ),
            is_headline=True,
        )


def quoted(runs: Runs[Effort]) -> Section:
    """Returns the section on figures 2 and 3, which the paper quotes from another study."""
    ref = PUBLISHED["ref5"]
    same = ref["figure3_no_rate_change"]
    ranges = [
        ("2", "W-CDMA to LTE", "new_time_s", ref["figure2_wcdma_to_lte_rate_increase"]),
        ("3", "W-CDMA to LTE", "time_s", same["wcdma_to_lte"]),
        ("3", "LTE to W-CDMA", "time_s", same["lte_to_wcdma"]),
    ]
    rows = {_key(row): row for row in ROWS}
    settings = [row.setting(*cell) for row in ROWS for cell in CELLS]
    results = found(runs, settings)
    records = []
    for figure, direction, number, published in ranges:
        for key, bounds in published.items():
            row = rows[key]
            record: dict[str, object] = {
                "figure": figure,
                "direction": direction,
                "before_mbps": row.before,
                "after_mbps": row.after,
                "rtt_ms": row.rtt_ms,
                "_name": row.setting(True, "forwarding").name,
            }
            for scheme, (low, high) in zip(
                ("forwarding", "bicasting"), (bounds[:2], bounds[2:]), strict=True
            ):
                ours = [
                    middle(results[row.setting(is_fast, scheme)], number)
                    for is_fast in (False, True)
                ]
                # If S1 has the old rate, the new rate is that of S1, so only the fast S1 is shown.
                is_fast_only = number == "new_time_s"
                times = ", ".join(f"{each:.2f}" for each in ours[is_fast_only:])
                record |= {
                    f"{scheme}_published_least_s": low,
                    f"{scheme}_published_most_s": high,
                    f"{scheme}_same_s": None if is_fast_only else ours[0],
                    f"{scheme}_fast_s": ours[1],
                    f"_{scheme}": f"{low:g} to {high:g}; {times}",
                }
            records.append(record)
    return Section(
        name="quoted",
        title="Figures 2 and 3: what the paper quotes of another study",
        text=(
            "The table shows the convergence times in seconds of the paper's reference 5, as a "
            "range. Our values are the medians with S1 at the radio's rate and at 155 Mbit/s. "
            "Figure 2 shows the time until the *new* rate is reached, because its times of "
            "several seconds can have no other meaning. Our values for Figure 2 have the same "
            "meaning, and S1 is at 155 Mbit/s only. Figure 3 shows the time until the old rate "
            "is reached again. Only the rates and round trips of the network of reference 5 are "
            "known. Here W-CDMA and LTE are links with these rates, so our values are the same "
            "in both directions of the handover. Our values include an interruption of 0.1 s. "
            "The burst of forwarded data makes up for a part of this interruption. The zeros of "
            "reference 5 cannot include an interruption."
        ),
        table=Table.of(
            records,
            {
                "figure": "{figure}: {direction}",
                "rates, round trip": "{_name}",
                "forwarding s": "{_forwarding}",
                "bicasting s": "{_bicasting}",
            },
        ),
    )


def _key(row: Row) -> str:
    return f"{row.before:g}to{row.after:g}_{row.rtt_ms:g}ms"


def bicast_times(runs: Runs[Effort]) -> Section:
    """Returns the section on note 2: bicasting from 50 ms before the command."""
    note = PUBLISHED["note2"]
    rows = [(10.0, note["1to1_10ms_s"]), (100.0, note["1to1_100ms_s"])]
    settings = {
        (rtt, start): Setting(1.0, 1.0, rtt, True, "bicasting", start)
        for rtt, _ in rows
        for start in BICAST_STARTS_MS
    }
    results = found(runs, settings.values())
    records = []
    for rtt, published in rows:
        for start in BICAST_STARTS_MS:
            each = results[settings[rtt, start]]
            stated = {10.0: _published(1.0, 1.0, rtt), 50.0: published}.get(start)
            records.append(
                {
                    "rtt_ms": rtt,
                    "begins_ms_before": start,
                    "published_s": stated,
                    "_published": "-" if stated is None else f"{stated:g}",
                    "time_s": middle(each, "time_s"),
                    "_time": shown(each, "time_s"),
                    "retransmissions": middle(each, "retransmissions"),
                    "lost": middle(each, "lost"),
                    "doubled": middle(each, "doubled"),
                    "timeouts": middle(each, "timeouts"),
                }
            )
    return Section(
        name="note2",
        title="Note 2: when bicasting begins",
        text=(
            "The rate is 1 Mbit/s before and after the handover, and S1 has 155 Mbit/s. The "
            "sending of a window of 65,536 bytes takes 524 ms at 1 Mbit/s."
        ),
        table=Table.of(
            records,
            {
                "round trip": "{rtt_ms:g} ms",
                "begins": "{begins_ms_before:g} ms before",
                "paper s": "{_published}",
                "ours s": "{_time}",
                "retransmitted": "{retransmissions:.0f}",
                "lost": "{lost:.0f}",
                "doubled": "{doubled:.0f}",
                "timeouts": "{timeouts:.0f}",
            },
        ),
    )


def _published(before: float, after: float, rtt_ms: float) -> float:
    row = next(r for r in ROWS if (r.before, r.after, r.rtt_ms) == (before, after, rtt_ms))
    return row.cells[True, "bicasting"][1]


def stacks(runs: Runs[Effort]) -> Section:
    """Returns the section on TCP stacks that the paper may have used."""
    settings = {
        (name, start): Setting(1.0, 1.0, 10.0, True, "bicasting", start).changed(values)
        for name, values in STACKS.items()
        for start in STATED_STARTS_MS
    }
    results = found(runs, settings.values())
    records = [
        {
            "stack": name,
            **{
                f"{number}_{start:g}ms": middle(results[settings[name, start]], number)
                for start in STATED_STARTS_MS
                for number in ("retransmissions", "timeouts", "time_s")
            },
            **{
                f"_{start:g}": shown(results[settings[name, start]], "time_s")
                for start in STATED_STARTS_MS
            },
        }
        for name in STACKS
    ]
    return Section(
        name="stacks",
        title="What in a stack of 2006 makes long recoveries",
        text=(
            "The rate is 1 Mbit/s before and after the handover, the round trip is 10 ms, and S1 "
            "has 155 Mbit/s. If bicasting begins 10 ms before the command, the paper has 41 "
            "retransmissions and 9.3 s. If bicasting begins 50 ms before the command, the paper "
            "has 8.91 s. *Gaps acknowledged late*: the receiver also delays the ACK of data that "
            "fill a part of a gap, by up to 200 ms. RFC 1122 allows this, and RFC 2581 advises "
            "against it."
        ),
        table=Table.of(
            records,
            {
                "stack": "{stack}",
                **{
                    f"{start:g} ms: retransmitted / timeouts / s": (
                        f"{{retransmissions_{start:g}ms:.0f}} / {{timeouts_{start:g}ms:.0f}} / "
                        f"{{_{start:g}}}"
                    )
                    for start in STATED_STARTS_MS
                },
            },
        ),
        is_headline=True,
    )


def arithmetic() -> Section:
    """Returns the section that relates the published times to the published losses."""
    cells = [(row, *row.cells[True, "bicasting"]) for row in ROWS[:4]]
    records = [
        {
            "_name": row.setting(True, "bicasting").name,
            "retransmissions": count,
            "published_s": time_s,
            "expected_s": 1.0 + count * (0.2 + _segment_s(row)),
        }
        for row, count, time_s in cells
    ]
    return Section(
        name="arithmetic",
        title="The paper's long times by its own numbers",
        text=(
            "The table repeats the values of Figure 4 with bicasting over the fast S1. *By "
            "hand*: a calculated sum of 1 s of silence and a time for each retransmission. This "
            "time is a delayed ACK of 200 ms and the transmission time of a segment. The "
            "calculation assumes that segments are sent one at a time and that each ACK is "
            "delayed."
        ),
        table=Table.of(
            records,
            {
                "rates, round trip": "{_name}",
                "retransmitted": "{retransmissions:g}",
                "paper s": "{published_s:g}",
                "by hand s": "{expected_s:.2f}",
            },
        ),
    )


def _segment_s(row: Row) -> float:
    return 1500 * 8 / (row.after * 1e6)


def appendix_b(runs: Runs[Effort]) -> Section:
    """Returns the section with the four plots of sequence numbers."""
    settings = [FIRST.setting(*cell) for cell in CELLS]
    results = runs.whole(
        [job(setting, 1, {"probe.congestion": '"every-ack"'}) for setting in settings]
    )
    drawn = {HEADS[cell]: each for cell, each in zip(CELLS, results, strict=True)}
    return Section(
        name="appendix-b",
        title="Appendix B: sequence numbers",
        text=(
            "The rate is 1 Mbit/s before and after the handover, and the round trip is 10 ms. "
            "The target base station sends forwarded packets first (two queues)."
        ),
        figures={
            "Acknowledged data and retransmitted segments around the handover.": figures.sequences(
                drawn
            )
        },
    )
