"""`fadeout compare`: two runs or campaigns side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fadeout.cli.console import out, say
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.cli.table import new_table, print_table

MOST_ROWS = 60
"""Largest number of differences printed of each kind."""

SMALLEST_PERCENT = 0.01
"""Smallest difference in percent that is printed."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "compare",
        epilog=examples(
            "fadeout compare out/cubic out/newreno",
            "fadeout compare out/sweep-mine out/sweep-mine-2",
            note="To compare values within one campaign: fadeout campaign compare.",
        ),
    )(reports_errors(compare))


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run or of a campaign.")],
    second: Annotated[Path, typer.Argument(help="Folder of the other run or campaign.")],
) -> None:
    """Print the differences between two runs or campaigns, in their scenarios and results.

    Runs of campaigns are paired by their seeds if both have the same seeds. Each difference has a
    95 % interval.
    """
    from fadeout.campaign.comparison import compare as compare_folders
    from fadeout.cli.campaign_tables import shown

    found = compare_folders(first, second)
    if found.scenario:
        table = new_table("scenario", str(first), str(second))
        for key, a, b in found.scenario[:MOST_ROWS]:
            table.add_row(key, shown(a), shown(b))
        print_table(table)
        if len(found.scenario) > MOST_ROWS:
            say(f"{len(found.scenario) - MOST_ROWS} more keys differ")
    else:
        out().print("the scenarios are the same")
    if found.is_same:
        out().print("the results are the same: every run has the same fingerprint")
        return
    names = [name for name in found.results.columns if name not in ("low", "high", "paired")]
    table = new_table(*names, numbers=names[names.index("metric") + 1 :])
    for row in found.results.head(MOST_ROWS).iter_rows(named=True):
        table.add_row(*(cell(row, name) for name in names))
    print_table(table)
    for warning in found.warnings:
        say(f"warning: {warning}")


def cell(row: dict[str, Any], name: str) -> str:
    """Returns a value of a row. A difference has its interval, if there is one."""
    from fadeout.cli.campaign_tables import shown
    from fadeout.statistics import limits_text, value_text

    value = row[name]
    if name == "difference":
        return limits_text(value, row.get("low"), row.get("high"))
    if not isinstance(value, float):
        return shown(value)
    if name != "percent":
        return value_text(value)
    is_small = 0 < abs(value) < SMALLEST_PERCENT
    return f"<{SMALLEST_PERCENT}" if is_small else value_text(round(value, 2), "+")
