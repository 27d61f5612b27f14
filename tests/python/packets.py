"""Reader of the TCP segments of a capture that needs no other program."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
"""Types of blocks of pcapng."""
ETHERNET = 1
SYN = 0x02


@dataclass(frozen=True)
class Packet:
    """A segment between two ports, with sequence numbers relative to its connection's first."""

    ports: tuple[int, int]
    seq: int
    ack: int
    length: int
    flags: int
    window: int


def packets(capture: Path) -> list[Packet]:
    """Returns all segments of a capture except the SYNs."""
    first: dict[tuple[int, int], int] = {}
    found = []
    for packet in map(_segment, frames(capture.read_bytes())):
        ports, back = packet.ports, (packet.ports[1], packet.ports[0])
        if packet.flags & SYN:
            first[ports] = packet.seq
            continue
        seq = (packet.seq - first[ports]) % 2**32
        ack = (packet.ack - first[back]) % 2**32
        found.append(Packet(ports, seq, ack, packet.length, packet.flags, packet.window))
    return found


def frames(data: bytes) -> Iterator[bytes]:
    """Yields the packets of a capture."""
    at, skipped = 0, 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == INTERFACE:
            (link,) = struct.unpack_from("<H", data, at + 8)
            skipped = 14 if link == ETHERNET else 0
        elif kind == PACKET:
            (captured,) = struct.unpack_from("<I", data, at + 20)
            yield data[at + 28 + skipped : at + 28 + captured]
        at += length


def _segment(packet: bytes) -> Packet:
    (total,) = struct.unpack_from(">H", packet, 2)
    head = (packet[0] & 15) * 4
    source, target, seq, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", packet, head)
    length = total - head - (offset >> 4) * 4
    return Packet((source, target), seq, ack, length, flags, window)
