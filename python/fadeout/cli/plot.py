"""`fadeout plot`: draw the figures of an earlier run."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout._figures import FIGURES
from fadeout.cli import complete
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.results import Results


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "plot",
        epilog=examples("fadeout plot out/blockage congestion throughput --format pdf"),
    )(reports_errors(plot))


def plot(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                f"Figures: {', '.join(FIGURES)}. handover-3 is the third change of cell, "
                "handover-all the whole run. Default: all for which the run has data."
            ),
            autocompletion=complete.figures,
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write to. Default: RUN/figures.")
    ] = None,
    format: Annotated[  # noqa: A002
        str,
        typer.Option("--format", "-f", help="png, pdf or svg.", autocompletion=complete.formats),
    ] = "png",
) -> None:
    """Draw figures from the folder of a run.

    The first four changes of cell have a figure each.
    """
    if format not in ("png", "pdf", "svg"):
        raise typer.BadParameter(f"{format!r} is not one of png, pdf, svg", param_hint="--format")
    results = Results.open(run)
    try:
        paths = results.plot.save(folder or run / "figures", names or None, format)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAMES") from None
    for path in paths:
        out().print(str(path), markup=False, highlight=False)
