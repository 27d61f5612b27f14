"""The report of one run."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from fadeout.plot.panels import traffic_end_s, traffic_start_s
from fadeout.report import html, parts
from fadeout.report.blob import Blob
from fadeout.report.lanes import events, lanes, shades
from fadeout.report.page import page
from fadeout.report.scene import Movement, Scene, movement, scene
from fadeout.report.series import Panel, Panels, cell_numbers
from fadeout.results import Results


class Detail(NamedTuple):
    """Level of detail of a page."""

    points: int
    """Largest number of points of a line."""
    places: int
    """Largest number of positions on the map, over all frames."""


LEVELS = (
    Detail(12_000, 600_000),
    Detail(6000, 300_000),
    Detail(3000, 150_000),
    Detail(1500, 80_000),
    Detail(700, 40_000),
    Detail(300, 20_000),
    Detail(120, 8000),
)
"""Levels of detail, tried in this order until a page is small enough."""

LARGE = 1_000_000
"""Size limit in bytes from which on the finest levels are tried."""

CONTROLS = """
<div class="controls" id="controls" role="toolbar" aria-label="Playback">
<button type="button" id="play" aria-pressed="false">Play</button>
<output id="clock">0.000 s</output>
<input id="slider" type="range" min="0" max="10000" value="0" aria-label="Time">
<label>Speed <select id="speed" aria-label="Speed"></select></label>
<button type="button" id="earlier" title="Earlier event ([)">◂ event</button>
<button type="button" id="later" title="Later event (])">event ▸</button>
<button type="button" id="closer" title="Zoom in (+)">Zoom in</button>
<button type="button" id="wider" title="Zoom out (-)">Zoom out</button>
<button type="button" id="whole" title="Whole run (0)">Whole run</button>
<button type="button" id="link" title="Link to this time (l)">Link</button>
<button type="button" id="theme" title="Dark or light (d)">Dark</button>
</div>
"""

KEYS = """
<table class="keys"><tbody>
<tr><td><kbd>Space</kbd></td><td>play or pause</td></tr>
<tr><td><kbd>←</kbd> <kbd>→</kbd></td><td>one step; with <kbd>Shift</kbd> ten</td></tr>
<tr><td><kbd>Home</kbd> <kbd>End</kbd></td><td>start, end</td></tr>
<tr><td><kbd>[</kbd> <kbd>]</kbd></td><td>earlier, later event</td></tr>
<tr><td><kbd>&lt;</kbd> <kbd>&gt;</kbd></td><td>slower, faster</td></tr>
<tr><td><kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></td><td>zoom in, out, whole run</td></tr>
<tr><td><kbd>l</kbd></td><td>put the time into the address</td></tr>
<tr><td><kbd>d</kbd></td><td>dark or light</td></tr>
</tbody></table>
<p>The mouse moves the cursor. A click holds it, and another click lets it go. Dragging over a panel
zooms in, and a double click shows the whole run.</p>
"""


def run_page(
    results: Results, largest: int, remarks: Sequence[str] = (), base: Path | None = None
) -> str:
    """Returns the report of a run, at most `largest` bytes long if that is possible.

    `base` is the folder of the scenario's relative paths.
    """
    moving = movement(results, base)
    marks = events(results)
    heading = results.title or "Results of a run"
    before = "\n".join(
        [
            "<header>",
            parts.header(results, heading),
            "</header><main>",
            *map(html.warning, parts.troubles(results, remarks, base)),
            '<section id="summary"><h2>Summary</h2>',
            parts.summary(results),
            "</section>",
        ]
    )
    after = "\n".join(
        [
            '<section id="events"><h2>Events</h2>',
            html.details(f"{len(marks):,} events", parts.events(marks), is_open=len(marks) <= 12),
            '</section><section id="again"><h2>Make it again</h2>',
            parts.again(results),
            '</section><section id="scenario"><h2>Scenario against defaults</h2>',
            parts.scenario(results),
            '</section><section id="tables"><h2>All numbers of the summary</h2>',
            parts.tables(results),
            "</section></main>",
        ]
    )
    text = ""
    made = Panels(results)
    # Only series and map depend on the level of detail.
    for detail in LEVELS if largest >= LARGE else LEVELS[2:]:
        blob = Blob()
        panels = list(made.all(detail.points))
        found = scene(results, moving, blob, detail.places)
        data = _data(results, moving, panels, found.document, marks, blob)
        has_play = bool(data["panels"] or data["lanes"] or found.document)
        body = "\n".join([before, _player(panels, found, has_play=has_play), after])
        text = page(heading, body, data, blob.text())
        if len(text.encode("utf-8")) <= largest:
            break
    return text


def _data(
    results: Results,
    moving: Movement,
    panels: Sequence[Panel],
    document: dict[str, Any] | None,
    marks: Sequence[tuple[float, str]],
    blob: Blob,
) -> dict[str, Any]:
    return {
        "duration": results.duration_s,
        # The page opens at the times with traffic, as figures do.
        "view": [traffic_start_s(results), traffic_end_s(results)],
        "panels": [panel.document(blob) for panel in panels if panel.lines],
        "lanes": [lane.document(blob) for lane in lanes(results, moving)],
        "shades": shades(results),
        "events": blob.doubles(sorted({time for time, _ in marks})),
        "cells": cell_numbers(results),
        "map": document,
    }


def _player(panels: Sequence[Panel], found: Scene, *, has_play: bool) -> str:
    lacking = parts.missing(panels)
    if found.reason:
        reason = escape(found.reason)
        lacking += f'<div class="missing"><p><b>Map</b>: it cannot be drawn: {reason}</p></div>'
    if not has_play:
        return f'<section id="play-section"><h2>Over time</h2>{lacking}</section>'
    plan = ""
    if found.document:
        plan = (
            '<div id="map-box"><canvas id="map" tabindex="0" role="img" '
            'aria-label="Map of the run"></canvas><div class="map-tools">'
            '<button type="button" id="map-in">Larger</button>'
            '<button type="button" id="map-out">Smaller</button>'
            '<button type="button" id="map-fit">Whole map</button>'
            '<label>Follow <select id="follow"><option value="">nothing</option></select></label>'
            '</div><ul id="map-key"></ul><ul id="map-state"></ul></div>'
        )
    return (
        '<section id="play-section"><h2>Over time</h2>'
        '<noscript><p class="note">Series and map need JavaScript.</p></noscript>'
        f"{CONTROLS}{html.details('Keys', KEYS)}"
        '<p id="held-note"></p>'
        f'<div class="stage{" with-map" if found.document else ""}">{plan}'
        '<div id="charts"></div></div>'
        f"{lacking}{parts.thinned(panels)}</section>"
    )
