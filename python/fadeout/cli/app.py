"""The command and its subcommands, one file each."""

from typing import Annotated

import typer

from fadeout._version import describe_build
from fadeout.cli import (
    campaign,
    check,
    compare,
    examples,
    explain,
    packetdrill,
    plot,
    run,
    schema,
    study,
    sweep,
    tune,
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
        "Start with [bold]fadeout new blockage[/bold] and [bold]fadeout run blockage.toml[/bold], "
        "or see what there is with [bold]fadeout list[/bold]. [bold]fadeout --install-completion"
        "[/bold] makes bash, zsh or fish complete commands, names and values. Exit status: 0 done, "
        "1 a file could not be read or written, 2 a mistake in the scenario or the command line, "
        "70 a bug in fadeout, 129, 130 or 143 stopped by SIGHUP, Ctrl-C or SIGTERM."
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
    examples,
    sweep,
    campaign,
    compare,
    tune,
    study,
    check,
    list_command,
    explain,
    validate,
    packetdrill,
    plot,
    schema,
):
    module.register(app)
