"""The paper's open questions: buffers, recovery by rate, and forward handover."""

from collections.abc import Sequence
from typing import Any

from fadeout.studies.inter_rat_handover.runs import Effort, found, middle, of
from fadeout.studies.inter_rat_handover.setups import OUTAGES, QUESTIONS, Setting
from fadeout.study import Numbers, Runs, Values

BICASTING = Setting(1.0, 1.0, 10.0, True, "bicasting")
"""The paper's first row with bicasting over the fast S1."""


def medians(items: Sequence[Numbers], *names: str) -> dict[str, Any]:
    """Returns medians over the seeds, and the time to the old rate with its range as `_time`."""
    return {
        **{name: middle(items, name) for name in names},
        "_time": of(items, "time_s"),
    }


def limited(setting: Setting, round_trips: float | None) -> Setting:
    """Returns the setting of note 1, with a limit of the source's buffer in round trips."""
    if round_trips is None:
        return setting
    return setting.changed({"handover.to-umts.source-limit": f"{round_trips:g}"})


def source_limit(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the recoveries of note 1: the source discards data beyond some round trips."""
    settings = {
        (rtt, limit): limited(Setting(1.0, 1.0, rtt, True, "bicasting"), limit)
        for rtt in (10.0, 100.0)
        for limit in (None, *QUESTIONS.limits)
    }
    results = found(runs, settings.values())
    return [
        {
            "rtt_ms": rtt,
            "limit_round_trips": limit,
            "before_mbps": middle(results[setting], "old_mbps"),
            "_before": of(results[setting], "old_mbps"),
            "_lost": of(results[setting], "lost"),
            **medians(results[setting], "lost", "time_s"),
        }
        for (rtt, limit), setting in settings.items()
    ]


def axes_settings() -> dict[tuple[float, float], Setting]:
    """Returns the settings of figure 1's axes, by rate in Mbit/s and round trip in ms."""
    settings: dict[tuple[float, float], Setting] = {}
    for rate in QUESTIONS.rates_mbps:
        for rtt in QUESTIONS.rtts_ms:
            # In the paper's worst case the window is the bandwidth-delay product.
            segments = max(4, round(rate * 1e6 * rtt / 1e3 / 8 / 1500) + 2)
            values = {"flow.download.tcp.receive-window": str(segments * 1460)}
            settings[rate, rtt] = Setting(rate, rate, rtt, True, "none").changed(values)
    return settings


def recoveries(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the recoveries over figure 1's axes, if all data in transit are lost."""
    settings = axes_settings()
    results = found(runs, settings.values())
    names = ("lost", "retransmissions", "timeouts", "time_s")
    return [
        {"rate_mbps": rate, "rtt_ms": rtt, **medians(results[setting], *names)}
        for (rate, rtt), setting in settings.items()
    ]


def forward_settings() -> dict[tuple[str, float, str, float, float], Setting]:
    """Returns the settings of section 3.

    Keys are DRX cycle, outage in s, scheme, rate in Mbit/s and round trip in ms.
    """
    settings: dict[tuple[str, float, str, float, float], Setting] = {}
    for outage in OUTAGES:
        for scheme in ("forwarding", "none"):
            for rate, rtt in QUESTIONS.downloads:
                values: Values = {
                    "handover.to-umts.interruption": f"{outage.length_s:g} s",
                    "handover.to-umts.path-switch": f"{outage.length_s:g} s",
                }
                key = (outage.drx, outage.length_s, scheme, rate, rtt)
                settings[key] = Setting(rate, rate, rtt, True, scheme).changed(values)
    return settings


def forward_handover(runs: Runs[Effort]) -> list[dict[str, Any]]:
    """Returns the share of time in recovery after a lost cell (section 3)."""
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
                "rate_mbps": rate,
                "rtt_ms": rtt,
                "time_s": time_s,
                "share": time_s / QUESTIONS.loss_every_s,
                "one_percent_every_s": 100 * time_s,
            }
        )
    return records
