"""Help that is printed as it was written: square brackets stay, names are whole at any width."""

import os
import re
import shutil
from collections.abc import Sequence
from typing import Any

import typer

from fadeout.cli.wrapping import wrap

WIDEST = 100
"""Longest line of the help, also on wider terminals."""

NARROW = 60
"""Width below which a description is printed under its option, and not beside it."""

COMMAND = "fadeout "
"""Beginning of a paragraph that is a command to paste."""

BOLD, CYAN, PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"


class Formatter(typer.Context.formatter_class):
    """Writes the help of a command. Without a terminal the colours are left out."""

    def __init__(self, **_settings: Any) -> None:  # noqa: ANN401
        columns = shutil.get_terminal_size((80, 24)).columns
        super().__init__(width=max(min(columns, WIDEST), 20))

    def write_heading(self, heading: str) -> None:
        """Writes a heading."""
        super().write_heading(_styled(heading, BOLD))

    def write_text(self, text: str) -> None:
        """Writes paragraphs. A command is continued with a backslash, so that it can be pasted."""
        for index, paragraph in enumerate(text.split("\n\n")):
            if index:
                self.write_paragraph()
            if paragraph.startswith(COMMAND):
                self._write_lines(wrap_command(paragraph, self.width - self.current_indent - 2))
            else:
                self._write_lines(wrap(_on_one_line(paragraph), self.width - self.current_indent))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Writes options or commands with their descriptions."""
        is_narrow = self.width < NARROW
        widest = max((len(name) for name, _ in rows), default=0)
        first = 4 if is_narrow else min(widest, col_max) + col_spacing
        for name, text in rows:
            lines = wrap(_on_one_line(text), self.width - self.current_indent - first)
            if len(name) + col_spacing <= first:
                head = f"{_styled(name, CYAN)}{'':{first - len(name)}}"
                self._write_lines([head + (lines[0] if lines else "")])
                lines = lines[1:]
            else:
                names = wrap(name, self.width - self.current_indent, first)
                self._write_lines([_styled(line, CYAN) for line in names])
            self._write_lines([f"{'':{first}}{line}" for line in lines])

    def _write_lines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(f"{'':{self.current_indent}}{line}".rstrip() + "\n")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
"""A word of a command line, with the spaces between its quotation marks."""


def wrap_command(command: str, width: int) -> list[str]:
    """Returns a command in lines that a shell reads as one. No quoted text is broken."""
    lines: list[str] = []
    for word in WORD.findall(command):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"    {word}" if lines else word)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _styled(text: str, code: str) -> str:
    return text if "NO_COLOR" in os.environ else f"{code}{text}{PLAIN}"


class Context(typer.Context):
    """The context of a command, whose help `Formatter` writes."""

    formatter_class = Formatter


def write_plainly(command: Any) -> Any:  # noqa: ANN401 - Typer does not export the type
    """Gives a command, and every command below it, this help. Returns the command."""
    command.context_class = Context
    command.rich_markup_mode = None
    # The list of commands would cut a longer description.
    command.short_help = (command.short_help or command.help or "").split("\n\n")[0]
    for child in getattr(command, "commands", {}).values():
        write_plainly(child)
    return command
