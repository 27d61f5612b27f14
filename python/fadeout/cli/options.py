"""Options that several commands take."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from fadeout.cli import complete
from fadeout.cli.console import say

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        autocompletion=complete.overrides,
        help="Replace a value of the scenario, as in flow.congestion-control=newreno. May be "
        "given several times.",
    ),
]

Force = Annotated[
    bool, typer.Option("--force", help="Replace the earlier results that --out holds.")
]

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


PARTIAL = re.compile(r"\..+\.partial-(\d+)(-\d+)?")


def say_left_over(folder: Path) -> None:
    """Name what killed runs left beside `folder`: hidden folders of processes that are gone."""
    try:
        beside = sorted(folder.absolute().parent.glob(".*.partial-*"))
    except OSError:
        return
    for path in beside:
        match = PARTIAL.fullmatch(path.name)
        if match is not None and not _is_alive(int(match[1])):
            say(f"left over from a run that was killed: {path}; it can be deleted")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def examples(*commands: str, note: str = "") -> str:
    """The epilog of a command: commands to paste, one a line, and a remark."""
    lines = ["Examples:", *(f"[bold]{command}[/bold]" for command in commands)]
    return "\n\n".join([*lines, note] if note else lines)
