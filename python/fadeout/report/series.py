"""Panels of a run over time: their tables, their series, and the settings that record them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from fadeout import _reading
from fadeout._native import ResultError
from fadeout._thinning import broken, ended, thin
from fadeout.plot.cells import cell_colors
from fadeout.plot.panels import LONGEST_GAP_S, has_short_flows, is_window_unused
from fadeout.plot.radio import CAP_DB
from fadeout.plot.style import PALETTE
from fadeout.report.blob import Blob
from fadeout.results import Results

MOST_LINES = 8
"""Largest number of lines of a panel. More cannot be told apart."""

Names = tuple[list[str], str]
"""Names of lines, and a note of how many there are."""


@dataclass
class Line:
    """A series of a panel."""

    name: str
    rows: pl.DataFrame
    color: int
    mode: str = "after"
    """`after`: a value is valid until the next row. `before`: since the row before. `line`."""
    dashed: bool = False


@dataclass
class Panel:
    """A panel, or the reason why it is empty."""

    id: str
    title: str
    unit: str
    table: str
    lines: list[Line] = field(default_factory=list)
    note: str = ""
    missing: str = ""
    """Reason why the panel has no lines. Empty if it has lines."""
    recorded: int = 0
    """Number of rows of all lines, before they are thinned."""
    shown: int = 0
    """Number of rows of all lines in the page."""

    def document(self, blob: Blob) -> dict[str, Any]:
        """Returns the panel for the script, with its numbers in `blob`."""
        series = [
            {
                "name": line.name,
                "color": line.color,
                "mode": line.mode,
                "dashed": line.dashed,
                "x": blob.doubles(line.rows["time_s"]),
                "y": blob.doubles(line.rows[line.rows.columns[1]]),
            }
            for line in self.lines
        ]
        return {
            "id": self.id,
            "title": self.title,
            "unit": self.unit,
            "note": self.note,
            "series": series,
        }


def read(results: Results, table: str, *columns: str) -> pl.DataFrame:
    """Returns columns of a table.

    Raises:
        ResultError: the table or a column cannot be read.
    """
    return _reading.collect(_reading.select(results, table, columns), table)


def cell_numbers(results: Results) -> dict[str, int]:
    """Returns the numbers of the cells' colours in the palette, the same as in figures."""
    if not results.manifest.get("scenario", {}).get("ue"):
        return {}
    return {cell: PALETTE.index(color) for cell, color in cell_colors(results).items()}


def natural(name: str) -> list[tuple[int, str]]:
    """Returns the key of an order in which `flow-2` is before `flow-10`."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]


class Panels:
    """Makes the panels of one run. Each table is read once for all levels of detail."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._points = 0
        self._frames: dict[tuple[str, ...], pl.DataFrame] = {}
        self._colors: dict[tuple[str, str], int] = {}
        scenario = results.manifest.get("scenario", {})
        self._has_radio = bool(scenario.get("ue"))
        self._cells = cell_numbers(results)
        self._flows = results.flows
        self._ends = dict(self._flows.select("flow", "completed_at_s").iter_rows())
        self._tcp = [
            row["flow"]
            for row in self._flows.select("flow", "congestion_control").iter_rows(named=True)
            if row["congestion_control"]
        ]

    def all(self, points: int) -> Iterator[Panel]:
        """Yields the panels in the order of the page, with a reason where one has no lines.

        A line has at most about `points` points.
        """
        self._points = points
        makers: list[tuple[Panel, Callable[[Panel], None], bool]] = [
            (Panel("sinr", "SINR, downlink", "dB", "transport_blocks"), self._sinr, True),
            (Panel("rsrp", "RSRP, filtered", "dBm", "measurements"), self._rsrp, True),
            (Panel("mcs", "MCS, downlink", "", "transport_blocks"), self._mcs, True),
            (Panel("harq", "First transmissions lost", "%", "transport_blocks"), self._harq, True),
            (Panel("rate", "Goodput", "Mbit/s", "throughput"), self._rate, False),
            (Panel("acked", "Acknowledged", "kB", "congestion"), self._acked, False),
            (Panel("cwnd", "Congestion window", "segments", "congestion"), self._cwnd, False),
            (Panel("rtt", "Round trip, smoothed", "ms", "congestion"), self._rtt, False),
            (Panel("queue", "Queue", "packets", "queues"), self._queue, False),
            (Panel("buffer", "RLC buffer, downlink", "kB", "bearers"), self._buffer, True),
            (Panel("delay", "Datagram delay", "ms", "datagrams"), self._datagrams, False),
        ]
        for panel, make, is_radio in makers:
            if not self._is_of_interest(panel.id, is_radio=is_radio):
                continue
            if not self._results.has_table(panel.table):
                panel.missing = "not recorded"
            else:
                try:
                    make(panel)
                except ResultError as error:
                    panel.missing = str(error)
            if panel.lines or panel.missing:
                yield panel

    def _read(self, table: str, *columns: str) -> pl.DataFrame:
        key = (table, *columns)
        if key not in self._frames:
            self._frames[key] = read(self._results, table, *columns)
        return self._frames[key]

    def _is_of_interest(self, panel: str, *, is_radio: bool) -> bool:
        scenario = self._results.manifest.get("scenario", {})
        if panel == "rsrp":
            return self._has_radio and bool(
                scenario.get("mobility-management") or scenario.get("handover")
            )
        if panel in ("rate", "acked") and has_short_flows(self._results) != (panel == "acked"):
            return False
        if panel in ("cwnd", "rtt", "rate"):
            return bool(self._tcp) or not scenario.get("flow")
        if panel == "delay":
            return not self._results.datagram_flows.is_empty()
        return self._has_radio or not is_radio

    def _color(self, kind: str, name: str) -> int:
        cell = name.rpartition(" ← ")[2] if kind in ("cell", "UE") else ""
        is_one_ue = len(self._results.manifest.get("scenario", {}).get("ue", {})) == 1
        if cell in self._cells and is_one_ue:
            return self._cells[cell]
        known = [one for one in self._colors if one[0] == kind]
        return self._colors.setdefault((kind, name), len(known))

    def _chosen(self, names: Sequence[str], weights: Mapping[str, float], kind: str) -> Names:
        names = sorted(names, key=natural)
        if len(names) <= MOST_LINES:
            return names, ""
        heaviest = sorted(names, key=lambda name: -weights.get(name, 0.0))[:MOST_LINES]
        chosen = set(heaviest)
        return [name for name in names if name in chosen], (
            f"{MOST_LINES} of {len(names):,} {kind}: those with the most data"
        )

    def _add(
        self,
        panel: Panel,
        kind: str,
        frame: pl.DataFrame,
        group: str,
        value: str,
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Adds a line for each name in the column `group`."""
        gap = more.pop("gap", None)
        frame = frame.with_columns(pl.col(group).cast(pl.String))
        counts = frame.group_by(group, maintain_order=True).len()
        weights = {name: float(count) for name, count in counts.iter_rows()}
        if kind == "flow":
            weights |= dict(self._flows.select("flow", "delivered_bytes").iter_rows())
        names, panel.note = self._chosen(list(weights), weights, f"{kind}s")
        for name in names:
            rows = frame.filter(pl.col(group) == name).select("time_s", value)
            if gap is not None:
                rows = broken(rows, value, gap, self._results.duration_s)
            panel.recorded += len(rows)
            rows = thin(rows, value, self._points)
            panel.shown += len(rows)
            if kind == "flow":
                rows = ended(rows, value, self._ends.get(name.rpartition("/")[0] or name))
            if not rows.is_empty():
                panel.lines.append(Line(name, rows, self._color(kind, name), **more))

    def _rate(self, panel: Panel) -> None:
        frame = self._read("throughput", "time_s", "flow", "rate_mbps")
        self._add(panel, "flow", frame, "flow", "rate_mbps", mode="before")

    def _cwnd(self, panel: Panel) -> None:
        columns = ("cwnd_segments", "ssthresh_segments", "in_flight_segments")
        frame = self._read("congestion", "time_s", "flow", *columns)
        self._add(panel, "flow", frame, "flow", "cwnd_segments")
        if len(panel.lines) == 1:
            rows = thin(frame, "ssthresh_segments", self._points)
            if not rows.is_empty():
                panel.lines.append(Line("ssthresh", rows, 1, dashed=True))
            if is_window_unused(frame):
                rows = thin(frame, "in_flight_segments", self._points)
                panel.lines.append(Line("in flight", rows, 4))

    def _acked(self, panel: Panel) -> None:
        frame = self._read("congestion", "time_s", "flow", "acked_bytes")
        frame = frame.with_columns((pl.col("acked_bytes") / 1e3).alias("acked_kb"))
        self._add(panel, "flow", frame, "flow", "acked_kb")

    def _rtt(self, panel: Panel) -> None:
        frame = self._read("congestion", "time_s", "flow", "srtt_s")
        frame = frame.filter(pl.col("srtt_s") > 0)
        frame = frame.with_columns((pl.col("srtt_s") * 1e3).alias("srtt_ms"))
        self._add(panel, "flow", frame, "flow", "srtt_ms")

    def _queue(self, panel: Panel) -> None:
        frame = self._read("queues", "time_s", "link", "queued_packets")
        busy = (
            frame.group_by("link")
            .agg(pl.col("queued_packets").max())
            .filter(pl.col("queued_packets") > 1)
        )
        frame = frame.filter(pl.col("link").is_in(busy["link"].implode()))
        # A queue has a row for each sampled arrival. Without arrivals it empties, without a row.
        self._add(panel, "link", frame, "link", "queued_packets", gap=LONGEST_GAP_S)
        if not panel.lines:
            panel.missing = "no packet waited at any link"

    def _buffer(self, panel: Panel) -> None:
        parts = ("rlc_new_bytes", "rlc_retransmission_bytes")
        frame = self._read("bearers", "time_s", "bearer", "direction", *parts)
        frame = frame.filter(pl.col("direction") == "downlink")
        waiting = (pl.col(parts[0]) + pl.col(parts[1])) / 1000
        frame = frame.with_columns(waiting.alias("waiting_kb"))
        self._add(panel, "bearer", frame, "bearer", "waiting_kb", gap=LONGEST_GAP_S)

    def _blocks(self, *columns: str) -> pl.DataFrame:
        """Returns downlink transport blocks. With few UEs, `name` is UE and cell."""
        names = ("time_s", "ue", "cell", "direction", *columns)
        frame = self._read("transport_blocks", *names)
        frame = frame.filter(pl.col("direction") == "downlink")
        name = pl.col("ue").cast(pl.String)
        pairs = frame.select("ue", "cell").unique()
        if pairs["ue"].n_unique() < len(pairs) <= MOST_LINES:
            name = pl.concat_str(name, pl.lit(" ← "), pl.col("cell").cast(pl.String))
        return frame.with_columns(name.alias("name"))

    def _add_blocks(self, panel: Panel, frame: pl.DataFrame, value: str, **more: Any) -> None:  # noqa: ANN401
        self._add(panel, "UE", frame, "name", value, **{"gap": LONGEST_GAP_S, **more})

    def _sinr(self, panel: Panel) -> None:
        frame = self._blocks("sinr_db")
        self._add_blocks(panel, frame, "sinr_db", mode="line")
        if frame.is_empty():
            return
        share = float((frame["sinr_db"] >= CAP_DB).mean() or 0.0)  # type: ignore[arg-type]
        if share > 0.0:
            cap = f"{share:.1%} of the blocks are at the receiver's cap of {CAP_DB:g} dB"
            panel.note = "; ".join(filter(None, (panel.note, cap)))

    def _mcs(self, panel: Panel) -> None:
        self._add_blocks(panel, self._blocks("mcs"), "mcs")

    def _harq(self, panel: Panel) -> None:
        """Adds the share of lost first transmissions in bins of time."""
        frame = self._blocks("round", "is_ok").filter(pl.col("round") == 0)
        width = max(self._results.duration_s / 200, 1e-3)
        bins = (pl.col("time_s") / width).floor()
        shares = (
            frame.group_by(bins.alias("bin"), "name", maintain_order=True)
            .agg(((~pl.col("is_ok")).mean() * 100).alias("lost_percent"))
            .with_columns((pl.col("bin") * width).alias("time_s"))
            .sort("time_s")
        )
        self._add_blocks(panel, shares, "lost_percent", gap=max(LONGEST_GAP_S, 2 * width))
        panel.note = "; ".join(filter(None, (panel.note, f"share in each {width * 1e3:.4g} ms")))

    def _rsrp(self, panel: Panel) -> None:
        frame = self._read("measurements", "time_s", "ue", "cell", "filtered_dbm")
        several = frame["ue"].n_unique() > 1
        name = pl.col("cell").cast(pl.String)
        if several:
            name = pl.concat_str(pl.col("ue").cast(pl.String), pl.lit(" ← "), name)
        frame = frame.with_columns(name.alias("pair"))
        self._add(panel, "cell", frame, "pair", "filtered_dbm", mode="line", gap=LONGEST_GAP_S)

    def _datagrams(self, panel: Panel) -> None:
        frame = self._read("datagrams", "time_s", "flow", "delay_s")
        frame = frame.with_columns((pl.col("delay_s") * 1e3).alias("delay_ms"))
        self._add(panel, "flow", frame, "flow", "delay_ms", mode="line", gap=LONGEST_GAP_S)
