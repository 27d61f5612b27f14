"""Printing: coloured and fitted on a terminal, plain and complete in a pipe."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 100_000
"""The width without a terminal, so that nothing is wrapped or cut."""


def out() -> Console:
    """Standard output."""
    if sys.stdout.isatty():
        return Console(emoji=False)
    return Console(
        width=PIPE_WIDTH, soft_wrap=True, color_system=None, highlight=False, emoji=False
    )


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
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=not hang)
    grid.add_column()
    for entry in entries:
        text = Text(entry.text)
        if entry.remark:
            text.append(f"\n{entry.remark}", style="dim")
        if hang:
            console.print(Text(f"  {entry.name}", style="bold"))
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
        console.print(text, markup=False, highlight=False)


def new_table(*columns: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """Returns a table whose columns in `numbers` are aligned right."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def print_table(table: Table) -> None:
    """Prints `table`, in a pipe without trailing spaces."""
    console = out()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table, soft_wrap=False)
    lines = (line.rstrip() for line in capture.get().splitlines())
    console.print("\n".join(line for line in lines if line), markup=False)


def print_error(message: str) -> None:
    """Prints `message` to standard error as an error of this command."""
    console = err()
    console.print("[bold red]error:[/bold red] ", end="")
    console.print(message, markup=False, highlight=False)


def say(line: str) -> None:
    """Prints a line to standard error."""
    err().print(line, markup=False, highlight=False)
