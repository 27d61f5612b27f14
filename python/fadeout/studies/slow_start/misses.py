"""Cells of Table 1 that differ most from the paper's, and the assumptions that change them."""

import math
from collections.abc import Callable

from fadeout.studies.slow_start.ramp import AS_CHOSEN, MEASURES
from fadeout.studies.slow_start.setups import BASE, CHANGES, SETTINGS, Change, Setting
from fadeout.studies.slow_start.table1 import COLUMNS, Found, mean
from fadeout.study import Section, Table

MISS = 4 / 3
"""Factor from which a cell counts as a miss, in either direction."""

SHOWN = 4
"""Number of mechanisms that are shown for each cell."""

Read = Callable[[Setting, str], float]
"""Returns the value of a cell under a mechanism."""


def published(setting: Setting, column: str) -> float:
    """Returns the paper's cell. A value that contradicts its row is replaced by one that agrees."""
    row = setting.published("table1")
    return row.get(f"{column}_consistent", row[column])


def mechanisms(found: Found) -> dict[str, Read]:
    """Returns every assumption and every way of reading the throughput, by name."""

    def changed(change: Change) -> Read:
        return lambda setting, column: mean(found[change, setting], AS_CHOSEN.name, column)

    def read(name: str) -> Read:
        return lambda setting, column: mean(found[BASE, setting], name, column)

    return {
        **{change.name: changed(change) for change in CHANGES},
        **{measure.name: read(measure.name) for measure in MEASURES if measure != AS_CHOSEN},
    }


def off(value: float, target: float) -> float:
    """Returns the distance from the paper's value, as the logarithm of a ratio."""
    return abs(math.log(value / target)) if value > 0 else math.inf


def misses(found: Found) -> Section:
    """Returns the section on the misses.

    Nothing is fitted to single cells: a mechanism that improves one cell is judged by all others.
    """
    tried = mechanisms(found)
    cells = [(setting, column) for setting in SETTINGS for column in COLUMNS]

    def whole(read: Read) -> float:
        errors = [off(read(*cell), published(*cell)) for cell in cells]
        return math.exp(math.sqrt(math.fsum(error**2 for error in errors) / len(errors)))

    def as_it_stands(setting: Setting, column: str) -> float:
        return mean(found[BASE, setting], AS_CHOSEN.name, column)

    base_error = whole(as_it_stands)
    rows, data = [], []
    for setting, column in cells:
        ours, paper = as_it_stands(setting, column), published(setting, column)
        if off(ours, paper) <= math.log(MISS):
            continue
        values = {name: read(setting, column) for name, read in tried.items()}
        known = {name: value for name, value in values.items() if value > 0}
        nearest = sorted(known, key=lambda name: off(known[name], paper))[:SHOWN]
        rows += [
            [
                f"{setting.name}: {COLUMNS[column]}" if rank == 0 else "",
                f"{paper:g}" if rank == 0 else "",
                f"{ours:.0f}" if rank == 0 else "",
                name,
                f"{known[name]:.0f}",
                f"{whole(tried[name]):.2f}",
            ]
            for rank, name in enumerate(nearest)
        ]
        data += [
            {"tti_ms": setting.tti_ms, "sr_tti": setting.period_tti, "column": column}
            | {"published": paper, "ours": ours, "mechanism": name, "value": value}
            | {"error_of_the_table": whole(tried[name])}
            for name, value in values.items()
        ]
    best = min(tried, key=lambda name: whole(tried[name]))
    return Section(
        name="misses",
        title="The cells that miss, and what moves them",
        text=(
            "The table lists the cells that differ from the paper by more than a third. For each "
            f"cell it shows the {SHOWN} assumptions and definitions above that bring the cell "
            "nearest to the paper. *Whole table*: root mean square of the factors of all 24 "
            f"cells with the same change. Without a change this factor is {base_error:.2f}. No "
            "parameter is adjusted to the cells."
        ),
        table=Table(
            columns=["cell", "paper", "ours", "what moves it", "to", "whole table"],
            rows=rows,
            data=data,
        ),
        conclusion=(
            f"Over the whole table the nearest change is *{best}*, with a factor of "
            f"{whole(tried[best]):.2f}. The unchanged scenario has a factor of {base_error:.2f}."
        ),
    )
