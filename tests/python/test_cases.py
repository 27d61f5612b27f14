"""Scenarios that once failed, in `cases/`. The comment at the head of each states the fault."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import fadeout
from generator import features, invariants

FILES = Path(__file__).with_name("cases")
SEEDS = range(1, 9)
"""Seeds of each case, as the faults depended on random draws."""


def checked(name: str, seed: int | None = None, **overrides: Any) -> fadeout.Results:
    """Runs a case, asserts the invariants of every run, and returns the results."""
    path = FILES / f"{name}.toml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = fadeout.run(path, seed=seed, set=overrides.get("set"))
    assert invariants.broken({}, results) == []
    return results


@pytest.mark.parametrize("name", ["high-ue-under-uma", "high-floors"])
def test_a_ue_above_the_range_of_its_path_loss_has_one(name: str):
    for seed in SEEDS:
        checked(name, seed)


def test_a_split_bearer_needs_no_flow():
    for seed in SEEDS:
        assert not checked("split-without-flows", seed).flows.height


@pytest.mark.filterwarnings("ignore:the scenario has no flow")
def test_base_stations_do_not_reach_each_other_over_a_link_of_the_ue():
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(FILES / "split-over-own-link.toml")
    assert caught.value.errors[0]["line"] == 21


def test_a_datagram_that_pdcp_does_not_take_is_a_mistake_of_the_scenario():
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.run(FILES / "greatest-datagram.toml")
    assert caught.value.errors[0]["line"]


def test_a_datagram_may_be_overtaken():
    scenario = features.compose(
        {
            **features.DEFAULT,
            "pdcp": "out-of-order",
            "harq": "none",
            "fading": "tdl-c",
            "direction": "up",
            "transport": "packet-stream",
        }
    )
    assert fadeout.run(scenario).datagram_flows["reordered_datagrams"][0] > 0


def test_rows_of_ltm_are_in_the_order_of_time():
    results = checked("ltm-order")
    assert results.table("rrc")["time_s"].is_sorted()
    assert results.table("rrc").height


def test_blocks_of_two_slot_lengths_are_in_the_order_of_time():
    blocks = checked("two-slot-lengths").table("transport_blocks")
    assert blocks["cell"].n_unique() == 2
    assert blocks["time_s"].is_sorted()


PERIODS = {
    "probe.throughput": "1 ns",
    "probe.congestion": "1 ns",
    "probe.queue": "1 ns",
    "probe.bearers": "1 ns",
    "ue.phone.split.status-period": "1 ns",
    "mobility-management.measurement-period": "1 ns",
    "mobility-management.events": [
        {"kind": "a2", "threshold": "-120 dBm", "report-interval": "1 ns"}
    ],
    "mobility-management.secondary-node.events": [
        {"kind": "b1", "threshold": "-120 dBm", "report-interval": "1 ns"}
    ],
}


@pytest.mark.parametrize("key", PERIODS)
def test_a_period_of_a_nanosecond_is_refused(key: str):
    fadeout.check(FILES / "periods.toml")
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(FILES / "periods.toml", set={key: PERIODS[key]})
    assert "1 ns" in caught.value.errors[0]["message"]


def test_data_over_a_reverse_direction_without_a_rate_is_told():
    with pytest.warns(UserWarning, match="unlimited"):
        fadeout.check(FILES / "unlimited-reverse.toml")


def test_ues_with_equal_reports_have_equal_shares_under_max_ci():
    for seed in SEEDS:
        shares = checked("equal-ues", seed).datagram_flows["received_bytes"]
        most: Any = shares.max()
        least: Any = shares.min()
        # Losses differ, as one block in ten is repeated. Without fair turns two UEs had nothing.
        assert least > 0.8 * most


def test_a_conditional_handover_without_forwarding_forwards_nothing():
    # With other seeds the UE finds no better cell within 8 s.
    for seed in (1, 2, 3, 4):
        rows = checked("conditional-handover", seed).table("handovers")
        assert rows["outcome"].to_list() == ["success"]
        assert rows["forwarded_numbered"].sum() == rows["forwarded_fresh"].sum() == 0
        assert rows["lost_packets"].sum() > 0


def uplink_delay(seed: int, **radio: Any) -> float:
    """Returns the mean delay of small packets over the uplink, in seconds."""
    kind, rate = radio.get("kind", "nr"), radio.pop("rate", "6900 bit/s")
    overrides = {
        "cell.site.radio": {"kind": kind, **radio},
        "cell.site.carrier": "2.1 GHz" if kind == "lte" else "3.5 GHz",
        "flow.up.application.rate": rate,
    }
    return checked("uplink-datagrams", seed, set=overrides).datagram_flows["mean_delay_s"][0]


def test_scheduling_requests_of_lte_tdd_never_wait_for_a_slot_of_the_downlink():
    # 58 of 100 UEs had 121 ms. The others have 17.5 ms, the mean over the phase of the requests.
    for seed in SEEDS:
        assert uplink_delay(seed, kind="lte", duplex="tdd") < 0.025


def test_a_prohibit_timer_shorter_than_the_requests_period_changes_little():
    for seed in SEEDS:
        radio = {"numerology": 1, "duplex": "fdd", "sr-period": 20, "rate": "800 kbit/s"}
        without = uplink_delay(seed, **radio)
        # Delays were six times as long, as requests that were never sent started the timer.
        assert uplink_delay(seed, **radio, **{"sr-prohibit": "0.5 ms"}) < 1.2 * without


def test_a_transfer_ends_or_the_run_names_the_ue_without_a_cell():
    with pytest.warns(UserWarning, match='UE "phone": lost its connection, and has none'):
        results = fadeout.run(FILES / "idle-after-failure.toml")
    assert invariants.broken({}, results) == []
    assert results.flows["completed_at_s"].null_count() == 1


def test_copies_that_wait_for_the_secondary_node_are_among_its_packets():
    legs = checked("copies-that-wait").legs
    assert legs["copies"].sum() > 0
    assert (legs["copies"] <= legs["packets"]).all()


def test_a_missing_file_is_named_at_its_key():
    path = FILES / "vehicles-without-a-file.toml"
    with pytest.raises(fadeout.ScenarioError, match="none-such") as caught:
        fadeout.check(path)
    [error] = caught.value.errors
    assert path.read_text().splitlines()[error["line"] - 1].startswith("road = ")
