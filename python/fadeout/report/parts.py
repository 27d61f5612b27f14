"""The parts of a run's page that need no script: header, warnings, tables, scenario."""

import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import fadeout
from fadeout import _toml
from fadeout._columns import table_docs
from fadeout._native import FadeoutError
from fadeout._overview import sections
from fadeout._probes import PROBES
from fadeout._version import __version__
from fadeout.report import html
from fadeout.report.lanes import MOST_EVENTS
from fadeout.report.scenario import Setting, reason, settings, short_numbers, source
from fadeout.report.series import Panel
from fadeout.results import Results

MOST_ROWS = 100
"""Largest number of rows of a table in the page."""

MOST_OPEN = 12
"""Largest number of rows of a summary that is shown without being opened."""

MOST_SETTINGS = 250
"""Largest number of keys in a list."""

LARGEST_TOML = 200_000
"""Characters of the largest scenario that the page holds."""


def header(results: Results, heading: str) -> str:
    """Returns title, duration, seed and version of a run."""
    manifest = results.manifest
    build = f"fadeout {manifest.get('version', 'of an unknown version')}"
    if manifest.get("commit"):
        build += f" ({manifest['commit']})"
    facts = (
        f"{results.duration_s:g} s simulated",
        f"seed {results.seed}",
        f"fingerprint {results.fingerprint}",
        build,
    )
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return f'<h1>{escape(heading)}</h1><ul class="facts">{listed}</ul>'


def troubles(results: Results, remarks: Sequence[str], base: Path | None) -> list[str]:
    """Returns warnings about a run: its own, those of its scenario, and those of its state."""
    found = [*remarks]
    manifest = results.manifest
    if not results.is_complete:
        found.append(
            f"the run was stopped at {results.duration_s:g} s: everything here covers only the "
            "time before"
        )
    version = str(manifest.get("version", ""))
    if version != __version__:
        found.append(
            f"the run is from fadeout {version or 'of an unknown version'}, and this page from "
            f"{__version__}: run the scenario again if something is missing"
        )
    flows = results.flows
    if "aborted" in flows.columns:
        aborted = [
            flow for flow, is_aborted in flows.select("flow", "aborted").iter_rows() if is_aborted
        ]
        if aborted:
            found.append(f"flows that were given up: {', '.join(aborted[:10])}")
    found += [text for text in _advice(manifest.get("scenario", {}), base) if text not in found]
    return found


def _advice(scenario: Any, base: Path | None) -> list[str]:  # noqa: ANN401 - whatever the manifest has
    """Returns the warnings of `fadeout check`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fadeout.check(source(scenario, base))
        except (FadeoutError, OSError, TypeError) as error:
            return [f"the scenario cannot be read again: {reason(error)}"]
    return [str(one.message) for one in caught]


def again(results: Results) -> str:
    """Returns the ways to repeat the run: commands, Python, and the scenario."""
    scenario = results.manifest.get("scenario", {})
    written = _toml.dumps(scenario)
    lines = [
        html.command(f"fadeout run scenario.toml --seed {results.seed}"),
        f"<p>The fingerprint is then <code>{escape(results.fingerprint)}</code> on every machine, "
        f"with fadeout {escape(str(results.manifest.get('version', '')))}. ",
    ]
    if len(written) <= LARGEST_TOML:
        lines.append(
            "The scenario below has every default of this run written out. Save it as "
            "<code>scenario.toml</code>.</p>"
        )
        lines.append(
            html.details(
                "scenario.toml",
                '<p><button type="button" data-save="scenario.toml" data-from="toml">Save'
                f'</button></p><pre id="toml" tabindex="0">{escape(written)}</pre>',
            )
        )
    else:
        lines.append(
            f"The scenario has {len(written):,} characters, too many for this page. In Python, "
            '<code>fadeout.Results.open(folder).manifest["scenario"]</code> is the scenario, and '
            "<code>fadeout.run</code> takes it.</p>"
        )
    own = _own_controls(scenario)
    if own:
        lines.append(
            html.note(
                f"The run used classes of its own ({escape(', '.join(own))}). Add "
                "<code>--congestion-control NAME=FILE.py:CLASS</code>."
            )
        )
    return "".join(lines)


def _own_controls(scenario: Any) -> list[str]:  # noqa: ANN401 - whatever the manifest has
    from fadeout import _lexicon

    known = {entry["name"] for entry in _lexicon.catalog()["congestion-controls"]["entries"]}
    used = set()
    for flow in scenario.get("flow", {}).values():
        control = flow.get("congestion-control")
        name = control.get("name") if isinstance(control, dict) else control
        if isinstance(name, str) and name not in known:
            used.add(name)
    return sorted(used)


def summary(results: Results) -> str:
    """Returns the summary that `fadeout run` prints."""
    parts = []
    for section in sections(results):
        columns = [list(row) for row in section.rows]
        title = section.name.replace("_", " ")
        written = html.table(
            section.headings,
            columns,
            name=f"summary of {section.name}",
            numbers=section.numbers,
        )
        if section.hidden:
            written += html.note(f"{section.hidden:,} more rows are below.")
        count = len(section.rows) + section.hidden
        if count > MOST_OPEN:
            written = html.details(f"{count:,} rows", written)
        parts.append(f"<h3>{escape(title)}</h3>{written}")
    return "".join(parts)


def tables(results: Results) -> str:
    """Returns every table of the summary with all its columns, and the list of the others."""
    parts, others = [], []
    for name, entry in table_docs().items():
        if not results.has_table(name):
            continue
        if not entry["always"]:
            others.append([html.Html(f"<code>{escape(name)}</code>"), entry["doc"]])
            continue
        try:
            frame = results.table(name)
        except FadeoutError as error:
            parts.append(html.note(escape(str(error))))
            continue
        if frame.is_empty():
            continue
        titles = {column["name"]: column["doc"] for column in entry["columns"]}
        rows = frame.head(MOST_ROWS).iter_rows()
        content = f"<p>{escape(entry['doc'])}</p>"
        content += html.table(frame.columns, rows, name=name, titles=titles)
        if len(frame) > MOST_ROWS:
            content += html.note(
                f"{len(frame) - MOST_ROWS:,} more rows are in <code>{escape(name)}.parquet</code>."
            )
        count = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
        parts.append(html.details(f"{name} ({count})", content))
    parts.append(
        html.details(
            "Tables over time in the folder",
            html.table(["table", "a row is"], others, name="tables over time"),
        )
    )
    return "".join(parts)


def scenario(results: Results) -> str:
    """Returns the scenario against the defaults of its keys."""
    found = settings(results.manifest.get("scenario", {}))
    chosen = [one for one in found if not one.is_default and not one.pattern.startswith("node.")]
    same = [one for one in found if one.is_default]
    return (
        "<p>These keys differ from their default, or have none.</p>"
        + _settings(chosen, "scenario against defaults")
        + html.details(
            f"Keys at their default ({len(same):,})", _settings(same, "keys at their default")
        )
    )


def _settings(found: Sequence[Setting], name: str) -> str:
    rows = [
        [
            html.Html(f"<code>{escape(one.shown)}</code>"),
            short_numbers(one.value),
            one.default or "no default",
        ]
        for one in found[:MOST_SETTINGS]
    ]
    text = html.table(["key", "value", "default"], rows, name=name)
    if len(found) > MOST_SETTINGS:
        text += html.note(f"{len(found) - MOST_SETTINGS:,} more keys are in the scenario above.")
    return text


def missing(panels: Sequence[Panel]) -> str:
    """Returns the reason for each panel without lines, with the setting that records its table."""
    parts = []
    by_table: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        if panel.missing:
            by_table.setdefault((panel.table, panel.missing), []).append(panel.title)
    for (table, why), titles in by_table.items():
        text = f"<p><b>{escape(', '.join(titles))}</b>: "
        if why == "not recorded":
            text += f"the run did not record <code>{escape(table)}</code>. This line does:</p>"
            text += html.command(f"fadeout run scenario.toml --set {PROBES[table]} --report")
        else:
            text += f"{escape(why)}.</p>"
        parts.append(f'<div class="missing">{text}</div>')
    return "".join(parts)


def thinned(panels: Sequence[Panel]) -> str:
    """Returns a note on the panels whose lines have only some of the rows of their tables."""
    lists = [
        f"{escape(panel.title)} ({panel.shown:,} of {panel.recorded:,})"
        for panel in panels
        if panel.shown < panel.recorded
    ]
    if not lists:
        return ""
    return html.note(
        f"These lines have fewer points than their tables have rows: {', '.join(lists)}. Each of "
        "many equal parts of the time keeps its first, last, lowest and highest row."
    )


def events(found: Sequence[tuple[float, str]]) -> str:
    """Returns the list of events, each a link to its time."""
    if not found:
        return "<p>No handover, blockage, timeout or recovery was recorded.</p>"
    items = "".join(
        f'<li><a href="#t={time:.6f}">{time:.3f} s</a> {escape(text)}</li>'
        for time, text in found[:MOST_EVENTS]
    )
    more = ""
    if len(found) > MOST_EVENTS:
        more = html.note(f"{len(found) - MOST_EVENTS:,} more events are in the tables.")
    return f'<ol class="events">{items}</ol>{more}'
