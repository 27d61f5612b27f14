"""Rows name their endpoint, and rates have the same time base when they are compared."""

import polars as pl
import pytest

import fadeout
from conftest import ROOT, SCENARIO

REQUESTS = SCENARIO + 'application = { kind = "request-response" }\n'
TRANSFER = SCENARIO + 'application = { kind = "transfer", size = "500 kB" }\n'


@pytest.mark.parametrize("text", [REQUESTS, TRANSFER], ids=["requests", "transfer"])
def test_rows_of_the_congestion_table_are_of_the_data_sender_alone(text: str):
    results = fadeout.run(text)
    rows = results.congestion
    # The receiver's own sender never leaves its first window.
    assert rows["acked_bytes"].is_sorted(), "the acknowledged bytes of one endpoint never fall"
    assert rows["acked_bytes"][-1] >= results.flows["delivered_bytes"][0] * 0.9


def test_events_say_which_end_they_befell():
    events = fadeout.run(TRANSFER).flow_events
    opened = events.filter(pl.col("event") == "established")
    assert sorted(opened["end"].to_list()) == ["receiver", "sender"]


def test_retransmissions_and_timeouts_of_the_data_sender_are_the_flows():
    results = fadeout.run(SCENARIO)
    for table, column in (("retransmissions", "retransmitted_segments"), ("timeouts", "timeouts")):
        rows = results.table(table).filter(pl.col("end") == "sender")
        assert len(rows.filter(pl.col("flow") == "download")) == results.flows[column][0]


def test_each_path_of_a_multipath_flow_has_both_ends_named():
    path = ROOT / "scenarios" / "multipath-wifi-lte.toml"
    events = fadeout.run(path, set={"duration": "1 s"}).flow_events
    opened = events.filter(pl.col("event") == "established")
    ends = opened.select("flow", "end").unique()
    assert len(ends) == len(opened) == 4


def test_a_radio_rate_is_over_the_time_of_the_flows_goodput():
    results = fadeout.run(
        ROOT / "scenarios" / "lte-download.toml",
        set={"flow.download.application": {"kind": "transfer", "size": "2 MB"}},
    )
    flow = results.flows.row(0, named=True)
    down = results.interfaces.row(0, named=True)
    assert flow["completed_at_s"] < results.duration_s / 2
    # The ratio comes from headers of 52 bytes in 1500, and from packets in flight at the last byte.
    assert 1.0 < down["rate_mbps"] / flow["goodput_mbps"] < 1.06
