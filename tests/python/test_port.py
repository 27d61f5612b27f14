"""Ports: datagrams between Python and a simulation, and asyncio in simulated time."""

import asyncio
import errno
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import fadeout
from conftest import needs_tool
from packets import frames

LINK = """
duration = "2 s"
[link.path]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
[flow.app]
from = "server"
to = "phone"
transport = "port"
"""
STAR = """
duration = "2 s"
[link]
one = { from = "hub", to = "one", rate = "unlimited", delay = "1 ms" }
two = { from = "hub", to = "two", rate = "unlimited", delay = "2 ms" }
[flow]
one = { from = "one", to = "hub", transport = "port" }
two = { from = "two", to = "hub", transport = "port" }
"""


def test_bytes_arrive_at_the_other_end_with_their_times():
    simulation = fadeout.Simulation(LINK)
    assert simulation.ports == ["app"]
    server, phone = simulation.port("app")
    assert (server.node, phone.node, server.largest_bytes) == ("server", "phone", 1472)
    assert server.address == ("10.0.0.1", 40000)
    assert phone.address == ("10.0.0.2", 5201)
    payload = bytes(range(222))
    server.send(payload, ecn=1)
    # 250 bytes take 0.2 ms at 10 Mbit/s.
    assert simulation.advance_to_arrival(1.0) == 0.0102
    assert server.receive() == []
    (arrival,) = phone.receive()
    assert (arrival.bytes, arrival.ecn) == (payload, 1)
    assert (arrival.time_s, arrival.sent_s) == (0.0102, 0.0)
    assert repr(arrival) == "Arrival(222 bytes, time_s=0.0102, sent_s=0, ecn=1)"
    assert phone.receive() == []
    assert simulation.advance_to_arrival(1.0) is None
    assert simulation.now_s == 1.0


def test_arrivals_that_were_not_received_end_no_step():
    simulation = fadeout.Simulation(LINK)
    server, phone = simulation.port("app")
    server.send(b"one")
    simulation.advance(0.5)
    server.send(b"two")
    at_s = simulation.advance_to_arrival(math.inf)
    assert at_s is not None and at_s > 0.5
    assert [arrival.bytes for arrival in phone.receive()] == [b"one", b"two"]


def test_mistakes_are_errors_and_the_results_stay():
    simulation = fadeout.Simulation(LINK)
    server, phone = simulation.port("app")
    with pytest.raises(ValueError, match='no flow "apq"; expected one with a port, such as "app"'):
        simulation.port("apq")
    with pytest.raises(ValueError, match="a datagram of 1473 bytes is larger than the 1472 bytes"):
        server.send(bytes(1473))
    with pytest.raises(ValueError, match="ecn is 4; expected 0"):
        server.send(b"", ecn=4)
    with pytest.raises(ValueError, match="until_s is -1"):
        simulation.advance_to_arrival(-1.0)
    phone.send(bytes(1472))
    simulation.advance(math.inf)
    with pytest.raises(fadeout.PortError, match="the run ended at 2 s"):
        server.send(b"late")
    results = simulation.finish()
    assert results.is_complete
    with pytest.raises(RuntimeError, match="finished"):
        server.receive()
    assert results.datagram_flows.filter(end="sender")["received_datagrams"].to_list() == [1]


def test_a_port_needs_no_keys_of_a_connection():
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(LINK + 'congestion-control = "bbr"\n')
    (error,) = caught.value.errors
    assert error["line"] == 12
    assert "`congestion-control` of a flow with the transport `port`" in error["message"]
    assert error["expected"] == "no `congestion-control`, or no `transport`"


def test_a_run_without_a_program_warns():
    with pytest.warns(UserWarning, match="nothing was sent"):
        fadeout.run(LINK)


class Echo(asyncio.DatagramProtocol):
    """A server that answers each datagram."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.heard: list[tuple[bytes, Any]] = []

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.heard.append((data, addr))
        self.transport.sendto(data, addr)


class Caller(asyncio.DatagramProtocol):
    """A client that records answers and errors with their times."""

    def __init__(self) -> None:
        self.answers: list[tuple[bytes, Any, float]] = []
        self.errors: list[OSError] = []
        self.is_lost = False

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.answers.append((data, addr, asyncio.get_running_loop().time()))

    def error_received(self, exc: Any) -> None:
        self.errors.append(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True


def test_protocols_of_asyncio_run_in_simulated_time():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        _, echo = await loop.create_datagram_endpoint(Echo, local_addr=("server", 4433))
        transport, caller = await loop.create_datagram_endpoint(
            Caller, remote_addr=("10.0.0.1", 4433)
        )
        assert transport.get_extra_info("peername") == ("10.0.0.1", 4433)
        transport.sendto(bytes(222))
        await asyncio.sleep(0.5)
        assert loop.time() == 0.5
        # The answer takes 10 ms. The request also takes 0.2 ms at 10 Mbit/s.
        assert caller.answers == [(bytes(222), ("10.0.0.1", 4433), 0.0202)]
        assert echo.heard == [(bytes(222), ("10.0.0.2", 5201))]
        transport.sendto(bytes(2000))
        await asyncio.sleep(0)
        assert caller.errors[0].errno == errno.EMSGSIZE
        transport.close()
        await asyncio.sleep(0)
        assert caller.is_lost and transport.is_closing()

    simulation = fadeout.Simulation(LINK)
    with fadeout.asyncio_loop(simulation) as loop:
        loop.run_until_complete(main())
    assert simulation.now_s == 0.5
    assert simulation.finish().fingerprint


def test_a_server_hears_all_flows_of_its_node():
    async def main() -> list[tuple[bytes, Any, float]]:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(Echo, local_addr=("hub", 53))
        callers = []
        for node in ("one", "two"):
            transport, caller = await loop.create_datagram_endpoint(Caller, local_addr=(node, 0))
            transport.sendto(node.encode(), ("10.0.0.1", 53))
            callers.append(caller)
        await asyncio.sleep(1)
        return [caller.answers[0] for caller in callers]

    with fadeout.asyncio_loop(fadeout.Simulation(STAR)) as loop:
        answers = loop.run_until_complete(main())
    assert answers == [(b"one", ("10.0.0.1", 53), 0.002), (b"two", ("10.0.0.1", 53), 0.004)]


def test_addresses_that_lead_nowhere_are_errors():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(OSError, match="no node 'sever' has a port; expected one of \"server\""):
            await loop.create_datagram_endpoint(Caller, local_addr=("sever", 1))
        with pytest.raises(OSError, match="of every node; expected one of"):
            await loop.create_datagram_endpoint(Caller, local_addr=("0.0.0.0", 1))
        with pytest.raises(OSError, match=r"no node 'example\.org'"):
            await loop.getaddrinfo("example.org", 80)
        with pytest.raises(NotImplementedError, match="datagrams over flows with a port"):
            await loop.create_connection(asyncio.Protocol, "server", 80)
        await loop.create_datagram_endpoint(Caller, local_addr=("server", 7))
        with pytest.raises(OSError, match="has a socket already"):
            await loop.create_datagram_endpoint(Caller, local_addr=("server", 8))
        transport, caller = await loop.create_datagram_endpoint(Caller, local_addr=("phone", 0))
        transport.sendto(b"", ("10.0.0.1", 9))
        transport.sendto(b"", ("10.9.9.9", 7))
        transport.sendto(b"")
        await asyncio.sleep(0)
        numbers = [error.errno for error in caller.errors]
        assert numbers == [errno.ECONNREFUSED, errno.ENETUNREACH, errno.EDESTADDRREQ]

    with fadeout.asyncio_loop(fadeout.Simulation(LINK)) as loop:
        loop.run_until_complete(main())


def test_a_peer_that_never_answers_ends_the_loop_with_the_run():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            Caller, remote_addr=("phone", 1), local_addr=("server", 0)
        )
        transport.sendto(b"anyone there?")
        await loop.create_future()

    simulation = fadeout.Simulation(LINK)
    with (
        fadeout.asyncio_loop(simulation) as loop,
        pytest.raises(fadeout.PortError, match="the run ended at 2 s of simulated time"),
    ):
        loop.run_until_complete(main())
    results = simulation.finish()
    assert results.is_complete
    assert results.datagram_flows["received_datagrams"].to_list() == [1]


def test_unfinished_tasks_are_cancelled_and_threads_take_no_time():
    cleaned = []

    async def forever() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            cleaned.append(True)

    async def main() -> int:
        loop = asyncio.get_running_loop()
        task = loop.create_task(forever())
        await asyncio.sleep(0.1)
        assert not task.done()
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 / 0)
        return await loop.run_in_executor(None, lambda: 6 * 7)

    with fadeout.asyncio_loop(fadeout.Simulation(LINK)) as loop:
        assert loop.run_until_complete(main()) == 42
        assert loop.time() == 0.1
    assert cleaned == [True]


def test_no_timer_is_early_however_its_time_is_rounded():
    """A protocol that finds its timer early sets it again, and time would stand still."""
    lateness = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for step in range(1, 400):
            done = loop.create_future()
            when = loop.time() + math.pi * 10.0 ** -(step % 14)
            loop.call_at(when, done.set_result, None)
            await done
            lateness.append(loop.time() - when)

    long = {"duration": "1000 s"}
    with fadeout.asyncio_loop(fadeout.Simulation(LINK, set=long)) as loop:
        loop.run_until_complete(main())
    assert len(lateness) == 399
    # Times are whole nanoseconds. A timer may be one late if its time is rounded down.
    assert min(lateness) >= 0 and max(lateness) <= 2.1e-9


def test_a_scenario_without_a_port_has_no_loop():
    simulation = fadeout.Simulation(LINK.replace('transport = "port"\n', ""))
    with pytest.raises(ValueError, match="no flow of the scenario has a port"):
        fadeout.asyncio_loop(simulation)


def captured(node: str) -> dict[str, Any]:
    """Returns values of a scenario that capture whole packets at a node."""
    return {"probe.capture": [node], "probe.capture-snap": "1500 B"}


def test_captures_have_the_bytes(tmp_path: Path):
    simulation = fadeout.Simulation(LINK, set=captured("phone"), out=tmp_path / "run")
    server, _ = simulation.port("app")
    payload = bytes(n * 7 % 256 for n in range(301))
    server.send(payload)
    simulation.finish()
    assert list(frames((tmp_path / "run/captures/phone.pcapng").read_bytes())) == []
    simulation = fadeout.Simulation(LINK, set=captured("server"), out=tmp_path / "run", force=True)
    server, _ = simulation.port("app")
    server.send(payload)
    simulation.finish()
    capture = tmp_path / "run/captures/server.pcapng"
    (frame,) = frames(capture.read_bytes())
    assert frame[28:] == payload
    # The one's complement sum of the pseudo-header, the UDP header and the payload is all ones.
    length = (len(payload) + 8).to_bytes(2, "big")
    whole = frame[12:20] + b"\0\x11" + length + frame[20:] + b"\0" * (len(payload) % 2)
    words = sum(int.from_bytes(whole[at : at + 2], "big") for at in range(0, len(whole), 2))
    assert (words & 0xFFFF) + (words >> 16) == 0xFFFF


def quic_download(**options: Any) -> tuple[str, list[float], fadeout.Results]:
    """Downloads 100 kB over a lossy link by aioquic. Returns the fingerprint and times."""
    page = (Path(__file__).parents[2] / "docs/howto/own-protocol.md").read_text("utf-8")
    code = page.split("```{file} download.py\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(compile(code, "download.py", "exec"), names)
    lossy = {"link.path.loss": {"probability": 0.01}, "duration": "20 s", **options.pop("set", {})}
    simulation = fadeout.Simulation(LINK, set=lossy, **options)
    with fadeout.asyncio_loop(simulation) as loop:
        times = loop.run_until_complete(names["download"]([1, 2], 100_000))
    results = simulation.finish()
    return results.fingerprint, times, results


def test_unchanged_aioquic_downloads_twice_in_the_same_bits():
    pytest.importorskip("aioquic", reason="aioquic is not installed")
    fingerprint, times, results = quic_download()
    # The handshake takes a round trip of 20 ms, and the certificate some bytes.
    assert 0.02 < times[0] < 0.1
    # 100 kB take 80 ms at 10 Mbit/s, and slow start and losses longer.
    assert all(0.08 < time < 1.5 for time in times[1:])
    assert results.datagram_flows["lost_datagrams"].sum() > 0
    assert quic_download()[:2] == (fingerprint, times)


@needs_tool("tshark")
def test_wireshark_decodes_quic_and_every_checksum(tmp_path: Path):
    pytest.importorskip("aioquic", reason="aioquic is not installed")
    quic_download(set=captured("phone"), out=tmp_path / "run")
    capture = tmp_path / "run/captures/phone.pcapng"
    tshark = [shutil.which("tshark") or "tshark", "-r", str(capture), "-d", "udp.port==5201,quic"]
    fields = ["-T", "fields", "-e", "_ws.col.Protocol", "-e", "udp.checksum.status"]
    command = [*tshark, "-o", "udp.check_checksum:TRUE", *fields]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t") for line in found.splitlines()]
    assert len(lines) > 150
    assert {protocol for protocol, _ in lines} == {"QUIC"}
    # Status 1 is "Good".
    assert {status for _, status in lines} == {"1"}
