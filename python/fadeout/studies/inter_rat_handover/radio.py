"""The paper's handover with a radio: LTE with its layers, and 3G that the phone measures."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import Effort, middle, moved, recovery, shown
from fadeout.studies.inter_rat_handover.setups import (
    CELLS,
    FAST_MBPS,
    FIRST,
    HEADS,
    ROWS,
    SEGMENT_BYTES,
    Setting,
    column,
)
from fadeout.study import (
    Change,
    Job,
    Numbers,
    Runs,
    Section,
    Table,
    Values,
    assumptions_section,
    overrides,
    spread,
)

SCENARIO = Path(__file__).parent / "radio.toml"

LTE = "cell.lte.radio"
HSPA = "rab.umts.technology"

NEVER_S = 20.0
"""Time to the old rate above which it is not reached in the rest of a run, seconds."""

HEADERS = 0.05
"""Share of headers of RLC and MAC in a block."""
NET = (1 - 0.1) * (1 - HEADERS)
"""Share of the radio's rate that packets have, with 10 % errors of first transmissions."""


def errors(share: float) -> Values:
    """Returns overrides for errors in LTE. Packets keep the rate of the paper's first row."""
    rate = f"{FIRST.before * 1e6 / ((1 - share) * (1 - HEADERS)):.0f}"
    return {f"{LTE}.bler": str(share), f"{LTE}.downlink-rate": rate}


BASE = Change.nothing()

CHANGES = (
    Change.of(
        "interruption", "190 ms (TS 36.133)", "mobility-management.utra-interruption", "190 ms"
    ),
    Change("errors of transmissions", "none", errors(0.0)),
    Change("errors of transmissions", "30 %", errors(0.3)),
    Change.of("RLC in LTE", "unacknowledged", "ue.phone.rlc.mode", "um"),
    Change("delay of S1 and Iu", "5 ms", {"link.s1.delay": "5 ms", "link.iu.delay": "5 ms"}),
    Change.of("buffer at the base station", "30 kB", "ue.phone.rlc.buffer", "30 kB"),
    Change.of("delay of the bearer in 3G", "default, 30 ms", f"{HSPA}.delay", "30 ms"),
    Change.of("errors that RLC repairs in 3G", "default, 0.1 %", f"{HSPA}.rlc-error", "0.001"),
    Change.of("queue of the bearer in 3G", "default, 300 ms", "rab.umts.downlink.queue", "{}"),
)
"""Changes of one assumption of the radio at a time."""

POINTS = (len(ROWS) + len(CHANGES)) * len(CELLS)


def values(setting: Setting, seed: int) -> Values:
    """Returns the overrides of a setting.

    The seed moves the start of the flow by a part of a segment's transmission time. It also draws
    the errors of transmissions in LTE.
    """
    start_s = 1 + spread(seed) * SEGMENT_BYTES * 8 / (setting.before * 1e6)
    wire = FAST_MBPS if setting.is_fast else setting.before
    given = {
        "link.internet.rate": f"{wire:g} Mbit/s",
        "link.internet.delay": f"{setting.rtt_ms / 2:g} ms",
        f"{LTE}.downlink-rate": f"{setting.before * 1e6 / NET:.0f}",
        f"{LTE}.uplink-rate": f"{setting.before * 1e6 / NET:.0f}",
        "rab.umts.downlink.rate": f"{setting.after * 1e6 / NET:.0f} bit/s",
        "mobility-management.data": setting.scheme,
        "flow.download.start": f"{start_s:.9f} s",
    }
    if setting.scheme == "bicasting":
        given["mobility-management.bicast-before"] = f"{setting.bicast_ms:g} ms"
    return {**given, **dict(setting.extra)}


def job(setting: Setting, seed: int) -> Job:
    """Returns the run of a setting."""
    return Job(SCENARIO, overrides(values(setting, seed)), seed=seed, with_tables=True)


def found(runs: Runs[Effort], settings: Iterable[Setting]) -> dict[Setting, list[Numbers]]:
    """Returns the numbers of each setting, as a list over the seeds."""
    return runs.over_seeds(list(settings), job, read)


def read(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run, as those of a handover of links."""
    row = results.handovers.row(0, named=True)
    return {
        **recovery(results, row["commanded_s"]),
        "lost": float(row["lost_packets"]),
        "forwarded": float(row["forwarded_numbered"] + row["forwarded_fresh"]),
        "doubled": float(row["doubled_packets"]),
        "gap_s": row["downlink_gap_s"],
    }


def time_text(each: Sequence[Numbers]) -> str:
    """Returns the median time to the old rate as text, or "never"."""
    time_s = middle(each, "time_s")
    return "never" if time_s > NEVER_S else f"{time_s:.2f}"


def section(runs: Runs[Effort], links: dict[Setting, list[Numbers]]) -> Section:
    """Returns the section with the paper's cells over links and with the radio."""
    settings = [row.setting(*cell) for row in ROWS for cell in CELLS]
    with_radio = found(runs, settings)
    records = []
    for row in ROWS:
        record: dict[str, object] = {"_name": row.setting(True, "forwarding").name}
        record |= {"figure": row.figure, "before_mbps": row.before, "after_mbps": row.after}
        record |= {"rtt_ms": row.rtt_ms}
        for cell in CELLS:
            setting, name = row.setting(*cell), column(cell)
            paper = row.cells[cell]
            record |= {
                f"{name}_published_retransmissions": paper[0],
                f"{name}_published_s": paper[1],
            }
            for kind, each in (("links", links[setting]), ("radio", with_radio[setting])):
                record |= {
                    f"{name}_{kind}_{number}": middle(each, number)
                    for number in ("retransmissions", "time_s", "lost", "timeouts", "gap_s")
                }
            record[f"_{name}"] = "; ".join(
                f"{middle(each, 'retransmissions'):.0f} / {time_text(each)}"
                for each in (links[setting], with_radio[setting])
            )
            record[f"_{name}"] = f"{paper[0]:g} / {paper[1]:g}; {record[f'_{name}']}"
        records.append(record)
    return Section(
        name="radio",
        title="The same with a radio",
        text=(
            "A cell of LTE with a fixed rate, of which packets have the paper's rate. It has 10 % "
            "errors of first transmissions, HARQ, RLC in acknowledged mode and PDCP. The phone "
            "drives to a cell of 3G and measures it. Event B2 leads to the handover, with messages "
            "over S1 and Iu. Each cell has the paper's retransmissions and seconds, then our "
            "medians over links, then with the radio. *Never*: the old rate is not reached in the "
            "rest of the run. The bearer of 3G adds its own delay, and a window of 65,536 bytes "
            "then carries less."
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


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of the radio's assumptions."""
    return assumptions_section(
        moved(
            (BASE, *CHANGES),
            partial(found, runs),
            ("retransmissions", "time_s", "lost", "gap_s"),
            lambda each: f"{shown(each, 'retransmissions', '.0f')} / {shown(each, 'time_s')}",
        ),
        [HEADS[cell] for cell in CELLS],
        "1 to 1 Mbit/s, 10 ms, one assumption of the radio changed at a time. Retransmissions and "
        "seconds: medians, with the least and the most. If RLC repairs errors late in 3G, the "
        "rate over 300 ms often falls below 90 % of the old rate. The old rate then counts as "
        "reached only seconds later.",
        named=lambda change: [f"{change.assumption} {change.value}".strip()],
        name="radio-assumptions",
        title="What each assumption of the radio moves",
    )
