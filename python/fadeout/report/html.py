"""Pieces of HTML. Every text from outside is escaped here."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

LONGEST_SHORT = 32
"""Characters of the longest text that is kept on one line."""


def text(value: Any) -> str:  # noqa: ANN401 - any value of a table
    """Returns the escaped text of a value, with the digits that a reader needs."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return escape(f"{value:.6g}")
    return escape(str(value))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    name: str = "",
    numbers: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
    is_sortable: bool = False,
) -> str:
    """Returns a table. Numbers are aligned right and keep their full value in `data-value`.

    Columns in `numbers` hold numbers as text. `titles` has the explanation of each heading, shown
    on hover.
    """
    head = "".join(
        f'<th scope="col"{_attribute("title", (titles or {}).get(key))}'
        f"{_attribute('class', 'number' if key in numbers else '')}>"
        + (f'<button type="button">{escape(key)}</button>' if is_sortable else escape(key))
        + "</th>"
        for key in headings
    )
    places = [key in numbers for key in headings]
    body = "".join(f"<tr>{''.join(map(_cell, row, places))}</tr>" for row in rows)
    label = escape(name or "table", quote=True)
    sortable = " data-sortable" if is_sortable else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table data-table="{label}"{sortable}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


@dataclass(frozen=True)
class Number:
    """A cell with the text of a number. Tables are sorted by the number."""

    value: float | None
    text: str


def _cell(value: Any, is_number: bool = False) -> str:  # noqa: ANN401 - any value of a table
    if isinstance(value, Number):
        number = "" if value.value is None else f' data-value="{value.value!r}"'
        return f'<td class="number"{number}>{escape(value.text)}</td>'
    if isinstance(value, Html):
        return f"<td>{value.content}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="number" data-value="{value!r}">{text(value)}</td>'
    is_short = isinstance(value, str) and len(value) <= LONGEST_SHORT
    kind = _attribute("class", "number" if is_number else "short" if is_short else "")
    return f"<td{kind}>{text(value)}</td>"


class Html:
    """A cell that is HTML already."""

    def __init__(self, content: str) -> None:
        self.content = content


def _attribute(name: str, value: str | None) -> str:
    return f' {name}="{escape(value, quote=True)}"' if value else ""


def details(summary: str, content: str, *, is_open: bool = False) -> str:
    """Returns a part of the page that a reader can open and close."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(summary)}</summary>{content}</details>"


def command(line: str) -> str:
    """Returns a command line that a reader can copy."""
    return (
        f'<div class="command"><pre tabindex="0">{escape(line)}</pre>'
        '<button type="button" data-copy>Copy</button></div>'
    )


def note(content: str) -> str:
    """Returns a note whose content is HTML."""
    return f'<p class="note">{content}</p>'


def warning(message: str) -> str:
    """Returns a warning."""
    return f'<p class="warning"><b>Warning:</b> {escape(message)}</p>'


def data(document: Any) -> str:  # noqa: ANN401 - anything that JSON has
    """Returns JSON that cannot run as code inside a script element."""
    written = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
