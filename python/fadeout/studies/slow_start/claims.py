"""Verdicts on the paper's Table 1 and on the conclusions in its text."""

from fadeout.studies.slow_start.ramp import AS_CHOSEN
from fadeout.studies.slow_start.runs import Ramps
from fadeout.studies.slow_start.setups import (
    BASE,
    CLAIMS,
    CONCLUSIONS,
    SETTINGS,
    TOLERANCES,
    Conclusion,
    Setting,
)
from fadeout.study import Check, Claim, Estimate, Verdict, estimate

COLUMNS = {
    "ramp_ms": "ramp, ms",
    "ramp_kb": "ramp, kB",
    "upt_ms": "UPT, ms",
    "upt_kb": "UPT, kB",
}


def values(found: Ramps, setting: str, column: str) -> list[float]:
    """Returns a cell of the unchanged scenario for each seed."""
    numbers = found.at(change=BASE.name, setting=setting, reading=AS_CHOSEN.name)
    return [each[column] for each in numbers]


def consistent(setting: Setting, column: str) -> float:
    """Returns the paper's cell. A value that contradicts its row is replaced by one that agrees."""
    row = setting.published("table1")
    return row.get(f"{column}_consistent", row[column])


def cell_check(setting: Setting, column: str) -> Check:
    """Returns the check of a cell of Table 1, by the tolerance of its column if it has no other."""
    within = setting.published("table1").get(f"{column}_within")
    return TOLERANCES[column].check(consistent(setting, column), within)


def ratio(found: Ramps, conclusion: Conclusion) -> Estimate:
    """Returns the ratio of two cells, computed seed by seed."""
    over, under = (
        values(found, setting, conclusion.column) for setting in (conclusion.over, conclusion.under)
    )
    return estimate([a / b for a, b in zip(over, under, strict=True)])


def verdicts(found: Ramps) -> list[Verdict]:
    """Returns the verdicts on Table 1 and on the text's conclusions."""
    cells = [
        Verdict(
            Claim(
                column,
                f"Table 1: {name}",
                {setting.name: cell_check(setting, column) for setting in SETTINGS},
            ),
            {setting.name: estimate(values(found, setting.name, column)) for setting in SETTINGS},
        )
        for column, name in COLUMNS.items()
    ]
    ratios = {each.value: ratio(found, each) for each in CONCLUSIONS}
    return [*cells, Verdict(CLAIMS["reductions"], ratios)]
