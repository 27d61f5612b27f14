"""`fadeout report`: write one HTML file of a run or a campaign."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fadeout import report as reports
from fadeout._quantities import byte_count
from fadeout.cli.console import out, say
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "report",
        epilog=examples(
            "fadeout report out/blockage --open",
            "fadeout report out/blockage --size 3MB --out blockage.html",
            "fadeout report c",
            note="Add #t=12.3 to the page's address to open it at 12.3 s.",
        ),
    )(reports_errors(report))


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or of a campaign.")],
    file: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write. Default: FOLDER/report.html."),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            help="Largest size of the page, up to 5MB. A larger page has more points of each line."
        ),
    ] = "500kB",
    is_opened: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a report: one HTML file that needs no network.

    The page has the scenario against its defaults, how to make the run again, warnings, tables, and
    series and a map that play together.
    """
    try:
        path = reports.write(folder, file, size=byte_count(size))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--size") from None
    out().print(f"report: {path}", markup=False, highlight=False)
    if is_opened and not webbrowser.open(path.resolve().as_uri()):
        say(f"no browser could be started; open {path}")
