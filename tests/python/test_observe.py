"""Observations and settings between the steps of a run."""

import math
from typing import Any

import numpy as np
import pytest

import fadeout
from fadeout import _observations

LINK = """
duration = "3 s"
[probe]
congestion = "every-ack"
queue = "every-packet"
[link.path]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
queue = { limit = "40 packets" }
[flow.download]
from = "server"
to = "phone"
"""
CELL = """
duration = "2 s"
[probe]
transport-blocks = true
bearers = "every-packet"
[link.core]
from = "server"
to = "mast"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.mast]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[ue.phone]
position = ["200 m", "0 m"]
[ue.tablet]
position = ["250 m", "30 m"]
[flow.download]
from = "server"
to = "phone"
[flow.other]
from = "server"
to = "tablet"
"""
STREET = """
duration = "2 s"
[link.core]
from = "server"
to = "core"
rate = "1 Gbit/s"
delay = "4 ms"
[link.s1-west]
from = "core"
to = "west"
rate = "1 Gbit/s"
delay = "1 ms"
[link.s1-east]
from = "core"
to = "east"
rate = "1 Gbit/s"
delay = "1 ms"
[link.x2]
from = "west"
to = "east"
rate = "1 Gbit/s"
delay = "2 ms"
[cell.west]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[cell.east]
position = ["300 m", "0 m"]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[ue.phone]
position = ["60 m", "30 m"]
[mobility-management]
signalling = "given"
core = "core"
events = [{ kind = "a3", offset = "20 dB", hysteresis = "0 dB", time-to-trigger = "40 ms" }]
[probe]
handovers = true
measurements = true
[flow.download]
from = "server"
to = "phone"
"""


def rows_at_ends_of_instants(frame, *keys: str) -> list[dict[str, Any]]:
    """Returns the last row of each time and subject, because a step ends after all events of its
    time.
    """
    last: dict[tuple, dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        last[row["time_s"], *(row[key] for key in keys)] = row
    return list(last.values())


def test_a_flow_and_a_queue_are_observed_as_in_the_tables_to_the_bit():
    results = fadeout.run(LINK, seed=3)
    columns = ["cwnd_segments", "ssthresh_segments", "acked_bytes", "srtt_s", "rtt_s", "rto_s"]
    names = [f"flow.download.{column}" for column in columns]
    simulation = fadeout.Simulation(LINK, seed=3)
    rows = rows_at_ends_of_instants(results.congestion)
    assert len(rows) > 500
    for row in rows:
        simulation.advance(row["time_s"])
        assert simulation.observe(names).tolist() == [row[column] for column in columns]
    simulation.advance(math.inf)
    assert simulation.finish().fingerprint == results.fingerprint

    simulation = fadeout.Simulation(LINK, seed=3)
    columns = ["queued_packets", "queued_bytes", "delay_s"]
    names = [f"link.path.{column}" for column in columns]
    rows = [
        row for row in rows_at_ends_of_instants(results.queues, "link") if row["link"] == "path"
    ]
    assert max(row["queued_packets"] for row in rows) == 40
    for row in rows:
        simulation.advance(row["time_s"])
        assert simulation.observe(names).tolist() == [row[column] for column in columns]


def test_counters_at_the_end_are_those_of_the_summary():
    simulation = fadeout.Simulation(LINK, seed=3)
    simulation.advance(math.inf)
    flow = ["delivered_bytes", "sent_segments", "retransmitted_segments", "timeouts", "recoveries"]
    link = ["received_packets", "sent_packets", "sent_bytes", "dropped_packets"]
    flows = simulation.observe([f"flow.download.{name}" for name in flow])
    links = simulation.observe([f"link.path.{name}" for name in link])
    reverse = simulation.observe([f"link.path/reverse.{name}" for name in link])
    total, count, least, rate = simulation.observe(
        [
            "flow.download.rtt_sum_s",
            "flow.download.rtt_samples",
            "flow.download.min_rtt_s",
            "link.path.rate_mbps",
        ]
    )
    results = simulation.finish()
    row = results.flows.row(0, named=True)
    assert flows.tolist() == [row[name] for name in flow]
    assert (total / count, least, rate) == (row["mean_rtt_s"], row["min_rtt_s"], 10)
    for values, of in [(links, "path"), (reverse, "path/reverse")]:
        found = [row for row in results.links.iter_rows(named=True) if row["link"] == of]
        assert values.tolist() == [found[0][name] for name in link]


def test_the_radio_is_observed_as_in_the_tables_to_the_bit():
    results = fadeout.run(CELL, seed=3)
    columns = ["sinr_db", "cqi", "mcs", "size_bytes", "n_prb", "round", "is_ok"]
    simulation = fadeout.Simulation(CELL, seed=3)
    for ue in ("phone", "tablet"):
        for direction in ("downlink", "uplink"):
            names = [f"ue.{ue}/{direction}.{column}" for column in columns]
            assert np.isnan(simulation.observe(names)).all()
    sums = ["block_count", "n_prb_sum", "size_bytes_sum", "failed_block_count"]
    of_cell = simulation.observe([f"cell.mast.{name}" for name in sums])
    assert of_cell.tolist() == [0, 0, 0, 0]
    simulation.advance(math.inf)
    blocks = results.transport_blocks
    for ue in ("phone", "tablet"):
        for direction in ("downlink", "uplink"):
            rows = [
                row
                for row in blocks.iter_rows(named=True)
                if (row["ue"], row["direction"]) == (ue, direction)
            ]
            assert len(rows) > 20
            names = [f"ue.{ue}/{direction}.{column}" for column in columns]
            assert simulation.observe(names).tolist() == [rows[-1][column] for column in columns]
            found = simulation.observe([f"ue.{ue}/{direction}.{name}" for name in sums])
            assert found.tolist() == [
                len(rows),
                sum(row["n_prb"] for row in rows),
                sum(row["size_bytes"] for row in rows),
                sum(not row["is_ok"] for row in rows),
            ]
    down = [row for row in blocks.iter_rows(named=True) if row["direction"] == "downlink"]
    of_cell = simulation.observe([f"cell.mast.{name}" for name in sums])
    assert of_cell[:2].tolist() == [len(down), sum(row["n_prb"] for row in down)]
    counters = ["delivered_bytes", "transport_blocks", "harq_retransmissions", "dropped_packets"]
    found = simulation.observe([f"ue.phone.{name}" for name in counters])
    number = simulation.observe(["ue.phone.cell"])[0]
    ended = simulation.finish()
    assert ended.fingerprint == results.fingerprint
    row = ended.interfaces.row(0, named=True)
    assert row["interface"] == "phone/downlink"
    assert found.tolist() == [row[name] for name in counters]
    assert number == 0


def test_a_bearer_is_observed_as_in_its_table():
    results = fadeout.run(CELL, seed=3)
    columns = ["rlc_new_bytes", "rlc_retransmission_bytes", "packets", "pdcp_held_packets"]
    rows = rows_at_ends_of_instants(results.bearers, "bearer", "direction")
    rows = [row for row in rows if (row["bearer"], row["direction"]) == ("phone", "downlink")]
    assert max(row["rlc_new_bytes"] for row in rows) > 10_000
    simulation = fadeout.Simulation(CELL, seed=3)
    names = [f"bearer.phone.{column}" for column in columns]
    same = 0
    for row in rows:
        simulation.advance(row["time_s"])
        same += simulation.observe(names).tolist() == [row[column] for column in columns]
    # A packet that reaches the bearer in the same instant, after the block was filled, is observed
    # and is not in the row.
    assert same > 0.95 * len(rows)


def test_measurements_are_observed_as_in_their_table():
    results = fadeout.run(STREET, seed=3)
    simulation = fadeout.Simulation(STREET, seed=3)
    names = [f"measurement.phone/{cell}.rsrp_dbm" for cell in ("west", "east")]
    assert np.isnan(simulation.observe(names)).all()
    simulation.advance(1.0)
    before = [row for row in results.measurements.iter_rows(named=True) if row["time_s"] <= 1.0]
    levels = {row["cell"]: row["rsrp_dbm"] for row in before}
    assert simulation.observe(names).tolist() == [levels["west"], levels["east"]]


def test_an_array_of_the_caller_is_filled_and_returned():
    simulation = fadeout.Simulation(LINK)
    simulation.advance(1.0)
    names = ["flow.download.srtt_s", "link.path.delay_s"]
    first = simulation.observe(names)
    mine = np.zeros(2)
    assert simulation.observe(names, out=mine) is mine
    assert mine.tolist() == first.tolist()
    later = simulation.observe(names)
    assert later is not first
    wrong: Any
    for wrong in (np.zeros(3), np.zeros(2, np.float32)):
        with pytest.raises((ValueError, BufferError), match=r"float64|buffer|format"):
            simulation.observe(names, out=wrong)


def test_every_listed_value_can_be_observed():
    simulation = fadeout.Simulation(STREET)
    subjects = {
        "flow": "download",
        "link": "core",
        "bearer": "phone",
        "ue": "phone",
        "cell": "west",
        "measurement": "phone/west",
    }
    listed = _observations.observations()
    names = [f"{it.kind}.{subjects[it.kind]}.{it.name}" for it in listed]
    assert len(simulation.observe(names)) == len(names) > 50


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("srtt_s", "expected KIND.NAME.COLUMN"),
        ("flwo.download.srtt_s", 'no kind "flwo".*expected "flow"'),
        ("flow.downlod.srtt_s", 'no flow "downlod".*expected "download"'),
        ("flow.download.srt_s", 'no column "srt_s".*expected "srtt_s"'),
        ("flow.download.sinr_db", 'no column "sinr_db".*expected one of cwnd_segments'),
        ("link.pth.delay_s", 'expected "path"'),
        ("ue.phone.sinr_db", "expected a scenario with a ue"),
        ("flow.download.state", "no column"),
    ],
)
def test_an_unknown_name_gives_the_nearest_valid_one(name, message):
    simulation = fadeout.Simulation(LINK)
    with pytest.raises(ValueError, match=message):
        simulation.observe([name])
    with pytest.raises(ValueError, match="expected a list of names"):
        simulation.observe(name)


def test_a_held_window_and_a_pacing_rate_determine_the_rate():
    # 5 segments in flight of 1448 bytes and a round trip of 20 ms plus the transmissions.
    simulation = fadeout.Simulation(LINK)
    simulation.advance(0.5)
    simulation.set("flow.download.held_cwnd_segments", 5)
    simulation.advance(1.0)
    names = ["flow.download.delivered_bytes", "flow.download.cwnd_segments"]
    before, cwnd = simulation.observe(names)
    simulation.advance(2.0)
    after, _ = simulation.observe(names)
    assert cwnd == 5
    # Five segments in each round trip, which takes 20 ms and up to five transmissions of 1.2 ms.
    assert 5 * 1448 / 0.026 < after - before < 5 * 1448 / 0.020
    simulation.set("flow.download.pacing_rate_mbps", 1)
    simulation.advance(2.2)
    before = simulation.observe(names)[0]
    simulation.advance(2.9)
    after = simulation.observe(names)[0]
    # The rate is that of the payload, within one segment at both ends.
    assert (after - before) * 8 == pytest.approx(0.7e6, abs=2 * 1448 * 8)


def test_packets_in_the_queue_leave_at_the_new_rate():
    text = LINK.replace("10 Mbit/s", "12 Mbit/s").replace("[flow.download]", "[flow.other]")
    text += 'application = { kind = "transfer", size = "14480 B" }\n'
    simulation = fadeout.Simulation(text, set={"flow.congestion-control": "newreno"})
    # After the handshake ten segments of 1500 bytes arrive at once. Each takes 1 ms at 12 Mbit/s.
    simulation.advance(0.0205)
    queue = ["link.path.queued_packets", "link.path.delay_s"]
    packets, delay_s = simulation.observe(queue)
    assert packets == 10
    simulation.set("link.path.rate_mbps", 6)
    again, doubled_s = simulation.observe(queue)
    # The rest of the packet in transmission takes twice as long, too.
    assert again == packets
    assert doubled_s == pytest.approx(2 * delay_s, rel=1e-6)
    end_s = simulation.now_s + doubled_s
    simulation.advance(end_s + 0.00999)
    assert simulation.observe(["flow.other.delivered_bytes"])[0] == 9 * 1448
    simulation.advance(end_s + 0.01001)
    assert simulation.observe(["flow.other.delivered_bytes"])[0] == 14480


def test_the_rate_of_a_link_bounds_its_throughput_after_each_change():
    simulation = fadeout.Simulation(LINK, set={"duration": "12 s"})
    sent = ["link.path.sent_bytes"]
    for step, mbps in enumerate([10, 2, 20, 0.5, 8]):
        simulation.set("link.path.rate_mbps", mbps)
        start = simulation.observe(sent)[0]
        simulation.advance(2.0 * (step + 1))
        carried = (simulation.observe(sent)[0] - start) * 8 / 2e6
        # Up to one delay line of packets at the old rate still arrives.
        assert carried <= mbps * 1.01 + 0.1
        if step in (1, 3):
            assert carried > 0.9 * mbps
    results = simulation.finish()
    dropped = results.links["dropped_packets"][0]
    assert results.links["received_packets"][0] >= results.links["sent_packets"][0] + dropped


def test_a_handover_is_made_to_the_cell_that_is_set():
    simulation = fadeout.Simulation(STREET, seed=3)
    simulation.advance(0.5)
    assert simulation.observe(["ue.phone.cell"])[0] == 0
    simulation.set("ue.phone.cell", "east")
    # The second request comes during the handover and has no effect.
    simulation.set("ue.phone.cell", 0)
    simulation.advance(1.0)
    assert simulation.observe(["ue.phone.cell"])[0] == 1
    simulation.set("ue.phone.cell", 1)
    simulation.advance(math.inf)
    results = simulation.finish()
    (row,) = results.handovers.iter_rows(named=True)
    assert (row["source"], row["target"], row["outcome"]) == ("west", "east", "success")
    assert row["triggered_s"] == 0.5


def test_a_weight_moves_resource_blocks_to_the_ue():
    shares = {}
    for weight in (1, 8):
        simulation = fadeout.Simulation(CELL, seed=3)
        simulation.set("ue.phone.weight", weight)
        simulation.observe(["ue.phone.n_prb_sum"])
        simulation.advance(math.inf)
        mine, others = simulation.observe(["ue.phone.n_prb_sum", "ue.tablet.n_prb_sum"])
        shares[weight] = mine / (mine + others)
        results = simulation.finish()
        if weight == 1:
            assert results.fingerprint == fadeout.run(CELL, seed=3).fingerprint
    assert 0.35 < shares[1] < 0.65
    # A proportional-fair scheduler with weights shares the time in proportion to the weights, if
    # both UEs always have data.
    assert shares[8] > 0.75


def standing_delay_s(simulation: fadeout.Simulation, name: str, target_s: float) -> float:
    """Returns the mean delay of the queue in four seconds with a target delay."""
    simulation.set(name, target_s)
    begin_s = simulation.now_s + 2
    delays = []
    for step in range(400):
        simulation.advance(begin_s + step / 100)
        delays.append(simulation.observe(["link.path.delay_s"])[0])
    return float(np.mean(delays))


def test_the_delay_of_a_managed_queue_follows_the_target_that_is_set():
    change = {
        "duration": "60 s",
        "link.path.queue": {"limit": "400 packets", "discipline": "codel"},
        "probe.congestion": "1 s",
        "probe.queue": "1 s",
    }
    simulation = fadeout.Simulation(LINK, set=change, seed=3)
    targets = [0.005, 0.05, 0.005, 0.02]
    delays = [standing_delay_s(simulation, "link.path.aqm_target_s", it) for it in targets]
    # CoDel drops until the delay is below its target. At 5 ms the delay is the same after longer
    # targets, within the swings of CUBIC's window in four seconds.
    assert delays[1] > 2 * delays[0]
    assert delays[1] > delays[3] > delays[0]
    assert delays[2] == pytest.approx(delays[0], rel=0.5)
    simulation.advance(math.inf)
    assert simulation.finish().links["dropped_packets"][0] > 0


def test_the_data_in_a_managed_bearer_follow_the_target_that_is_set():
    text = CELL.replace("[ue.phone]", '[ue.phone]\nrlc = { mode = "am", aqm = "codel" }')
    held = {}
    for target_s in (0.005, 0.2):
        simulation = fadeout.Simulation(text, set={"duration": "8 s"}, seed=3)
        simulation.set("bearer.phone.aqm_target_s", target_s)
        waiting = []
        for step in range(300):
            simulation.advance(2 + step / 50)
            waiting.append(simulation.observe(["bearer.phone.rlc_new_bytes"])[0])
        held[target_s] = np.mean(waiting)
        with pytest.raises(fadeout.SettingError, match="expected `ecn-step`"):
            simulation.set("bearer.phone.aqm_threshold_s", 0.01)
    assert held[0.2] > 2 * held[0.005]


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("flow.download.cwnd_segments", 0, ValueError, "expected a number from 1 to"),
        ("flow.download.cwnd_segments", math.nan, ValueError, "expected a number from 1 to"),
        ("flow.download.cwnd_segments", math.inf, ValueError, "expected a number from 1 to"),
        ("flow.download.cwnd_segments", "many", ValueError, "expected a number"),
        ("flow.download.cwnd", 5, ValueError, "one of cwnd_segments"),
        ("flow.download.pacing_rate_mbps", 0, ValueError, "or infinity"),
        ("flow.download.cwnd_segments", 5, fadeout.SettingError, "has not started"),
        ("measurement.phone/west.rsrp_dbm", 5, ValueError, "one of flow"),
        ("bearer.phone.packets", 5, ValueError, "one of aqm_target_s"),
        ("bearer.phone.aqm_target_s", 0.1, fadeout.SettingError, "expected `codel` or `pie`"),
        ("bearer.phon.aqm_target_s", 0.1, ValueError, 'expected "phone"'),
        ("link.core.aqm_target_s", 0, ValueError, "expected a number from 0.000001 to 100 s"),
        ("link.core.aqm_target_s", 0.1, fadeout.SettingError, "expected `codel`, `fq-codel`"),
        ("link.core.aqm_min_threshold_packets", 5, fadeout.SettingError, "expected `red`"),
        ("link.core.rate_mbps", -1, ValueError, "Mbit/s"),
        ("ue.phone.cell", "eats", ValueError, 'expected "east"'),
        ("ue.phone.cell", 7, fadeout.SettingError, "a whole number below 2"),
        ("ue.phone.cell", 0.5, fadeout.SettingError, "a whole number below 2"),
    ],
)
def test_a_wrong_setting_is_refused_and_changes_nothing(name, value, error, message):
    text = STREET.replace("[flow.download]", '[flow.download]\nstart = "100 ms"')
    simulation = fadeout.Simulation(text, seed=3)
    with pytest.raises(error, match=message):
        simulation.set(name, value)
    simulation.advance(math.inf)
    with pytest.raises(fadeout.SettingError, match="the run has ended"):
        simulation.set("flow.download.cwnd_segments", 5)
    assert simulation.finish().fingerprint == fadeout.run(text, seed=3).fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link.path.loss": {"probability": 0.1}}, None),
        (
            {"link.path.rate": {"steps": [["0 s", "1 Mbit/s"], ["1 s", "2 Mbit/s"]]}},
            "a rate that varies",
        ),
    ],
)
def test_only_a_link_with_a_constant_rate_can_change(change, message):
    try:
        simulation = fadeout.Simulation(LINK, set=change)
    except fadeout.ScenarioError as error:
        pytest.fail(str(error))
    if message is None:
        simulation.set("link.path.rate_mbps", 5)
        return
    with pytest.raises(fadeout.SettingError, match=message):
        simulation.set("link.path.rate_mbps", 5)


def test_a_run_with_the_same_settings_has_the_same_bits():
    def fingerprint() -> str:
        simulation = fadeout.Simulation(CELL, seed=5)
        for step in range(1, 20):
            simulation.advance(step / 10)
            simulation.set("flow.download.cwnd_segments", 5 + step)
            simulation.set("flow.other.pacing_rate_mbps", 1 + step)
            simulation.set("ue.phone.weight", step)
            simulation.set("link.core.rate_mbps", 100 / step)
        simulation.advance(math.inf)
        return simulation.finish().fingerprint

    assert fingerprint() == fingerprint()
