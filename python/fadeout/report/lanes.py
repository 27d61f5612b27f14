"""Ribbons of a run: TCP state, blockages, serving cells and obstacles, as intervals of time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from fadeout import drives
from fadeout._native import ResultError
from fadeout.plot.panels import merged_intervals
from fadeout.report.blob import Blob
from fadeout.report.scene import Movement, state_of
from fadeout.report.series import natural, read
from fadeout.results import Results

MOST_SPANS = 1500
"""Largest number of intervals of a ribbon. With more, equal parts show their worst state."""

MOST_LANES = 8
"""Largest number of ribbons of a kind."""

STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""States of a TCP sender, from the best to the worst."""

MOST_EVENTS = 300
"""Largest number of listed events."""

Span = tuple[float, float, str]
"""Start and end in seconds, and the state."""


@dataclass
class Lane:
    """A ribbon."""

    kind: str
    name: str
    spans: list[Span]
    note: str = ""

    def document(self, blob: Blob) -> dict[str, Any]:
        """Returns the ribbon for the script, with its numbers in `blob`."""
        labels = list(dict.fromkeys(label for *_, label in self.spans))
        return {
            "kind": self.kind,
            "name": self.name,
            "note": self.note,
            "labels": labels,
            "start": blob.doubles([start for start, *_ in self.spans]),
            "end": blob.doubles([end for _, end, _ in self.spans]),
            "label": blob.shorts([labels.index(label) for *_, label in self.spans]),
        }


def lanes(results: Results, moving: Movement) -> Iterator[Lane]:
    """Yields the ribbons of a run. Tables that cannot be read are left out."""
    for make in (_blocked, _cells, _secondary, lambda _: _paths(moving), _states):
        try:
            # Ribbons without an interval are left out.
            found = sorted(
                (lane for lane in make(results) if lane.spans), key=lambda lane: natural(lane.name)
            )
        except ResultError:
            # The panel of the same table states the reason.
            continue
        if len(found) > MOST_LANES:
            number = f"{MOST_LANES} of {len(found):,}"
            found[0].note = "; ".join(filter(None, (number, found[0].note)))
        yield from found[:MOST_LANES]


def _states(results: Results) -> Iterator[Lane]:
    if not results.has_table("congestion"):
        return
    frame = read(results, "congestion", "time_s", "flow", "state")
    # QUIC reports no state.
    frame = frame.with_columns(pl.col("flow", "state").cast(pl.String)).filter(
        pl.col("state") != ""
    )
    completed = dict(results.flows.select("flow", "completed_at_s").iter_rows())
    for (flow,), rows in frame.group_by("flow", maintain_order=True):
        runs = (
            rows.with_columns(pl.col("state").rle_id().alias("run"))
            .group_by("run", maintain_order=True)
            .agg(pl.col("time_s").first(), pl.col("state").first())
        )
        # The last state holds until the flow or the run ends.
        last = completed.get(str(flow).partition("/")[0]) or results.duration_s
        ends = [*runs["time_s"].to_list()[1:], max(last, rows["time_s"][-1])]
        spans = list(zip(runs["time_s"], ends, runs["state"], strict=True))
        yield Lane("TCP state", str(flow), *_worst(spans))


def _worst(spans: list[Span]) -> tuple[list[Span], str]:
    """Returns the spans. If there are too many, equal parts of the time show their worst state."""
    if len(spans) <= MOST_SPANS:
        return spans, ""
    start, end = spans[0][0], spans[-1][1]
    width = (end - start) / MOST_SPANS
    worst = [0] * MOST_SPANS
    for since, until, state in spans:
        rank = STATES.index(state) if state in STATES else 0
        first = min(int((since - start) / width), MOST_SPANS - 1)
        last = min(math.ceil((until - start) / width), MOST_SPANS)
        for part in range(first, max(last, first + 1)):
            worst[part] = max(worst[part], rank)
    merged: list[Span] = []
    for part, rank in enumerate(worst):
        since, until = start + part * width, start + (part + 1) * width
        if merged and merged[-1][2] == STATES[rank]:
            merged[-1] = (merged[-1][0], until, STATES[rank])
        else:
            merged.append((since, until, STATES[rank]))
    return merged, f"the worst state in each {width * 1e3:.3g} ms"


def _blocked(results: Results) -> Iterator[Lane]:
    if not results.has_table("blockages"):
        return
    frame = read(results, "blockages", "start_s", "end_s", "link").sort("start_s")
    frame = frame.with_columns(pl.col("link").cast(pl.String))
    for (link,), rows in frame.group_by("link", maintain_order=True):
        spans = [(start, end, "blocked") for start, end, _ in rows.iter_rows()]
        yield Lane("Blockage", str(link), spans[:MOST_SPANS])


def _cells(results: Results) -> Iterator[Lane]:
    if not results.manifest.get("scenario", {}).get("ue"):
        return
    for ue, steps in drives.serving(results).items():
        named = [(start, cell or "no cell") for start, cell in steps]
        yield Lane("Serving cell", ue, _spans(named, results.duration_s))


def _secondary(results: Results) -> Iterator[Lane]:
    """Yields the secondary cell of each UE in dual connectivity."""
    for ue, steps in drives.secondary(results).items():
        named = [(start, cell or "none") for start, cell in steps]
        yield Lane("Secondary cell", ue, _spans(named, results.duration_s))


def _spans(steps: list[tuple[float, str]], end_s: float) -> list[Span]:
    """Returns the intervals between steps, each a start and a state. Empty ones are left out."""
    closed = [*steps, (end_s, "")]
    spans = [(start, end, state) for (start, state), (end, _) in pairwise(closed)]
    return [span for span in spans if span[1] > span[0]]


def _paths(moving: Movement) -> Iterator[Lane]:
    """Yields the state of the path between each UE and its cell, if it is ever blocked."""
    if moving.steps is None:
        return
    for (ue,), own in moving.steps.group_by("ue", maintain_order=True):
        spans: list[Span] = []
        for time, cause, behind in own.select("time_s", "cause", "behind_building").iter_rows():
            state = state_of(cause, behind)
            if spans and spans[-1][2] == state:
                spans[-1] = (spans[-1][0], time + moving.every_s, state)
            else:
                spans.append((time, time + moving.every_s, state))
        if {state for *_, state in spans} - {"clear", "handover"}:
            yield Lane("Path", str(ue), spans, f"in steps of {moving.every_s * 1e3:.3g} ms")


def shades(results: Results) -> list[tuple[float, float]]:
    """Returns the times in which any link is blocked, as disjoint intervals."""
    if not results.has_table("blockages"):
        return []
    try:
        rows = read(results, "blockages", "start_s", "end_s")
    except ResultError:
        return []
    return merged_intervals(rows)[:MOST_SPANS]


def events(results: Results) -> list[tuple[float, str]]:
    """Returns times to jump to, with a text: handovers, blockages, timeouts, recoveries."""
    found: list[tuple[float, str]] = []
    for table, columns, form in (
        ("handovers", ("time_s", "ue", "source", "target", "outcome"), "{}: {} → {}, {}"),
        ("secondary_changes", ("time_s", "ue", "kind", "outcome"), "{}: secondary node {}, {}"),
        ("link_handovers", ("time_s", "node", "source", "target", "outcome"), "{}: {} → {}, {}"),
        ("blockages", ("start_s", "link"), "blockage of {}"),
        ("timeouts", ("time_s", "flow", "backoff"), "{}: retransmission timeout {}"),
        ("flow_events", ("time_s", "flow", "event"), "{}: {}"),
    ):
        if not results.has_table(table):
            continue
        try:
            rows = read(results, table, *columns)
        except ResultError:
            continue
        found += [(float(time), form.format(*more)) for time, *more in rows.iter_rows()]
    return sorted(found)
