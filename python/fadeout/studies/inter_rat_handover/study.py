"""The study: which runs, which tables."""

from collections.abc import Iterator
from pathlib import Path

from fadeout.studies.inter_rat_handover import figures, today
from fadeout.studies.inter_rat_handover.runs import (
    Effort,
    changed,
    found,
    job,
    middle,
    spread,
)
from fadeout.studies.inter_rat_handover.setups import (
    BASE,
    CHANGES,
    PUBLISHED,
    ROWS,
    SCHEMES,
    STACKS,
    Row,
    Setting,
)
from fadeout.study import Runs, Section, Study, Table

CELLS = ((False, "forwarding"), (False, "bicasting"), (True, "forwarding"), (True, "bicasting"))
HEADS = {
    (is_fast, scheme): f"S1 {'155' if is_fast else 'as radio'}, {scheme}"
    for is_fast, scheme in CELLS
}
FIRST = ROWS[0]
MOST_AXES_S = 1.0
"""What figure 1 has at 1 Mbit/s at most."""
RATES_MBPS = (1.0, 5.0, 10.0, 20.0, 100.0)
RTTS_MS = (10.0, 50.0, 100.0)
LIMITS = (1.0, 1.5, 2.0, 4.0)
"""Limits of the source's buffer, in round trips."""
LOSS_EVERY_S = 9 * 60.0
"""How often a cell is lost with a DRX cycle of 100 ms: the paper's "once in more than 9 minutes"."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """The report."""
    yield from handovers(runs)
    yield bicast_times(runs)
    yield stacks(runs)
    yield arithmetic()
    yield appendix_b(runs)
    yield source_limit(runs)
    yield axes(runs)
    yield forward_handover(runs)
    yield assumptions(runs)
    yield today.section(runs)


def handovers(runs: Runs[Effort]) -> Iterator[Section]:
    """Figures 4 and 5: every row."""
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
                column = f"{'fast' if is_fast else 'same'}_{scheme}"
                published = row.cells[is_fast, scheme]
                record |= {
                    f"{column}_published_retransmissions": published[0],
                    f"{column}_published_s": published[1],
                    f"{column}_retransmissions": middle(each, "retransmissions"),
                    f"{column}_s": middle(each, "time_s"),
                    f"{column}_new_rate_s": middle(each, "new_time_s"),
                    f"{column}_lost": middle(each, "lost"),
                    f"{column}_timeouts": middle(each, "timeouts"),
                    f"_{column}": f"{published[0]:g} / {published[1]:g}; "
                    f"{spread(each, 'retransmissions', '.0f')} / {spread(each, 'time_s')}",
                }
            records.append(record)
        yield Section(
            name=figure,
            title=title,
            text=(
                "Retransmissions and the time until TCP runs at its old rate again, in s: the "
                "paper's; ours, the median over the phases of the command (the least to the most). "
                "Bicasting begins 10 ms before the command."
            ),
            table=Table.of(
                records,
                {
                    "rates, round trip": "{_name}",
                    **{
                        HEADS[cell]: f"{{_{'fast' if cell[0] else 'same'}_{cell[1]}}}"
                        for cell in CELLS
                    },
                },
            ),
            is_headline=True,
        )


def bicast_times(runs: Runs[Effort]) -> Section:
    """Note 2: bicasting from 50 ms before the command."""
    note = PUBLISHED["note2"]
    rows = [(10.0, note["1to1_10ms_s"]), (100.0, note["1to1_100ms_s"])]
    starts = (10.0, 50.0, 100.0, 600.0)
    settings = {
        (rtt, start): Setting(1.0, 1.0, rtt, True, "bicasting", start)
        for rtt, _ in rows
        for start in starts
    }
    results = found(runs, settings.values())
    records = []
    for rtt, published in rows:
        for start in starts:
            each = results[settings[rtt, start]]
            stated = {10.0: _published(1.0, 1.0, rtt), 50.0: published}.get(start)
            records.append(
                {
                    "rtt_ms": rtt,
                    "begins_ms_before": start,
                    "published_s": stated,
                    "_published": "-" if stated is None else f"{stated:g}",
                    "time_s": middle(each, "time_s"),
                    "_time": spread(each, "time_s"),
                    "retransmissions": middle(each, "retransmissions"),
                    "lost": middle(each, "lost"),
                    "doubled": middle(each, "doubled"),
                    "timeouts": middle(each, "timeouts"),
                }
            )
    return Section(
        name="note2",
        title="Note 2: when bicasting begins",
        text="1 to 1 Mbit/s, S1 at 155 Mbit/s. A window of 65,536 bytes is 524 ms at 1 Mbit/s.",
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
    """What the paper's stack may have been."""
    starts = (10.0, 50.0)
    settings = {
        (name, start): changed(Setting(1.0, 1.0, 10.0, True, "bicasting", start), values)
        for name, values in STACKS.items()
        for start in starts
    }
    results = found(runs, settings.values())
    records = [
        {
            "stack": name,
            **{
                f"{column}_{start:g}ms": middle(results[settings[name, start]], column)
                for start in starts
                for column in ("retransmissions", "timeouts", "time_s")
            },
            **{f"_{start:g}": spread(results[settings[name, start]], "time_s") for start in starts},
        }
        for name in STACKS
    ]
    return Section(
        name="stacks",
        title="What in a stack of 2006 makes long recoveries",
        text=(
            "1 to 1 Mbit/s, 10 ms, S1 at 155 Mbit/s. The paper has 41 retransmissions and 9.3 s with "
            "bicasting from 10 ms before, 8.91 s from 50 ms before. *Gaps acknowledged late*: the "
            "receiver delays also the ACK of what fills a part of a gap, by up to 200 ms, which RFC "
            "1122 allows and RFC 2581 advises against."
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
                    for start in starts
                },
            },
        ),
        is_headline=True,
    )


def arithmetic() -> Section:
    """How the published times grow with the published losses."""
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
            "Figure 4 with bicasting over the fast S1. *By hand*: 1 s of silence, and then for each "
            "retransmission 200 ms of a delayed ACK and the time of a segment: one segment at a time, "
            "each acknowledged late."
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
    """The four sequence plots."""
    settings = [FIRST.setting(*cell) for cell in CELLS]
    results = runs.whole(
        [job(setting, 1, {"probe.congestion": '"every-ack"'}) for setting in settings]
    )
    drawn = {HEADS[cell]: each for cell, each in zip(CELLS, results, strict=True)}
    return Section(
        name="appendix-b",
        title="Appendix B: sequence numbers",
        text="1 to 1 Mbit/s, 10 ms; the target sends forwarded packets first (two queues).",
        figures={
            "Data acknowledged, and segments sent again, around the handover.": figures.sequences(
                drawn
            )
        },
    )


def source_limit(runs: Runs[Effort]) -> Section:
    """Note 1: a source that discards beyond some unloaded round trips."""
    settings: dict[tuple[float, float | None], Setting] = {}
    for rtt in (10.0, 100.0):
        base = Setting(1.0, 1.0, rtt, True, "bicasting")
        settings[rtt, None] = base
        for limit in LIMITS:
            # The unloaded round trip has a segment's time on the radio, too.
            length = limit * (rtt + 12)
            value = {"link.lte.queue.limit": f"{length:g} ms"}
            settings[rtt, limit] = changed(base, value)
    results = found(runs, settings.values())
    records = []
    for (rtt, limit), setting in settings.items():
        each = results[setting]
        records.append(
            {
                "rtt_ms": rtt,
                "limit_round_trips": limit,
                "_limit": "none" if limit is None else f"{limit:g} round trips",
                "before_mbps": middle(each, "old_mbps"),
                "lost": middle(each, "lost"),
                "time_s": middle(each, "time_s"),
                "_time": spread(each, "time_s"),
            }
        )
    return Section(
        name="note1",
        title="Note 1: a source that limits its buffer",
        text=(
            "1 to 1 Mbit/s, bicasting from 10 ms before, S1 at 155 Mbit/s. *Before*: the rate of "
            "TCP in the 5 s before the command. The limit is set with the round trip that is known "
            "here; how a base station would know it is open, as the paper says."
        ),
        table=Table.of(
            records,
            {
                "round trip": "{rtt_ms:g} ms",
                "limit": "{_limit}",
                "before Mbit/s": "{before_mbps:.2f}",
                "lost": "{lost:.0f}",
                "s": "{_time}",
            },
        ),
    )


def axes(runs: Runs[Effort]) -> Section:
    """Figure 1's axes: all that is on its way is lost."""
    settings = {}
    for rate in RATES_MBPS:
        for rtt in RTTS_MS:
            # The paper's worst case: the window is the bandwidth-delay product.
            segments = max(4, round(rate * 1e6 * rtt / 1e3 / 8 / 1500) + 2)
            values = {"flow.download.tcp.receive-window": str(segments * 1460)}
            setting = Setting(rate, rate, rtt, True, "none")
            settings[rate, rtt] = changed(setting, values)
    results = found(runs, settings.values())
    records = [
        {
            "rate_mbps": rate,
            "rtt_ms": rtt,
            **{
                name: middle(results[setting], name)
                for name in ("lost", "retransmissions", "timeouts", "time_s")
            },
            "_time": spread(results[setting], "time_s"),
        }
        for (rate, rtt), setting in settings.items()
    ]
    return Section(
        name="figure1",
        title="Figure 1's axes: recovery where nothing is forwarded",
        text=(
            "Its curves are lost with the figure; the paper reads from it that at 1 Mbit/s the "
            f"recovery is always within about {MOST_AXES_S:g} s. Here an interruption of 100 ms without "
            "forwarding or bicasting, RFC 6675, and a window of the bandwidth-delay product and two "
            "segments, the worst case in the paper's footnote."
        ),
        table=Table.of(
            records,
            {
                "rate": "{rate_mbps:g} Mbit/s",
                "round trip": "{rtt_ms:g} ms",
                "lost": "{lost:.0f}",
                "retransmitted": "{retransmissions:.0f}",
                "timeouts": "{timeouts:.0f}",
                "s": "{_time}",
            },
        ),
        figures={"Recovery time by rate and round trip.": figures.axes(records)},
    )


def forward_handover(runs: Runs[Effort]) -> Section:
    """Section 3's question: the share of time in recovery after a lost cell."""
    settings = {}
    for drx, outage_s in (("100 ms", 0.3), ("1 s", 1.5)):
        for scheme in ("forwarding", "none"):
            for rate, rtt in ((1.0, 10.0), (1.0, 100.0), (5.0, 10.0), (20.0, 50.0)):
                values = {
                    "handover.to-umts.interruption": f"{outage_s:g} s",
                    "handover.to-umts.path-switch": f"{outage_s:g} s",
                }
                setting = changed(Setting(rate, rate, rtt, True, scheme), values)
                settings[drx, outage_s, scheme, rate, rtt] = setting
    results = found(runs, settings.values())
    records = []
    for (drx, outage_s, scheme, rate, rtt), setting in settings.items():
        time_s = middle(results[setting], "time_s")
        records.append(
            {
                "drx": drx,
                "outage_s": outage_s,
                "forward_handover": scheme == "forwarding",
                "_with": "with" if scheme == "forwarding" else "without",
                "rate_mbps": rate,
                "rtt_ms": rtt,
                "time_s": time_s,
                "share": time_s / LOSS_EVERY_S,
                "one_percent_every_s": 100 * time_s,
            }
        )
    return Section(
        name="forward-handover",
        title="Section 3: is forward handover needed?",
        text=(
            "A cell is lost, and the phone is in another one after an outage: with forward handover, "
            "where the context and the data come over from the old cell, or without, where all that "
            "was there is lost. The paper has no outage; here 0.3 s (DRX 100 ms) and 1.5 s (DRX 1 s), "
            "taken for the time to notice and to re-establish. *Share*: of the time, with the paper's "
            "one loss in 9 min at DRX 100 ms; it has no number for 1 s. *1 % at*: one loss in so long "
            "makes 1 %. RFC 6675."
        ),
        table=Table.of(
            records,
            {
                "DRX": "{drx}",
                "forward handover": "{_with}",
                "rate": "{rate_mbps:g} Mbit/s",
                "round trip": "{rtt_ms:g} ms",
                "s": "{time_s:.2f}",
                "share": "{share:.2%}",
                "1 % at": "{one_percent_every_s:.0f} s",
            },
        ),
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """What each open assumption moves."""
    cells = [(is_fast, scheme) for is_fast in (False, True) for scheme in SCHEMES]
    settings = {
        (change, cell): changed(FIRST.setting(*cell), _for(change.values, cell[1]))
        for change in (BASE, *CHANGES)
        for cell in cells
    }
    results = found(runs, settings.values())
    records = []
    for change in (BASE, *CHANGES):
        record: dict[str, object] = {"_name": f"{change.assumption} {change.value}".strip()}
        record |= {"assumption": change.assumption, "value": change.value}
        for is_fast, scheme in cells:
            each = results[settings[change, (is_fast, scheme)]]
            column = f"{'fast' if is_fast else 'same'}_{scheme}"
            for name in ("retransmissions", "time_s", "bin_s"):
                record[f"{column}_{name}"] = middle(each, name)
            record[f"_{column}"] = (
                f"{middle(each, 'retransmissions'):.0f} / {middle(each, 'time_s'):.2f} / "
                f"{middle(each, 'bin_s'):.2f}"
            )
        records.append(record)
    return Section(
        name="assumptions",
        title="What each assumption moves",
        text=(
            "1 to 1 Mbit/s, 10 ms, one changed at a time, medians: retransmissions, the time above, "
            "and with another meaning of *running again* the end of the first bin of 30 ms with the "
            "old rate."
        ),
        table=Table.of(
            records,
            {
                "assumption": "{_name}",
                **{
                    HEADS[cell]: f"{{_{'fast' if cell[0] else 'same'}_{cell[1]}}}"
                    for cell in cells
                },
            },
        ),
    )


def _for(values: dict[str, str] | object, scheme: str) -> dict[str, str]:
    del scheme
    return dict(values)  # type: ignore[call-overload]


def count(effort: Effort) -> int:
    """How many simulations the study takes at most."""
    points = (
        len(ROWS) * len(CELLS)
        + 8
        + 2 * len(STACKS)
        + 2 * (1 + len(LIMITS))
        + len(RATES_MBPS) * len(RTTS_MS)
        + 16
        + (1 + len(CHANGES)) * 4
        + today.POINTS
    )
    return points * effort.seeds + 4


STUDY = Study(
    name="inter-rat-handover",
    folder=Path(__file__).parent,
    title="TCP and data at a handover from LTE to 3G",
    introduction="""\
A contribution to 3GPP RAN2 of 2006 beside the same experiment here: a download while a phone leaves
LTE for 3G, with what waits at the source forwarded, or with an anchor that sends to both. What had to be
chosen is listed in the study's README.md.
""",
    full=Effort(seeds=12),
    quick=Effort(seeds=3),
    count=count,
    sections=sections,
)
