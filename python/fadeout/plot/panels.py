"""Panels: functions that draw one quantity into a pair of axes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes

from fadeout import _names, _reading
from fadeout._native import ResultError
from fadeout._quantities import seconds
from fadeout._thinning import broken, thin
from fadeout.plot.style import (
    BLACK,
    BLOCKED,
    GREEN,
    ORANGE,
    OTHERS,
    PALETTE,
    PURPLE,
    SKY,
    STAMP,
    VERMILION,
    Shown,
    legend_above,
)

if TYPE_CHECKING:
    from fadeout.results import Results

MOST_LINES = len(PALETTE)
"""Largest number of lines that can be told apart."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1)), (0, (1, 1)), (0, (5, 1, 1, 1)))
"""Dash patterns for further lines, when all colours are used."""

THRESHOLD: Any = (0, (3, 1.5))
"""Dashes of slow-start thresholds."""

MOST_OTHERS = 200
"""Largest number of grey lines behind the others. More would merge into an area."""

MOST_POINTS = 4000
"""Largest number of points of a line. More cannot be seen in the width of a column."""


LONGEST_GAP_S = 1.0
"""Longest time without a row that a line bridges."""


@dataclass
class Canvas:
    """One pair of axes, with the run and the settings of its figure."""

    ax: Axes
    results: "Results"
    flows: Sequence[str] | None
    is_first: bool
    is_last: bool
    shown: Shown
    """Entries that the legends of the figure already have."""
    note: str = ""
    """Text above the entries of the legend, such as "8 of 24 flows"."""
    window: tuple[float, float] | None = None
    """Start and end of the time axis in seconds. None for the whole run."""
    gap: tuple[float, float] | None = None
    """Start and end of the time in which a UE is in no cell, in seconds. It is shaded."""
    others: list[str] = field(default_factory=list)
    """Names that are drawn as grey lines, as there are too many to tell apart."""

    @property
    def start_s(self) -> float:
        """Start of the time axis in seconds."""
        return traffic_start_s(self.results)

    @property
    def end_s(self) -> float:
        """End of the time axis in seconds."""
        return traffic_end_s(self.results)

    def read(self, table: str, *columns: str) -> pl.DataFrame:
        """Returns these columns of a table."""
        return _reading.collect(_reading.select(self.results, table, columns), table)

    def first(
        self, names: Sequence[str], kind: str, weights: dict[str, float] | None = None
    ) -> list[str]:
        """Returns as many of `names` as can be told apart, and notes the number of all `kind`.

        With `weights`, the names of the largest weights are chosen, and returned in the order of
        `names`.
        """
        if len(names) <= MOST_LINES:
            return list(names)
        heaviest = list(names)
        if weights is not None:
            heaviest.sort(key=lambda name: -weights.get(name, 0))
        chosen = set(heaviest[:MOST_LINES])
        self.note = f"{MOST_LINES} of {len(names)} {kind}"
        self.others = [name for name in names if name not in chosen]
        return [name for name in names if name in chosen]

    def draw_others(self, table: pl.DataFrame, column: str, factor: float = 1.0) -> None:
        """Draws the lines without a name in the legend, thin and grey."""
        if not 0 < len(self.others) <= MOST_OTHERS:
            return
        self.note += ", the others in grey"
        for name in self.others:
            self.draw_steps(table.filter(pl.col("flow") == name), column, factor, **OTHERS)

    def visible(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Returns the rows within the time axis, and the row before, whose value holds there."""
        if self.window is None:
            return rows
        low, high = self.window
        first = max(0, int(rows["time_s"].search_sorted(low)) - 1)
        last = int(rows["time_s"].search_sorted(high, side="right"))
        return rows[first : last + 1]

    def draw_steps(
        self,
        rows: pl.DataFrame,
        value: str,
        factor: float = 1.0,
        **style: Any,  # noqa: ANN401 - of matplotlib's plot
    ) -> None:
        """Draws a line whose values hold until the next row, without more points than can be seen.

        A value that is not finite is a gap.
        """
        points = thin(self.visible(rows), value, MOST_POINTS)
        times, values = points["time_s"], points[value] * factor
        self.ax.plot(times, values, drawstyle="steps-post", **style)

    def write_reason(self, reason: str) -> None:
        """Writes into the axes why they have no data."""
        middle = {"transform": self.ax.transAxes, "ha": "center", "va": "center"}
        self.ax.text(0.5, 0.5, reason, color=STAMP, **middle)
        self.ax.set_yticks([])
        self.ax.grid(visible=False)

    def flow_names(self, *, by_path: bool = False) -> list[str]:
        """Returns the flows to draw: the requested ones, or as many as can be told apart.

        With `by_path`, the paths of a multipath flow take its place, as in tables of TCP
        connections.
        """
        flows, paths = self.results.flows, self.results.paths
        # The table has no columns if there are no flows.
        known = [] if flows.is_empty() else flows["flow"].to_list()
        paths_of: dict[str, list[str]] = {}
        if by_path:
            for flow, path in paths.select("flow", "path").iter_rows():
                paths_of.setdefault(flow, []).append(path)
        for name in self.flows or ():
            if name not in known:
                raise ResultError(_names.unknown("flow", name, known))
        chosen = known if self.flows is None else self.flows
        names = [path for flow in chosen for path in paths_of.get(flow, [flow])]
        kind = "flows" if len(paths_of) == 0 else "flows and paths"
        if self.flows is not None:
            return names
        weights = {} if flows.is_empty() else dict(flows.select("flow", "delivered_bytes").rows())
        weights |= dict(paths.select("path", "arrived_bytes").rows())
        return self.first(names, kind, weights)

    def finish(self, label: str, columns: int = 4) -> None:
        """Sets the labels of the axes, shades blockages and draws the legend."""
        self.ax.set_ylim(bottom=0)
        self.finish_x(label, columns)

    def finish_x(self, label: str, columns: int = 4) -> None:
        """Does the same as `finish`, for values that may be below zero."""
        self.ax.set_ylabel(label)
        self.ax.set_xlim(*(self.window or (self.start_s, self.end_s)))
        shade_blockages(self.ax, self.results, label=self.is_first)
        if self.gap is not None:
            self.ax.axvspan(*self.gap, color=STAMP, alpha=0.3, linewidth=0, zorder=0)
        if self.is_last:
            self.ax.set_xlabel("Time (s)")
        legend_above(self.ax, columns, self.note, self.shown)


def traffic_end_s(results: "Results") -> float:
    """Returns the end of the traffic: shortly after the last flow completed, or the end
    of the run.
    """
    ends = results.flows["completed_at_s"]
    last = ends.max() if len(ends) and ends.null_count() == 0 else None
    if not isinstance(last, float) or last <= 0:
        return results.duration_s
    return min(results.duration_s, last * 1.03)


EARLY_SHARE = 0.3
"""Share of the time axis without traffic from which the axis begins at the traffic."""


def traffic_start_s(results: "Results") -> float:
    """Returns the start of the traffic if it is late, else 0."""
    starts = results.flows["start_s"] if len(results.flows) else pl.Series([0.0])
    end = traffic_end_s(results)
    first = min(float(start) for start in starts)
    return max(0.0, first - 0.05 * (end - first)) if first > EARLY_SHARE * end else 0.0


def collect(query: pl.LazyFrame) -> pl.DataFrame:
    """Returns the result of `query`, computed in streaming mode to save memory."""
    try:
        return query.collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultError(str(error)) from error


def line_style(number: int) -> dict[str, Any]:
    """Returns colour and dashes of the line with this number. The first 32 lines all differ."""
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": DASHES[number // len(PALETTE) % len(DASHES)],
    }


@dataclass(frozen=True)
class Panel:
    """A function that draws, and the table that it needs."""

    draw: Callable[[Canvas], None]
    table: str
    finds_data: Callable[["Results"], bool] = lambda _: True
    """Returns True if the run has data for the panel. The table is there."""
    reason: str = ""
    """Text in place of the data if there are none."""
    height: float = 1.0
    """Height as a share of the height of a usual panel."""


def has_rows(results: "Results", table: str, *conditions: pl.Expr) -> bool:
    """Returns True if a table has a row that fulfils all conditions."""
    names = sorted({name for condition in conditions for name in condition.meta.root_names()})
    query = _reading.select(results, table, names) if names else results.scan(table)
    return len(_reading.collect(query.filter(*conditions).head(1), table)) > 0


def _congestion(canvas: Canvas) -> None:
    """Draws the congestion window and slow-start threshold of each flow."""
    names = canvas.flow_names(by_path=True)
    columns = ("cwnd_segments", "ssthresh_segments", "in_flight_segments")
    table = canvas.read("congestion", "time_s", "flow", *columns)
    canvas.draw_others(table, "cwnd_segments")
    highest = 0.0
    has_threshold = False
    for number, name in enumerate(names):
        style = line_style(number)
        rows = table.filter(pl.col("flow") == name)
        if len(names) == 1 and is_window_unused(rows):
            used = {"color": SKY, "linewidth": 0.8, "label": "in flight"}
            canvas.draw_steps(rows, "in_flight_segments", **used)
        label = "cwnd" if len(names) == 1 else name
        canvas.draw_steps(rows, "cwnd_segments", label=label, **style)
        seen = canvas.visible(rows)["cwnd_segments"].max()
        highest = max(highest, float(seen or 0))  # type: ignore[arg-type]
        # The threshold is infinite until the first congestion event. The line begins there.
        if not rows["ssthresh_segments"].is_finite().any():
            continue
        has_threshold = True
        canvas.draw_steps(
            rows,
            "ssthresh_segments",
            color=style["color"] if len(names) > 1 else ORANGE,
            linestyle=THRESHOLD,
            linewidth=0.8,
            label="ssthresh" if len(names) == 1 else None,
        )
    if len(names) > 1 and has_threshold:
        canvas.ax.plot([], [], color=STAMP, linestyle=THRESHOLD, linewidth=0.8, label="ssthresh")
    if canvas.results.has_table("timeouts"):
        expired = canvas.read("timeouts", "time_s", "flow", "cwnd_segments")
        expired = expired.filter(pl.col("flow").is_in(names))
        if canvas.window is not None:
            expired = expired.filter(pl.col("time_s").is_between(*canvas.window))
        if len(expired):
            canvas.ax.plot(
                expired["time_s"],
                expired["cwnd_segments"],
                linestyle="none",
                marker="x",
                color="black",
                label="RTO",
            )
    if highest > 0:
        canvas.ax.set_ylim(top=highest * 1.08)
    canvas.finish("Window (segments)")


UNUSED_SHARE = 0.8
"""Share of the window that is in flight, below which something else limits the sender."""


def is_window_unused(rows: pl.DataFrame) -> bool:
    """Returns True if the congestion window does not limit the sender most of the time."""
    shares = rows["in_flight_segments"] / rows["cwnd_segments"]
    middle = shares.median()
    return isinstance(middle, float) and middle < UNUSED_SHARE


def throughput(window: str | float) -> Panel:
    """Returns a panel of each flow's goodput, averaged over `window`."""
    window_s = seconds(window)

    def draw(canvas: Canvas) -> None:
        names = canvas.flow_names()
        table = canvas.read("throughput", "time_s", "flow", "bytes", "rate_mbps")
        canvas.draw_others(table, "rate_mbps")
        for number, name in enumerate(names):
            rows = table.filter(pl.col("flow") == name)
            binned = rebin(rows, window_s, canvas.results.duration_s)
            # The last window ends with the run.
            times = [*binned["time_s"], canvas.results.duration_s]
            mean = f"{window_s:g} s" if window_s >= 1 else f"{window_s * 1e3:g} ms"
            canvas.ax.plot(
                times,
                [*binned["rate_mbps"], binned["rate_mbps"][-1]],
                drawstyle="steps-post",
                label=f"goodput, {mean} mean" if len(names) == 1 else name,
                **line_style(number),
            )
        canvas.finish("Goodput (Mbit/s)")

    return Panel(draw, "throughput", lambda results: len(results.flows) > 0, "no flow")


FEWEST_BINS = 10
"""Number of bins of a flow from which its rate over time is more than a few boxes."""

BIN_S = 0.1
"""Usual length of a bin of the goodput."""


def has_short_flows(results: "Results", bin_s: float = BIN_S) -> bool:
    """Returns True if all flows completed, and half of them within a few bins of the goodput."""
    flows = results.flows
    if flows.is_empty() or flows["completed_at_s"].null_count() or not _has_tcp(results):
        return False
    middle = (flows["completed_at_s"] - flows["start_s"]).median()
    return isinstance(middle, float) and middle < FEWEST_BINS * bin_s


def _has_tcp(results: "Results") -> bool:
    return results.has_table("congestion") and has_rows(results, "congestion")


def _progress(canvas: Canvas) -> None:
    """Draws the acknowledged data of each flow."""
    names = canvas.flow_names(by_path=True)
    table = canvas.read("congestion", "time_s", "flow", "acked_bytes")
    canvas.draw_others(table, "acked_bytes", 1e-3)
    for number, name in enumerate(names):
        rows = table.filter(pl.col("flow") == name)
        canvas.draw_steps(rows, "acked_bytes", 1e-3, label=name, **line_style(number))
    canvas.finish("Acknowledged (kB)")


def _rtt(canvas: Canvas) -> None:
    """Draws samples of the round-trip time, and the smoothed estimate."""
    names = canvas.flow_names(by_path=True)
    table = canvas.read("congestion", "time_s", "flow", "rtt_s", "srtt_s")
    canvas.draw_others(table.filter(pl.col("srtt_s") > 0), "srtt_s", 1e3)
    for number, name in enumerate(names):
        rows = table.filter(pl.col("flow") == name)
        if len(names) == 1:
            samples = rows.filter(pl.col("rtt_s") > 0)
            canvas.draw_steps(samples, "rtt_s", 1e3, color=SKY, linewidth=0.8, label="sample")
        label = "smoothed" if len(names) == 1 else name
        smoothed = rows.filter(pl.col("srtt_s") > 0)
        canvas.draw_steps(smoothed, "srtt_s", 1e3, label=label, **line_style(number))
    canvas.finish("Round trip (ms)")


def _queue(canvas: Canvas) -> None:
    """Draws the packets in the queue of each link that ever had one, and marks drops."""
    table = canvas.read("queues", "time_s", "link", "queued_packets")
    busy = canvas.first(
        table.group_by("link", maintain_order=True)
        .agg(pl.col("queued_packets").max().alias("most"))
        .filter(pl.col("most") > 1)["link"]
        .to_list(),
        "links",
    )
    for number, name in enumerate(busy):
        rows = table.filter(pl.col("link") == name).select("time_s", "queued_packets")
        # A queue has a row for each sampled arrival. Without arrivals it empties, without a row.
        rows = broken(rows, "queued_packets", LONGEST_GAP_S, canvas.results.duration_s)
        canvas.draw_steps(rows, "queued_packets", label=name, **line_style(number))
    if not busy:
        canvas.write_reason("no packet waited at any link")
    if canvas.results.has_table("drops"):
        drops = canvas.read("drops", "time_s", "cause")
        for cause, marker, color in (
            ("queue-full", "|", VERMILION),
            ("blocked", "|", BLACK),
            ("hold-full", "|", PURPLE),
            ("random", "|", ORANGE),
            ("aqm", "|", GREEN),
        ):
            lost = drops.filter(pl.col("cause") == cause)
            if len(lost):
                times = lost["time_s"].sample(min(len(lost), MOST_POINTS), seed=0)
                canvas.ax.plot(
                    times,
                    [0.02] * len(times),
                    transform=canvas.ax.get_xaxis_transform(),
                    linestyle="none",
                    marker=marker,
                    color=color,
                    label=f"drop: {cause}",
                )
    canvas.finish("Queue (packets)", columns=3)


def _completions(canvas: Canvas) -> None:
    """Draws the share of each group's flows that completed within a time."""
    done = canvas.results.completions
    if not len(done):
        raise ResultError(
            "no flow completed: completion times need flows with a size, such as `web`"
        )
    groups = canvas.results.completion_times
    shown = canvas.first(groups["group"].to_list(), "groups")
    rows = groups.filter(pl.col("group").is_in(shown)).iter_rows(named=True)
    for number, row in enumerate(rows):
        times = done.filter(pl.col("group") == row["group"])["completion_time_s"].sort().to_list()
        # Shares are of all flows of the group, so the line stays below 1 if some did not complete.
        shares = [(rank + 1) / row["flows"] for rank in range(len(times))]
        canvas.ax.plot(
            [times[0], *times],
            [0, *shares],
            drawstyle="steps-post",
            label=row["group"],
            **line_style(number),
        )
    canvas.ax.set_ylabel("Completed (share of flows)")
    canvas.ax.set_xlabel("Completion time (s)")
    canvas.ax.set_ylim(0, 1)
    canvas.ax.set_xlim(left=0)
    legend_above(canvas.ax, 4, canvas.note)


LONG_QUEUE = 10
"""Packets from which a queue belongs to the overview of a radio access."""


def has_long_queue(results: "Results") -> bool:
    """Returns True if more than a few packets waited at a link."""
    return has_rows(results, "queues", pl.col("queued_packets") > LONG_QUEUE)


CONGESTION = Panel(
    _congestion, "congestion", lambda results: has_rows(results, "congestion"), "no TCP flow"
)
RTT = Panel(
    _rtt,
    "congestion",
    lambda results: has_rows(results, "congestion", pl.col("srtt_s") > 0),
    "no round trip of a TCP flow",
)
QUEUE = Panel(_queue, "queues")
PROGRESS = Panel(_progress, "congestion")
COMPLETIONS = Panel(_completions, "completions")


def shade_blockages(ax: Axes, results: "Results", *, label: bool = True) -> None:
    """Shades the intervals in which any link was blocked."""
    if not results.has_table("blockages"):
        return
    for number, (start, end) in enumerate(merged_intervals(results.blockages)):
        ax.axvspan(
            start,
            end,
            color=BLOCKED,
            # The edge keeps a short blockage visible.
            linewidth=0.4,
            alpha=0.6,
            zorder=0,
            label="blocked" if label and number == 0 else None,
        )


def merged_intervals(blockages: pl.DataFrame) -> list[tuple[float, float]]:
    """Returns the blockages of all links as disjoint intervals."""
    merged: list[tuple[float, float]] = []
    for start, end in blockages.select("start_s", "end_s").sort("start_s").iter_rows():
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def rebin(rows: pl.DataFrame, window_s: float, duration_s: float) -> pl.DataFrame:
    """Returns the goodput in windows, each with its start time. Windows without data are zero.

    `time_s` of a recorded bin is its end. A window shorter than the recorded bins is an error.
    """
    ends = rows["time_s"].unique().sort()
    recorded_s = float(ends.diff().max() or 0.0) if len(ends) > 1 else 0.0  # type: ignore[arg-type]
    if window_s < recorded_s * (1 - 1e-9):
        raise ResultError(
            f"the run recorded throughput in bins of {recorded_s * 1e3:g} ms; a window of "
            f"{window_s * 1e3:g} ms needs shorter bins in the scenario's probe"
        )
    # One nanosecond keeps the ends of bins inside their windows despite rounding.
    window = ((pl.col("time_s") - 1e-9) / window_s).floor().cast(pl.Int64)
    count = max(1, math.ceil((duration_s - 1e-9) / window_s))
    filled = rows.group_by(window.alias("window")).agg(pl.col("bytes").sum())
    windows = pl.DataFrame({"window": range(count)}, schema={"window": pl.Int64})
    # The end of the run may shorten the last window.
    start = pl.col("window") * window_s
    length = pl.min_horizontal(pl.lit(window_s), duration_s - start)
    return (
        windows.join(filled, on="window", how="left")
        .sort("window")
        .select(
            start.alias("time_s"),
            (pl.col("bytes").fill_null(0) * 8e-6 / length).alias("rate_mbps"),
        )
    )
