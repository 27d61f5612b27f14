"""The report of a campaign: points with intervals, runs, and commands that repeat each run."""

import math
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from fadeout import _toml
from fadeout.campaign import Campaign
from fadeout.campaign.found import mean_text
from fadeout.report import html
from fadeout.report.page import page
from fadeout.statistics import value_text

MOST_METRICS = 6
"""Largest number of metrics that are drawn."""

MOST_POINTS = 60
"""Largest number of points of a figure."""

MOST_ROWS = 500
"""Largest number of rows of a table in the page."""

LARGEST_TEXT = 60_000
"""Characters of the largest specification that the page holds."""


def campaign_page(campaign: Campaign) -> str:
    """Returns the report of a campaign."""
    status = campaign.status()
    heading = campaign.spec.title or f"Campaign {campaign.folder.resolve().name}"
    facts = [
        f"{status.points:,} points",
        f"{status.done:,} of {status.runs:,} runs done",
        f"{status.failed:,} failed",
        f"{value_text(status.cost_s)} s of processor time",
    ]
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    warnings = campaign.warnings()
    if status.done < status.runs:
        warnings.insert(
            0,
            f"{status.runs - status.done:,} runs are missing: fadeout campaign run goes on",
        )
    frame = campaign.frame()
    body = [
        f'<header><h1>{escape(heading)}</h1><ul class="facts">{listed}</ul></header><main>',
        *map(html.warning, warnings),
        *([] if frame.is_empty() else _results(campaign, frame)),
        _failures(campaign),
        '<section id="again"><h2>Make it again</h2>',
        _again(campaign),
        "</section></main>",
    ]
    return page(heading, "\n".join(body), {"duration": 0}, "")


def _results(campaign: Campaign, frame: pl.DataFrame) -> list[str]:
    names = [name for name in campaign.metrics() if frame[name].dtype.is_numeric()]
    means = campaign.means(*names)
    keys = [key for key in campaign.keys if key in means.columns]
    return [
        '<section id="means"><h2>Means of the points</h2>',
        "<p>A dot is the mean over the seeds, and its bar the 95 % interval. Points without a bar "
        "have fewer than five seeds, or nothing random.</p>",
        *(_figure(means, keys, name) for name in names[:MOST_METRICS]),
        _means(means, keys, names),
        '</section><section id="runs"><h2>Runs</h2>',
        _runs(campaign, frame, names),
        "</section>",
    ]


def _means(means: pl.DataFrame, keys: Sequence[str], names: Sequence[str]) -> str:
    rows = [
        [*(row[key] for key in keys), *(_mean(row, name) for name in names), _seeds(row, names)]
        for row in means.head(MOST_ROWS).iter_rows(named=True)
    ]
    headings = [*keys, *names, "n"]
    text = html.table(
        headings, rows, name="means of the points", numbers=headings[len(keys) :], is_sortable=True
    )
    text += html.note(
        "Mean ± half the width of its 95 % interval over n seeds; ± 0: equal with every seed."
    )
    return html.details("Table of the means", text + _more(len(means)), is_open=len(means) <= 20)


def _mean(row: Mapping[str, Any], name: str) -> html.Number:
    """Returns a mean with its interval. The table is sorted by the mean."""
    return html.Number(row[f"{name}_mean"], mean_text(row, name))


def _seeds(row: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Returns the least number of runs of a mean."""
    return min((row[f"{name}_n"] for name in names), default=None)


def _more(count: int) -> str:
    if count <= MOST_ROWS:
        return ""
    return html.note(f"{count - MOST_ROWS:,} more rows: <code>fadeout campaign export</code>.")


def _runs(campaign: Campaign, frame: pl.DataFrame, names: Sequence[str]) -> str:
    fixed = dict(campaign.spec.set)
    scenarios = campaign.spec.scenarios
    rows = []
    for row in frame.head(MOST_ROWS).iter_rows(named=True):
        values = {key: row[key] for key in campaign.keys}
        line = html.Html(f"<code>{escape(_line(scenarios, fixed, values, row['seed']))}</code>")
        rows.append([*values.values(), row["seed"], *(row[name] for name in names), line])
    headings = [*campaign.keys, "seed", *names, "command"]
    text = html.table(headings, rows, name="runs", is_sortable=True)
    return html.details(f"{len(frame):,} runs", text + _more(len(frame)))


def _line(
    scenarios: Mapping[str, Any], fixed: Mapping[str, Any], values: Mapping[str, Any], seed: int
) -> str:
    """Returns the command of one run."""
    given = dict(values)
    name = str(given.pop("scenario", None) or next(iter(scenarios)))
    source = scenarios[name].name if name in scenarios else name
    # Texts and dicts have no file.
    source = "scenario.toml" if source.startswith("<") else source
    words = ["fadeout", "run", source, "--seed", str(seed)]
    for key, value in {**fixed, **given}.items():
        if value is not None:
            text = value if isinstance(value, str) else _toml.value(value)
            words += ["--set", f"{key}={text}"]
    return shlex.join(words)


def _failures(campaign: Campaign) -> str:
    failed = campaign.failures
    if failed.is_empty():
        return ""
    rows = failed.head(MOST_ROWS).iter_rows()
    text = html.table(failed.columns, rows, name="failed runs")
    return f'<section id="failures"><h2>Failed runs</h2>{text}{_more(len(failed))}</section>'


def _again(campaign: Campaign) -> str:
    document = {key: value for key, value in campaign.document.items() if value}
    try:
        written = _toml.dumps(document)
    except TypeError:
        written = ""
    folder = shlex.quote(str(campaign.folder))
    parts = [
        html.command(f"fadeout campaign run campaign.toml --out {folder}"),
        f"<p>In the folder, <code>fadeout campaign archive {escape(folder)}</code> packs the "
        "campaign with its scenarios, and <code>fadeout campaign repeat</code> runs the archive "
        "and compares every result.</p>",
    ]
    if 0 < len(written) <= LARGEST_TEXT:
        button = '<button type="button" data-save="campaign.toml" data-from="toml">Save</button>'
        parts.append(
            html.details(
                "campaign.toml",
                f'<p>{button}</p><pre id="toml" tabindex="0">{escape(written)}</pre>',
                is_open=len(written) < 1500,
            )
        )
    return "".join(parts)


ROW = 22
LEFT, WIDTH = 330, 900


def _figure(means: pl.DataFrame, keys: Sequence[str], name: str) -> str:
    """Returns a figure of one metric: a row for each point, with mean and interval."""
    rows = []
    for row in means.head(MOST_POINTS).iter_rows(named=True):
        mean, low, high = (row[f"{name}_{part}"] for part in ("mean", "low", "high"))
        if mean is not None and math.isfinite(mean):
            label = ", ".join(str(row[key]) for key in keys) or "all runs"
            rows.append((label, mean, mean if low is None else low, mean if high is None else high))
    if not rows:
        return html.note(f"No run has a value of {escape(name)}.")
    low = min(0.0, *(each[2] for each in rows))
    high = max(0.0, *(each[3] for each in rows))
    span = (high - low) or 1.0
    height = ROW * len(rows) + 34

    def place(value: float) -> float:
        return LEFT + (value - low) / span * (WIDTH - LEFT - 30)

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(name, quote=True)} by point">'
    ]
    for tick in _ticks(low, high):
        x = place(tick)
        parts.append(
            f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 24}"/>'
            f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>'
        )
    for number, (label, mean, least, most) in enumerate(rows):
        y = ROW * number + 16
        shown = label if len(label) <= 48 else f"{label[:47]}…"
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(shown)}'
            f"<title>{escape(label)}</title></text>"
            f'<line class="bar" x1="{place(least):.1f}" x2="{place(most):.1f}" y1="{y}" y2="{y}"/>'
            f'<circle class="dot" cx="{place(mean):.1f}" cy="{y}" r="4">'
            f"<title>{mean:.6g} ({least:.6g} to {most:.6g})</title></circle>"
        )
    parts.append("</svg>")
    more = ""
    if len(means) > MOST_POINTS:
        more = html.note(f"The first {MOST_POINTS} of {len(means):,} points.")
    by = f" by {escape(', '.join(keys))}" if keys else ""
    return f"<h3>{escape(name)}{by}</h3>{''.join(parts)}{more}"


def _ticks(low: float, high: float) -> list[float]:
    """Returns about five round values between two limits."""
    step = 10 ** math.floor(math.log10(max(high - low, 1e-12) / 4))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
