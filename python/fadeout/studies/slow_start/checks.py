"""Checks that do not depend on assumptions."""

from fadeout.studies.slow_start.setups import SETTINGS, THRESHOLD_MBPS
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
