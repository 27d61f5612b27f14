"""UDP: streams and echoes, their tables, figures and captures."""

import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fadeout
from conftest import needs_tool
from fadeout._overview import sections

SCENARIO = """
duration = "10 s"
seed = 2
[link.path]
from = "server"
to = "phone"
rate = "2 Mbit/s"
delay = "20 ms"
jitter = "2 ms"
queue.limit = "50 packets"
loss = { probability = 0.01 }
reverse.rate = "2 Mbit/s"
[flow.stream]
from = "server"
to = "phone"
application = { kind = "packet-stream", size = "250 B", rate = "400 kbit/s" }
[flow.ping]
from = "phone"
to = "server"
application = { kind = "echo", period = "20 ms" }
[flow.download]
from = "server"
to = "phone"
[probe]
capture = ["phone"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> fadeout.Results:
    return fadeout.run(SCENARIO, out=tmp_path_factory.mktemp("datagrams") / "run")


def test_the_rows_of_arrivals_add_up_to_the_summary(results):
    rows = results.table("datagrams").with_columns(pl.col("flow", "end").cast(pl.String))
    summary = results.datagram_flows
    assert summary.select("flow", "end").rows() == [
        ("stream", "receiver"),
        ("ping", "receiver"),
        ("ping", "sender"),
    ]
    for row in summary.iter_rows(named=True):
        mine = rows.filter((pl.col("flow") == row["flow"]) & (pl.col("end") == row["end"]))
        assert len(mine) == row["received_datagrams"]
        assert mine["payload_bytes"].sum() == row["received_bytes"]
        assert mine["missing_datagrams"][-1] == row["lost_datagrams"]
        assert mine["delay_s"].mean() == pytest.approx(row["mean_delay_s"])
        assert mine["delay_s"].max() == pytest.approx(row["max_delay_s"])
        assert mine["gap_s"].max() == pytest.approx(row["longest_gap_s"])
        assert mine["jitter_s"][-1] == pytest.approx(row["jitter_s"])
        for share, column in ((0.5, "p50_delay_s"), (0.95, "p95_delay_s"), (0.99, "p99_delay_s")):
            rank = mine["delay_s"].quantile(share, interpolation="higher")
            # The summary's percentiles come from buckets, and are exact to within 1 %.
            assert row[column] == pytest.approx(rank, rel=0.02)


def test_an_echo_takes_the_time_of_both_ways(results):
    row = results.datagram_flows.filter(end="sender").row(0, named=True)
    there = results.datagram_flows.filter(flow="ping", end="receiver").row(0, named=True)
    trip = row["mean_round_trip_s"]
    assert trip == pytest.approx(there["mean_delay_s"] + row["mean_delay_s"], rel=0.02)
    flow = results.flows.filter(flow="ping").row(0, named=True)
    assert flow["mean_rtt_s"] == pytest.approx(trip)
    assert (flow["profile"], flow["established_s"]) == ("udp", None)


def test_the_figures_have_units_and_the_answers_a_line(results, tmp_path: Path):
    assert {"datagrams", "latency"} <= set(results.plot.available())
    figure = results.plot.datagrams()
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "Delay (ms)",
        "Missing (datagrams)",
        "Gap (ms)",
    ]
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert {"stream", "ping", "ping, answers"} <= set(names)
    only = results.plot.datagrams(flows=["stream"])
    assert len(only.axes[0].get_lines()) == 1
    latency = results.plot.latency()
    assert "(ms)" in latency.axes[0].get_xlabel()
    for number, drawn in enumerate((figure, latency)):
        path = tmp_path / f"{number}.png"
        drawn.savefig(path)
        assert path.stat().st_size > 10_000


def test_many_arrivals_are_a_median_with_a_band(results: fadeout.Results):
    delay = results.plot.datagrams(flows=["stream"]).axes[0]
    (line,) = delay.get_lines()
    assert len(np.asarray(line.get_xdata())) < 400
    (band,) = delay.collections
    top = np.asarray(band.get_paths()[0].vertices)[:, 1].max()
    rows = results.datagrams.filter(flow="stream", end="receiver")
    assert top == pytest.approx(1e3 * max(rows["delay_s"].to_list()))


def test_without_tcp_nothing_of_tcp_is_drawn():
    text = SCENARIO.partition("[flow.download]")[0]
    results = fadeout.run(text, set={"duration": "1 s"})
    labels = [ax.get_ylabel() for ax in results.plot.overview().axes]
    assert labels[:2] == ["Goodput (Mbit/s)", "Delay (ms)"]
    assert not {"congestion", "rtt"} & set(results.plot.available())
    (ax,) = results.plot.congestion().axes
    assert [text.get_text() for text in ax.texts] == ["no TCP flow"]
    assert not ax.lines


def test_a_run_without_datagrams_has_neither_table_nor_figure():
    text = SCENARIO.replace("[flow.stream]", "[flow.x]").replace(
        '{ kind = "packet-stream", size = "250 B", rate = "400 kbit/s" }', '"bulk"'
    )
    text = text.replace('{ kind = "echo", period = "20 ms" }', '"bulk"')
    results = fadeout.run(text, set={"duration": "1 s"})
    assert not results.has_table("datagrams")
    assert len(results.datagram_flows) == 0
    assert not {"datagrams", "latency"} & set(results.plot.available())
    with pytest.raises(fadeout.ResultError, match="datagrams"):
        results.plot.latency()


def test_the_overview_shows_them(results):
    assert "jitter" in results._repr_html_()


def test_the_summary_has_dashes_for_datagrams_where_only_tcp_has_values(results):
    flows = next(sections(results))
    shown = {row[0]: dict(zip(flows.headings, row, strict=True)) for row in flows.rows}
    of_tcp = ("congestion control", "retransmitted segments", "timeouts", "max CWND segments")
    assert {shown[flow][name] for flow in ("stream", "ping") for name in of_tcp} == {"-"}
    assert "-" not in {shown["download"][name] for name in of_tcp}


def test_the_summary_has_no_column_without_a_value():
    text = SCENARIO.partition("[flow.download]")[0]
    flows = next(sections(fadeout.run(text, set={"duration": "1 s"})))
    assert flows.headings == ["flow", "goodput Mbit/s", "mean RTT ms"]
    stream = SCENARIO.partition("[flow.ping]")[0]
    flows, datagrams, *_ = sections(fadeout.run(stream, set={"duration": "1 s"}))
    assert flows.headings == ["flow", "goodput Mbit/s"]
    assert "mean round trip ms" not in datagrams.headings


@needs_tool("tshark")
def test_captured_datagrams_have_right_checksums(results):
    capture = results.folder / "captures" / "phone.pcapng"

    def tshark(*arguments: str) -> list[str]:
        command = ["tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE"]
        command += ["-o", "udp.check_checksum:TRUE", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    stream = results.datagram_flows.filter(flow="stream")["received_datagrams"].item()
    lengths = tshark("-Y", "udp.length == 258", "-T", "fields", "-e", "ip.len")
    assert lengths == ["278"] * stream
    assert tshark("-Y", "_ws.malformed || ip.checksum.status != 1") == []
    # A truncated datagram's checksum cannot be verified. Those of the echo are complete.
    echo = tshark("-Y", "udp.length == 64", "-T", "fields", "-e", "udp.checksum.status")
    assert len(echo) > 500
    assert set(echo) == {"1"}
