"""Checks that do not depend on assumptions, and the paper's conclusions on its Table 1."""

from collections.abc import Mapping
from typing import Any

from fadeout.studies.slow_start.setups import PUBLISHED, SETTINGS, THRESHOLD_MBPS, Setting
from fadeout.studies.slow_start.table1 import Found, ours
from fadeout.studies.slow_start.table2 import Delays, compare
from fadeout.study import Section, Table

RAMP_SLACK_MS = 5.0
"""Interval of the observations in ms, by which ramps may differ."""
IDENTITY = 0.06

Check = tuple[str, bool, str]
"""Name of a check, its result, and the values found."""


def checks(found: Found, delays: Delays) -> Section:
    """Returns the section with the checks and their results."""
    rows = [
        table2_check(delays),
        ordering_check(found),
        identity_check(found),
    ]
    return Section(
        name="checks",
        title="Checks",
        text=(
            "These checks must hold under all assumptions. Table 2 follows from arithmetic, and "
            "a shorter TTI gives a shorter ramp. The UPT's bytes divided by the UPT time are the "
            "threshold."
        ),
        table=Table.of(
            [{"check": name, "holds": holds, "found": text} for name, holds, text in rows],
            {
                "check": "{check}",
                "holds": lambda record: "yes" if record["holds"] else "no",
                "found": "{found}",
            },
        ),
        is_headline=True,
    )


def table2_check(delays: Delays) -> Check:
    """Returns the check of Table 2 against the appendix."""
    worst = max(abs(float(row["deviation_pct"])) for row in compare(delays))
    return "Table 2 within 1 % of Appendix A", worst < 1, f"at most {worst:.2f} %"


def ordering_check(found: Found) -> Check:
    """Returns the check that shorter intervals and periods give a shorter ramp."""
    ramp = {(s.tti_ms, s.period_tti): ours(found, s, "ramp_ms") for s in SETTINGS}
    falls = all(ramp[1.0, p] > ramp[0.5, p] > ramp[0.1, p] for p in (5, 1))
    gains = all(ramp[t, 5] >= ramp[t, 1] - RAMP_SLACK_MS for t in (1.0, 0.5, 0.1))
    text = ", ".join(f"{ramp[s.tti_ms, s.period_tti]:.0f}" for s in SETTINGS) + " ms"
    return "ramp falls with the interval and with the period", falls and gains, text


def identity_check(found: Found) -> Check:
    """Returns the check that the bytes of UPT divided by its time are the threshold."""
    rates = [ours(found, s, "upt_kb") * 8 / ours(found, s, "upt_ms") for s in SETTINGS]
    worst = max(rates, key=lambda rate: abs(rate / THRESHOLD_MBPS - 1))
    holds = abs(worst / THRESHOLD_MBPS - 1) <= IDENTITY
    return (
        f"UPT bytes over time within {100 * IDENTITY:g} % of {THRESHOLD_MBPS:g} Mbit/s",
        holds,
        f"{worst:.2f} Mbit/s at the worst",
    )


def claims(found: Found) -> Section:
    """Returns the section on the paper's statements about Table 1."""

    def less(column: str, base: Setting, other: Setting) -> float:
        return 100 * (1 - ours(found, other, column) / ours(found, base, column))

    slow, quick, middle = Setting(1.0, 5), Setting(0.1, 5), Setting(0.5, 1)
    fast = Setting(1.0, 1)
    stated = PUBLISHED["text_claims"]
    reductions = {
        "ramp_1ms_sr5_to_sr1_pct": (
            "ramp, 1 ms: SR period 5 to 1 TTI",
            less("ramp_ms", slow, fast),
        ),
        "ramp_tti_1_to_0p1_sr5_pct": (
            "ramp, 5 TTI: interval 1 to 0.1 ms",
            less("ramp_ms", slow, quick),
        ),
        "ramp_0p5sr1_to_0p1sr5_pct": (
            "ramp: 0.5 ms with 1 TTI to 0.1 ms with 5 TTI",
            less("ramp_ms", middle, quick),
        ),
        "ramp_kb_0p5sr1_to_0p1sr5_pct": (
            "ramp bytes, the same",
            less("ramp_kb", middle, quick),
        ),
        "upt_kb_1ms_sr5_to_sr1_pct": (
            "UPT bytes, 1 ms: SR period 5 to 1 TTI",
            less("upt_kb", slow, fast),
        ),
        "upt_kb_tti_1_to_0p1_sr5_pct": (
            "UPT bytes, 5 TTI: interval 1 to 0.1 ms",
            less("upt_kb", slow, quick),
        ),
        "upt_kb_1ms5_to_0p1ms1_factor": (
            "UPT bytes: 1 ms with 5 TTI to 0.1 ms with 1 TTI",
            ours(found, slow, "upt_kb") / ours(found, Setting(0.1, 1), "upt_kb"),
        ),
    }

    def unit(record: Mapping[str, Any], value: float) -> str:
        return f"{value:.0f} %" if record["claim"].endswith("_pct") else f"factor {value:.0f}"

    return Section(
        name="claims",
        title="What the paper concludes",
        text="The table compares the reductions that the paper states with ours.",
        table=Table.of(
            [
                {"_text": text, "claim": key, "published": float(stated[key]), "ours": value}
                for key, (text, value) in reductions.items()
            ],
            {
                "reduction of": "{_text}",
                "paper": lambda record: unit(record, record["published"]),
                "ours": lambda record: unit(record, record["ours"]),
            },
        ),
    )
