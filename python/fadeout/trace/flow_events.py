"""Events of flows and links in a trace."""

import math
from collections.abc import Mapping
from typing import Any

from fadeout.trace.links import Links
from fadeout.trace.radio_events import changed, ns, span
from fadeout.trace.writer import Writer

Row = Mapping[str, Any]


class FlowEvents:
    """Writes the rows of the tables of flows and links."""

    def __init__(self, writer: Writer, links: Links) -> None:
        self._writer = writer
        self._links = links
        # Each flow has the recovery state that is not written yet, with its first and last sample.
        self._states: dict[str, tuple[str, int, int]] = {}

    def congestion(self, row: Row, _number: int) -> None:
        """Writes the sender's state after an ACK."""
        at, flow = ns(row["time_s"]), row["flow"]
        for name, title, unit in (
            ("cwnd_segments", "congestion window", "segments"),
            ("ssthresh_segments", "slow-start threshold", "segments"),
            ("in_flight_segments", "in flight", "segments"),
            ("acked_bytes", "acknowledged", "bytes"),
            ("srtt_s", "smoothed RTT", "s"),
            ("rtt_s", "RTT", "s"),
            ("rto_s", "RTO", "s"),
            ("pacing_rate_mbps", "pacing rate", "Mbit/s"),
        ):
            self._count((f"flow {flow}", "sender", title), unit, at, row[name])
        state, start, _end = self._states.get(flow, (row["state"], at, at))
        if row["state"] != state:
            self._write_state(flow, state, range(start, at))
            state, start = row["state"], at
        self._states[flow] = (state, start, at)

    def finish(self) -> None:
        """Writes the states that lasted until the last sample."""
        for flow, (state, start, end) in self._states.items():
            self._write_state(flow, state, range(start, end))

    def _write_state(self, flow: str, state: str, times: range) -> None:
        track = self._writer.track(f"flow {flow}", "sender", "recovery state")
        self._writer.slice(track, state, times, "tcp", {})

    def throughput(self, row: Row, _number: int) -> None:
        """Writes the goodput of a flow."""
        path = (f"flow {row['flow']}", "receiver", "goodput")
        self._count(path, "Mbit/s", ns(row["time_s"]), row["rate_mbps"])

    def flow_events(self, row: Row, _number: int) -> None:
        """Writes a change in the recovery of an end of a flow."""
        values = {
            name: row[name]
            for name in ("cwnd_segments", "ssthresh_segments")
            if math.isfinite(row[name])
        }
        self._instant(row, "events", row["event"], values)

    def timeouts(self, row: Row, _number: int) -> None:
        """Writes an expiry of the retransmission timer."""
        values = {name: row[name] for name in row if name not in ("time_s", "flow", "end")}
        self._instant(row, "timeouts", "timeout", values)

    def retransmissions(self, row: Row, number: int) -> None:
        """Writes a retransmission."""
        values = {name: row[name] for name in ("offset_bytes", "payload_bytes", "attempt")}
        ends = self._links.row_ends.get(("retransmissions", number), ())
        self._instant(row, "retransmissions", row["cause"], values, ends)

    def queues(self, row: Row, _number: int) -> None:
        """Writes the occupancy of a link's queue."""
        at, link = ns(row["time_s"]), f"link {row['link']}"
        self._count((link, "queue"), "bytes", at, row["queued_bytes"])
        self._count((link, "queue, packets"), "packets", at, row["queued_packets"])
        self._count((link, "queue, delay"), "s", at, row["delay_s"])

    def drops(self, row: Row, number: int) -> None:
        """Writes the loss of a packet on a link."""
        self._writer.instant(
            self._writer.track(f"link {row['link']}", "lost packets"),
            row["cause"],
            ns(row["time_s"]),
            "loss",
            {"flow": row["flow"], "size_bytes": row["size_bytes"]},
            self._links.row_starts.get(("drops", number), ()),
        )

    def blockages(self, row: Row, _number: int) -> None:
        """Writes a blockage of a link."""
        times = range(ns(row["start_s"]), ns(row["end_s"]))
        path = (f"link {row['link']}", "blockages")
        values = {name: row[name] for name in ("rate_mbps", "loss_db")}
        self._writer.slice(self._writer.free_track(path, times), "blockage", times, "link", values)

    def link_handovers(self, row: Row, _number: int) -> None:
        """Writes a change from one link to another."""
        names = ("decided_s", "bicast_s", "commanded_s", "resumed_s", "switched_s", "end_marker_s")
        times = span(row, names)
        path = (f"node {row['node']}", "changes of link")
        values = {name: row[name] for name in row if name not in ("time_s", "node")}
        name = changed(row, "handover")
        self._writer.slice(self._writer.free_track(path, times), name, times, "mobility", values)

    def _instant(
        self,
        row: Row,
        title: str,
        name: str,
        values: Mapping[str, Any],
        ends: tuple[int, ...] | list[int] = (),
    ) -> None:
        track = self._writer.track(f"flow {row['flow']}", row["end"], title)
        self._writer.instant(track, name, ns(row["time_s"]), "tcp", values, ends=ends)

    def _count(self, path: tuple[str, ...], unit: str, at: int, value: float) -> None:
        if math.isfinite(value):
            self._writer.value(self._writer.track(*path, unit=unit), at, value)
