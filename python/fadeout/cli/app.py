"""The command and its subcommands, one file each."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fadeout._version import describe_build
from fadeout.cli import load
from fadeout.cli.console import out
from fadeout.cli.help import Context, Formatter, write_plainly

MODULES = {
    "run": "run",
    "examples": "examples",
    "new": "examples",
    "sweep": "sweep",
    "campaign": "campaign",
    "compare": "compare",
    "tune": "tune",
    "fit": "fit",
    "study": "study",
    "check": "check",
    "inspect": "inspect",
    "list": "list",
    "explain": "explain",
    "validate": "validate",
    "kernel": "kernel",
    "packetdrill": "packetdrill",
    "plot": "plot",
    "report": "report",
    "trace": "trace",
    "schema": "schema",
}
"""The file of each command, in the order of the help."""


class Commands(TyperGroup):
    """Loads a command when it is called, so that `fadeout check` needs no tables and no figures."""

    context_class = Context

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        # The commands' names are registered, as help and suggestions need them.
        self.commands = dict.fromkeys(MODULES, TyperCommand(None))

    def format_help(self, ctx: typer.Context, formatter: Formatter) -> None:  # type: ignore[override]
        """Writes the help plainly. Errors are drawn in colour."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]  # noqa: ARG002
        """Returns the command of that name."""
        if cmd_name not in MODULES:
            return None
        # The callback makes it a group, even with one command.
        home = typer.Typer(callback=lambda: None)
        load(f"fadeout.cli.{MODULES[cmd_name]}").register(home)
        return write_plainly(typer.main.get_group(home).commands[cmd_name])


app = typer.Typer(
    name="fadeout",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Start with `fadeout run blockage`, a shipped example. `fadeout new blockage` writes it to "
        "a file to change, "
        "and `fadeout list` lists everything that has a name. `fadeout "
        "--install-completion` lets bash, zsh or fish complete commands, names and values. "
        "Exit status: 0 success, 1 a file could not be read or written, 2 a mistake in the "
        "scenario or the command line, 70 a bug in fadeout, 129, 130 or 143 stopped by SIGHUP, "
        "Ctrl-C or SIGTERM."
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
    """Simulate transport protocols over fading links.

    A scenario becomes a folder of tables and figures. The results are the same on every machine,
    bit for bit.
    """
