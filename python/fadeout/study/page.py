"""The page of a study: the texts, tables and captions of its report, as Markdown with fields.

The page is the file `report.md` of the study's folder. It has the sections in the order in which
they are printed. `docs/studies/writing.md` describes the form.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from fadeout import _files, _names
from fadeout.campaign.mistakes import mistake
from fadeout.study.claims import EXPLANATION, Verdict, claims_section
from fadeout.study.forms import FormError, fill
from fadeout.study.report import Record, Section, Table, data_of

FILE = "report.md"
"""Name of the page in the folder of a study."""

_HEADING = re.compile(
    r"## (?P<title>.+?) \{#(?P<name>[\w-]+)(?P<headline> \.headline)?(?: like=(?P<like>[\w-]+))?\}"
)
_FIGURE = re.compile(r"!\[(?P<caption>.+)\]\((?P<name>[\w-]+)\)")
_REPEATED = re.compile(r"\{(\w+)\*\}")
"""Head of a repeated column: `{lengths*}`."""


_FIELD = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class Line:
    """A line of the page, with its number in the file."""

    number: int
    text: str


@dataclass(frozen=True)
class Part:
    """A section of the page, before its values are known."""

    name: str
    title: Line
    is_headline: bool
    text: Sequence[Line]
    table: Sequence[Line]
    figures: Mapping[str, Line]
    """Captions by the name of the figure."""
    conclusion: Sequence[Line]


@dataclass(frozen=True)
class Page:
    """The page of a study."""

    file: Path
    title: str
    introduction: Sequence[Line]
    parts: Mapping[str, Part]
    common: Mapping[str, Any]
    """Values of all fields, such as the published numbers."""

    @classmethod
    def read(cls, folder: Path, common: Mapping[str, Any] | None = None) -> "Page":
        """Returns the page in a study's folder. Raises `ScenarioError` for a wrong line."""
        file = folder / FILE
        lines = [
            Line(number, text)
            for number, text in enumerate(
                _files.read_text(file, "a study's page").splitlines(), start=1
            )
        ]
        starts = [index for index, line in enumerate(lines) if line.text.startswith("## ")]
        if not lines or not lines[0].text.startswith("# "):
            raise mistake("the page has no title", expected="# TITLE in line 1", file=file)
        parts: dict[str, Part] = {}
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            part = _part(file, lines[start], lines[start + 1 : end], parts)
            if part.name in parts:
                raise _wrong(file, lines[start], f"two sections have the name `{part.name}`")
            parts[part.name] = part
        return cls(
            file=file,
            title=lines[0].text.removeprefix("# "),
            introduction=lines[1 : starts[0] if starts else len(lines)],
            parts=parts,
            common=common or {},
        )

    @cached_property
    def order(self) -> dict[str, int]:
        """Places of the sections, by name."""
        return {name: place for place, name in enumerate(self.parts)}

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of the sections, by name."""
        return {name: part.title.text for name, part in self.parts.items()}

    def introduce(self) -> str:
        """Returns the introduction."""
        return self._words(self.introduction, {}, line_break="\n")

    def section(
        self,
        name: str,
        records: Sequence[Record] = (),
        *,
        figures: Mapping[str, Figure] | None = None,
        data: Sequence[Record] | None = None,
        unit: str = "",
        **values: Any,  # noqa: ANN401 - values of the fields
    ) -> Section:
        """Returns a section of the report.

        Args:
            name: the name in the section's heading.
            records: the rows of the table. Names that begin with `_` are not in the data file.
            figures: the figures by the name in the page.
            data: the rows of the data file, if they are not the records.
            unit: suffix of the names of estimates in the data file.
            values: values of the fields outside of the table's rows.
        """
        part = self._part(name)
        drawn = figures or {}
        if set(drawn) != set(part.figures):
            raise mistake(
                f"section `{name}` has the figures {sorted(part.figures)}, and the study drew "
                f"{sorted(drawn)}",
                file=self.file,
            )
        table = None
        if part.table:
            table = self._table(part, records, values, data, unit)
        return Section(
            name=name,
            title=self._fill(part.title, values),
            text=self._words(part.text, values),
            table=table,
            figures={
                self._fill(caption, values): drawn[key] for key, caption in part.figures.items()
            },
            conclusion=self._words(part.conclusion, values),
            is_headline=part.is_headline,
        )

    def claims(
        self,
        verdicts: Sequence[Verdict] | Mapping[str, Sequence[Verdict]],
        name: str = "claims",
        **values: Any,  # noqa: ANN401 - values of the fields
    ) -> Section:
        """Returns the section with verdicts. Its text is that of the page, or else explains them.

        `verdicts` may have several setups by name, as in `claims_section`.
        """
        part = self._part(name)
        text = self._words(part.text, values) or EXPLANATION
        return claims_section(verdicts, title=part.title.text, text=text, name=name)

    def _part(self, name: str) -> Part:
        if name not in self.parts:
            raise mistake(_names.unknown("section", name, self.parts), file=self.file)
        return self.parts[name]

    def _fill(self, line: Line, values: Mapping[str, Any]) -> str:
        try:
            return fill(line.text, {**self.common, **values}).strip()
        except FormError as error:
            raise _wrong(self.file, line, str(error)) from None

    def _words(
        self, lines: Sequence[Line], values: Mapping[str, Any], line_break: str = " "
    ) -> str:
        """Returns text with one line for each paragraph. Lists keep their lines."""
        paragraphs: list[str] = []
        for block in _blocks(lines):
            filled = [self._fill(line, values) for line in block]
            is_list = filled[0].startswith("- ")
            paragraphs.append(("\n" if is_list else line_break).join(filled))
        return "\n\n".join(paragraphs)

    def _table(
        self,
        part: Part,
        records: Sequence[Record],
        values: Mapping[str, Any],
        data: Sequence[Record] | None,
        unit: str,
    ) -> Table:
        head, _, *others = part.table
        repeated = {
            column: {**self.common, **values}[match[1]]
            for column, cell in enumerate(_cells(head.text))
            if (match := _REPEATED.search(cell)) is not None
        }
        wide = [_widened(line, repeated, is_head=line is head) for line in (head, *others)]
        fixed, form = wide[:-1], wide[-1]
        return Table(
            columns=[self._fill(cell, values) for cell in fixed[0]],
            rows=[
                *([self._fill(cell, values) for cell in row] for row in fixed[1:]),
                *([self._fill(cell, {**values, **each}) for cell in form] for each in records),
            ],
            data=[data_of(each, unit) for each in (records if data is None else data)],
        )


def _wrong(file: Path, line: Line, message: str) -> Exception:
    expected = "the form in docs/studies/writing.md"
    return mistake(message, expected=expected, file=file, line=line.number)


def _part(file: Path, heading: Line, lines: Sequence[Line], parts: Mapping[str, Part]) -> Part:
    """Returns the part of these lines. `parts` are those before it, whose form it may have."""
    found = _HEADING.fullmatch(heading.text)
    if found is None:
        raise _wrong(file, heading, "the section has no name: expected ## TITLE {#name}")
    title = Line(heading.number, found["title"])
    if found["like"] is not None:
        if found["like"] not in parts:
            raise _wrong(file, heading, _names.unknown("section above", found["like"], parts))
        form = parts[found["like"]]
        text = [line for line in lines if line.text.strip()]
        if text:
            raise _wrong(file, text[0], f"section `{found['name']}` has the text of another one")
        is_headline = found["headline"] is not None
        return replace(form, name=found["name"], title=title, is_headline=is_headline)
    figures: dict[str, Line] = {}
    table: list[Line] = []
    before: list[Line] = []
    after: list[Line] = []
    for line in lines:
        figure = _FIGURE.fullmatch(line.text)
        if figure is not None:
            figures[figure["name"]] = Line(line.number, figure["caption"])
        elif line.text.startswith("|"):
            if table and table[-1].number != line.number - 1:
                raise _wrong(file, line, f"section `{found['name']}` has a second table")
            table.append(line)
        elif figures or table:
            after.append(line)
        else:
            before.append(line)
    if len(table) in (1, 2):
        raise _wrong(file, table[0], "the table has no row")
    return Part(
        name=found["name"],
        title=title,
        is_headline=found["headline"] is not None,
        text=before,
        table=table,
        figures=figures,
        conclusion=after,
    )


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yields the lines of each paragraph."""
    block: list[Line] = []
    for line in lines:
        if line.text.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _widened(line: Line, repeated: Mapping[int, Any], *, is_head: bool) -> list[Line]:
    """Returns the cells of a row. A repeated column has a cell for each of its keys."""
    found: list[str] = []
    for column, cell in enumerate(_cells(line.text)):
        items = repeated.get(column)
        if items is None:
            found.append(cell)
            continue
        heads = items if isinstance(items, Mapping) else {item: item for item in items}
        for key, title in heads.items():
            if is_head:
                found.append(_REPEATED.sub(str(title), cell))
            else:
                # Stars outside of fields are emphasis.
                found.append(_FIELD.sub(lambda field: field[0].replace("*", str(key)), cell))  # noqa: B023
    return [Line(line.number, cell) for cell in found]
