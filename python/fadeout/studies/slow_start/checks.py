"""What must hold if the study repeats the paper, and what the paper says of its Table 1."""

from collections.abc import Mapping
from typing import Any

from fadeout.studies.slow_start.setups import PUBLISHED, SETTINGS, THRESHOLD_MBPS, Setting
from fadeout.studies.slow_start.table1 import Found, ours
from fadeout.studies.slow_start.table2 import Delays, compare
from fadeout.study import Section, Table

EXEMPT = Setting(1.0, 1)
"""Its published gain has no cause in Table 2: wider limits, below."""
EXEMPT_RAMP_MS = (75.0, 160.0)
EXEMPT_UPT_MS = (600.0, 1100.0)
RAMP_FACTOR = 1.35
RAMP_SLACK_MS = 5.0
BYTES_FACTOR = 1.45
UPT_FACTOR = 1.35
IDENTITY = 0.06

Check = tuple[str, bool, str]
"""What is checked, whether it holds, and what was found."""


def checks(found: Found, delays: Delays) -> Section:
    """The section: limits of `published.toml`, each with what was found."""
    rows = [
        table2_check(delays),
        ordering_check(found),
        ramp_check(found),
        factor_check(found, "ramp_kb", BYTES_FACTOR),
        factor_check(found, "upt_ms", UPT_FACTOR),
        factor_check(found, "upt_kb", UPT_FACTOR),
        exempt_check(found),
        identity_check(found),
    ]
    return Section(
        name="checks",
        title="Checks",
        text=(
            "Limits set before the comparison, in `published.toml`. The row 1 ms, 1 TTI has its "
            "own: the paper's gain of 44 % there has no cause in Table 2."
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
    """Table 2 by the appendix."""
    worst = max(abs(float(row["deviation_pct"])) for row in compare(delays))
    return "Table 2 within 1 % of Appendix A", worst < 1, f"at most {worst:.2f} %"


def ordering_check(found: Found) -> Check:
    """Shorter is quicker."""
    ramp = {(s.tti_ms, s.period_tti): ours(found, s, "ramp_ms") for s in SETTINGS}
    falls = all(ramp[1.0, p] > ramp[0.5, p] > ramp[0.1, p] for p in (5, 1))
    gains = all(ramp[t, 5] >= ramp[t, 1] - RAMP_SLACK_MS for t in (1.0, 0.5, 0.1))
    text = ", ".join(f"{ramp[s.tti_ms, s.period_tti]:.0f}" for s in SETTINGS) + " ms"
    return "ramp falls with the interval and with the period", falls and gains, text


def ramp_check(found: Found) -> Check:
    """Times of the ramp."""
    outside = []
    for setting in regular():
        published = setting.published("table1")["ramp_ms"]
        mine = ours(found, setting, "ramp_ms")
        near = abs(mine - published) <= RAMP_SLACK_MS
        if not (near or within(mine / published, RAMP_FACTOR)):
            outside.append(f"{setting.name}: {mine:.0f} for {published:g} ms")
    name = f"ramp within a factor {RAMP_FACTOR} or {RAMP_SLACK_MS:g} ms"
    return name, not outside, "; ".join(outside) or "all"


def factor_check(found: Found, column: str, factor: float) -> Check:
    """A column within a factor of the paper's."""
    names = {"ramp_kb": "ramp bytes", "upt_ms": "UPT time", "upt_kb": "UPT bytes"}
    outside = []
    for setting in regular():
        row = setting.published("table1")
        published = row.get(f"{column}_consistent", row[column])
        mine = ours(found, setting, column)
        if not within(mine / published, factor):
            outside.append(f"{setting.name}: {mine:.0f} for {published:g}")
    return f"{names[column]} within a factor {factor}", not outside, "; ".join(outside) or "all"


def exempt_check(found: Found) -> Check:
    """The row with limits of its own."""
    ramp, upt = (ours(found, EXEMPT, column) for column in ("ramp_ms", "upt_ms"))
    holds = is_between(ramp, EXEMPT_RAMP_MS) and is_between(upt, EXEMPT_UPT_MS)
    limits = "ramp {:g} to {:g}, UPT {:g} to {:g} ms".format(*EXEMPT_RAMP_MS, *EXEMPT_UPT_MS)
    return f"{EXEMPT.name}: {limits}", holds, f"{ramp:.0f} and {upt:.0f} ms"


def identity_check(found: Found) -> Check:
    """Bytes over time are the threshold."""
    rates = [ours(found, s, "upt_kb") * 8 / ours(found, s, "upt_ms") for s in SETTINGS]
    worst = max(rates, key=lambda rate: abs(rate / THRESHOLD_MBPS - 1))
    holds = abs(worst / THRESHOLD_MBPS - 1) <= IDENTITY
    return (
        f"UPT bytes over time within {100 * IDENTITY:g} % of {THRESHOLD_MBPS:g} Mbit/s",
        holds,
        f"{worst:.2f} Mbit/s at the worst",
    )


def claims(found: Found) -> Section:
    """The paper's sentences on Table 1."""

    def less(column: str, base: Setting, other: Setting) -> float:
        return 100 * (1 - ours(found, other, column) / ours(found, base, column))

    slow, quick, middle = Setting(1.0, 5), Setting(0.1, 5), Setting(0.5, 1)
    stated = PUBLISHED["text_claims"]
    reductions = {
        "ramp_1ms_sr5_to_sr1_pct": (
            "ramp, 1 ms: SR period 5 to 1 TTI",
            less("ramp_ms", slow, EXEMPT),
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
            less("upt_kb", slow, EXEMPT),
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
        text="Reductions that the text states, beside ours.",
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


def regular() -> list[Setting]:
    """The settings without limits of their own."""
    return [setting for setting in SETTINGS if setting != EXEMPT]


def within(ratio: float, factor: float) -> bool:
    """Whether a ratio is at most `factor` either way."""
    return 1 / factor <= ratio <= factor


def is_between(value: float, limits: tuple[float, float]) -> bool:
    """Whether a value is within limits."""
    return limits[0] <= value <= limits[1]
