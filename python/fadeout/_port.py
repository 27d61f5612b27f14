"""Ports: ends of flows whose datagrams come from and go to Python."""

from typing import TYPE_CHECKING

from fadeout import _native

if TYPE_CHECKING:
    from fadeout._native import Arrival


class PortEnd:
    """An end of a flow with `transport = "port"`, as `Simulation.port` returns it."""

    def __init__(self, simulation: _native.Simulation, end: _native.PortEnd) -> None:
        self._simulation = simulation
        self._end = end

    @property
    def node(self) -> str:
        """The name of the node."""
        return self._end.node

    @property
    def address(self) -> tuple[str, int]:
        """IP address and UDP port of the end, as in captures."""
        return self._end.address

    @property
    def largest_bytes(self) -> int:
        """The payload of the largest datagram that the end may send, in bytes."""
        return self._end.largest_bytes

    def send(self, data: bytes, ecn: int = 0) -> None:
        """Sends a datagram to the other end, at the present simulated time.

        The datagram gets headers of IP and UDP, 28 bytes. Links, queues and radios carry it like
        any other packet. IP packets are not fragmented.

        Args:
            data: the payload, at most `largest_bytes`. It may be empty.
            ecn: the ECN field of the IP header (RFC 3168 section 5): 0 for not ECN-capable, 1 for
                ECT(1), 2 for ECT(0), 3 for CE.

        Raises:
            ValueError: `data` is larger than `largest_bytes`, or `ecn` has another value.
            PortError: the run has ended, or too many bytes are in flight or not received. Nothing
                is sent, and the results until then stay.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        self._simulation.send(self._end, bytes(data), ecn)

    def receive(self) -> "list[Arrival]":
        """Returns the datagrams that have arrived since the last call, in order of arrival.

        Raises:
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        return self._simulation.receive(self._end)

    def __repr__(self) -> str:
        host, port = self.address
        return f"PortEnd({self.node!r}, {host}:{port})"
