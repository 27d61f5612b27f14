"""Tables and figures that `study.toml` describes, from the numbers of sets of runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from matplotlib.figure import Figure

from fadeout import _names
from fadeout._native import ScenarioError
from fadeout.campaign.mistakes import mistake, placed
from fadeout.plot.style import PALETTE
from fadeout.study.data import Data
from fadeout.study.figures import bar_rows, line_panels
from fadeout.study.found import Found, Point
from fadeout.study.numbers import pivot, series
from fadeout.study.page import Page
from fadeout.study.report import Record, Section

TABLES, FIGURES = "table", "figure"
"""Names of the lists of tables and figures in `study.toml`."""

NESTED = 4
"""Largest number of lines that differ in width."""

KINDS = ("lines", "bars")
"""Kinds of figures."""

Column = Callable[[Point], Any]
"""Returns the value of a column at a point."""


@dataclass(frozen=True)
class TableForm:
    """A table of the page in `study.toml`, with a row for each point of a set of runs.

    The comparisons are mappings from a column to `{ of = NUMBER, over = { AXIS = NAME } }`.
    """

    name: str
    """Name of the section in `report.md`."""
    of: str = ""
    """Name of the set of runs. Empty for the name of the section."""
    only: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Names on an axis to which the rows are limited."""
    pivot: str = ""
    """Axis whose parts become columns of the page. Empty for none."""
    mean: tuple[str, ...] = ()
    median: tuple[str, ...] = ()
    gain_pct: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Gains over other points in percent."""
    less: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Differences from other points."""
    share_pct: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Shares of counts in percent, as `{ of = [NUMBER, ...], among = [NUMBER, ...] }`."""

    def record(self, found: Found, point: Point) -> dict[str, Any]:
        """Returns the columns of a point."""
        record = found.labels(point)
        record |= {name: found.mean(point, name) for name in self.mean}
        record |= {name: found.median(point, name) for name in self.median}
        for compare, columns in ((found.gain_pct, self.gain_pct), (found.less, self.less)):
            for column, spec in columns.items():
                record[column] = compare(point, found.moved(point, spec["over"]), spec["of"])
        for column, spec in self.share_pct.items():
            record[column] = found.share_pct(point, spec["of"], spec["among"])
        return record


@dataclass(frozen=True)
class FigureForm:
    """A figure in `study.toml`, of the records of a table.

    A figure of `lines` has a panel for each label of `numbers`, and a figure of `bars` has a row.
    With `panel`, there is one number, with a panel for each value of that column.
    """

    table: str
    name: str
    """Name of the figure in `report.md`."""
    kind: str
    x: str
    """Column of the horizontal axis, or of the groups of bars."""
    line: str
    """Column with the names of lines or bars."""
    numbers: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Columns that are drawn, by the label of their panel."""
    panel: str = ""
    line_form: str = "{}"
    """Name of a line, with the value of its column in place of `{}`."""
    x_form: str = "{}"
    """Name of a group, with the value of its column in place of `{}`."""
    wrap: str = ""
    """Character at which names of groups have a line break, in place of the character."""
    x_label: str = ""
    y_label: str = ""
    share_y: bool = False
    nested: bool = False
    """True if lines may be equal. Earlier lines are then wider, so that all are seen."""
    height: float = 0.66
    """Height of bars, in widths of a column."""
    log: str = ""
    """Axes with a logarithmic scale: `x`, `y` or `xy`."""

    def draw(self, records: Sequence[Record]) -> Figure:
        """Returns the figure of a table's records."""
        named = [{**each, self.line: self.line_form.format(each[self.line])} for each in records]
        if self.panel:
            (number,) = self.numbers.values()
            shown = series(named, self.panel, self.line, value=number)
        else:
            shown = {
                label: series(named, self.line, value=number)
                for label, number in self.numbers.items()
            }
        x = list(dict.fromkeys(each[self.x] for each in records))
        if self.kind not in KINDS:
            raise mistake(_names.unknown("kind of figure", self.kind, KINDS))
        if self.kind == "bars":
            groups = [self.x_form.format(each) for each in x]
            if self.wrap:
                groups = [group.replace(self.wrap, "\n") for group in groups]
            return bar_rows(shown, groups, x_label=self.x_label, height=self.height)
        widths = [{"color": PALETTE[n], "linewidth": 2.6 - 0.6 * n} for n in range(NESTED)]
        y_label = next(iter(self.numbers)) if self.panel else self.y_label
        return line_panels(
            shown,
            [float(each) for each in x],
            x_label=self.x_label,
            y_label=y_label,
            styles=widths if self.nested else (),
            share_y=self.share_y,
            log=self.log,
        )


class Tables:
    """The tables of a study, whose columns are data."""

    def __init__(self, data: Data, page: Page, found: Mapping[str, Found]) -> None:
        """Shows the numbers of the sets of runs `found` on the page. A `Grid` has all of them."""
        self._data = data
        self._page = page
        self._found = found

    def section(
        self,
        name: str,
        found: Found | None = None,
        columns: Mapping[str, Column] | None = None,
        figures: Mapping[str, Figure] | None = None,
        *,
        rows: int | None = None,
        **values: Any,  # noqa: ANN401 - values of the page's fields
    ) -> Section:
        """Returns the section with a table of the file.

        Args:
            name: name of the table and of the section.
            found: numbers of the runs. None for the set of runs that the table names.
            columns: further columns, which Python computes.
            figures: further figures, by their names on the page.
            rows: number of rows on the page, from the first on. None for all.
            values: values of the page's fields outside of the table.
        """
        form = self._form(name)
        given = self._of(form, found)
        records = self._records(form, given, columns or {})
        labels = given.labels(next(iter(given)), without=form.pivot)
        # A part with its own data has its name in another column.
        column = form.pivot if form.pivot in records[0] else f"_{form.pivot}"
        drawn = {each.name: each.draw(records) for each in self._figures if each.table == name}
        return self._page.section(
            name,
            (pivot(records, column, *labels) if form.pivot else records)[:rows],
            data=records,
            figures={**drawn, **(figures or {})},
            **values,
        )

    def records(
        self, name: str, found: Found | None = None, columns: Mapping[str, Column] | None = None
    ) -> list[dict[str, Any]]:
        """Returns the rows of a table, before parts become columns of the page."""
        form = self._form(name)
        return self._records(form, self._of(form, found), columns or {})

    def _records(
        self, form: TableForm, found: Found, columns: Mapping[str, Column]
    ) -> list[dict[str, Any]]:
        try:
            return [
                form.record(found, point) | {name: of(point) for name, of in columns.items()}
                for point in found.only(form.only)
            ]
        except ScenarioError as error:
            raise placed(error, self._data.file) from None

    def _form(self, name: str) -> TableForm:
        return self._forms[self._data.known("table", name, self._forms)]

    @cached_property
    def _forms(self) -> dict[str, TableForm]:
        return {form.name: form for form in self._data.any(TABLES, TableForm)}

    @cached_property
    def _figures(self) -> tuple[FigureForm, ...]:
        return self._data.any(FIGURES, FigureForm)

    def _of(self, form: TableForm, found: Found | None) -> Found:
        if found is not None:
            return found
        return self._found[self._data.known("set of runs", form.of or form.name, self._found)]
