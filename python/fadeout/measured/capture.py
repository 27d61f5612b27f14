"""TCP flows of a capture: rates, round trips, retransmissions and data in flight.

The native module reads the headers. A round trip is the time from a segment to the ACK of its end,
one for each ACK. Segments that were sent twice have none (Karn's rule, RFC 6298 section 3). In a
capture at the receiver, round trips are near zero, because ACKs follow at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fadeout import _native
from fadeout.measured.errors import MeasuredError

FIN, SYN, RST, ACK = 1, 2, 4, 16
NO_SCALE = 255
AT_RECEIVER_S = 1e-3
"""Median round trip below which a capture was probably made at the receiver."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Flow:
    """The data in one direction of a TCP connection."""

    sender: str
    receiver: str
    time_s: npt.NDArray[np.float64]
    """Times of the data segments, from the first packet of the connection."""
    end: Integers
    """Sequence number after each data segment, from the first data byte."""
    payload: Integers
    ack_time_s: npt.NDArray[np.float64]
    """Times of the receiver's segments."""
    ack: Integers
    """Acknowledged bytes of each, from the first data byte."""
    receive_window: Integers
    """Receive window of each, in bytes."""
    handshake_s: float | None
    """Time from the SYN to the third packet of the handshake. None if it was not captured."""
    ended: str
    """`FIN`, `RST`, or `open` if the capture has no end of the connection."""

    @property
    def name(self) -> str:
        """Sender and receiver."""
        return f"{self.sender} > {self.receiver}"

    @cached_property
    def is_again(self) -> npt.NDArray[np.bool_]:
        """True for segments whose bytes, or later bytes, were sent before."""
        highest = np.maximum.accumulate(self.end)
        before = np.concatenate([[np.iinfo(np.int64).min], highest[:-1]])
        return self.end - self.payload < before

    @property
    def retransmitted_segments(self) -> int:
        """Number of segments that were sent again, or out of order."""
        return int(self.is_again.sum())

    @cached_property
    def highest_ack(self) -> Integers:
        """Acknowledged bytes after each of the receiver's segments."""
        return np.maximum.accumulate(self.ack) if len(self.ack) else self.ack

    @cached_property
    def round_trips_s(self) -> npt.NDArray[np.float64]:
        """Round-trip time of each segment.

        NaN if the segment was sent twice, if it was not acknowledged, or if its ACK acknowledges a
        later segment, too.
        """
        row = np.searchsorted(self.highest_ack, self.end)
        found = np.full(len(self.end), np.nan)
        is_acked = row < len(self.ack)
        found[is_acked] = self.ack_time_s[row[is_acked]] - self.time_s[is_acked]
        found[:-1][row[:-1] == row[1:]] = np.nan
        # A segment sent again makes the times of all copies of its bytes ambiguous. Segments sent
        # again that begin before the end of a segment overlap it, except those that end before it.
        begin = self.end - self.payload
        begun = np.searchsorted(np.sort(begin[self.is_again]), self.end)
        ended = np.searchsorted(np.sort(self.end[self.is_again]), begin, side="right")
        found[begun > ended] = np.nan
        found[found < 0] = np.nan
        return found

    @property
    def is_at_receiver(self) -> bool:
        """True if the flow has no round trips, or short ones as in a capture at the receiver."""
        trips = self.round_trips_s[~np.isnan(self.round_trips_s)]
        return len(trips) == 0 or float(np.median(trips)) < AT_RECEIVER_S

    @property
    def data_bytes(self) -> int:
        """Number of different data bytes that were sent."""
        return int(self.end.max())

    @property
    def duration_s(self) -> float:
        """Time from the first data segment to the last one or its ACK."""
        last = self.time_s[-1]
        if len(self.ack) and self.ack.max() > 0:
            last = max(last, self.ack_time_s[int(np.argmax(self.ack))])
        return float(last - self.time_s[0])

    @property
    def rate_mbps(self) -> float:
        """Mean rate of data in Mbit/s."""
        return self.data_bytes * 8e-6 / self.duration_s if self.duration_s > 0 else float("nan")

    def measures(self) -> dict[str, float | None]:
        """Returns the flow's totals by name, with units in the names. None if unknown."""
        trips = self.round_trips_s[~np.isnan(self.round_trips_s)] * 1e3
        has_trips = len(trips) > 0
        return {
            "goodput Mbit/s": None if np.isnan(self.rate_mbps) else self.rate_mbps,
            "MB": self.data_bytes / 1e6,
            "duration s": self.duration_s,
            "retransmitted segments": self.retransmitted_segments,
            "min RTT ms": float(trips.min()) if has_trips else None,
            "median RTT ms": float(np.median(trips)) if has_trips else None,
            "mean RTT ms": float(trips.mean()) if has_trips else None,
            "max unacknowledged kB": float(self.in_flight(self.time_s).max()) / 1e3,
        }

    def in_flight(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns the bytes that were sent and not acknowledged at each time."""
        sent = _latest(self.time_s, np.maximum.accumulate(self.end), at_s)
        acked = _latest(self.ack_time_s, self.highest_ack, at_s)
        return np.maximum(sent - acked, 0).astype(float)

    def acknowledged(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns the acknowledged bytes at each time."""
        return np.maximum(_latest(self.ack_time_s, self.highest_ack, at_s), 0).astype(float)


def _latest(
    times: npt.NDArray[np.float64], values: Integers, at: npt.NDArray[np.float64]
) -> Integers:
    """Returns the latest value at each time. Zero before the first."""
    index = np.searchsorted(times, at, side="right") - 1
    padded = np.concatenate([[0], values])
    return padded[index + 1]


@dataclass(frozen=True)
class Capture:
    """The TCP flows of a capture."""

    name: str
    flows: Sequence[Flow]
    """Directions with data, the one with the most data first."""
    packets: int
    others: int
    """Number of packets that are not TCP."""
    is_cut: bool
    """True if the file ends within a packet."""

    def notes(self) -> list[str]:
        """Returns sentences about peculiarities of the capture."""
        found = []
        if self.is_cut:
            found.append("The file ends within a packet, so the last packets are missing.")
        if self.flows[0].is_at_receiver:
            found.append(
                f"The round trips of {self.flows[0].name} are near zero: the capture was "
                "probably made at the receiver. Rates and retransmissions are those that arrived "
                "there."
            )
        return found


def read_flows(path: Path) -> Capture:
    """Returns the TCP flows of a capture.

    Raises:
        MeasuredError: the file is missing or no capture, or has no data over TCP.
    """
    if not path.is_file():
        raise MeasuredError(f"{path} is missing; expected a capture, pcap or pcapng")
    try:
        read = _native.read_capture(path)
    except (OSError, ValueError) as error:
        raise MeasuredError(f"{path}: {error}") from None
    kinds = {"time_ns": "<u8", "flags": "u1", "scale": "u1", "window": "<u2"}
    columns = {
        name: np.frombuffer(read[name], dtype=kinds.get(name, "<u4"))
        for name in (
            *kinds,
            "source",
            "destination",
            "sequence",
            "acknowledgment",
            "payload",
        )
    }
    low = np.minimum(columns["source"], columns["destination"]).astype(np.int64)
    high = np.maximum(columns["source"], columns["destination"]).astype(np.int64)
    pairs = low * len(read["endpoints"]) + high
    # An endpoint may use its port again after a connection has ended.
    order = np.argsort(pairs, kind="stable")
    bounds = np.flatnonzero(np.diff(pairs[order])) + 1
    flows = []
    for rows in np.split(order, bounds) if len(order) else ():
        for part in _connections(columns, rows):
            flows += _directions({name: column[part] for name, column in columns.items()}, read)
    flows.sort(key=lambda flow: -flow.data_bytes)
    if not flows:
        raise MeasuredError(
            f"{path} has {read['packets']:,} packets, but no data over TCP; expected TCP over IP"
        )
    return Capture(path.name, flows, read["packets"], read["others"], read["is_cut"])


def _connections(columns: dict[str, np.ndarray], rows: np.ndarray) -> list[np.ndarray]:
    """Returns the rows of each connection between two endpoints. A new SYN begins a connection."""
    flags = columns["flags"][rows]
    is_opening = (flags & (SYN | ACK)) == SYN
    opening = np.flatnonzero(is_opening)
    numbers = columns["sequence"][rows][opening]
    # A repeated SYN has the same number.
    new = opening[1:][numbers[1:] != numbers[:-1]] if len(opening) > 1 else opening[:0]
    return np.split(rows, new)


def _directions(columns: dict[str, np.ndarray], read: dict) -> list[Flow]:
    time_s = (columns["time_ns"] - columns["time_ns"][0]).astype(np.float64) * 1e-9
    flags = columns["flags"]
    ended = "RST" if (flags & RST).any() else "FIN" if (flags & FIN).any() else "open"
    handshake = None
    syn = np.flatnonzero((flags & (SYN | ACK)) == SYN)
    third = np.flatnonzero((flags & (SYN | ACK)) == ACK)
    if len(syn) and len(third):
        handshake = float(time_s[third[0]] - time_s[syn[0]])
    found = []
    for source in np.unique(columns["source"]):
        out = columns["source"] == source
        data = out & (columns["payload"] > 0)
        if not data.any():
            continue
        is_syn = out & ((flags & SYN) > 0)
        first = int(columns["sequence"][data][0])
        base = (int(columns["sequence"][is_syn][0]) + 1) if is_syn.any() else first
        payload = columns["payload"][data].astype(np.int64)
        end = _unwrapped(columns["sequence"][data], base) + payload
        back = ~out & ((flags & ACK) > 0)
        ack = _unwrapped(columns["acknowledgment"][back], base)
        scales = columns["scale"][~out & ((flags & SYN) > 0)]
        scale = int(scales[0]) if len(scales) and scales[0] != NO_SCALE else 0
        found.append(
            Flow(
                read["endpoints"][source],
                read["endpoints"][int(columns["destination"][data][0])],
                time_s[data],
                end,
                payload,
                time_s[back],
                ack,
                columns["window"][back].astype(np.int64) << min(scale, 14),
                handshake,
                ended,
            )
        )
    return found


def _unwrapped(numbers: np.ndarray, base: int) -> Integers:
    """Returns sequence numbers without wrapping, counted from `base`."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    steps = np.diff(numbers.astype(np.int64), prepend=base)
    # Each step is the nearest one, modulo the 32 bits of a number.
    steps = (steps + (1 << 31)) % (1 << 32) - (1 << 31)
    return np.cumsum(steps)
