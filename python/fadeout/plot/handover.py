"""The panels of changes of cell, for a run or for one change."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from fadeout import drives
from fadeout.plot import legs, mobility, panels, swimlane

if TYPE_CHECKING:
    from fadeout.results import Results

CHANGE_TIMES = ("triggered_s", "left_s", "entered_s", "completed_s", "switched_s")
"""Steps of a change of cell in the table `handovers`."""

LINK_CHANGE_TIMES = ("decided_s", "bicast_s", "resumed_s", "switched_s", "end_marker_s")
"""Steps of a change of link in the table `link_handovers`."""

LEAST_MARGIN_S = 0.05
"""Shortest time that is drawn before and after a change of cell."""

Number = int | Literal["all"] | None


@dataclass(frozen=True)
class View:
    """The panels of a figure, and its time axis."""

    drawn: list[panels.Panel]
    window: tuple[float, float] | None = None
    """Start and end of the time axis in seconds. `None` for the whole run."""
    about: str = ""
    """Description of the change for the title. Empty for the whole run."""
    gap: tuple[float, float] | None = None
    """Start and end of the time in which the UE was in no cell, in seconds."""
    flows: list[str] | None = None
    """Flows to draw. `None` for all flows."""


def count_pages(results: "Results") -> int:
    """Returns the number of changes of cell that have a figure of their own."""
    if has_two_legs(results):
        return 0
    return len(results.table(_table(results)))


def has_steps(results: "Results") -> bool:
    """Returns True if there is a change of cell, a step of RRC or a leg to draw."""
    tables = [one for one in ("link_handovers", "handovers", "rrc") if results.has_table(one)]
    if "handovers" not in tables and "link_handovers" not in tables:
        return False
    return any(panels.has_rows(results, one) for one in tables) or has_two_legs(results)


def has_two_legs(results: "Results") -> bool:
    """Returns True if a UE has several legs and stays in its master's cell."""
    has_no_change = not results.has_table("handovers") or (
        results.has_table("secondary_changes") and len(results.table("handovers")) == 0
    )
    return has_no_change and len(results.legs) > 0


def _table(results: "Results") -> str:
    return "link_handovers" if results.has_table("link_handovers") else "handovers"


def view(results: "Results", number: Number, around_s: float | None) -> View:
    """Returns the panels of one change of cell, or of the whole run.

    `number` is None for the first change, if there is one. `around_s` is the time before and after
    the change. By default it is half the duration of the change.
    """
    if has_two_legs(results):
        chosen = None if number == "all" else number
        return _two_legs(results, chosen, 0.5 if around_s is None else around_s)
    table = _table(results)
    is_of_links = table == "link_handovers"
    changes = results.table(table)
    tcp = [panels.CONGESTION, panels.RTT]
    if number is None and len(changes):
        number = 0
    if number is None or number == "all":
        if is_of_links:
            return View([mobility.LINK_LANE, mobility.SEQUENCE, *tcp])
        return View([mobility.levels(), mobility.LANE, *tcp])
    if not 0 <= number < len(changes):
        raise ValueError(f"there are {len(changes)} changes of cell; got number {number}")
    row = changes.row(number, named=True)
    steps = LINK_CHANGE_TIMES if is_of_links else CHANGE_TIMES
    times = [row[key] for key in steps if row[key] == row[key]]
    first, last = min(times), max(times)
    margin = max((last - first) / 2, LEAST_MARGIN_S) if around_s is None else around_s
    window = (max(first - margin, 0.0), last + margin)
    if is_of_links:
        about = swimlane.link_title(row, number, len(changes))
        stopped, resumed = row["commanded_s"], row["resumed_s"]
        # NaN is not below anything.
        gap = (stopped, resumed) if stopped < resumed else None
        drawn = [swimlane.link_lanes(row), mobility.SEQUENCE, *tcp]
        return View(drawn, window, about, gap)
    about = swimlane.title(row, number, len(changes))
    left, entered = row["left_s"], row["entered_s"]
    # NaN is not below anything.
    gap = (left, entered) if left < entered else None
    ue = str(row["ue"])
    flows = [flow for flow, its in drives.flows_of(results).items() if its == ue]
    drawn = [mobility.levels(ue), swimlane.lanes(row), *tcp]
    return View(drawn, window, about, gap, flows or None)


def _two_legs(results: "Results", number: int | None, around_s: float) -> View:
    results.scan("transport_blocks")  # Raises if the run did not record it.
    owner = pl.col("bearer").str.split("/").list.first().alias("ue")
    rows = results.legs.with_columns(owner)
    ue = rows["ue"][0]
    rows = rows.filter(pl.col("ue") == ue)
    window = None
    if number is not None and results.has_table("secondary_changes"):
        changes = results.table("secondary_changes")
        if not 0 <= number < len(changes):
            message = f"there are {len(changes)} changes of a secondary node; got number {number}"
            raise ValueError(message)
        ends = changes.select("triggered_s", "time_s").row(number)
        window = (max(ends[0] - around_s, 0.0), ends[1] + around_s)
    elif number is not None:
        steps = results.rrc.with_columns(pl.col("ue", "event").cast(pl.String))
        failures = steps.filter(ue=ue, event="secondary-failed")["time_s"]
        if not 0 <= number < len(failures):
            message = f"there are {len(failures)} failures of a leg; got number {number}"
            raise ValueError(message)
        window = (max(failures[number] - around_s, 0.0), failures[number] + around_s)
    cells = rows["cell"].unique(maintain_order=True).to_list()
    drawn = [legs.lanes(ue, cells), legs.panel(ue, "downlink", rows)]
    return View([*drawn, panels.CONGESTION, panels.RTT], window)
