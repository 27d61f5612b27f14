"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help="Replace a value of the scenario, as in flow.congestion-control=newreno. May be "
        "given several times.",
    ),
]

Force = Annotated[bool, typer.Option("--force", help="Replace what --out already holds.")]

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Runs at a time. Default: one for each processor."),
]


def unused_folder(base: Path) -> Path:
    """`base`, or `base` with a number added when it exists."""
    number = 1
    folder = base
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def examples(*commands: str, note: str = "") -> str:
    """The epilog of a command: commands to paste, one a line, and a remark."""
    lines = ["Examples:", *(f"[bold]{command}[/bold]" for command in commands)]
    return "\n\n".join([*lines, note] if note else lines)
