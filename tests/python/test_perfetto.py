"""Tests of `fadeout trace`: the trace is read back and compared with tables and captures."""

import json
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT
from fadeout import trace
from fadeout.cli.app import app
from packets import frames, packets

protos: Any = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

SETTINGS = {
    "duration": "1.2 s",
    "link.core.rate": "20 Mbit/s",
    "ue.phone.rlc.mode": "am",
    "cell.small-cell.radio.harq-transmissions": 2,
    "probe.retransmissions": True,
    "probe.bearers": "10 ms",
    "probe.capture": ["phone"],
    "probe.radio-capture": ["phone"],
}
FAILING = {
    "duration": "1.5 s",
    "link.core.rate": "50 Mbit/s",
    "ue.phone.position": ["-3 m", "120 m"],
    "cell.small-cell.radio.harq-combining": "none",
}
"""The phone is behind the building, and HARQ gives up after two transmissions."""

FIXED = {57: 2, 58: 2, 59: 1, 61: 1}
"""Bytes of MAC control elements without a length field (TS 38.321 tables 6.2.1-1 and 6.2.1-2)."""


@dataclass(frozen=True)
class Event:
    """An event of a trace, with all numbers replaced by names."""

    track: tuple[str, ...]
    name: str
    at: int
    kind: int
    values: dict[str, Any]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class Read:
    """A trace that was read back."""

    def __init__(self, path: Path) -> None:
        document = protos.Trace()
        document.ParseFromString(path.read_bytes())
        self.paths: dict[int, tuple[str, ...]] = {}
        self.units: dict[int, str] = {}
        self.events: list[Event] = []
        self.counters: dict[tuple[str, ...], list[tuple[int, float]]] = defaultdict(list)
        self.stops: dict[int, list[int]] = defaultdict(list)
        self._names: dict[str, dict[int, str]] = defaultdict(dict)
        for packet in document.packet:
            self._read(packet)

    def _read(self, packet: Any) -> None:
        for kind in ("event_names", "debug_annotation_names", "event_categories"):
            for entry in getattr(packet.interned_data, kind):
                self._names[kind][entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            above = self.paths[track.parent_uuid] if track.HasField("parent_uuid") else ()
            self.paths[track.uuid] = (*above, track.name)
        if not packet.HasField("track_event"):
            return
        event = packet.track_event
        path = self.paths[event.track_uuid]
        if event.type == event.TYPE_COUNTER:
            self.counters[path].append((packet.timestamp, event.double_counter_value))
        elif event.type == event.TYPE_SLICE_END:
            self.stops[event.track_uuid].append(packet.timestamp)
        else:
            keys = self._names["debug_annotation_names"]
            values = {
                keys[item.name_iid]: getattr(item, item.WhichOneof("value"))
                for item in event.debug_annotations
            }
            name = self._names["event_names"][event.name_iid]
            starts, ends = tuple(event.flow_ids), tuple(event.terminating_flow_ids)
            self.events.append(
                Event(path, name, packet.timestamp, event.type, values, starts, ends)
            )

    def within(self, *part: str) -> list[Event]:
        """Returns the events of tracks with all names of `part`."""
        return [event for event in self.events if set(part) <= set(event.track)]

    def arrows(self) -> Iterator[tuple[Event, Event]]:
        """Yields the two ends of each arrow."""
        sources = {number: event for event in self.events for number in event.starts}
        for event in self.events:
            yield from ((sources[number], event) for number in event.ends)


def run(folder: Path, **further: Any) -> fadeout.Results:
    settings = {**SETTINGS, **further}
    return fadeout.run(ROOT / "scenarios/mmwave-walk.toml", set=settings, out=folder)


@pytest.fixture(scope="module")
def am(tmp_path_factory: pytest.TempPathFactory) -> fadeout.Results:
    folder = tmp_path_factory.mktemp("am") / "run"
    return run(folder, **FAILING)


@cache
def read(folder: Path) -> tuple[trace.Trace, Read]:
    written = trace.write(folder)
    return written, Read(written.path)


@pytest.fixture(scope="module")
def um(tmp_path_factory: pytest.TempPathFactory) -> fadeout.Results:
    folder = tmp_path_factory.mktemp("um") / "run"
    return run(folder, **{"ue.phone.rlc.mode": "um", "link.core.rate": "10 Mbit/s"})


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> fadeout.Results:
    folder = tmp_path_factory.mktemp("lossy") / "run"
    return run(folder, **FAILING, **{"ue.phone.rlc.mode": "um"})


def of(results: fadeout.Results) -> tuple[trace.Trace, Read]:
    assert results.folder is not None
    return read(results.folder)


def ns(column: pl.Series) -> list[int]:
    return [round(value * 1e9) for value in column]


def test_every_transmission_of_a_block_is_a_slice_with_its_round(um: fadeout.Results):
    written, found = of(um)
    table = um.transport_blocks
    expected = Counter(zip(table["round"], table["is_ok"], strict=True))
    slices = found.within("HARQ")
    assert Counter((it.values["round"], "decoded" in it.name) for it in slices) == expected
    assert sum(it.values["size_bytes"] for it in slices) == table["size_bytes"].sum()
    assert sorted(it.at for it in slices) == sorted(ns(table["time_s"]))
    assert written.rows["transport_blocks"] == table.height
    assert sum(map(len, found.stops.values())) == sum(it.kind == 1 for it in found.events)


def test_the_counters_have_the_values_of_the_tables(um: fadeout.Results):
    _, found = of(um)
    table = um.congestion
    window = found.counters["flow download", "sender", "congestion window"]
    assert window == list(zip(ns(table["time_s"]), table["cwnd_segments"], strict=True))
    down = um.transport_blocks.filter(pl.col("direction").cast(pl.String) == "downlink")
    sinr = found.counters["UE phone", "cell small-cell", "downlink", "SINR"]
    assert sinr == list(zip(ns(down["time_s"]), down["sinr_db"], strict=True))


def test_each_row_of_a_table_is_one_event_or_one_value(lossy: fadeout.Results):
    _, found = of(lossy)
    for table, track in (
        ("radio_delay", "delivered packets"),
        ("radio_drops", "lost packets"),
        ("retransmissions", "retransmissions"),
        ("timeouts", "timeouts"),
        ("flow_events", "events"),
    ):
        assert len(found.within(track)) == lossy.table(table).height, table
    sums = {
        "goodput": lossy.throughput["rate_mbps"].sum(),
        "queue": lossy.queues["queued_bytes"].sum(),
        "RLC new data": lossy.bearers["rlc_new_bytes"].sum(),
        "packets": lossy.bearers["packets"].sum(),
        "acknowledged": lossy.congestion["acked_bytes"].sum(),
    }
    for name, total in sums.items():
        of_name = [its for path, its in found.counters.items() if path[-1] == name]
        # Both sums have the same addends in another order.
        assert sum(value for its in of_name for _, value in its) == pytest.approx(total, rel=1e-12)


def test_the_slices_of_a_track_do_not_overlap_and_arrows_go_forward(am: fadeout.Results):
    written, found = of(am)
    document = protos.Trace()
    document.ParseFromString(written.path.read_bytes())
    begin, end = 1, 2
    depth: Counter[int] = Counter()
    # A reader sorts events by time, and keeps the order of the file at equal times.
    for packet in sorted(document.packet, key=lambda packet: packet.timestamp):
        event = packet.track_event
        depth[event.track_uuid] += {begin: 1, end: -1}.get(event.type, 0)
        assert 0 <= depth[event.track_uuid] <= 1, found.paths[event.track_uuid]
    assert not any(depth.values())
    starts = Counter(number for event in found.events for number in event.starts)
    ends = Counter(number for event in found.events for number in event.ends)
    assert set(starts.values()) == set(ends.values()) == {1}
    assert all(a.at <= b.at for a, b in found.arrows())


def test_a_failed_transmission_points_to_the_next_one_of_the_block(um: fadeout.Results):
    written, found = of(um)
    harq = [(a, b) for a, b in found.arrows() if "HARQ" in a.track and a.track == b.track]
    assert len(harq) == written.harq == um.transport_blocks.filter(pl.col("round") > 0).height > 50
    assert all("CRC failed" in a.name and a.at < b.at for a, b in harq)
    assert all(a.values["round"] + 1 == b.values["round"] for a, b in harq)
    assert all(a.values["size_bytes"] == b.values["size_bytes"] for a, b in harq)


def rlc_numbers(capture: Path) -> dict[str, dict[int, list[int]]]:
    """Returns the RLC SNs of the data in each decoded block, by direction and start of the slot."""
    found: dict[str, dict[int, list[int]]] = {"uplink": {}, "downlink": {}}
    for frame in frames(capture.read_bytes()):
        context = frame[frame.index(b"mac-nr") + 6 :]
        # Radio, direction, RNTI type; then tags: RNTI, UE, frame and slot, HARQ process, payload.
        assert (context[3], context[6], context[9]) == (0x02, 0x03, 0x07)
        number, slot = (int.from_bytes(context[at : at + 2]) for at in (10, 12))
        direction = "downlink" if context[1] else "uplink"
        if len(context) > 17:
            start = number * 10_000_000 + slot * 125_000
            found[direction][start] = list(_data_numbers(context[17:]))
    return found


def _data_numbers(pdu: bytes) -> Iterator[int]:
    """Yields the 18-bit SNs of AMD PDUs on logical channel 4 (TS 38.321 6.1.2, 38.322 6.2.2.4)."""
    at = 0
    while at < len(pdu) and (channel := pdu[at] & 0x3F) != 63:
        if channel in FIXED:
            at += 1 + FIXED[channel]
            continue
        head = 3 if pdu[at] & 0x40 else 2
        length = int.from_bytes(pdu[at + 1 : at + head])
        sdu = pdu[at + head : at + head + length]
        if channel == 4 and sdu[0] & 0x80:
            yield int.from_bytes(sdu[:3]) & 0x3FFFF
        at += head + length


def first_transmissions(found: Read, direction: str) -> dict[int, int]:
    """Maps the start of each transmission to the start of the block's first transmission."""
    first: dict[int, int] = {}
    started: dict[str, int] = {}
    for event in sorted(found.within(direction, "HARQ"), key=lambda event: event.at):
        process = event.track[-1]
        if event.values["round"] == 0:
            started[process] = event.at
        first[event.at] = started[process]
    return first


def test_a_lost_block_points_to_the_block_with_its_rlc_numbers(am: fadeout.Results):
    written, found = of(am)
    assert am.folder is not None
    decoded = rlc_numbers(am.folder / "captures/phone.radio.pcapng")
    repeats = [(a, b) for a, b in found.arrows() if "HARQ" in b.track and b.values["round"] == 0]
    assert len(repeats) == written.rlc > 10
    assert {a.track[2] for a, _ in repeats} == {"uplink", "downlink"}
    for lost, repeat in repeats:
        assert lost.name == "CRC failed, transmission 2"
        first = first_transmissions(found, lost.track[2])
        own = {first[at]: its for at, its in decoded[lost.track[2]].items() if its}
        # New data has ascending numbers, so those of the lost block are between its neighbours'.
        low = max((max(its) for at, its in own.items() if at < first[lost.at]), default=-1)
        behind = [max(its) for at, its in own.items() if first[lost.at] < at < repeat.at]
        assert any(low < number < max(behind) for number in own[repeat.at])
    assert written.unlinked_blocks < written.lost_blocks


def test_a_lost_block_points_to_its_lost_packets_and_these_to_tcp(lossy: fadeout.Results):
    written, found = of(lossy)
    losses = found.within("UE phone", "lost packets")
    assert {it.name for it in losses} == {"harq-failure"}
    linked = [it for it in losses if it.ends]
    assert len(losses) == lossy.table("radio_drops").height
    assert len(linked) > 0.9 * len(losses) > 5
    tcp = [(a, b) for a, b in found.arrows() if "retransmissions" in b.track]
    assert len(tcp) == written.tcp > 0
    assert lossy.folder is not None
    arrived = Counter(it.seq for it in packets(lossy.folder / "captures/phone.pcapng") if it.length)
    repeated = Counter(lossy.retransmissions["offset_bytes"])
    for lost, again in tcp:
        assert lost.values["size_bytes"] - again.values["payload_bytes"] == 52
        offset = again.values["offset_bytes"]
        assert arrived[offset + 1] < 1 + repeated[offset], "a transmission did not arrive"


def test_few_rows_in_memory_give_the_same_trace(
    um: fadeout.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from fadeout.trace import tables, writer

    written, _ = of(um)
    assert um.folder is not None
    monkeypatch.setattr(tables, "ROWS", 999)
    monkeypatch.setattr(writer, "BATCH", 7)
    heard: list[tuple[int, int]] = []
    small = trace.write(
        um.folder, tmp_path / "x.pftrace", progress=lambda *state: heard.append(state)
    )
    assert small.path.read_bytes() == written.path.read_bytes()
    total = sum(written.rows.values())
    assert heard[-1] == (total, total)


def test_the_command_says_which_probes_are_missing(tmp_path: Path):
    text = (ROOT / "scenarios/clean-link.toml").read_text("utf-8")
    fadeout.run(text, set={"duration": "1 s", "probe.retransmissions": False}, out=tmp_path / "run")
    done = CliRunner().invoke(app, ["trace", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert f"trace: {tmp_path / 'run' / 'trace.pftrace'}" in done.stdout
    assert "--set probe.retransmissions=true" in done.stderr
    assert "transport-blocks" not in done.stderr, "the run has no UE"


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["trace", *map(str, arguments)])
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, um: fadeout.Results):
    assert "expected the folder of a run" in invoke(tmp_path / "none")
    assert "manifest.json is missing" in invoke(tmp_path) or "summary.json" in invoke(tmp_path)
    (tmp_path / "campaign.json").write_text("{}")
    assert "found a campaign" in invoke(tmp_path)
    assert um.folder is not None
    assert "cannot write" in invoke(um.folder, "-o", tmp_path / "none" / "x.pftrace")


def test_a_table_of_an_earlier_version_and_a_broken_one_are_named(
    tmp_path: Path, um: fadeout.Results
):
    assert um.folder is not None
    old = shutil.copytree(um.folder, tmp_path / "old")
    table = old / "transport_blocks.parquet"
    pl.read_parquet(table).drop("round").write_parquet(table)
    assert "transport_blocks of this run has no column round" in invoke(old)
    table.write_bytes(table.read_bytes()[:1000])
    assert "transport_blocks" in invoke(old)
    assert not list(old.glob(".*partial"))


def test_a_stopped_run_gives_a_trace_that_says_so(tmp_path: Path, um: fadeout.Results):
    assert um.folder is not None
    part = shutil.copytree(um.folder, tmp_path / "part")
    manifest = json.loads((part / "manifest.json").read_text("utf-8"))
    (part / "manifest.json").write_text(json.dumps(manifest | {"complete": False}), "utf-8")
    done = CliRunner().invoke(app, ["trace", str(part)])
    assert done.exit_code == 0
    assert "stopped before its end" in done.stderr


def test_a_missing_package_is_named(um: fadeout.Results, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)
    assert um.folder is not None
    assert "pip install 'fadeout[trace]'" in invoke(um.folder)
