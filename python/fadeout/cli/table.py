"""Tables that fit the terminal. No name and no number is ever cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from fadeout.cli.console import PIPE_WIDTH, out, pipe_width
from fadeout.cli.wrapping import wrap

SHORT = {"congestion": "cong.", "retransmissions": "retx", "retransmitted": "retx"}
"""Shorter words for headings, used if a table does not fit with the long ones."""

NARROWEST = 16
"""Smallest width in characters to which a column of sentences shrinks."""


@dataclass
class Table:
    """Rows of text under headings."""

    headings: list[str]
    numbers: frozenset[str]
    """Headings of the columns that are aligned right."""
    title: str | None = None
    rows: list[list[str]] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """Adds a row with a cell for each heading."""
        self.rows.append(list(cells))


def new_table(*columns: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """Returns a table whose columns in `numbers` are aligned right."""
    return Table(list(columns), frozenset(numbers), title)


def print_table(table: Table) -> None:
    """Prints `table` in the width of the terminal, and in a pipe with a line for each row."""
    console = out()
    width = console.width if console.is_terminal else pipe_width()
    for grid in fitted(table, console, width):
        with console.capture() as capture:
            console.print(grid, soft_wrap=False, width=width)
        lines = [line.rstrip() for line in capture.get().splitlines()]
        if not console.is_terminal:
            lines = [line for line in lines if line]
        # The lines have their colours already.
        console.file.write("\n".join(lines) + "\n")


def fitted(table: Table, console: Console, width: int) -> Iterator[Grid]:
    """Yields the table in a form that fits: as it is, with headings of several lines, with shorter
    words, or on its side. On its side a table may have several parts.
    """
    short = [_shorter(heading) for heading in table.headings]
    for headings, lines, gap in (
        (table.headings, 1, 3),
        (table.headings, 2, 3),
        (short, 2, 3),
        (table.headings, 3, 3),
        (short, 3, 3),
        (short, 3, 2),
    ):
        grid = _upright(table, wrapped(table, headings, lines), gap)
        if _widths(grid, console).maximum <= width:
            yield grid
            return
    if _widths(grid, console).minimum <= width:
        # Sentences are wrapped at their spaces.
        yield grid
        return
    yield from _on_its_side(table, console, width)


def wrapped(table: Table, headings: Sequence[str], most: int) -> list[str]:
    """Returns the headings in at most `most` lines each, and as narrow as that allows. No heading
    is narrower than the cells below it.
    """
    found = []
    for index, heading in enumerate(headings):
        cells = max((len(row[index]) for row in table.rows), default=0)
        words = max((len(word) for word in heading.split()), default=0)
        width = max(cells, words, 1)
        while len(lines := wrap(heading, width)) > most:
            width += 1
        found.append("\n".join(lines))
    return found


def _shorter(heading: str) -> str:
    return " ".join(SHORT.get(word, word) for word in heading.split())


def _widths(grid: Grid, console: Console) -> Measurement:
    """Returns the smallest and largest width of `grid`. The terminal's width does not matter."""
    return Measurement.get(console, console.options.update(width=PIPE_WIDTH), grid)


def _upright(table: Table, headings: Sequence[str], gap: int) -> Grid:
    grid = Grid(
        box=box.SIMPLE_HEAD,
        title=table.title and Text(table.title, style="table.title"),
        title_justify="left",
        pad_edge=False,
        padding=(0, 1) if gap == 3 else (0, 1, 0, 0),
    )
    sentences = [_has_sentences(table, index) for index in range(len(headings))]
    for index, heading in enumerate(headings):
        cells = [row[index] for row in table.rows]
        is_number = table.headings[index] in table.numbers
        is_prose = sentences[index]
        longest = max((len(cell) for cell in cells), default=0)
        grid.add_column(
            Text(heading),
            justify="right" if is_number else "left",
            # The last lines of headings align, but the first lines of cells.
            vertical="top" if any(sentences) else "bottom",
            no_wrap=not is_prose,
            min_width=min(longest, NARROWEST) if is_prose else None,
        )
    for row in table.rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid


def _has_sentences(table: Table, index: int) -> bool:
    """Returns True if a column has text with spaces, which may be wrapped."""
    is_number = table.headings[index] in table.numbers
    return not is_number and any(" " in row[index] for row in table.rows)


def _on_its_side(table: Table, console: Console, width: int) -> Iterator[Grid]:
    """Yields parts with a line for each heading and a column for each row, as many as fit."""
    title, first = table.title, 0
    while first < len(table.rows) or (first == 0 and not table.rows):
        count = max(len(table.rows) - first, 1)
        part = _side(table, table.rows[first : first + count], title)
        while count > 1 and _widths(part, console).maximum > width:
            count -= 1
            part = _side(table, table.rows[first : first + count], title)
        yield part
        title, first = None, first + count


def _side(table: Table, rows: Sequence[Sequence[str]], title: str | None) -> Grid:
    grid = Grid(
        box=box.SIMPLE_HEAD,
        title=title and Text(title, style="table.title"),
        title_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    is_single = len(rows) <= 1
    grid.add_column(Text(table.headings[0]), no_wrap=not is_single)
    for row in rows:
        # A name longer than the terminal continues on the next line.
        grid.add_column(Text(row[0]), justify="right", no_wrap=not is_single, overflow="fold")
    for index, heading in enumerate(table.headings[1:], 1):
        grid.add_row(Text(heading), *(Text(row[index]) for row in rows))
    return grid
