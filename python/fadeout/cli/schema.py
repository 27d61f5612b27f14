"""`fadeout schema`: the JSON Schema of scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import ResultError, _schema
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import Force


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "schema",
        epilog=(
            "Editors with a TOML language server complete and check a scenario that names the "
            "schema in its first line: `#:schema ./scenario.schema.json`. `fadeout new` "
            "writes both."
        ),
    )(reports_errors(schema))


def schema(
    path: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write. Default: standard output.")
    ] = None,
    force: Force = False,
) -> None:
    """Print the JSON Schema of scenario files."""
    text = _schema.text()
    if path is None:
        out().print(text, end="", markup=False, highlight=False)
        return
    if path.exists() and not force:
        raise ResultError(f"{path} exists; --force replaces it")
    path.write_text(text, encoding="utf-8")
