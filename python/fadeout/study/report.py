"""The report of a study: Markdown for people, CSV and JSON for programs, figures for papers."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from fadeout._version import describe_build
from fadeout.statistics import FEWEST, Estimate, Spread
from fadeout.study.figures import mark_cut_intervals

FEW_SEEDS = (
    f"A mean of fewer than {FEWEST} seeds has no interval, in tables or in figures. *n* is its "
    "number of seeds."
)

STOPPED = "**Incomplete.** The study was stopped. This report has the finished runs only."

NEGATIVE_ZERO = re.compile(r"(?<![\w.])-(0(?:\.0+)?)(?![\d.])")
"""A zero with a minus sign, which formatted differences may have."""

Record = Mapping[str, Any]
"""A row of a table: numbers by name."""


@dataclass(frozen=True)
class Table:
    """A table for people, with the numbers that it shows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    data: Sequence[dict[str, Any]]
    """The numbers of the table, one dict a row."""

    @property
    def lacks_intervals(self) -> bool:
        """True if a mean has no interval, as it is of too few seeds."""
        return any("(n = " in cell for row in self.rows for cell in row)

    def markdown(self) -> str:
        """Returns the table in Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def data_of(record: Record, unit: str = "") -> dict[str, Any]:
    """Returns the columns of a data file.

    An estimate becomes `NAME_meanUNIT` and `NAME_ci95UNIT`. A mapping becomes `NAME_KEY` for each
    of its keys. Names that begin with `_` are left out.
    """
    columns: dict[str, Any] = {}
    for name, value in record.items():
        if name.startswith("_"):
            continue
        if isinstance(value, Mapping):
            of_keys: Record = value
            columns |= data_of({f"{name}_{key}": each for key, each in of_keys.items()}, unit)
        elif isinstance(value, Estimate | Spread):
            columns |= value.data(f"{name}_", unit)
        else:
            columns[name] = value
    return columns


@dataclass(frozen=True)
class Section:
    """One question of a report, with its table, its figures and its answer."""

    name: str
    """Stem of the names of its files."""
    title: str
    text: str = ""
    table: Table | None = None
    figures: dict[str, Figure] = field(default_factory=dict)
    """Figures by caption. From the second on, their files are numbered."""
    conclusion: str = ""
    is_headline: bool = False
    """True to print the section on the command line."""


@dataclass(frozen=True)
class Report:
    """The findings of a study."""

    title: str
    introduction: str
    sections: list[Section]
    facts: dict[str, Any]
    """Facts needed to repeat the study: seeds, durations, the scenario."""
    records: dict[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    """Tables for programs only, by name. The report does not show them."""
    is_whole: bool = True
    """True if every run of the study was done. False if the study was stopped."""

    def write(self, folder: Path) -> None:
        """Writes `report.md`, `results.json`, `tables/` (CSV and Parquet) and `figures/`.

        After a stop, `report.md` begins with a warning and `results.json` has `is_incomplete`.
        """
        parts = [f"# {self.title}", self.introduction]
        results: dict[str, Any] = {"build": describe_build(), **self.facts}
        if not self.is_whole:
            parts.insert(1, STOPPED)
            results["is_incomplete"] = True
        if any(table.lacks_intervals for table in self._tables()):
            parts.append(FEW_SEEDS)
        (folder / "tables").mkdir()
        (folder / "figures").mkdir()
        for section in self.sections:
            parts += [f"## {section.title}", section.text]
            if section.table is not None:
                parts.append(section.table.markdown())
                results[section.name] = list(section.table.data)
                write_table(folder / "tables", section.name, section.table.data)
            for number, (caption, figure) in enumerate(section.figures.items(), start=1):
                stem = section.name if number == 1 else f"{section.name}-{number}"
                mark_cut_intervals(figure)
                figure.savefig(folder / "figures" / f"{stem}.png")
                figure.savefig(folder / "figures" / f"{stem}.pdf", metadata={"CreationDate": None})
                parts.append(f"![{caption}](figures/{stem}.png)\n\n*{caption}*")
            parts.append(section.conclusion)
        for name, rows in self.records.items():
            write_table(folder / "tables", name, rows)
        facts = "\n".join(
            f"- {key.replace('_', ' ')}: {value}" for key, value in self.facts.items()
        )
        parts += ["## To repeat this", f"- {describe_build()}\n{facts}"]
        text = NEGATIVE_ZERO.sub(r"\1", "\n\n".join(part for part in parts if part) + "\n")
        (folder / "report.md").write_text(text, encoding="utf-8")
        document = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
        (folder / "results.json").write_text(document, encoding="utf-8")

    def _tables(self) -> list[Table]:
        return [section.table for section in self.sections if section.table is not None]


def write_table(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Writes `rows`, which have the same keys, as CSV and as Parquet."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame.write_csv(folder / f"{name}.csv")
    frame.write_parquet(folder / f"{name}.parquet")
