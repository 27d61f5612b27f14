"""The command and its subcommands, one file each."""

from typing import Annotated

import typer

from fadeout._version import describe_build
from fadeout.cli import (
    campaign,
    check,
    compare,
    packetdrill,
    plot,
    run,
    schema,
    study,
    sweep,
    validate,
)
from fadeout.cli import list as list_command
from fadeout.cli.console import out

app = typer.Typer(
    name="fadeout",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Start with [bold]fadeout run scenarios/blockage.toml[/bold], or see what there is with "
        "[bold]fadeout list[/bold]. Exit status: 0 done, 1 a file could not be read or written, "
        "2 a mistake in the scenario or the command line, 70 a bug in fadeout, 130 stopped with "
        "Ctrl-C."
    ),
)


def _version(wanted: bool) -> None:
    if wanted:
        out().print(describe_build(), highlight=False)
        raise typer.Exit


@app.callback()
def fadeout(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print version and build.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Simulate transport protocols over links that fade.

    A scenario goes in, a folder of tables and figures comes out: the same bits on every machine.
    """


for module in (
    run,
    sweep,
    campaign,
    compare,
    study,
    check,
    list_command,
    validate,
    packetdrill,
    plot,
    schema,
):
    module.register(app)


def main() -> None:
    """Run the command line."""
    app(prog_name="fadeout")
