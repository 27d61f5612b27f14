"""Tests of traces with Perfetto's trace processor, which reads them as the viewer does."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import fadeout
from browser import Browser
from conftest import ROOT, needs_tool
from fadeout import trace

pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
from perfetto_engine import Processor, Transport

pytestmark = [needs_tool("Chromium"), needs_tool("Perfetto")]

PROBES = {"probe.retransmissions": True, "probe.bearers": "10 ms"}
RUNS = {
    # Six blockages in each direction.
    "blockage": {"duration": "30 s"},
    # Long segments fill as many blocks with a sixth of the rows.
    "n78-tdd": {"duration": "1 s", "flow.download.tcp.mss": 8960, **PROBES},
    # The phone is behind the building, and HARQ gives up after two transmissions. RLC repeats
    # nothing, so TCP does.
    "mmwave-walk": {
        "duration": "1.5 s",
        "link.core.rate": "50 Mbit/s",
        "ue.phone.position": ["-3 m", "120 m"],
        "ue.phone.rlc.mode": "um",
        "cell.small-cell.radio.harq-transmissions": 2,
        "cell.small-cell.radio.harq-combining": "none",
        **PROBES,
    },
}
BLOCKS = {"blockage": 0, "n78-tdd": 1000, "mmwave-walk": 200}
"""Least number of transport blocks, so that no test passes for want of rows."""

ARROWS = """
select a.category, at.name, b.category, bt.name, count(*), min(b.ts - a.ts)
from flow
join slice a on a.id = slice_out join track at on at.id = a.track_id
join slice b on b.id = slice_in join track bt on bt.id = b.track_id
group by 1, 2, 3, 4
"""


@dataclass(frozen=True)
class Loaded:
    """A run, its trace, and the trace processor that has read this trace."""

    name: str
    results: fadeout.Results
    written: trace.Trace
    processor: Processor

    def count(self, sql: str) -> Counter[Any]:
        """Returns the last column of a query's rows by the columns before it."""
        rows = self.processor.rows(sql)
        return Counter({row[0] if len(row) == 2 else row[:-1]: row[-1] for row in rows})


@pytest.fixture(scope="module")
def transport() -> Iterator[Transport]:
    browser = Browser()
    yield Transport(browser)
    browser.close()


@pytest.fixture(scope="module", params=RUNS)
def loaded(
    request: pytest.FixtureRequest, transport: Transport, tmp_path_factory: pytest.TempPathFactory
) -> Loaded:
    name = request.param
    folder = tmp_path_factory.mktemp(name) / "run"
    results = fadeout.run(ROOT / f"scenarios/{name}.toml", set=RUNS[name], out=folder)
    written = trace.write(folder)
    return Loaded(name, results, written, Processor(transport, written.path))


def height(results: fadeout.Results, table: str) -> int:
    return results.table(table).height if table in results.tables else 0


def test_perfetto_reads_the_trace_without_an_error_or_a_loss(loaded: Loaded):
    states = list(loaded.processor.rows("select name, severity, value from stats where value > 0"))
    assert states, "the processor counted what it did"
    assert not [row for row in states if row[1] != "info"]
    assert list(loaded.processor.rows("select count(*) from slice where dur < 0")) == [(0,)]


def test_perfetto_counts_as_many_transport_blocks_as_the_table_has(loaded: Loaded):
    rows = "select substr(name, 1, 7), extract_arg(arg_set_id, 'debug.round'), count(*) from slice"
    found = loaded.count(f"{rows} where category = 'harq' group by 1, 2")
    if loaded.name == "blockage":
        assert not found
        return
    table = loaded.results.transport_blocks
    state = pl.when("is_ok").then(pl.lit("decoded")).otherwise(pl.lit("CRC fai"))
    expected = table.group_by(state.alias("state"), "round").len()
    assert found == {(name, number): count for name, number, count in expected.rows()}
    assert sum(found.values()) == table.height > BLOCKS[loaded.name]
    assert sum(count for (name, _), count in found.items() if name != "decoded") > 30
    size = "select sum(extract_arg(arg_set_id, 'debug.size_bytes')) from slice"
    [(total,)] = loaded.processor.rows(f"{size} where category = 'harq'")
    assert total == table["size_bytes"].sum()


def test_perfetto_draws_as_many_arrows_as_the_trace_says(loaded: Loaded):
    found = list(loaded.processor.rows(ARROWS))
    assert all(row[5] >= 0 for row in found), "arrows go forward"
    harq = sum(row[4] for row in found if row[0] == row[2] == "harq")
    targets = Counter[str]()
    for source, track, _, target, count, _ in found:
        targets[target] += count
        assert target != "retransmissions" or track == "lost packets"
        assert target not in ("delivered packets", "lost packets") or source == "harq"
    packets = targets["delivered packets"] + targets["lost packets"]
    tcp = targets["retransmissions"]
    written = loaded.written
    assert (harq, packets, tcp) == (written.harq + written.rlc, written.packets, written.tcp)
    assert harq + packets + tcp == targets.total()
    if loaded.name == "blockage":
        assert harq == 0
        return
    repeats = loaded.results.transport_blocks.filter(pl.col("round") > 0).height
    assert written.harq == repeats > 20
    assert loaded.name != "mmwave-walk" or tcp > 0


def test_perfetto_has_each_event_of_the_tables(loaded: Loaded):
    tracks = "select t.name, count(*) from slice s join track t on s.track_id = t.id group by 1"
    found = loaded.count(tracks)
    for table, track in (
        ("retransmissions", "retransmissions"),
        ("timeouts", "timeouts"),
        ("radio_delay", "delivered packets"),
        ("radio_drops", "lost packets"),
        ("flow_events", "events"),
    ):
        assert found[track] == height(loaded.results, table), table
    blocked = "select count(*), sum(dur) from slice where name = 'blockage'"
    [(count, total)] = loaded.processor.rows(blocked)
    table = loaded.results.blockages
    assert count == table.height
    assert loaded.name != "blockage" or count > 10
    lasting = (table["end_s"] - table["start_s"]).sum()
    # Each of the times is rounded to a nanosecond.
    assert (total or 0) * 1e-9 == pytest.approx(lasting, abs=1e-9 * (count + 1))


def test_the_sums_of_perfettos_counters_are_those_of_the_tables(loaded: Loaded):
    sums = "select t.name, count(*), sum(value) from counter c join counter_track t"
    rows = loaded.processor.rows(f"{sums} on c.track_id = t.id group by 1")
    found = {name: (count, total) for name, count, total in rows}
    columns = {
        "congestion window": loaded.results.congestion["cwnd_segments"],
        "acknowledged": loaded.results.congestion["acked_bytes"],
        "goodput": loaded.results.throughput["rate_mbps"],
        "queue": loaded.results.queues["queued_bytes"],
    }
    if loaded.name != "blockage":
        columns["SINR"] = loaded.results.transport_blocks["sinr_db"]
    for name, column in columns.items():
        count, total = found[name]
        assert count == column.len() > 10, name
        # Both sums have the same addends in another order.
        assert total == pytest.approx(column.sum(), rel=1e-12), name
