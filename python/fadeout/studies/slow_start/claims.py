"""Verdicts on the paper's Table 1 and on the conclusions in its text."""

from fadeout.studies.slow_start.ramp import AS_CHOSEN
from fadeout.studies.slow_start.runs import Ramps
from fadeout.studies.slow_start.setups import (
    BASE,
    CONCLUSIONS,
    PUBLISHED,
    SETTINGS,
    TOLERANCES,
    Conclusion,
    Setting,
)
from fadeout.study import Check, Claim, Verdict, estimate

COLUMNS = {
    "ramp_ms": "ramp, ms",
    "ramp_kb": "ramp, kB",
    "upt_ms": "UPT, ms",
    "upt_kb": "UPT, kB",
}


def values(found: Ramps, setting: Setting, column: str) -> list[float]:
    """Returns a cell of the unchanged scenario for each seed."""
    return [numbers[column] for numbers in found[BASE, setting, AS_CHOSEN]]


def consistent(setting: Setting, column: str) -> float:
    """Returns the paper's cell. A value that contradicts its row is replaced by one that agrees."""
    row = setting.published("table1")
    return row.get(f"{column}_consistent", row[column])


def cell_check(setting: Setting, column: str) -> Check:
    """Returns the check of a cell of Table 1 by the tolerance of its column."""
    accepted = (
        row.get(column)
        for row in PUBLISHED["accepted"]
        if (row["tti_ms"], row["sr_tti"]) == (setting.tti_ms, setting.period_tti)
    )
    return TOLERANCES[column].check(consistent(setting, column), next(accepted, None))


def conclusion_check(conclusion: Conclusion) -> Check:
    """Returns the check of a conclusion, whose number is a ratio of two cells.

    The ratio has the tolerance of the column. A reduction in percent leaves the rest.
    """
    stated = float(PUBLISHED["text_claims"][conclusion.stated])
    factor = TOLERANCES[conclusion.column].factor
    ratio = 1 - stated / 100 if is_reduction(conclusion) else stated
    low, high = float(f"{ratio / factor:.3g}"), float(f"{ratio * factor:.3g}")
    return Check(f"{ratio:.3g}", low, high, neutral=1.0, spec=".2f")


def is_reduction(conclusion: Conclusion) -> bool:
    """Returns True if the paper states a reduction in percent, and False for a factor."""
    return conclusion.stated.endswith("_pct")


def ends(conclusion: Conclusion) -> tuple[Setting, Setting]:
    """Returns the settings whose ratio is compared, the numerator first."""
    (tti, period), (other_tti, other_period) = conclusion.before, conclusion.after
    before, after = Setting(tti, int(period)), Setting(other_tti, int(other_period))
    return (after, before) if is_reduction(conclusion) else (before, after)


def name_of(conclusion: Conclusion) -> str:
    """Returns the name of a conclusion in the table."""
    over, under = ends(conclusion)
    name = COLUMNS[conclusion.column].partition(",")[0]
    unit = " bytes" if conclusion.column.endswith("kb") else ""
    return f"{name}{unit}, {over.name} over {under.name}"


def verdicts(found: Ramps) -> list[Verdict]:
    """Returns the verdicts on Table 1 and on the text's conclusions."""
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
    ratios = {}
    for conclusion in CONCLUSIONS:
        over, under = (values(found, each, conclusion.column) for each in ends(conclusion))
        ratios[name_of(conclusion)] = estimate([a / b for a, b in zip(over, under, strict=True)])
    checks = {name_of(each): conclusion_check(each) for each in CONCLUSIONS}
    text = Claim("reductions", "what the text concludes from Table 1", checks)
    return [*cells, Verdict(text, ratios)]
