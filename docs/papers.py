"""The page of every item of the five papers, with its status and the numbers of our reports."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_tables import markdown

STUDIES = Path(__file__).parent / "studies"
RESULTS = STUDIES / "results"

HOLDS, OUTSIDE = "holds", ("does not hold", "holds in sign only")
WORKS, PART, DIFFERS, UNEXPLAINED = (
    "works",
    "in part",
    "differs, explained",
    "differs, unexplained",
)
STATUSES = (WORKS, PART, DIFFERS, UNEXPLAINED)
MOST_VALUES = 3
"""Largest number of values that an item shows in full."""
MOST_MISSES = 7
"""Largest number of values outside their checks that an item shows."""


@dataclass(frozen=True)
class Value:
    """A value of a claim in a report."""

    claim: str
    name: str
    published: str
    ours: str
    verdict: str


def page() -> str:
    """Returns the page. Raises ValueError if an item names something that no report has."""
    found = lines()
    parts = [
        "# Every item of the five papers",
        f"This page lists everything in the five papers that can be compared: {counts(found)}. "
        "The numbers and verdicts are those of the reports of the studies.",
        "*Works*: every value is within the check of the study's `published.toml`, with its whole "
        "95 % interval. *Differs*: at least half of the values are outside their checks, and more "
        "are outside than within. A value that is *open* is neither, because its interval includes "
        "a limit of the check. *In part*: all other cases.",
        "An item without a check has the status that `docs/studies/papers.toml` gives. If the "
        "paper has no number, an item works if the study has it. *Words*: the paper has no number. "
        "*Lost*: the copies of the papers that were used have no figures.",
        "The last column has the cause of a difference, or the assumption that moves the value. "
        "For a difference without a known cause, the column says what was tried.",
    ]
    head = ["item", "paper", "fadeout", "status", "cause"]
    for title, rows in found.items():
        parts += [title, markdown(head, [each.cells() for each in rows])]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class Line:
    """A line of the page."""

    item: str
    published: str
    ours: str
    status: str
    cause: str
    is_compared: bool
    """True if the line has a number of ours."""

    def cells(self) -> list[str]:
        """Returns the cells of the line."""
        return [self.item, self.published, self.ours, self.status, self.cause]


def lines() -> dict[str, list[Line]]:
    """Returns the lines of all items, by the heading of their paper."""
    papers = tomllib.loads((STUDIES / "papers.toml").read_text(encoding="utf-8"))["paper"]
    return {
        f"## [{paper['title']}](../studies/{paper['study']}.md)": [
            line(paper, item) for item in paper["item"]
        ]
        for paper in papers
    }


def counts(lines: Mapping[str, Sequence[Line]]) -> str:
    """Returns the number of items of each status as text."""
    every = [each for rows in lines.values() for each in rows]
    of = Counter(each.status for each in every)
    bare = sum(each.status == WORKS and not each.is_compared for each in every)
    return (
        f"of {len(every)} items {of[WORKS]} work ({bare} of them have no number to compare), "
        f"{of[PART]} work in part, {of[DIFFERS]} differ with a known cause, and {of[UNEXPLAINED]} "
        "differ without a known cause"
    )


def line(paper: dict[str, Any], item: dict[str, Any]) -> Line:
    """Returns the line of an item."""
    study = item.get("study", paper["study"])
    values = [each for name in item.get("claims", ()) for each in claim(study, name, item)]
    numbers = texts(values)
    numbers += [f"{label}: {cell(study, *names)}" for label, *names in item.get("cells", ())]
    status = item.get("status") or status_of(values, "cause" in item)
    if status not in STATUSES:
        raise ValueError(f"{item['item']}: expected a status of {STATUSES}, found {status!r}")
    return Line(
        item["item"],
        item.get("published") or published(values),
        item.get("ours") or "; ".join(numbers),
        status,
        item.get("cause") or item.get("note", ""),
        is_compared=bool(numbers),
    )


def texts(values: Sequence[Value]) -> list[str]:
    """Returns our values as text, or only those that miss if there are many."""
    if len(values) <= MOST_VALUES:
        return [text(each) for each in values]
    missed = [each for each in values if each.verdict != HOLDS]
    of = Counter(each.verdict for each in values)
    if len(missed) > MOST_MISSES:
        found = ", ".join(f"{verdict}: {count}" for verdict, count in sorted(of.items()))
        return [f"{len(values)} values: {found}"]
    has_several = len({each.published for each in values}) > 1
    return [
        f"{of[HOLDS]} of {len(values)} values hold",
        *(text(each, each.published if has_several else "") for each in missed),
    ]


def text(value: Value, published: str = "") -> str:
    """Returns a value as text, with the paper's if given, and its verdict if it does not hold."""
    remarks = [f"paper: {published}"] * bool(published)
    remarks += [value.verdict] * (value.verdict != HOLDS)
    return f"{value.name}: {value.ours}" + f" ({', '.join(remarks)})" * bool(remarks)


def published(values: Sequence[Value]) -> str:
    """Returns the published values as text."""
    several = list(dict.fromkeys(each.published for each in values))
    if len(several) > MOST_MISSES:
        return f"{len(values)} values"
    return "; ".join(several)


def status_of(values: Sequence[Value], is_explained: bool) -> str:
    """Returns the status of an item by the verdicts on its values."""
    held = sum(each.verdict == HOLDS for each in values)
    outside = sum(each.verdict in OUTSIDE for each in values)
    if held == len(values):
        return WORKS
    if outside <= held or 2 * outside < len(values):
        return PART
    return DIFFERS if is_explained else UNEXPLAINED


def claim(study: str, name: str, item: dict[str, Any]) -> list[Value]:
    """Returns the values of a claim, or those of them that the item names."""
    setup = item.get("setup", "verdict")
    found = [value for value in claims(study, setup) if value.claim == name]
    if wanted := item.get("values"):
        found = [value for value in found if value.name in wanted]
    if not found:
        raise ValueError(f"{item['item']}: the report of {study} has no claim {name} ({setup})")
    return found


@cache
def claims(study: str, setup: str) -> tuple[Value, ...]:
    """Returns the values of all claims of a report for a setup: the head of its column."""
    values: list[Value] = []
    for rows in tables(study).values():
        if "claim" not in rows[0] or setup not in rows[0]:
            continue
        name = ""
        for row in rows:
            if row["claim"]:
                name = re.sub(r"^`(\w+)`.*", r"\1", row["claim"])
            if setup == "verdict":
                ours, verdict = row["ours"], row["verdict"]
            else:
                ours, _, verdict = row[setup].rpartition(": ")
            values.append(Value(name, row["value"], row["published"], ours, verdict))
    return tuple(values)


def cell(study: str, title: str, row: str, column: str) -> str:
    """Returns a cell of a report's table. The row is the one whose first cells are `row`."""
    try:
        rows = tables(study)[title]
    except KeyError:
        raise ValueError(f"the report of {study} has no table {title!r}") from None
    for each in rows:
        if " | ".join(each.values()).startswith(row) and column in each:
            return each[column]
    raise ValueError(f"table {title!r} of {study} has no row {row!r} with a column {column!r}")


@cache
def tables(study: str) -> dict[str, list[dict[str, str]]]:
    """Returns the first table below each heading of a report, as rows by column."""
    text = (RESULTS / study / "report.md").read_text(encoding="utf-8")
    return dict(parsed(text))


def parsed(text: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yields the heading and the rows of each section of a report that has a table."""
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        title = section.partition("\n")[0]
        found = re.search(r"^\|.*\n\| ---.*\n((?:\|.*\n)+)", section, re.M)
        if found is None:
            continue
        head, _, *rows = found[0].splitlines()
        names = cells(head)
        yield title, [dict(zip(names, cells(row), strict=True)) for row in rows]


def cells(row: str) -> list[str]:
    """Returns the cells of a row of a Markdown table."""
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]
