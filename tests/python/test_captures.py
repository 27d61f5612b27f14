"""Captures of real runs, as tshark reads them."""

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import fadeout
from conftest import ROOT, needs_tool
from fadeout import _native

tshark_wanted = needs_tool("tshark")

LOSSY = """
duration = "2 s"

[link.access]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
queue.limit = "20 packets"

[flow.download]
from = "server"
to = "phone"

[probe]
capture = ["server", "phone"]
capture-snap = "2 kB"
"""


def tshark(capture: Path, *arguments: str) -> list[str]:
    """Returns the lines that tshark prints. It verifies every checksum."""
    command = ["tshark", "-r", str(capture)]
    command += ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("captures") / "run"
    results = fadeout.run(LOSSY, out=out)
    assert results.flows["retransmitted_segments"].item() > 0, "the queue is short"
    return out / "captures"


@tshark_wanted
@pytest.mark.parametrize("node", ["server", "phone"])
def test_every_packet_decodes_with_right_checksums(captures: Path, node: str):
    capture = captures / f"{node}.pcapng"
    assert len(tshark(capture)) > 1000
    bad = "_ws.malformed || ip.checksum.status != 1 || tcp.checksum.status != 1"
    assert tshark(capture, "-Y", bad) == []


@tshark_wanted
def test_options_are_the_ones_negotiated(captures: Path):
    fields = ["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval"]
    arguments = [part for field in fields for part in ("-e", field)]
    lines = tshark(
        captures / "server.pcapng", "-Y", "tcp.flags.syn == 1", "-T", "fields", *arguments
    )
    assert len(lines) == 2
    for line in lines:
        mss, scale, stamp = line.split("\t")
        assert mss == "1460"
        assert scale
        assert stamp
    assert tshark(captures / "server.pcapng", "-Y", "tcp.options.sack.count > 0")


@tshark_wanted
def test_a_packet_arrives_later_by_at_least_the_delay(captures: Path):
    first_data = ["-Y", "tcp.len > 0", "-T", "fields", "-e", "frame.time_epoch", "-c", "100"]
    sent = float(tshark(captures / "server.pcapng", *first_data)[0])
    arrived = float(tshark(captures / "phone.pcapng", *first_data)[0])
    # At 10 Mbit/s the handshake's last ACK, 52 bytes, goes first and takes 41.6 us. The segment of
    # 1500 bytes takes 1.2 ms, and propagation 10 ms. Times are rounded to the nanosecond.
    assert arrived - sent == pytest.approx(0.0112416, abs=5e-9)


def test_a_run_in_memory_gives_the_bytes_of_its_captures(captures: Path):
    outcome = _native.run(LOSSY)
    assert sorted(outcome["captures"]) == ["captures/phone.pcapng", "captures/server.pcapng"]
    for name, capture in outcome["captures"].items():
        assert capture == (captures.parent / name).read_bytes()


RADIO = """
duration = "500 ms"

[link.core]
from = "server"
to = "small-cell"
rate = "10 Gbit/s"
delay = "5 ms"

[cell.small-cell]
radio = "nr"
carrier = "28 GHz"
bandwidth = "100 MHz"
channel = { path-loss = "umi" }

[ue.phone]
downlink-sinr = "6 dB"
uplink-sinr = "2 dB"

[flow.download]
from = "server"
to = "phone"

[probe]
transport-blocks = true
radio-capture = ["small-cell"]
"""


@tshark_wanted
def test_every_transport_block_is_read_from_mac_to_tcp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    results = fadeout.run(RADIO, out=tmp_path / "run")
    captures = tmp_path / "run" / "captures"
    monkeypatch.setenv("WIRESHARK_CONFIG_DIR", os.fspath(captures / "wireshark"))
    fields = ["_ws.malformed", "frame.comment", "rlc-nr.am.sn", "mac-nr.harqid", "tcp.len"]
    arguments = [part for field in fields for part in ("-e", field)]
    lines = tshark(captures / "small-cell.radio.pcapng", "-T", "fields", *arguments)
    packets = [line.split("\t") for line in lines]
    blocks = results.table("transport_blocks")
    assert [int(packet[3]) for packet in packets] == blocks["process"].to_list()
    failed = [packet[1].startswith("CRC failed") for packet in packets]
    assert failed == [not is_ok for is_ok in blocks["is_ok"]]
    assert any(failed)
    assert not any(packet[0] for packet in packets)
    # Among the decoded packets, only status reports without data have no sequence number.
    assert sum(bool(packet[2]) for packet in packets) > len(packets) // 2
    assert sum("1448" in packet[4] for packet in packets) > 100


DRIVE = {
    "duration": "10.3 s",
    # The handover is at 9.7 s. Earlier packets would only make the captures long.
    "flow.download.start": "8.8 s",
    "cell.channel": {"path-loss": "uma", "shadowing": False, "line-of-sight": "clear"},
    "ue.phone.position": ["150 m", "40 m"],
    "probe.link-capture": ["internet", "s1-west", "s1-middle", "x2-west"],
}


def fields(capture: Path, wanted: str, *names: str) -> list[list[str]]:
    """Returns the fields of the packets that a display filter finds.

    For packets in a tunnel, the second value of a field is the inner packet's.
    """
    arguments = [part for name in names for part in ("-e", name)]
    lines = tshark(capture, "-Y", wanted, "-T", "fields", *arguments)
    return [line.split("\t") for line in lines]


def sound_packets(capture: Path, *names: str) -> list[dict[str, str]]:
    """Returns these fields of all packets. Asserts that tshark finds no fault in a packet.

    tshark takes longer to start than to read a capture, so a test reads each capture once.
    """
    names = ("_ws.malformed", "ip.checksum.status", *names)
    packets = [dict(zip(names, row, strict=True)) for row in fields(capture, "frame", *names)]
    for number, packet in enumerate(packets, 1):
        assert not packet["_ws.malformed"], f"{capture.name}: packet {number}"
        # 0 is a wrong checksum. A packet in a tunnel has two.
        assert "0" not in packet["ip.checksum.status"].split(","), f"{capture.name}: {number}"
    return packets


@pytest.fixture(scope="module")
def tunnels(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, list[dict[str, str]]], fadeout.Results]:
    """Returns the packets on each captured link, and the results of the run."""
    out = tmp_path_factory.mktemp("tunnels") / "run"
    results = fadeout.run(ROOT / "scenarios/handover.toml", set=DRIVE, out=out)
    assert results.handovers["outcome"].to_list() == ["success"]
    assert results.handovers["forwarded_numbered"][0] > 0
    assert results.handovers["forwarded_fresh"][0] > 0
    names = ("gtp.message", "gtp.teid", "gtp.ext_hdr.pdcp_sn", "ip.dst", "tcp.len")
    packets = {
        link: sound_packets(out / f"captures/{link}.link.pcapng", *names)
        for link in DRIVE["probe.link-capture"]
    }
    return packets, results


@tshark_wanted
def test_nothing_on_a_link_is_malformed_and_tunnels_begin_at_the_core(
    tunnels: tuple[dict[str, list[dict[str, str]]], fadeout.Results],
):
    for link, packets in tunnels[0].items():
        assert len(packets) > 5
        plain = [packet for packet in packets if not packet["gtp.message"]]
        assert bool(plain) == (link == "internet"), link


@tshark_wanted
def test_forwarded_packets_have_their_numbers_and_end_markers_stand_behind_them(
    tunnels: tuple[dict[str, list[dict[str, str]]], fadeout.Results],
):
    packets, results = tunnels
    row = results.handovers.row(0, named=True)
    forwarded = [one for one in packets["x2-west"] if one["gtp.message"] == "0xff"]
    assert len(forwarded) == row["forwarded_numbered"] + row["forwarded_fresh"]
    assert len({one["gtp.teid"] for one in forwarded}) == 1
    numbers = [int(one["gtp.ext_hdr.pdcp_sn"]) for one in forwarded if one["gtp.ext_hdr.pdcp_sn"]]
    assert len(numbers) == row["forwarded_numbered"]
    assert all((b - a) % 4096 == 1 for a, b in pairwise(numbers))

    # The last packet on the old path, and the last in the tunnel between the base stations.
    for link in ("s1-west", "x2-west"):
        # The first address is that of the tunnel.
        outer = [(one["ip.dst"].split(","), one) for one in packets[link] if one["gtp.message"]]
        every = [one for to, one in outer if "172.16.0.2" not in to]
        kinds = [int(one["gtp.message"], 16) for one in every]
        assert kinds.count(254) == 1, link
        assert kinds[-1] == 254, link
        assert every[-1]["gtp.teid"] == every[-2]["gtp.teid"], "the tunnel is that of what it ends"
    assert not [one for one in packets["s1-middle"] if one["gtp.message"] == "0xfe"]


@tshark_wanted
def test_a_pdu_session_tells_its_flow(tmp_path: Path):
    nr = """
duration = "1 s"
[link.n3]
from = "server"
to = "gnb"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.gnb]
radio = "nr"
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel.path-loss = "umi"
[ue.phone]
position = ["50 m", "0 m"]
[flow.download]
from = "server"
to = "phone"
[probe]
link-capture = ["n3"]
link-capture-snap = "128 B"
"""
    fadeout.run(nr, out=tmp_path / "run")
    capture = tmp_path / "run/captures/n3.link.pcapng"
    kind, flow = "gtp.ext_hdr.pdu_ses_con.pdu_type", "gtp.ext_hdr.pdu_ses_con.qos_flow_id"
    packets = sound_packets(capture, "gtp.message", kind, flow)
    found = {(one[kind], one[flow]) for one in packets if one["gtp.message"]}
    assert found == {("0", "1"), ("1", "1")}


@tshark_wanted
def test_long_numbers_of_forwarded_packets_are_read(tmp_path: Path):
    nr = {"cell.radio": "nr", "cell.carrier": "3.5 GHz", "mobility-management.preparation": "xn"}
    # All waiting packets are forwarded at once.
    nr["link.x2-west.queue.limit"] = "5000 packets"
    # Only after 4096 packets do numbers have more than twelve bits.
    nr["flow.download.start"] = "8 s"
    changes = {**DRIVE, **nr, "probe.link-capture": ["x2-west"]}
    results = fadeout.run(ROOT / "scenarios/handover.toml", set=changes, out=tmp_path / "run")
    row = results.handovers.row(0, named=True)
    assert row["outcome"] == "success"
    capture = tmp_path / "run/captures/x2-west.link.pcapng"
    short, long = "gtp.ext_hdr.pdcp_sn", "gtp.ext_hdr.long_pdcp_sn"
    packets = sound_packets(capture, short, long)
    numbers = [int(one[long]) for one in packets if one[long]]
    assert len(numbers) == row["forwarded_numbered"] > 10
    assert max(numbers) >= 4096, "more than twelve bits"
    assert all((b - a) % 2**18 == 1 for a, b in pairwise(numbers))
    assert not [one for one in packets if one[short]]


DUAL = {
    "duration": "1 s",
    "flow.download.application": {"kind": "transfer", "size": "4 MB"},
    "ue.phone.split": {"ul-data-split-threshold": "0 B"},
    "probe.link-capture": ["x2"],
    "probe.link-capture-snap": "2 kB",
    "probe.radio-capture": ["phone"],
}


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, fadeout.Results]:
    out = tmp_path_factory.mktemp("dual") / "run"
    results = fadeout.run(ROOT / "scenarios/dual-connectivity.toml", set=DUAL, out=out)
    return out / "captures", results


def on_small_cell(results: fadeout.Results, direction: str) -> int:
    legs = results.table("legs")
    small = legs.filter(pl.col("direction") == direction, pl.col("cell") == "small")
    return small["packets"].item()


def behind_gtp(payload: str) -> bytes:
    """Returns the bytes after GTP-U and its extensions. Empty for a poll."""
    octets = bytes.fromhex(payload)
    behind = 8
    if octets[0] & 7:
        kind, behind = octets[11], 12
        while kind:
            words = octets[behind]
            kind, behind = octets[behind + 4 * words - 1], behind + 4 * words
    return octets[behind:]


def pdcp_number(payload: str) -> int:
    """Returns the 18-bit SN of the PDCP PDU in a frame, which has a whole packet."""
    pdu = behind_gtp(payload)
    header, packet = pdu[:3], pdu[3:]
    assert header[0] & 0xFC == 0x80, "data, and reserved bits of zero"
    assert packet[0] == 0x45
    assert int.from_bytes(packet[2:4]) == len(packet)
    return int.from_bytes(header) & 0x3FFFF


@tshark_wanted
def test_the_frames_between_the_base_stations_of_a_split_bearer_are_read(
    dual: tuple[Path, fadeout.Results],
):
    folder, results = dual
    kind, teid, payload = "nrup.pdu_type", "gtp.teid", "udp.payload"
    desired, highest = (
        "nrup.desrd_buff_sz_data_radio_bearer",
        "nrup.high_success_delivered_nr_pdcp_sn",
    )
    names = (kind, teid, payload, "nrup.seq_num", desired, highest)
    packets = sound_packets(folder / "x2.link.pcapng", *names)

    down = [one for one in packets if one[kind] == "0"]
    assert [int(one["nrup.seq_num"]) for one in down] == list(range(len(down))), (
        "nothing is lost on the way"
    )
    assert {one[teid] for one in down} == {"0x60000001"}
    with_data = [one[payload] for one in down if behind_gtp(one[payload])]
    assert len(with_data) == on_small_cell(results, "downlink") > 500
    assert len(down) - len(with_data) < 3, "polls at the end of the transfer"
    numbers = [pdcp_number(each) for each in with_data]
    assert all(a < b for a, b in pairwise(numbers)), "in order, with gaps for the other leg"

    statuses = [one for one in packets if one[kind] == "1"]
    assert len(statuses) > 10
    assert all(int(one[desired]) >= 50_000 for one in statuses)
    delivered = [int(one[highest]) for one in packets if one[highest]]
    assert delivered
    assert delivered == sorted(delivered)
    assert set(delivered) <= set(numbers)

    up = [one[payload] for one in packets if one[teid] == "0x70000001" and not one[kind]]
    assert len(up) == on_small_cell(results, "uplink") > 20
    assert len({pdcp_number(each) for each in up}) == len(up)


@tshark_wanted
def test_both_legs_of_a_split_bearer_are_read_from_mac_to_tcp(
    dual: tuple[Path, fadeout.Results], monkeypatch: pytest.MonkeyPatch
):
    folder, results = dual
    monkeypatch.setenv("WIRESHARK_CONFIG_DIR", os.fspath(folder / "wireshark"))
    names = ("_ws.malformed", "frame.protocols", "mac-lte.sr-req")
    rows = fields(folder / "phone.radio.pcapng", "frame", *names)
    assert not [malformed for malformed, _, _ in rows if malformed]
    layers = [set(protocols.split(":")) for _, protocols, request in rows if not request]
    blocks = results.table("transport_blocks")
    for layer, cell in [("mac-lte", "macro"), ("mac-nr", "small")]:
        of_cell = blocks.filter(pl.col("cell") == cell)
        found = [each for each in layers if layer in each]
        assert len(found) == len(of_cell) > 50
        assert sum("tcp" in each for each in found) > 30


@tshark_wanted
def test_between_links_forwarded_packets_are_in_a_tunnel_with_its_end_behind_them(tmp_path: Path):
    links = ["s1", "iu", "forwarding", "lte", "umts"]
    changes = {"duration": "95 s", "probe.link-capture": links}
    results = fadeout.run(ROOT / "scenarios/inter-rat.toml", set=changes, out=tmp_path / "run")
    row = results.link_handovers.row(0, named=True)
    packets = {
        link: sound_packets(
            tmp_path / f"run/captures/{link}.link.pcapng", "gtp.message", "gtp.teid"
        )
        for link in links
    }
    forwarded = [one for one in packets["forwarding"] if one["gtp.message"]]
    kinds = [int(one["gtp.message"], 16) for one in forwarded]
    count = row["forwarded_waiting"] + row["forwarded_later"]
    assert count > 10
    assert kinds == [255] * count + [254], "packets, and behind the last of them the end"
    assert len({one["gtp.teid"] for one in forwarded}) == 1
    # The old path also ends with a marker. Links to the phone carry the tunnelled packets without
    # GTP-U.
    kinds = [one["gtp.message"] for one in packets["s1"] if one["gtp.message"]]
    assert kinds == ["0xfe"]
    for link in ("lte", "umts"):
        assert not [one for one in packets[link] if one["gtp.message"]], link
        assert len(packets[link]) > count


def test_a_link_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(fadeout.ScenarioError, match="acces") as raised:
        fadeout.check(LOSSY.replace('capture = ["server", "phone"]', 'link-capture = ["acces"]'))
    assert "access" in str(raised.value)
