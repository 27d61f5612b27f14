"""The tables `bbr` and `segments`: the model of a BBR sender, and one-way delays of TCP."""

import polars as pl
import pytest

import fadeout

LINK = """
duration = "12 s"
[link.cell]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "20 ms"
queue.limit = "1 MB"
[flow.download]
from = "server"
to = "phone"
congestion-control = "%s"
"""
SEGMENT_BYTES, PACKET_BYTES = 1448, 1500
# Payload of a segment in a packet of IPv4 with timestamps.
PAYLOAD_MBPS = 10 * SEGMENT_BYTES / PACKET_BYTES


@pytest.mark.parametrize(
    ("control", "phases", "gains"),
    [
        ("bbr", {"startup", "drain", "probe-bw", "probe-rtt"}, {1.25, 0.75, 1.0}),
        (
            "bbr3",
            {"startup", "drain", "probe-rtt"}
            | {f"probe-bw-{one}" for one in ("down", "cruise", "refill", "up")},
            {1.25, 0.9, 1.0},
        ),
    ],
)
def test_the_model_of_bbr_is_that_of_the_path(control: str, phases: set[str], gains: set[float]):
    results = fadeout.run(LINK % control)
    table = results.bbr
    assert table["time_s"].equals(results.congestion["time_s"])
    assert {*table["phase"]} == phases
    late = table.filter(pl.col("time_s") > 2)
    # Acknowledged data of some milliseconds is counted in whole segments.
    assert late["bandwidth_mbps"].to_numpy() == pytest.approx(PAYLOAD_MBPS, rel=0.02)
    # Two propagation delays and a SYN of 60 bytes at 10 Mbit/s, or a data packet.
    assert (
        0.04 + 60 * 8 / 10e6
        <= late["min_rtt_s"].to_numpy().min()
        < 0.04 + 2 * PACKET_BYTES * 8 / 10e6
    )
    probing = late.filter(pl.col("phase").cast(pl.String).str.starts_with("probe-bw"))
    assert {*probing["pacing_gain"]} == gains


def test_other_congestion_controls_have_no_table_of_bbr():
    assert not fadeout.run(LINK % "cubic").has_table("bbr")


def test_segments_of_a_first_window_wait_for_one_another():
    results = fadeout.run(
        LINK % "cubic", set={"duration": "100 ms", "probe.segments": "every-packet"}
    )
    first = results.segments.filter(pl.col("end") == "receiver").head(10)
    sending_s = PACKET_BYTES * 8 / 10e6
    # The ACK of the handshake, of 52 bytes, is sent first.
    wait_s = 52 * 8 / 10e6
    expected = [0.02 + wait_s + (1 + number) * sending_s for number in range(10)]
    assert first["delay_s"].to_list() == pytest.approx(expected, abs=1e-9)
    assert first["offset_bytes"].to_list() == [SEGMENT_BYTES * number for number in range(10)]
    assert {*first["payload_bytes"]} == {SEGMENT_BYTES}


def test_each_segment_that_arrives_has_a_row():
    changes = {
        "duration": "3 s",
        "probe.segments": "every-packet",
        "link.cell.loss": {"probability": 0.01},
    }
    results = fadeout.run(LINK % "cubic", set=changes)
    delivered = results.throughput["bytes"].sum()
    once = results.segments.unique("offset_bytes")["payload_bytes"].sum()
    # Data behind a last gap has arrived, and is not delivered.
    assert delivered <= once <= delivered + 1_000_000
    assert results.segments["delay_s"].to_numpy().min() > 0.02
    sampled = fadeout.run(LINK % "cubic", set={**changes, "probe.segments": "100 ms"}).segments
    assert 25 <= len(sampled) <= 30
    assert sampled.join(results.segments, on=sampled.columns, how="anti").is_empty()


def test_segments_are_recorded_only_if_they_are_asked_for():
    assert not fadeout.run(LINK % "cubic", set={"duration": "1 s"}).has_table("segments")


def test_the_paths_and_both_ends_of_a_flow_have_rows():
    scenario = (
        LINK % "cubic"
        + """
application = { kind = "request-response" }
multipath.paths = [["cell"], ["wifi"]]
[link.wifi]
from = "server"
to = "phone"
rate = "20 Mbit/s"
delay = "5 ms"
"""
    )
    results = fadeout.run(scenario, set={"probe.segments": "every-packet", "duration": "3 s"})
    found = results.segments
    assert {*found["flow"]} == {"download/0", "download/1"}
    assert {*found["end"]} == {"sender", "receiver"}
    for flow, least_s in (("download/0", 0.02), ("download/1", 0.005)):
        assert found.filter(pl.col("flow") == flow)["delay_s"].to_numpy().min() >= least_s
