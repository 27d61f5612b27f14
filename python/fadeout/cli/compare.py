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
        table.add_row(
            *(difference_text(row) if n == "difference" else number(row[n]) for n in names)
        )
    print_table(table)
    for warning in found.warnings:
        say(f"warning: {warning}")


def number(value: Any) -> str:  # noqa: ANN401 - a value of any column
    """Returns a number to four digits, and text as it is."""
    from fadeout.cli.campaign_tables import shown

    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def difference_text(row: dict[str, Any]) -> str:
    """Returns a difference with its interval, if it has one."""
    if row["difference"] is None:
        return "-"
    if row.get("low") is None:
        return f"{row['difference']:+.4g}"
    return f"{row['difference']:+.4g} [{row['low']:+.4g}, {row['high']:+.4g}]"
