"""The paper's open questions: buffers, recovery by rate, forward handover, assumptions."""

from functools import partial

from fadeout.studies.inter_rat_handover import figures
from fadeout.studies.inter_rat_handover.runs import Effort, found, middle, moved, shown
from fadeout.studies.inter_rat_handover.setups import (
    BASE,
    CELLS,
    CHANGES,
    HEADS,
    Setting,
)
from fadeout.study import Runs, Section, Table, Values, assumptions_section

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
STATED_DRX = "100 ms"
"""DRX cycle for which the paper has the time between losses of a cell."""
DOWNLOADS = ((1.0, 10.0), (1.0, 100.0), (5.0, 10.0), (20.0, 50.0))
"""Rates in Mbit/s and round trips in ms of section 3's question."""
POINTS = 2 * (1 + len(LIMITS)) + len(RATES_MBPS) * len(RTTS_MS) + 2 * 2 * len(DOWNLOADS)


def source_limit_of(round_trips: float) -> Values:
    """Returns overrides for the limit of the source's buffer."""
    return {"handover.to-umts.source-limit": f"{round_trips:g}"}


def source_limit(runs: Runs[Effort]) -> Section:
    """Returns the section on note 1: the source discards data beyond a number of round trips."""
    settings: dict[tuple[float, float | None], Setting] = {}
    for rtt in (10.0, 100.0):
        base = Setting(1.0, 1.0, rtt, True, "bicasting")
        settings[rtt, None] = base
        for limit in LIMITS:
            settings[rtt, limit] = base.changed(source_limit_of(limit))
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
                "_before": shown(each, "old_mbps"),
                "lost": middle(each, "lost"),
                "_lost": shown(each, "lost", ".0f"),
                "time_s": middle(each, "time_s"),
                "_time": shown(each, "time_s"),
            }
        )
    return Section(
        name="note1",
        title="Note 1: a source that limits its buffer",
        text=(
            "The rate is 1 Mbit/s before and after the handover, and S1 has 155 Mbit/s. "
            "Bicasting begins 10 ms before the command. *Before*: the rate of TCP in the 5 s "
            "before the command. The limit of the buffer is computed from the round trip, which "
            "is known here. The paper does not state how a base station would know the round "
            "trip."
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


def axes_settings() -> dict[tuple[float, float], Setting]:
    """Returns the settings of figure 1's axes, by rate in Mbit/s and round trip in ms."""
    settings: dict[tuple[float, float], Setting] = {}
    for rate in RATES_MBPS:
        for rtt in RTTS_MS:
            # In the paper's worst case the window is the bandwidth-delay product.
            segments = max(4, round(rate * 1e6 * rtt / 1e3 / 8 / 1500) + 2)
            values = {"flow.download.tcp.receive-window": str(segments * 1460)}
            setting = Setting(rate, rate, rtt, True, "none")
            settings[rate, rtt] = setting.changed(values)
    return settings


def axes(runs: Runs[Effort]) -> Section:
    """Returns the section on figure 1: recovery times if all data in transit are lost."""
    settings = axes_settings()
    results = found(runs, settings.values())
    records = [
        {
            "rate_mbps": rate,
            "rtt_ms": rtt,
            **{
                name: middle(results[setting], name)
                for name in ("lost", "retransmissions", "timeouts", "time_s")
            },
            "_time": shown(results[setting], "time_s"),
        }
        for (rate, rtt), setting in settings.items()
    ]
    return Section(
        name="figure1",
        title="Figure 1's axes: recovery where nothing is forwarded",
        text=(
            "The paper's Figure 1 is not available. The paper concludes from this figure that "
            f"the recovery at 1 Mbit/s always takes at most about {MOST_AXES_S:g} s. Here the "
            "interruption is 100 ms, without forwarding or bicasting, and the sender follows RFC "
            "6675. The window is the bandwidth-delay product plus two segments, which is the "
            "worst case according to the paper's footnote."
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
        figures={"Recovery time by rate and round-trip time.": figures.axes(records)},
    )


def forward_settings() -> dict[tuple[str, float, str, float, float], Setting]:
    """Returns the settings of section 3.

    Keys are DRX cycle, outage in s, scheme, rate in Mbit/s and round trip in ms.
    """
    settings: dict[tuple[str, float, str, float, float], Setting] = {}
    for drx, outage_s in OUTAGES_S.items():
        for scheme in ("forwarding", "none"):
            for rate, rtt in DOWNLOADS:
                values = {
                    "handover.to-umts.interruption": f"{outage_s:g} s",
                    "handover.to-umts.path-switch": f"{outage_s:g} s",
                }
                setting = Setting(rate, rate, rtt, True, scheme).changed(values)
                settings[drx, outage_s, scheme, rate, rtt] = setting
    return settings


def forward_handover(runs: Runs[Effort]) -> Section:
    """Returns the section on section 3: the share of time in recovery after a lost cell."""
    settings = forward_settings()
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
            "The phone loses its cell, and is in another cell after an outage. With forward "
            "handover, the old cell transfers the UE's context and data to the new cell. Without "
            "forward handover, context and data are lost. The paper does not state the length of "
            "the outage. Here the outage is 0.3 s with a DRX cycle of 100 ms, and 1.5 s with a "
            "DRX cycle of 1 s. These values are assumed times for the detection and the "
            "re-establishment. *Share*: share of the time in which TCP recovers, if a cell is "
            "lost once in 9 min. The paper has this number for DRX 100 ms, and none for DRX 1 s. "
            "*1 % at*: time between two losses at which this share is 1 %. The sender follows "
            "RFC 6675."
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
    return assumptions_section(
        moved(
            (BASE, *CHANGES),
            partial(found, runs),
            ("retransmissions", "time_s", "bin_s"),
            lambda each: (
                f"{middle(each, 'retransmissions'):.0f} / {middle(each, 'time_s'):.2f} / "
                f"{middle(each, 'bin_s'):.2f}"
            ),
        ),
        [HEADS[cell] for cell in CELLS],
        "The rate is 1 Mbit/s before and after the handover, and the round trip is 10 ms. Each "
        "row changes one assumption. Each cell has three medians: the retransmissions, the "
        "recovery time, and the end of the first bin of 30 ms with the old rate. The third "
        "median is another definition of the recovery time.",
        named=lambda change: [f"{change.assumption} {change.value}".strip()],
    )
