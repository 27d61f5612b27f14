"""The summary of a run, which the command prints and a notebook shows."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from fadeout._columns import table_docs

if TYPE_CHECKING:
    from fadeout.results import Results

Row = dict[str, Any]
"""The values of a row by column."""

MOST_ROWS = 20
"""Largest number of rows of a table that are shown. The results have all of them."""

MILLISECONDS = "ms"
"""Suffix of a format that shows seconds as milliseconds."""

ACRONYMS = ("cwnd", "harq", "rtt", "srtt")

# The columns of each summary table that are shown, with the formats of their values.
FLOW = {
    "flow": "",
    "congestion_control": "",
    "goodput_mbps": ",.2f",
    "retransmitted_segments": ",",
    "timeouts": ",",
    "mean_rtt_s": ".1fms",
    "max_cwnd_segments": ",.0f",
}
COMPLETION = {"flow_completion_time_s": ".3f"}
CONTROLLED = ("congestion_control", "retransmitted_segments", "timeouts", "max_cwnd_segments")
"""Columns that have no meaning for datagrams."""
PATH = {
    "path": "",
    "goodput_mbps": ",.2f",
    "retransmitted_segments": ",",
    "timeouts": ",",
    "mean_srtt_s": ".1fms",
    "max_cwnd_segments": ",.0f",
}
TIMES = {"group": "", "flows": ",", "completed": ","}
TIMES |= dict.fromkeys(("mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "longest_s"), ".3f")
DATAGRAMS = {
    "flow": "",
    "end": "",
    "received_datagrams": ",",
    "lost_datagrams": ",",
    "mean_delay_s": ".1fms",
    "p95_delay_s": ".1fms",
    "max_delay_s": ".1fms",
    "jitter_s": ".2fms",
    "longest_gap_s": ".1fms",
    "mean_round_trip_s": ".1fms",
}
LINK = {"link": "", "sent_packets": ",", "dropped_packets": ","}
INTERFACE = {
    "interface": "",
    "cell": "",
    "rate_mbps": ",.2f",
    "transport_blocks": ",",
    "harq_retransmissions": ",",
    "lost_transport_blocks": ",",
    "dropped_packets": ",",
}


class Section(NamedTuple):
    """Rows of one table of the summary, as text."""

    name: str
    headings: list[str]
    numbers: list[str]
    """Headings of the columns of numbers."""
    rows: list[list[str]]
    hidden: int
    """Number of rows that are not shown."""


def sections(results: "Results") -> Iterator[Section]:
    """Yields the summary of a run: flows, their paths, links with losses, interfaces."""

    def rows(name: str, columns: Iterable[str], counted: str | None = None) -> list[Row]:
        """Returns the rows of a table, or only those whose column `counted` is above zero."""
        found = results._columns(name, columns)
        listed = [
            dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)
        ]
        return [row for row in listed if counted is None or row[counted] > 0]

    flows = rows("flows", ["profile", *FLOW, *COMPLETION])
    for row in flows:
        if row["profile"] == "udp":
            row |= dict.fromkeys(CONTROLLED)
    times = rows("completion_times", TIMES)
    shown = [
        ("flows", flows, FLOW | COMPLETION),
        ("paths", rows("paths", PATH), PATH),
        ("datagram_flows", rows("datagram_flows", DATAGRAMS), DATAGRAMS),
        ("completion_times", times if any(row["completed"] > 1 for row in times) else [], TIMES),
        ("links", rows("links", LINK, "dropped_packets"), LINK),
        ("interfaces", rows("interfaces", INTERFACE, "transport_blocks"), INTERFACE),
    ]
    for name, listed, columns in shown:
        if listed or name == "flows":
            yield _section(name, listed, columns)


def _section(name: str, rows: Sequence[Row], columns: dict[str, str]) -> Section:
    """Returns a table without the columns that have no value in any row."""
    if rows:
        columns = {
            column: form
            for column, form in columns.items()
            if any(row[column] is not None for row in rows)
        }
    docs = {column["name"]: column for column in table_docs()[name]["columns"]}
    headings = [heading(docs[column], form) for column, form in columns.items()]
    return Section(
        name,
        headings,
        [text for text, form in zip(headings, columns.values(), strict=True) if form],
        [[cell(row[column], form) for column, form in columns.items()] for row in rows[:MOST_ROWS]],
        max(0, len(rows) - MOST_ROWS),
    )


def heading(column: dict[str, Any], form: str) -> str:
    """Returns the heading of a column: its name with its unit, or milliseconds if `form` has
    them.
    """
    unit = column["unit"]
    name = column["name"].removesuffix("_mbps" if unit == "Mbit/s" else f"_{unit}")
    unit = "ms" if form.endswith(MILLISECONDS) else unit
    words = [word.upper() if word in ACRONYMS else word for word in name.split("_")]
    return " ".join(filter(None, (*words, unit)))


def cell(value: Any, form: str) -> str:  # noqa: ANN401
    """Returns a value in its format, or a dash if there is no value."""
    if value is None:
        return "-"
    if form.endswith(MILLISECONDS):
        return format(value * 1e3, form.removesuffix(MILLISECONDS))
    return format(value, form)


def stamp(results: "Results") -> str:
    """Returns the seed and the fingerprint of a run."""
    return f"seed {results.seed}, fingerprint {results.fingerprint}"


def html(results: "Results") -> str:
    """Returns the overview of a run for a notebook."""
    short = "" if results.is_complete else ", stopped early"
    parts = [
        f"<p><b>{escape(results.title or 'Results')}</b><br>"
        f"{results.duration_s:g} s simulated{short}, {escape(stamp(results))}"
        + ("" if results.folder is None else f"<br>{escape(str(results.folder))}")
        + "</p>"
    ]
    for section in sections(results):
        parts.append(html_table(section.headings, section.rows, section.numbers))
        if section.hidden:
            parts.append(f"<p>and {section.hidden:,} more rows in <code>{section.name}</code></p>")
    parts.append(f"<p>Tables: {', '.join(f'<code>{name}</code>' for name in results.tables)}</p>")
    return f"<div>{''.join(parts)}</div>"


def html_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()
) -> str:
    """Returns a table in HTML. Columns with a heading in `numbers` are aligned right."""
    styles = [f"text-align:{'right' if name in numbers else 'left'}" for name in headings]

    def line(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(cells, styles, strict=True)
        return "".join(f'<{tag} style="{style}">{escape(text)}</{tag}>' for text, style in pairs)

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{line('th', headings)}</tr></thead><tbody>{body}</tbody></table>"
