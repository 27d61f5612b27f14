"""The paper's open questions: buffers, recovery by rate, forward handover, assumptions."""

from fadeout.studies.inter_rat_handover import figures
from fadeout.studies.inter_rat_handover.runs import Effort, changed, found, middle, spread
from fadeout.studies.inter_rat_handover.setups import (
    BASE,
    CELLS,
    CHANGES,
    FIRST,
    HEADS,
    Setting,
    column,
)
from fadeout.study import Moved, Runs, Section, Table, assumptions_section

MOST_AXES_S = 1.0
"""Largest recovery time of figure 1 at 1 Mbit/s, seconds."""
RATES_MBPS = (1.0, 5.0, 10.0, 20.0, 100.0)
RTTS_MS = (10.0, 50.0, 100.0)
LIMITS = (1.0, 1.5, 2.0, 4.0)
"""Limits of the source's buffer, in round trips."""
LOSS_EVERY_S = 9 * 60.0
"""Time between losses of a cell with a DRX cycle of 100 ms, seconds: "once in more than 9 minutes".
"""
OUTAGES_S = {"100 ms": 0.3, "1 s": 1.5}
"""Time that the phone is in no cell, by DRX cycle, seconds."""
DOWNLOADS = ((1.0, 10.0), (1.0, 100.0), (5.0, 10.0), (20.0, 50.0))
"""Rates in Mbit/s and round trips in ms of section 3's question."""
POINTS = 2 * (1 + len(LIMITS)) + len(RATES_MBPS) * len(RTTS_MS) + 2 * 2 * len(DOWNLOADS)


def source_limit(runs: Runs[Effort]) -> Section:
    """Returns the section on note 1: the source discards data beyond a number of round trips."""
    settings: dict[tuple[float, float | None], Setting] = {}
    for rtt in (10.0, 100.0):
        base = Setting(1.0, 1.0, rtt, True, "bicasting")
        settings[rtt, None] = base
        for limit in LIMITS:
            value = {"handover.to-umts.source-limit": f"{limit:g}"}
            settings[rtt, limit] = changed(base, value)
    results = found(runs, settings.values())
    records = []
    for (rtt, limit), setting in settings.items():
        each = results[setting]
        records.append(
            {
                "rtt_ms": rtt,
                "limit_round_trips": limit,
                "_limit": "none" if limit is None else f"{limit:g}",
                "before_mbps": middle(each, "old_mbps"),
                "_before": spread(each, "old_mbps"),
                "lost": middle(each, "lost"),
                "_lost": spread(each, "lost", ".0f"),
                "time_s": middle(each, "time_s"),
                "_time": spread(each, "time_s"),
            }
        )
    return Section(
        name="note1",
        title="Note 1: a source that limits its buffer",
        text=(
            "1 to 1 Mbit/s, bicasting from 10 ms before, S1 at 155 Mbit/s. *Before*: the rate of "
            "TCP in the 5 s before the command. The limit is set with the round trip, which is "
            "known here. The paper leaves open how a base station would know it."
        ),
        table=Table.of(
            records,
            {
                "round trip": "{rtt_ms:g} ms",
                "limit in round trips": "{_limit}",
                "before Mbit/s": "{_before}",
                "lost": "{_lost}",
                "s": "{_time}",
            },
        ),
    )


def axes(runs: Runs[Effort]) -> Section:
    """Returns the section on figure 1: recovery times if all data in transit are lost."""
    settings = {}
    for rate in RATES_MBPS:
        for rtt in RTTS_MS:
            # In the paper's worst case the window is the bandwidth-delay product.
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
            "The curves are lost with the figure. The paper reads from it that at 1 Mbit/s the "
            f"recovery is always within about {MOST_AXES_S:g} s. Here the interruption is 100 ms, "
            "without forwarding or bicasting, and the sender follows RFC 6675. The window is the "
            "bandwidth-delay product and two segments, the worst case in the paper's footnote."
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
    """Returns the section on section 3: the share of time in recovery after a lost cell."""
    settings = {}
    for drx, outage_s in OUTAGES_S.items():
        for scheme in ("forwarding", "none"):
            for rate, rtt in DOWNLOADS:
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
            "A cell is lost, and the phone is in another one after an outage. With forward "
            "handover, the context and the data come over from the old cell. Without it, they are "
            "lost. The paper has no outage. Here it is 0.3 s (DRX 100 ms) and 1.5 s (DRX 1 s), "
            "taken for the time to notice and to re-establish. *Share*: share of the time, with "
            "the paper's one loss in 9 min at DRX 100 ms. The paper has no number for 1 s. *1 % "
            "at*: time between losses that makes 1 %. The sender follows RFC 6675."
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
    """Returns the section on the effect of each open assumption."""
    settings = {
        (change, cell): changed(FIRST.setting(*cell), change.values)
        for change in (BASE, *CHANGES)
        for cell in CELLS
    }
    results = found(runs, settings.values())
    moved = []
    for change in (BASE, *CHANGES):
        cells: list[str] = []
        numbers: dict[str, object] = {}
        for is_fast, scheme in CELLS:
            each = results[settings[change, (is_fast, scheme)]]
            head = column((is_fast, scheme))
            for name in ("retransmissions", "time_s", "bin_s"):
                numbers[f"{head}_{name}"] = middle(each, name)
            cells.append(
                f"{middle(each, 'retransmissions'):.0f} / {middle(each, 'time_s'):.2f} / "
                f"{middle(each, 'bin_s'):.2f}"
            )
        moved.append(Moved(change, cells, [numbers]))
    return assumptions_section(
        moved,
        [HEADS[cell] for cell in CELLS],
        "1 to 1 Mbit/s, 10 ms, one changed at a time. Each cell has three medians: "
        "retransmissions, the time above, and the end of the first bin of 30 ms with the old rate. "
        "The last is another meaning of *running again*.",
        named=lambda change: [f"{change.assumption} {change.value}".strip()],
    )
