"""Tables by UE and cell, losses by cause, and the time line of a car."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import fadeout
from fadeout import drives

ROOT = Path(__file__).resolve().parents[2]
MOTORWAY = ROOT / "scenarios/motorway.toml"

ONE_CELL = """
duration = "6 s"
seed = 4
[cell.unit]
carrier = "28 GHz"
bandwidth = "50 MHz"
radio = "nr"
height = "5 m"
%s
[ue.car]
position = ["30 m", "0 m"]
%s
[link.backhaul]
from = "server"
to = "unit"
rate = "1 Gbit/s"
delay = "5 ms"
[flow.download]
from = "server"
to = "car"
"""
CLEAR = 'path-loss = "v2x-highway", line-of-sight = "clear", fading = "none", shadowing = false'


@pytest.fixture(scope="module")
def driven() -> Iterator[fadeout.Results]:
    values = {"duration": "3 s", "probe.transport-blocks": True}
    yield fadeout.run(MOTORWAY, seed=3, set=values)


def causes_of(text: str, kind: str) -> dict[str, int]:
    """Returns the causes of timeouts, recoveries or packet losses of a scenario with one flow."""
    results = fadeout.run(text)
    (row,) = fadeout.losses(results).filter(pl.col("kind") == kind).to_dicts()
    return {cause: row[cause] for cause in drives.CAUSES if row[cause]}


def test_all_that_was_lost_has_a_cause(driven: fadeout.Results):
    losses = fadeout.losses(driven)
    totals = losses.with_columns(pl.sum_horizontal(drives.CAUSES).alias("all"))
    by_kind = dict(totals.group_by("kind").agg(pl.col("all").sum()).rows())
    lost = driven.drops.height + driven.radio_drops.height
    assert by_kind["packets"] == lost > 0
    assert by_kind["timeouts"] == driven.timeouts.filter(pl.col("end") == "sender").height
    begun = driven.flow_events.filter(pl.col("event") == "recovery").height
    assert by_kind["recoveries"] == begun > 0
    assert fadeout.by_ue(driven)["lost_packets"].sum() == lost


def test_tables_by_ue_and_cell_agree_with_those_of_the_run(driven: fadeout.Results):
    by_ue, by_cell = fadeout.by_ue(driven), fadeout.by_cell(driven)
    assert by_ue["goodput_mbps"].sum() == pytest.approx(driven.flows["goodput_mbps"].sum())
    changes = driven.handovers.filter(pl.col("entered_s").is_not_nan()).height
    assert by_ue["handovers"].sum() == by_cell["in"].sum() == by_cell["out"].sum() == changes
    # A UE without a cell is not in the table.
    unserved = sum(by_ue["unserved_s"].to_list()) / driven.duration_s
    assert sum(by_cell["mean_ues"].to_list()) + unserved == pytest.approx(4, abs=0.02)
    blocks = driven.transport_blocks.filter(pl.col("is_ok") & (pl.col("direction") == "downlink"))
    mbps = sum(blocks["size_bytes"].to_list()) * 8 / driven.duration_s / 1e6
    assert by_cell["downlink_mbps"].sum() == pytest.approx(mbps)
    assert by_cell["busy_share"].drop_nulls().is_between(0, 1).all()


def test_who_serves_has_no_gap_but_a_change_of_cell(driven: fadeout.Results):
    for steps in drives.serving(driven).values():
        assert steps[0][0] == 0.0
        times = [time for time, _ in steps]
        assert times == sorted(times)
        # A change of cell is followed by a time without a cell, or by the end of the run.
        assert all(cell is not None for _, cell in steps[::2])


BLOCKAGES = {
    "blockage": 'model = "periodic", first = "2 s", period = "100 s", duration = "1 s", loss = 90',
    "deafness": 'model = "deafness", mean-clear = "2 s", dwell = "1 s", attempts = 255',
}


@pytest.mark.parametrize(("cause", "blockage"), BLOCKAGES.items())
def test_what_cuts_the_path_before_a_timeout_is_its_cause(cause: str, blockage: str):
    channel = f"channel = {{ {CLEAR}, blockage = {{ {blockage} }} }}"
    found = causes_of(ONE_CELL % (channel, ""), "timeouts")
    assert set(found) == {cause}


def test_a_beam_that_is_never_steered_anew_loses_a_car():
    channel = (
        'antenna = { kind = "beam", width = 5, height = 30 }\n'
        f'channel = {{ {CLEAR}, beam-tracking = "5 s", beam-failure-threshold = "100 dB" }}'
    )
    way = 'mobility = { model = "line", x-speed = 0, y-speed = 20 }'
    results = fadeout.run(ONE_CELL % (channel, way))
    steps = drives.way(results).steps
    assert "misalignment" in steps["cause"].drop_nulls().to_list()
    assert fadeout.by_ue(results)["misaligned_s"][0] > 1
    assert fadeout.by_ue(results)["vehicles_s"][0] == 0


def test_queues_that_are_full_are_congestion():
    results = causes_of(ONE_CELL % (f"channel = {{ {CLEAR} }}", ""), "packets")
    assert set(results) == {"congestion"}


def test_the_time_line_of_a_car_has_its_panels(driven: fadeout.Results, tmp_path: Path):
    figure = driven.plot.drive("car-1")
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == [
        "SINR (dB)",
        "Unit",
        "Beam (°)",
        "Loss (dB)",
        "Window (segments)",
        "Goodput (Mbit/s)",
    ]
    units = {text.get_text() for text in figure.axes[1].get_yticklabels()}
    assert units == set(
        drives.way(driven).steps.filter(pl.col("ue") == "car-1")["cell"].drop_nulls()
    )
    with pytest.raises(fadeout.ResultError, match="car-1"):
        driven.plot.drive("car1")
    assert drives.save(driven, tmp_path) == ["by_ue", "by_cell", "losses"]
    assert pl.read_csv(tmp_path / "by_ue.csv").height == 4


def test_a_secondary_cell_is_known_from_the_scenario_or_from_its_changes():
    fixed = fadeout.run(ROOT / "scenarios/dual-connectivity.toml", set={"duration": "0.1 s"})
    assert drives.secondary(fixed) == {"phone": [(0.0, "small")]}
    added = fadeout.run(ROOT / "scenarios/en-dc.toml", set={"duration": "0.6 s"})
    changes = added.table("secondary_changes")
    assert drives.secondary(added) == {"phone": [(0.0, None), (changes["time_s"][0], "small")]}
    alone = fadeout.run(ROOT / "scenarios/n78-tdd.toml", set={"duration": "0.1 s"})
    assert drives.secondary(alone) == {}
