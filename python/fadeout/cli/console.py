"""Printing: coloured and fitted on a terminal, plain and whole in a pipe."""

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 100_000
"""Wide enough that nothing is wrapped or cut where there is no terminal."""


def out() -> Console:
    """Standard output."""
    if sys.stdout.isatty():
        return Console()
    return Console(width=PIPE_WIDTH, soft_wrap=True, color_system=None, highlight=False)


def err() -> Console:
    """Standard error."""
    if sys.stderr.isatty():
        return Console(stderr=True)
    return Console(stderr=True, width=PIPE_WIDTH, soft_wrap=True, color_system=None)


def new_table(*columns: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """A table whose columns in `numbers` are aligned right."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def print_table(table: Table) -> None:
    """Print `table`; in a pipe without trailing spaces."""
    console = out()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table, soft_wrap=False)
    lines = (line.rstrip() for line in capture.get().splitlines())
    console.print("\n".join(line for line in lines if line), markup=False)


def print_error(message: str) -> None:
    """Print `message` to standard error as an error of this command."""
    console = err()
    console.print("[bold red]error:[/bold red] ", end="")
    console.print(message, markup=False, highlight=False)
