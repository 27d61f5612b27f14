"""An event loop of asyncio in simulated time."""

import asyncio
import errno
import math
import selectors
import socket
import typing
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any, NoReturn, Self, TypeVar

from fadeout._native import Arrival, PortError
from fadeout._port import PortEnd
from fadeout._simulation import Simulation

Address = tuple[str, int] | tuple[str, int, int, int]
"""An address of IPv4, or of IPv6."""
Protocol = TypeVar("Protocol", bound=asyncio.DatagramProtocol)
Value = TypeVar("Value")

_ANYWHERE = (None, "", "0.0.0.0", "::")
"""Hosts that stand for every node."""
_DATAGRAMS_ONLY = (
    "a loop in simulated time has datagrams over flows with a port, and no other sockets or pipes; "
    "expected `create_datagram_endpoint`"
)


def asyncio_loop(simulation: Simulation) -> "SimulatedLoop":
    """Returns an event loop of asyncio whose clock is that of a simulation::

        simulation = fadeout.Simulation("walk.toml")
        with fadeout.asyncio_loop(simulation) as loop:
            loop.run_until_complete(main())
        results = simulation.finish()

    Datagram protocols run on it unchanged. While they wait, simulated time passes. Their own
    computing takes no simulated time.

    Each end of a flow with `transport = "port"` is a UDP socket of its node. A host is the name of
    a node or its IP address. A socket that is bound to a node has all free ends at this node. A
    socket that is bound to no node gets an end with its first datagram: the first free one that
    leads to the host. The loop has no other sockets, no subprocesses and no pipes.
    `run_in_executor` calls the function at once, in this thread.

    The loop must be closed, as `with` does. It then cancels unfinished tasks.

    Raises:
        ValueError: no flow of the scenario has a port.
        PortError: from a run of the loop, if the simulation ends first. The results until then
            stay, and `Simulation.finish` returns them.
    """
    ends: list[_End] = []
    for flow in simulation.ports:
        one, other = (_End(end) for end in simulation.port(flow))
        one.other, other.other = other, one
        ends += [one, other]
    if not ends:
        raise ValueError(
            'no flow of the scenario has a port; expected a flow with `transport = "port"`'
        )
    return SimulatedLoop(simulation, ends)


class _File(typing.Protocol):
    """A file that has a descriptor."""

    def fileno(self) -> int: ...


class _End:
    """An end of a flow with a port, and the socket that has it."""

    def __init__(self, port: PortEnd) -> None:
        self.port = port
        self.host = port.address[0]
        self.socket: _Socket | None = None
        self.other: _End = self

    @property
    def udp_port(self) -> int:
        """The UDP port of the socket that has the end, or of the end in captures."""
        bound = self.socket.udp_port if self.socket is not None else 0
        return bound or self.port.address[1]


class _Clock(selectors.SelectSelector):
    """A selector that lets simulated time pass instead of waiting for files."""

    def __init__(self, advance: Callable[[float], None]) -> None:
        super().__init__()
        self._advance = advance
        self._has_pipe = False

    def register(
        self, fileobj: int | _File, events: int, data: object = None
    ) -> selectors.SelectorKey:
        """Registers the loop's own wake-up pipe, and refuses everything else."""
        if self._has_pipe:
            raise NotImplementedError(_DATAGRAMS_ONLY)
        self._has_pipe = True
        return super().register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Advances the simulation by `timeout` seconds, or to the next arrival."""
        if timeout is None or timeout > 0:
            self._advance(math.inf if timeout is None else timeout)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop in simulated time. `asyncio_loop` describes it."""

    def __init__(self, simulation: Simulation, ends: list[_End]) -> None:
        self._simulation = simulation
        self._last_s = simulation.now_s
        self._ends = ends
        super().__init__(_Clock(self._advance))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            tasks = asyncio.all_tasks(self)
            for task in tasks:
                task.cancel()
            # A task that cleans up for longer than the run lasts cannot end.
            with suppress(PortError):
                self.run_until_complete(_all_of(tasks))
                self.run_until_complete(self.shutdown_asyncgens())
        finally:
            self.close()

    def time(self) -> float:
        """Returns the simulated time in seconds."""
        if not self._simulation.is_finished:
            self._last_s = self._simulation.now_s
        return self._last_s

    @property
    def _clock_resolution(self) -> float:
        """Smallest step of the clock. The base class calls a timer that is due now, and none early.

        A protocol that is called before its time sets the same timer again. In simulated time, this
        would never end.
        """
        return math.ulp(self.time())

    @_clock_resolution.setter
    def _clock_resolution(self, _: float) -> None:
        """Ignores the resolution of the machine's clock."""

    def _advance(self, seconds: float) -> None:
        """Lets simulated time pass, at most to the next arrival, and delivers arrivals."""
        simulation = self._simulation
        if simulation.is_finished:
            raise PortError("the simulation is finished; expected `finish` after the loop")
        until_s = _next_nanosecond(simulation.now_s, simulation.now_s + seconds)
        arrived_s = simulation.advance_to_arrival(until_s)
        for end in self._ends:
            if end.socket is not None:
                for arrival in end.port.receive():
                    end.socket.deliver(end, arrival)
        if arrived_s is None and until_s > simulation.duration_s:
            raise PortError(
                f"the run ended at {simulation.now_s:g} s of simulated time, and the loop still "
                "waits; expected a longer `duration`, or coroutines that end earlier"
            )

    async def create_datagram_endpoint(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], Protocol],
        local_addr: tuple[str | None, int] | None = None,
        remote_addr: tuple[str, int] | None = None,
        *,
        family: int = 0,
        sock: socket.socket | None = None,
        **_: object,
    ) -> tuple[asyncio.DatagramTransport, Protocol]:
        """Binds ends of ports to a protocol, as the method of `asyncio.AbstractEventLoop` does.

        Options of real sockets have no effect. A `sock` gives only its address family, and is
        closed.

        Raises:
            OSError: no node with a port has the address, or all its ends have sockets.
        """
        if sock is not None:
            family = sock.family
            sock.close()
        here, udp_port = (None, 0) if local_addr is None else local_addr
        here = self._host(here)
        there = None
        if remote_addr is not None:
            host = self._host(remote_addr[0])
            if host is None:
                raise OSError(errno.EADDRNOTAVAIL, f"no host to connect to; {self._expected()}")
            there = (host, remote_addr[1])
        if here is None and there is None and udp_port != 0:
            reason = f"UDP port {udp_port} of every node; {self._expected()}"
            raise OSError(errno.EADDRNOTAVAIL, reason)
        protocol = protocol_factory()
        opened = _Socket(self, protocol, (here, udp_port), there, family)
        self.call_soon(protocol.connection_made, opened)
        # The protocol learns of its connection before the caller does.
        await asyncio.sleep(0)
        return opened, protocol

    async def create_connection(self, *_: object, **__: object) -> NoReturn:
        """Refuses connections of TCP, which flows with a port do not have."""
        raise NotImplementedError(_DATAGRAMS_ONLY)

    async def create_server(self, *_: object, **__: object) -> NoReturn:
        """Refuses servers of TCP, which flows with a port do not have."""
        raise NotImplementedError(_DATAGRAMS_ONLY)

    async def getaddrinfo(  # type: ignore[override]
        self, host: str | None, port: str | int | None, *, family: int = 0, **_: int
    ) -> list[tuple[int, int, int, str, Address]]:
        """Returns the address of a node, by its name or its IP address.

        Raises:
            socket.gaierror: no node with a port has the name or address.
        """
        try:
            address = self._host(host)
        except OSError as error:
            raise socket.gaierror(socket.EAI_NONAME, error.strerror) from None
        if address is None:
            raise socket.gaierror(socket.EAI_NONAME, f"no host; {self._expected()}")
        found = _address(address, int(port or 0), family)
        return [(family or socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP, "", found)]

    def run_in_executor(
        self, executor: object, func: Callable[..., Value], *args: object
    ) -> "asyncio.Future[Value]":
        """Calls the function at once. A thread would finish at another simulated time each run."""
        del executor
        future: asyncio.Future[Value] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the caller awaits it
            future.set_exception(error)
        return future

    def _host(self, host: str | None) -> str | None:
        """Returns the IP address of a host. None if the host stands for every node."""
        if host is None or host in _ANYWHERE:
            return None
        for end in self._ends:
            if _plain(host) in (end.host, end.port.node):
                return end.host
        raise OSError(errno.EADDRNOTAVAIL, f"no node '{host}' has a port; {self._expected()}")

    def _expected(self) -> str:
        known = list(dict.fromkeys(f'"{end.port.node}" ({end.host})' for end in self._ends))
        more = ", …" if len(known) > 6 else ""
        return f"expected one of {', '.join(known[:6])}{more}"

    def free_ends(self, here: str | None, there: str | None) -> list[_End]:
        """Returns the ends without a socket, at one host and towards another. None means any."""
        return [
            end
            for end in self._ends
            if end.socket is None and here in (None, end.host) and there in (None, end.other.host)
        ]


class _Socket(asyncio.DatagramTransport):
    """A UDP socket over ends of ports."""

    def __init__(
        self,
        loop: SimulatedLoop,
        protocol: asyncio.DatagramProtocol,
        here: tuple[str | None, int],
        there: tuple[str, int] | None,
        family: int,
    ) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._is_closing = False
        self._host, self.udp_port = here
        self._there = there
        self._family = family
        self._own: list[_End] = []
        if self._host is not None or there is not None:
            free = loop.free_ends(self._host, None if there is None else there[0])
            if not free:
                where = f"towards {there[0]}" if there is not None else f"at {self._host}"
                raise OSError(
                    errno.EADDRINUSE,
                    f"each port {where} has a socket already; expected another flow with a port",
                )
            # A connected socket uses one flow. A server receives from all flows of its node.
            for end in free[:1] if there is not None else free:
                self._bind(end)

    def _bind(self, end: _End) -> None:
        # Datagrams that arrived before the socket existed are lost, as on a real machine.
        end.port.receive()
        end.socket = self
        self._own.append(end)

    def deliver(self, end: _End, arrival: Arrival) -> None:
        """Hands an arrival to the protocol."""
        # An address of IPv6 has four parts, which the type of the method does not allow.
        sender: Any = _address(end.other.host, end.other.udp_port, self._family)
        self._loop.call_soon(self._protocol.datagram_received, arrival.bytes, sender)

    def sendto(self, data: bytes, addr: Address | None = None) -> None:  # type: ignore[override]
        """Sends a datagram. Errors go to the protocol's `error_received`."""
        if self._is_closing:
            return
        try:
            self._end_towards(addr).port.send(bytes(data))
        except OSError as error:
            self._report(error)
        except ValueError as error:
            self._report(OSError(errno.EMSGSIZE, str(error)))
        except PortError as error:
            self._report(OSError(errno.ENOBUFS, str(error)))

    def _report(self, error: OSError) -> None:
        self._loop.call_soon(self._protocol.error_received, error)

    def _end_towards(self, addr: Address | None) -> _End:
        """Returns the end that leads to an address, and binds one if the socket has none."""
        target = self._there if addr is None else (_plain(addr[0]), addr[1])
        if target is None:
            raise OSError(errno.EDESTADDRREQ, "no address; expected the address of a node")
        if self._there not in (None, target):
            raise OSError(errno.EISCONN, f"the socket is connected to {self._there}")
        host, udp_port = target
        towards = [end for end in self._own if end.other.host == host]
        if not towards and self._host is None:
            towards = self._loop.free_ends(None, host)[:1]
            for end in towards:
                self._bind(end)
        if not towards:
            raise OSError(errno.ENETUNREACH, f"no free port leads to {host}")
        other = towards[0].other
        if other.socket is not None and other.udp_port != udp_port:
            raise OSError(
                errno.ECONNREFUSED,
                f"no socket has UDP port {udp_port} of {host}; its socket has {other.udp_port}",
            )
        return towards[0]

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Returns "sockname" or "peername"."""
        if name == "sockname":
            own = (self._own[0].host, self._own[0].udp_port) if self._own else ("0.0.0.0", 0)
            return _address(*own, self._family)
        if name == "peername" and self._there is not None:
            return _address(*self._there, self._family)
        return default

    def get_write_buffer_size(self) -> int:
        """Returns 0, because datagrams leave at once."""
        return 0

    def is_closing(self) -> bool:
        """Returns True if the socket is closed."""
        return self._is_closing

    def get_protocol(self) -> asyncio.DatagramProtocol:
        """Returns the protocol."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.DatagramProtocol) -> None:  # type: ignore[override]
        """Replaces the protocol."""
        self._protocol = protocol

    def close(self) -> None:
        """Closes the socket. Its ends are free again."""
        if not self._is_closing:
            self._is_closing = True
            for end in self._own:
                end.socket = None
            self._loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        """Closes the socket."""
        self.close()


async def _all_of(tasks: "set[asyncio.Task[Any]]") -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def _next_nanosecond(now_s: float, until_s: float) -> float:
    """Returns the first whole nanosecond that is after `now_s` and not before `until_s`."""
    if math.isinf(until_s):
        return until_s
    return max(math.ceil(until_s * 1e9), round(now_s * 1e9) + 1) / 1e9


def _plain(host: str) -> str:
    """Returns a host, or its IPv4 address if it is an IPv6 address that maps one."""
    with suppress(ValueError):
        address = ip_address(host)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
    return host


def _address(host: str, port: int, family: int) -> Address:
    """Returns an address in the form of its family."""
    return (f"::ffff:{host}", port, 0, 0) if family == socket.AF_INET6 else (host, port)
