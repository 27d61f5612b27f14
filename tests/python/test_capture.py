"""Captures of TCP: flows beside a run, and beside tshark."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fadeout
from conftest import needs_tool
from fadeout.cli.app import app
from fadeout.measured.capture import read_flows
from fadeout.measured.errors import MeasuredError

SCENARIO = """
duration = "5 s"
[link.path]
from = "server"
to = "phone"
rate = "20 Mbit/s"
delay = "25 ms"
queue = { limit = "58 packets" }
[flow.download]
from = "server"
to = "phone"
[probe]
capture = ["server", "phone"]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    fadeout.run(SCENARIO, out=folder)
    return folder


def of(run: Path, node: str) -> Path:
    return run / "captures" / f"{node}.pcapng"


def test_a_capture_has_the_totals_of_its_run(run: Path):
    (flow,) = read_flows(of(run, "server")).flows
    row = fadeout.Results.open(run).flows.row(0, named=True)
    assert flow.retransmitted_segments == row["retransmitted_segments"] > 0
    measures = flow.measures()
    assert measures["mean RTT ms"] == pytest.approx(1e3 * row["mean_rtt_s"], rel=0.02)
    # The handshake's packets have no data, so their round trip is that of an empty link: 50 ms.
    assert flow.handshake_s == pytest.approx(0.05, abs=1e-3)
    # The capture counts data until the last ACK, the run until its end.
    assert measures["goodput Mbit/s"] == pytest.approx(row["goodput_mbps"], rel=0.03)


@needs_tool("tshark")
def test_round_trips_and_retransmissions_are_those_of_tshark(run: Path):
    path = of(run, "server")

    def tshark(*arguments: str) -> list[str]:
        command = ["tshark", "-r", str(path), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.split()

    (flow,) = read_flows(path).flows
    trips = flow.round_trips_s[~np.isnan(flow.round_trips_s)]
    theirs = tshark(
        "-T", "fields", "-e", "tcp.analysis.ack_rtt", "-Y", "tcp.len == 0 and tcp.ack > 1"
    )
    theirs = np.array([float(one) for one in theirs])
    # tshark also counts the round trips of segments of which a copy was sent.
    assert len(trips) == pytest.approx(len(theirs), rel=0.02)
    assert np.median(trips) == pytest.approx(np.median(theirs), rel=0.01)
    again = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
    frames = tshark("-T", "fields", "-e", "frame.number", "-Y", again)
    assert flow.retransmitted_segments == len(frames)


def test_a_capture_at_the_receiver_is_named(run: Path):
    (note,) = read_flows(of(run, "phone")).notes()
    assert "was probably made at the receiver" in note
    assert not read_flows(of(run, "server")).notes()


def test_a_capture_that_was_cut_off_is_read_and_named(run: Path, tmp_path: Path):
    cut = tmp_path / "cut.pcapng"
    data = of(run, "server").read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    capture = read_flows(cut)
    assert capture.is_cut
    assert "ends within a packet" in capture.notes()[0]


def test_other_files_are_refused(tmp_path: Path):
    file = tmp_path / "log.pcap"
    for content, expected in ((b"time_s,rate_mbps\n", "it is no capture"), (b"", "is no capture")):
        file.write_bytes(content)
        with pytest.raises(MeasuredError, match=expected):
            read_flows(file)
    with pytest.raises(MeasuredError, match="is missing"):
        read_flows(tmp_path / "gone.pcap")


def test_commands_print_flows_and_differences(run: Path):
    runner = CliRunner()
    shown = runner.invoke(app, ["inspect", str(of(run, "server"))])
    assert shown.exit_code == 0
    assert "10.0.0.1:40000 > 10.0.0.2:5201" in shown.output
    beside = runner.invoke(app, ["compare", str(of(run, "server")), str(run)])
    assert beside.exit_code == 0
    assert "retransmitted segments" in beside.output
    assert "+0.0 %" in beside.output
