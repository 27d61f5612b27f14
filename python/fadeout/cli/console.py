"""Printing: coloured and fitted on a terminal, plain and complete in a pipe."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fadeout.cli.wrapping import wrap

PIPE_WIDTH = 100_000
"""The width without a terminal, so that nothing is wrapped or cut."""


def out() -> Console:
    """Standard output."""
    if sys.stdout.isatty():
        return Console(emoji=False)
    return Console(
        width=PIPE_WIDTH, soft_wrap=True, color_system=None, highlight=False, emoji=False
    )


def pipe_width() -> int:
    """Returns the width of a pipe, which has none unless the environment sets COLUMNS."""
    columns = os.environ.get("COLUMNS", "")
    return max(int(columns), 1) if columns.isdecimal() and columns.isascii() else PIPE_WIDTH


def err() -> Console:
    """Standard error."""
    if sys.stderr.isatty():
        return Console(stderr=True, emoji=False)
    return Console(stderr=True, width=PIPE_WIDTH, soft_wrap=True, color_system=None, emoji=False)


@dataclass(frozen=True)
class Entry:
    """A name with its description and a remark."""

    name: str
    text: str
    remark: str = ""


WIDEST = 100
"""Longest line of text, also on wider terminals."""


NARROWEST = 26
"""Smallest width beside a name, in characters, at which text is printed beside the name."""


def print_entries(entries: Sequence[Entry], *, hang: bool = False) -> None:
    """Prints a list: one line each in a pipe, and names on the left of wrapped text on a terminal.

    With `hang` each name has a line of its own.
    """
    console = out()
    if not console.is_terminal:
        width = max((len(entry.name) for entry in entries), default=0)
        for entry in entries:
            remark = f"  [{entry.remark}]" if entry.remark else ""
            line = f"{entry.name:<{width}}  {entry.text}{remark}"
            console.print(line, markup=False, highlight=False)
        return
    widest = max((len(entry.name) for entry in entries), default=0)
    hang = hang or console.width - widest < NARROWEST
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=not hang)
    grid.add_column(overflow="fold")
    for entry in entries:
        text = Text(entry.text)
        if entry.remark:
            text.append(f"\n{entry.remark}", style="dim")
        if hang:
            console.print(Text(f"  {entry.name}", style="bold"))
            text.overflow = "fold"
            console.print(Padding(text, (0, 0, 0, 6)), width=min(console.width, WIDEST))
        else:
            grid.add_row(Text(f"  {entry.name}", style="bold"), text)
    if not hang:
        console.print(grid, width=min(console.width, WIDEST))


def print_paragraph(text: str) -> None:
    """Prints a paragraph, wrapped on a terminal."""
    console = out()
    if console.is_terminal:
        console.print(Text(text), width=min(console.width, WIDEST))
    else:
        if pipe_width() < PIPE_WIDTH:
            text = "\n".join(wrap(text, pipe_width()))
        console.print(text, markup=False, highlight=False)


def print_error(message: str) -> None:
    """Prints `message` to standard error as an error of this command."""
    console = err()
    console.print("[bold red]error:[/bold red] ", end="")
    console.print(message, markup=False, highlight=False)


def say(line: str) -> None:
    """Prints a line to standard error."""
    err().print(line, markup=False, highlight=False)
