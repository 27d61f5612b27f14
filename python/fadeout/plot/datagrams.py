"""Panels of UDP datagrams: delay, loss, interruptions, and the distribution of delays."""

from typing import TYPE_CHECKING, Any

import polars as pl

from fadeout._native import ResultError
from fadeout._thinning import broken
from fadeout.plot.panels import (
    LONGEST_GAP_S,
    MOST_POINTS,
    Canvas,
    Panel,
    has_rows,
    line_style,
)
from fadeout.plot.style import STAMP, VERMILION, legend_above

if TYPE_CHECKING:
    from fadeout.results import Results

FEWEST_FOR_DOTS = 400
"""Number of arrivals below which each arrival is drawn as a dot."""

BINS = 300
"""Number of time bins with a median and a band."""

ANSWERS = ", answers"
"""Suffix of an echo flow's name that marks the answers."""


def _rows(canvas: Canvas, *columns: str) -> list[tuple[str, pl.DataFrame]]:
    """Returns the arrivals of each direction of the flows to draw, with its name."""
    table = canvas.read("datagrams", "time_s", "flow", "end", *columns)
    names = table["flow"].cast(pl.String).unique(maintain_order=True).to_list()
    wanted = names if canvas.flows is None else canvas.flow_names()
    found = []
    for name in wanted:
        rows = table.filter(pl.col("flow") == name)
        for end, suffix in (("receiver", ""), ("sender", ANSWERS)):
            part = rows.filter(pl.col("end") == end)
            if len(part):
                found.append((f"{name}{suffix}", part))
    known = dict(found)
    return [(name, known[name]) for name in canvas.first(list(known), "flows")]


def _draw_times(
    canvas: Canvas, rows: pl.DataFrame, value: str, name: str, style: dict[str, Any]
) -> None:
    """Draws a time in milliseconds of each arrival.

    With many arrivals, a line shows the median of each bin, and a band the smallest and the largest
    value.
    """
    rows = rows.select("time_s", pl.col(value) * 1e3)
    style |= {"linewidth": 0.8, "label": name}
    if len(rows) < FEWEST_FOR_DOTS:
        points = broken(rows, value, LONGEST_GAP_S)
        canvas.ax.plot(points["time_s"], points[value], marker=".", markersize=2, **style)
        return
    low, high = canvas.window or (canvas.start_s, canvas.end_s)
    width = max((high - low) / BINS, 1e-9)
    number = (pl.col("time_s") / width).floor().cast(pl.Int64).alias("bin")
    bins = rows.group_by(number).agg(
        pl.col(value).min().alias("low"),
        pl.col(value).median().alias("median"),
        pl.col(value).max().alias("high"),
    )
    bins = bins.sort("bin").with_columns(((pl.col("bin") + 0.5) * width).alias("time_s"))
    bins = broken(bins, "median", LONGEST_GAP_S)
    times, median = bins["time_s"], bins["median"]
    canvas.ax.plot(times, median, **style)
    is_shown = median.is_not_nan().to_numpy()
    band = {"color": style["color"], "alpha": 0.25, "linewidth": 0}
    canvas.ax.fill_between(times, bins["low"], bins["high"], where=is_shown, **band)
    canvas.note = canvas.note or "line: median; band: smallest to largest"


def _delay(canvas: Canvas) -> None:
    """Draws the one-way delay of each datagram at its arrival."""
    for number, (name, rows) in enumerate(_rows(canvas, "delay_s")):
        _draw_times(canvas, rows, "delay_s", name, line_style(number))
    canvas.finish("Delay (ms)")


def _gap(canvas: Canvas) -> None:
    """Draws the time since the previous arrival, and marks lost datagrams."""
    missing = 0
    for number, (name, rows) in enumerate(_rows(canvas, "gap_s", "missing_datagrams")):
        _draw_times(canvas, rows, "gap_s", name, line_style(number))
        # A late arrival reduces the count of missing datagrams, so only increases are marked.
        holes = rows.filter(pl.col("missing_datagrams").cast(pl.Int64).diff().fill_null(0) > 0)
        first = rows.head(1).filter(pl.col("missing_datagrams") > 0)
        times = pl.concat([first, holes])["time_s"]
        if len(times):
            times = times.sample(min(len(times), MOST_POINTS), seed=0)
            canvas.ax.plot(
                times,
                [0.02] * len(times),
                transform=canvas.ax.get_xaxis_transform(),
                linestyle="none",
                marker="|",
                color=VERMILION,
                label=None if missing else "loss",
            )
            missing += len(times)
    canvas.finish("Gap (ms)")


def _lost(canvas: Canvas) -> None:
    """Draws the number of missing datagrams over time, for each direction."""
    for number, (name, rows) in enumerate(_rows(canvas, "missing_datagrams")):
        rows = rows.with_columns(pl.col("missing_datagrams").cast(pl.Float64))
        canvas.draw_steps(rows, "missing_datagrams", label=name, **line_style(number))
    canvas.finish("Missing (datagrams)")
    canvas.ax.set_ylim(top=max(1.0, canvas.ax.get_ylim()[1]))


def _distribution(canvas: Canvas) -> None:
    """Draws the distribution of the delay, and for an echo that of the round-trip time."""
    number = 0
    for name, rows in _rows(canvas, "delay_s", "round_trip_s"):
        trips = rows.filter(pl.col("round_trip_s") > 0)["round_trip_s"]
        both = f"{name.removesuffix(ANSWERS)}: round trip"
        for label, values in ((name, rows["delay_s"]), (both, trips)):
            if not len(values):
                continue
            values = values.sort() * 1e3
            shares = pl.int_range(1, len(values) + 1, eager=True) / len(values)
            step = max(1, len(values) // MOST_POINTS)
            kept = list(range(0, len(values), step))
            kept += [len(values) - 1]
            canvas.ax.plot(
                values[kept],
                shares[kept],
                drawstyle="steps-post",
                label=label,
                **line_style(number),
            )
            number += 1
    if number == 0:
        raise ResultError("no datagram arrived, so there is no distribution of delays")
    for share in (0.5, 0.95, 0.99):
        canvas.ax.axhline(share, color=STAMP, linewidth=0.4, zorder=0)
    canvas.ax.set_ylabel("Share of datagrams")
    canvas.ax.set_xlabel("Delay (ms)")
    canvas.ax.set_ylim(0, 1)
    canvas.ax.set_xlim(left=0)
    legend_above(canvas.ax, 2, canvas.note)


def _arrived(results: "Results") -> bool:
    return has_rows(results, "datagrams")


DELAY = Panel(_delay, "datagrams", _arrived, "no datagram arrived")
GAP = Panel(_gap, "datagrams", _arrived, "no datagram arrived")
LOST = Panel(
    _lost,
    "datagrams",
    lambda results: has_rows(results, "datagrams", pl.col("missing_datagrams") > 0),
    "no datagram is missing",
)
DISTRIBUTION = Panel(_distribution, "datagrams")
