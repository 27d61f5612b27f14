"""`fadeout validate`: compare with recordings of real stacks."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import _names
from fadeout.cli import complete
from fadeout.cli.console import new_table, out, print_table
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import Jobs, examples, unused_folder
from fadeout.cli.progress import count_progress
from fadeout.validate import REFERENCES, linux


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "validate",
        epilog=examples("fadeout validate linux", note="Exit status 1: a row missed."),
    )(reports_errors(validate))


def validate(
    reference: Annotated[
        str,
        typer.Argument(help="What to compare with: linux.", autocompletion=complete.references),
    ] = "linux",
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for figures. Default: out/validate-REFERENCE."),
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw our window over the recorded one.")] = True,
    jobs: Jobs = None,
) -> None:
    """Run the equivalents of recorded runs of a real stack, and compare."""
    if reference not in REFERENCES:
        raise typer.BadParameter(
            _names.unknown("reference", reference, REFERENCES), param_hint="REFERENCE"
        )
    with count_progress(f"validate {reference}") as progress:
        rows = linux.compare_all(jobs=jobs, progress=progress)
    columns = linux.COLUMNS
    table = new_table(*columns, numbers=columns[1:])
    for row in rows:
        table.add_row(*row.cells())
    print_table(table)
    known = linux.known_misses()
    missed = [(row.name, key, miss) for row in rows for key, miss in row.misses().items()]
    for name, key, miss in missed:
        why = known.get((name, key))
        out().print(f"missed: {miss}", markup=False, highlight=False)
        out().print(f"        {why or 'not known before'}", markup=False, highlight=False)
    if figures:
        folder = folder or unused_folder(Path("out") / f"validate-{reference}")
        linux.draw(folder)
        out().print(f"figures: {folder}", markup=False, highlight=False)
    if missed:
        raise typer.Exit(1)
    out().print(f"all {len(rows)} rows lie within the tolerances", highlight=False)
