"""The effect of each assumption, changed one at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from fadeout import study
from fadeout.studies.blockage.assumptions import Change
from fadeout.studies.blockage.paper import CASES, LENGTHS
from fadeout.studies.blockage.runs import Effort, Level, Point
from fadeout.study import (
    UNCHANGED,
    Estimate,
    Runs,
    Section,
    Values,
    assumptions_section,
    estimate,
    paired_difference,
)

Rows = Mapping[str, Sequence[Estimate]]
"""One estimate for each row of the paper's table, for each depth of the blockages."""


@dataclass(frozen=True)
class Moved:
    """Effect of each change on each row of the paper's table."""

    base: Rows
    """The loss in percent with everything as in the scenario."""
    changes: Mapping[Change, Rows]
    """Change of the loss in percentage points, for the depths at which the assumption
    can matter.
    """

    def heads(self) -> list[str]:
        """Returns the heads of the cells: each row of the paper's table at each depth."""
        return [
            f"{depth}, {length}" if depth else length for depth in self.base for length in LENGTHS
        ]

    def rows(self) -> list[study.Moved]:
        """Returns the row of the unchanged scenario, and one row for each change."""
        nothing = study.Moved(Change.nothing(), self._cells(self.base, ".1f", " %"), data=[])
        return [
            nothing,
            *(
                study.Moved(
                    change,
                    self._cells(rows, "+.1f"),
                    data=[
                        {
                            **({"depth": depth} if depth else {}),
                            **{
                                name: number
                                for length, value in zip(LENGTHS, values, strict=True)
                                for name, number in value.data(f"{length}_", "_pct").items()
                            },
                        }
                        for depth, values in rows.items()
                    ],
                )
                for change, rows in self.changes.items()
            ),
        ]

    def section(self, name: str, title: str, text: str, figures: Mapping[str, Figure]) -> Section:
        """Returns the report's section on the changes."""
        return assumptions_section(
            self.rows(),
            self.heads(),
            text,
            figures=figures,
            is_headline=True,
            named=lambda change: [change.assumption, change.value],
            name=name,
            title=title,
        )

    def _cells(self, rows: Rows, form: str, unit: str = "") -> list[str]:
        """Returns estimates in this form, with dashes where an assumption cannot matter."""
        return [
            value.text(form, unit) if value else "-"
            for depth in self.base
            for value in rows.get(depth, [None] * len(LENGTHS))
        ]


def compare(
    runs: Runs[Effort],
    level: Level,
    changes: Sequence[Change],
    depths: Mapping[str, Values],
    seeds: int,
) -> Moved:
    """Runs every change at every depth at which it can matter, and compares seed by seed."""
    base = Change(UNCHANGED, "", depths=tuple(depths))
    keys = [(change, depth) for change in (base, *changes) for depth in change.depths]
    points = [
        Point({**depths[depth], **change.values}, case["block_s"])
        for change, depth in keys
        for case in CASES
    ]
    losses = iter(level.losses(runs, points, seeds))
    found = {key: [next(losses) for _ in CASES] for key in keys}
    return Moved(
        base={depth: [estimate(values) for values in found[base, depth]] for depth in depths},
        changes={
            change: {
                depth: [
                    paired_difference(ours, was)
                    for ours, was in zip(found[change, depth], found[base, depth], strict=True)
                ]
                for depth in change.depths
            }
            for change in changes
        },
    )
