"""One change of cell or link: messages as arrows between lanes, and the durations of phases."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from fadeout.plot.mobility import LANES, LINK_LANES, TROUBLE
from fadeout.plot.panels import Canvas, Panel
from fadeout.plot.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, STAMP, VERMILION

MESSAGES = (
    ("report-sent", "report-received"),
    ("candidates-sent", "candidates-received"),
    ("command-sent", "command-received"),
    ("preamble-sent", "access-done"),
    ("path-switch-request", "path-switched"),
)
"""Steps at both ends of a message whose arrival is recorded."""

PHASES = (
    ("preparation", "triggered_s", "commanded_s", BLUE),
    ("command", "commanded_s", "left_s", ORANGE),
    ("in no cell", "left_s", "entered_s", VERMILION),
    ("completion", "entered_s", "completed_s", GREEN),
    ("path switch", "completed_s", "switched_s", PURPLE),
)
"""Phases of a change of cell: name, first and last step in the table `handovers`, and colour."""

LINK_MESSAGES = (("stops", "sends"), ("sends", "path switch"), ("path switch", "end marker"))
"""Messages of a change of link: the step that sends one, and the step that receives it."""

LINK_PHASES = (
    ("preparation", "decided_s", "commanded_s", BLUE),
    ("nothing sent", "commanded_s", "resumed_s", VERMILION),
    ("path switch", "resumed_s", "switched_s", PURPLE),
    ("end marker", "switched_s", "end_marker_s", GREEN),
)
"""Phases of a change of link: name, first and last step, and colour."""

ATTACH_PHASES = (("search and access", "triggered_s", "entered_s", BLUE), *PHASES[-2:])
"""Phases of an attach, which leaves no cell."""

FONT = 5.0
"""Size of the names of steps in points."""

LETTER = 0.55
"""Mean width of a letter as a share of the size."""

LEVELS = 5
"""Number of lines of text above a lane."""

LANE_PT = 46.0
"""Distance between two lanes in points, at the usual size of the figure."""


Step = tuple[float, str]
"""Time in seconds, and the name of the step."""

Arrow = tuple[Step, Step]


@dataclass(frozen=True)
class Swimlane:
    """Steps on lanes from top to bottom, messages between them, and the phases."""

    lanes: Mapping[str, Sequence[str]]
    steps: Sequence[Step]
    messages: Sequence[tuple[str, str]]
    phases: Sequence[tuple[str, str, str, str]]
    change: Mapping[str, Any]
    """The row of the change."""

    def draw(self, canvas: Canvas) -> None:
        """Draws the lanes, and the durations of the phases below them."""
        window = canvas.window or (0.0, canvas.end_s)
        heights = {lane: height for height, lane in enumerate(reversed(list(self.lanes)), start=1)}
        lane_of = {event: lane for lane, events in self.lanes.items() for event in events}
        found = [(time, event) for time, event in self.steps if event in lane_of]
        canvas.ax.set_xlim(*window)
        canvas.ax.grid(visible=False)
        for height in heights.values():
            canvas.ax.axhline(height, color=STAMP, linewidth=0.5, zorder=1)
        for lane, height in heights.items():
            own = [(time, event) for time, event in found if lane_of[event] == lane]
            _draw_steps(canvas.ax, own, height, window)
        for arrow in _arrows(found, self.messages):
            _draw_arrow(canvas.ax, arrow, {event: heights[lane_of[event]] for _, event in found})
        _draw_phases(canvas.ax, self.change, self.phases, window)
        canvas.ax.set_yticks([0, *heights.values()], ["duration", *heights])
        canvas.ax.set_ylim(-0.75, len(heights) + 0.85)
        canvas.finish_x("")


def lanes(change: Mapping[str, Any]) -> Panel:
    """Returns the panel of one row of the table `handovers`."""

    def draw(canvas: Canvas) -> None:
        low, high = canvas.window or (0.0, canvas.end_s)
        steps = canvas.read("rrc", "time_s", "ue", "event").with_columns(
            pl.col("ue", "event").cast(pl.String)
        )
        steps = steps.filter(
            pl.col("ue") == str(change["ue"]), pl.col("time_s").is_between(low, high)
        )
        found = steps.sort("time_s", maintain_order=True).select("time_s", "event").rows()
        is_attach = change["procedure"] == "attach"
        # A UE that attaches has no source.
        lanes = {name: steps for name, steps in LANES.items() if not is_attach or name != "source"}
        phases = ATTACH_PHASES if is_attach else PHASES
        Swimlane(lanes, found, MESSAGES, phases, change).draw(canvas)

    return Panel(draw, "rrc", height=2.4)


def link_lanes(change: Mapping[str, Any]) -> Panel:
    """Returns the panel of one row of the table `link_handovers`."""
    names = {key: name for steps in LINK_LANES.values() for key, name in steps.items()}
    found = sorted((change[key], name) for key, name in names.items() if change[key] == change[key])
    events = {lane: list(steps.values()) for lane, steps in LINK_LANES.items()}
    drawn = Swimlane(events, found, LINK_MESSAGES, LINK_PHASES, change)
    return Panel(drawn.draw, "link_handovers", height=2.0)


def _arrows(steps: Sequence[Step], messages: Sequence[tuple[str, str]]) -> list[Arrow]:
    """Returns the messages: a step of the sender and the next matching step of the receiver."""
    found = []
    for sent, arrived in messages:
        for time, event in steps:
            if event != sent:
                continue
            later = [step for step in steps if step[1] == arrived and step[0] >= time]
            # Between a message that was lost and the next one, nothing arrived.
            again = [step[0] for step in steps if step[1] == sent and step[0] > time]
            if later and (not again or later[0][0] < again[0]):
                found.append(((time, event), later[0]))
    return found


def _draw_arrow(ax: Axes, arrow: Arrow, heights: Mapping[str, float]) -> None:
    (sent, first), (arrived, last) = arrow
    style = {"arrowstyle": "-|>", "linewidth": 0.7, "color": STAMP, "shrinkA": 0, "shrinkB": 0}
    ax.annotate(
        "",
        (arrived, heights[last]),
        xytext=(sent, heights[first]),
        arrowprops={**style, "mutation_scale": 6},
        zorder=2,
    )


def _draw_steps(
    ax: Axes, steps: Sequence[Step], height: float, window: tuple[float, float]
) -> None:
    """Draws the steps of one lane. Names are above it, as high as the names before require."""
    width_pt = 72 * ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    per_s = width_pt / (window[1] - window[0])
    taken = [-math.inf] * LEVELS
    for time, event in steps:
        color = VERMILION if event in TROUBLE else BLACK
        ax.plot([time], [height], marker="o", markersize=2.5, color=color, zorder=3)
        place = (time - window[0]) * per_s
        # A name at the right edge is left of its step.
        length = LETTER * FONT * len(event) + 4
        is_left = place + length > width_pt
        start = place - length if is_left else place
        free = [level for level, end in enumerate(taken) if end <= start]
        level = free[0] if free else LEVELS - 1
        taken[level] = start + length
        above = 3 + level * (FONT + 1.5)
        ax.annotate(
            event.replace("-", " "),
            (time, height),
            xytext=(-2 if is_left else 2, above),
            textcoords="offset points",
            ha="right" if is_left else "left",
            fontsize=FONT,
            color=color,
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.3,
                "color": color,
                "shrinkA": 0,
                "relpos": (1.0 if is_left else 0.0, 0.0),
            },
            zorder=4,
        )


def _draw_phases(
    ax: Axes,
    change: Mapping[str, Any],
    phases: Sequence[tuple[str, str, str, str]],
    window: tuple[float, float],
) -> None:
    """Draws a bar for each phase, with its duration in milliseconds below."""
    taken = -math.inf
    level = 0
    for name, first, last, color in phases:
        start, end = change[first], change[last]
        if not start < end:  # NaN, or a step that took no time.
            continue
        ax.plot([start, end], [0, 0], color=color, linewidth=4, solid_capstyle="butt", zorder=3)
        text = f"{name} {1e3 * (end - start):.3g} ms"
        share = LETTER * 0.02 * len(text) * (window[1] - window[0])
        level = (level + 1) % 3 if start < taken else 0
        taken = start + share
        below = (2, -4 - level * (FONT + 1.5))
        style = {"textcoords": "offset points", "fontsize": FONT, "va": "top", "color": color}
        ax.annotate(text, (start, 0), xytext=below, **style)


def link_title(change: Mapping[str, Any], number: int, count: int) -> str:
    """Returns a description of a row of the table `link_handovers`."""
    about = f"{change['node']}: {change['source']} → {change['target']}, {change['outcome']}"
    parts = [f"change of link {number + 1} of {count}: {about}"]
    if math.isfinite(change["downlink_gap_s"]):
        parts.append(f"downlink gap {1e3 * change['downlink_gap_s']:.3g} ms")
    forwarded = change["forwarded_waiting"] + change["forwarded_later"]
    if forwarded:
        parts.append(f"{forwarded:,} packets forwarded")
    return ", ".join(parts)


def title(change: Mapping[str, Any], number: int, count: int) -> str:
    """Returns a description of a row of the table `handovers`."""
    gaps = [
        f"{direction} gap {1e3 * change[key]:.3g} ms"
        for direction, key in (("downlink", "downlink_gap_s"), ("uplink", "uplink_gap_s"))
        if change[key] is not None and math.isfinite(change[key])
    ]
    cells = f"{change['source']} → {change['target']}"
    if change["source"] == change["target"]:
        cells = f"{change['procedure']} to {change['target']}"
    about = f"{change['ue']}: {cells}, {change['outcome']}"
    return ", ".join([f"change of cell {number + 1} of {count}: {about}", *gaps])
