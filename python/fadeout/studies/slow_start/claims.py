"""Verdicts on the paper's Table 1 and on the conclusions in its text."""

from fadeout.studies.slow_start.misses import published
from fadeout.studies.slow_start.ramp import AS_CHOSEN
from fadeout.studies.slow_start.setups import BASE, PUBLISHED, SETTINGS, Setting
from fadeout.studies.slow_start.table1 import COLUMNS, Found
from fadeout.study import Check, Claim, Section, Verdict, claims_section, estimate

TOLERANCES = PUBLISHED["checks"]

SLOW, QUICK, FAST = Setting(1.0, 5), Setting(0.1, 5), Setting(1.0, 1)
MIDDLE, QUICKEST = Setting(0.5, 1), Setting(0.1, 1)

REDUCTIONS = {
    "ramp_1ms_sr5_to_sr1_pct": ("ramp_ms", SLOW, FAST),
    "ramp_tti_1_to_0p1_sr5_pct": ("ramp_ms", SLOW, QUICK),
    "ramp_0p5sr1_to_0p1sr5_pct": ("ramp_ms", MIDDLE, QUICK),
    "ramp_kb_0p5sr1_to_0p1sr5_pct": ("ramp_kb", MIDDLE, QUICK),
    "upt_kb_1ms_sr5_to_sr1_pct": ("upt_kb", SLOW, FAST),
    "upt_kb_tti_1_to_0p1_sr5_pct": ("upt_kb", SLOW, QUICK),
    "upt_kb_1ms5_to_0p1ms1_factor": ("upt_kb", SLOW, QUICKEST),
}
"""Column, setting before and setting after of each reduction that the text states."""


def claims_of_table1(found: Found) -> Section:
    """Returns the section with the verdicts on Table 1 and on the text's conclusions."""
    cells = [
        Verdict(
            Claim(
                column,
                f"Table 1: {name}",
                {setting.name: cell_check(setting, column) for setting in SETTINGS},
            ),
            {setting.name: estimate(values(found, setting, column)) for setting in SETTINGS},
        )
        for column, name in COLUMNS.items()
    ]
    checks = {shown(key): reduction_check(key) for key in REDUCTIONS}
    reductions = {
        shown(key): estimate(
            [
                after / before if key.endswith("_pct") else before / after
                for before, after in zip(
                    values(found, first, column), values(found, then, column), strict=True
                )
            ]
        )
        for key, (column, first, then) in REDUCTIONS.items()
    }
    text = Claim("reductions", "what the text concludes from Table 1", checks)
    return claims_section([*cells, Verdict(text, reductions)])


def values(found: Found, setting: Setting, column: str) -> list[float]:
    """Returns a cell of the unchanged scenario for each seed."""
    return [numbers[AS_CHOSEN.name][column] for numbers in found[BASE, setting]]


def cell_check(setting: Setting, column: str) -> Check:
    """Returns the check of a cell of Table 1 by the tolerance of its column."""
    paper = published(setting, column)
    factor = TOLERANCES[f"{column}_factor"]
    least = TOLERANCES.get(f"{column}_least", 0.0)
    low, high = min(paper / factor, paper - least), max(paper * factor, paper + least)
    for row in TOLERANCES["accepted"]:
        if (row["tti_ms"], row["sr_tti"]) == (setting.tti_ms, setting.period_tti):
            low, high = row.get(column, (low, high))
    return Check(f"{paper:g}", float(f"{low:.4g}"), float(f"{high:.4g}"), unit="", spec=".0f")


def reduction_check(key: str) -> Check:
    """Returns the check of a reduction, which is that of the share that is left.

    The share is the ratio of two cells, and has the tolerance of their column.
    """
    column = REDUCTIONS[key][0]
    stated = float(PUBLISHED["text_claims"][key])
    factor = TOLERANCES[f"{column}_factor"]
    ratio = 1 - stated / 100 if key.endswith("_pct") else stated
    low, high = float(f"{ratio / factor:.3g}"), float(f"{ratio * factor:.3g}")
    return Check(f"{ratio:.3g}", low, high, neutral=1.0, spec=".2f")


def shown(key: str) -> str:
    """Returns the name of a reduction in the table."""
    column, first, then = REDUCTIONS[key]
    name = COLUMNS[column].partition(",")[0] + (" bytes" if column.endswith("kb") else "")
    if key.endswith("_pct"):
        return f"{name}, {then.name} over {first.name}"
    return f"{name}, {first.name} over {then.name}"
