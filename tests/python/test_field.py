"""Inputs of users as their tools wrote them, in `cases/field/`: the right value, or an error there.

Each input once gave a wrong result without a message, or needed conversion by hand. Other tests of
the readers are in `test_traces.py`, `test_measured.py` and `test_projection.py`.
"""

import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fadeout
from fadeout.measured.replay import NOT_HEARD_DB, channels, serving_cells
from fadeout.measured.table import open_measurement

CASES = Path(__file__).parent / "cases" / "field"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FADEOUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def case(tmp_path: Path):
    """Returns a function that copies a case, and returns the folder of the copy."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(CASES / name, tmp_path / name))

    return copy


def edited(file: Path, pattern: str, replacement: str) -> None:
    text = file.read_text()
    changed = re.sub(pattern, replacement, text, flags=re.M)
    assert changed != text
    file.write_text(changed)


@pytest.mark.parametrize("scenario", ["ue.toml", "vehicles.toml"])
def test_a_person_with_the_id_of_a_vehicle_changes_nothing(case, scenario: str):
    folder = case("sumo-person-vehicle-one-id")
    both = fadeout.run(folder / scenario)
    edited(folder / "fcd.xml", "<person [^>]*/>", "")
    assert fadeout.run(folder / scenario).fingerprint == both.fingerprint


def test_a_pedestrian_of_a_sumo_csv_is_no_car(case):
    folder = case("sumo-csv-persons-are-cars")
    both = fadeout.run(folder / "vehicles.toml")
    edited(folder / "fcd.csv", "^.*;ped0;.*\n", "")
    assert fadeout.run(folder / "vehicles.toml").fingerprint == both.fingerprint


def test_lines_of_ns2_generators_that_move_nothing_are_passed_over(case):
    folder = case("ns2-lines-of-generators")
    whole = fadeout.run(folder / "town.toml")
    edited(folder / "town.mob", "^.*switch O.*\n", "")
    assert fadeout.run(folder / "town.toml").fingerprint == whole.fingerprint


@pytest.mark.parametrize(
    ("name", "scenario", "message"),
    [
        ("trace-begins-after-the-run", "ue.toml", "the run covers 0 s to 2 s; expected `start ="),
        ("trace-begins-after-the-run", "vehicles.toml", "expected `start ="),
        ("sumo-fcd-cut-off", "ue.toml", "line 3: the file ends before `</fcd-export>`"),
        ("serving-cell-log", "log.toml", "line 7: UE `phone` and cell `a` have no row after 5 s"),
        ("serving-cell-log", "both-cells.toml", "the UE would never leave its first cell"),
    ],
)
def test_a_contradiction_is_an_error_at_its_key(name: str, scenario: str, message: str):
    with pytest.raises(fadeout.ScenarioError, match=re.escape(message)) as caught:
        fadeout.check(CASES / name / scenario)
    assert caught.value.errors[0]["line"] > 1


QUIET = {"link.core.rate": "1 Mbit/s"}
"""Few packets, as these tests are about positions."""


def test_a_town_and_its_traffic_are_brought_onto_one_grid(case):
    folder = case("sumo-on-osm-projection")
    with pytest.warns(UserWarning, match=r"39\.8 % of 201 positions are within walls"):
        fadeout.run(folder / "town.toml", set=QUIET)
    edited(folder / "town.toml", "^origin = .*$", 'net = "net.net.xml"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fadeout.run(folder / "town.toml", set=QUIET)


def test_the_map_marks_positions_within_walls(case, monkeypatch: pytest.MonkeyPatch):
    folder = case("sumo-on-osm-projection")
    monkeypatch.chdir(folder)

    def legend() -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = fadeout.run("town.toml", set=QUIET).plot.map()
        found = figure.axes[0].get_legend()
        assert found is not None
        return " ".join(text.get_text() for text in found.get_texts())

    # The warning of a run examines 201 instants, and the map 300.
    assert "within walls (40.0 %)" in legend()
    edited(folder / "town.toml", "^origin = .*$", 'net = "net.net.xml"')
    assert "within walls" not in legend()


def test_short_sequence_numbers_of_rlc_cost_rate():
    path = CASES / "rlc-sn-length" / "sn.toml"
    rates = [
        fadeout.run(path, set={"ue.phone.rlc.sn-field-length": bits}).flows["goodput_mbps"][0]
        for bits in (12, 18)
    ]
    # With 12 bits the window of 2,048 numbers holds back a part of the time only.
    assert 0.9 * rates[1] < rates[0] < rates[1]


def test_a_ue_without_64qam_uploads_what_its_largest_transport_block_carries():
    path = CASES / "lte-uplink-without-64qam" / "upload.toml"

    def rate(**changes: object) -> float:
        keys = {"ue.phone.uplink-modulation": "16qam", **changes}
        return fadeout.run(path, set=keys).flows["goodput_mbps"][0]

    # TS 36.213 Table 7.1.7.2.1-1 has 12,576 bits for I_TBS 21 and 25 resource blocks. I_TBS 26 has
    # 18,336 bits, and I_TBS 21 with 22 resource blocks has 11,064 bits. UDP, IP and layer 2 take
    # 2.5 to 4 % of them.
    assert 0.96 < rate() / 12.576 < 0.98
    assert 0.96 < rate(**{"ue.phone.uplink-modulation": "64qam"}) / 18.336 < 0.98
    pucch = {"cell.enb.radio": {"kind": "lte", "pucch-resource-blocks": 3}}
    assert 0.95 < rate(**pucch) / 11.064 < 0.98


def test_more_pucch_than_uplink_is_an_error():
    path = CASES / "lte-uplink-without-64qam" / "upload.toml"
    pucch = {"cell.enb.radio": {"kind": "lte", "pucch-resource-blocks": 25}}
    with pytest.raises(fadeout.ScenarioError, match="expected at most 24"):
        fadeout.check(path, set=pucch)


def test_the_example_of_handovers_loses_nothing_while_it_forwards():
    lost = fadeout.run("scenarios/handover.toml").handovers["lost_packets"]
    assert lost.to_list() == [0] * len(lost)


SERVING = """
[measurement.drive]
file = "log.csv"

[channel-file.drive]
measurement = "drive"

[mobility-management]
policy = "timetable"
serving-cells = { measurement = "drive", ue = "phone" }
data = "forwarding"
"""


def test_a_cell_is_heard_from_its_first_row_until_a_step_after_its_last(tmp_path: Path):
    (tmp_path / "log.csv").write_text(
        "time_s,cell,gain_db\n0,a,-100\n1,a,-101\n2,b,-90\n4,b,-91\n6,a,-95\n8,a,-96\n"
    )
    log = open_measurement(tmp_path / "log.csv")
    names = {"ue": "phone", "cell": None}
    text = channels(log, 8 * 10**9, names, is_plain=False, is_serving_only=True)
    found = pl.read_csv(text.encode())

    def gain(cell: str, time_s: float) -> float:
        rows = found.filter(pl.col("cell") == cell)
        return float(np.interp(time_s, rows["time_s"], rows["gain_db"]))

    # A row of another cell follows after 1 s, so cell a is heard for 1 s more.
    assert [gain("a", at) for at in (0, 0.5, 1, 2.9)] == pytest.approx([-100, -100.5, -101, -101])
    assert [gain("a", at) for at in (3.1, 5.9)] == [NOT_HEARD_DB] * 2
    assert [gain("a", at) for at in (6, 7, 8)] == pytest.approx([-95, -95.5, -96])
    assert [gain("b", at) for at in (0, 1.9)] == [NOT_HEARD_DB] * 2
    assert [gain("b", at) for at in (2, 3, 4, 7.9)] == pytest.approx([-90, -90.5, -91, -91])
    changes = serving_cells(log, 8 * 10**9)
    assert [(one.at_ns, one.cell) for one in changes] == [
        (0, "a"),
        (2 * 10**9, "b"),
        (6 * 10**9, "a"),
    ]


@pytest.fixture
def replay(case) -> Path:
    """Returns a scenario that replays the log of the serving cell, with gains in place of SINRs."""
    folder = case("serving-cell-log")
    log = pl.read_csv(folder / "log.csv")
    # About the noise of 20 MHz below a transmit power of 46 dBm.
    log = log.with_columns((pl.col("sinr_db") - 140.0).alias("gain_db")).drop("sinr_db")
    log.write_csv(folder / "log.csv")
    text = (folder / "log.toml").read_text()
    begin, end = text.index("[channel-file.drive]"), text.index("[ue.phone]")
    text = text[:begin] + SERVING + text[end:]
    text = text.replace("height =", 'tx-power = "46 dBm"\nheight =')
    (folder / "log.toml").write_text(text)
    return folder / "log.toml"


def test_a_log_of_the_serving_cell_is_replayed(replay: Path):
    results = fadeout.run(replay)
    (row,) = results.handovers.rows(named=True)
    assert (row["source"], row["target"], row["outcome"]) == ("a", "b", "success")
    # The log has its first row of cell b at 6 s.
    assert row["triggered_s"] == pytest.approx(6.0, abs=1e-9)
    assert results.flows["goodput_mbps"][0] > 1


def test_the_replay_of_a_log_starts_in_its_cell_at_the_start(replay: Path):
    edited(replay, "^file = .*$", 'file = "log.csv"\nstart = "7 s"\noutside = "hold"')
    results = fadeout.run(replay, set={"duration": "3 s"})
    assert results.handovers.is_empty()


def test_a_log_with_sinr_and_received_power_is_replayed_with_the_power(replay: Path):
    gains = fadeout.run(replay).fingerprint
    file = replay.parent / "log.csv"
    log = pl.read_csv(file).rename({"gain_db": "rsrp_dbm"})
    log = log.with_columns(pl.lit(20.0).alias("sinr_db"))
    # The row before a handover has the second of the row after it.
    again = log.filter(pl.col("time_s") == 5).with_columns(time_s=pl.lit(6, pl.Int64))
    pl.concat([log, again]).sort("time_s", "cell").write_csv(file)
    edited(
        replay, "^file = .*$", 'file = "log.csv"\nreference-power = "0 dBm"\nduplicates = "last"'
    )
    assert fadeout.run(replay).fingerprint == gains


def test_sinrs_of_a_replayed_log_are_refused(replay: Path):
    edited(replay.parent / "log.csv", "gain_db", "sinr_db")
    with pytest.raises(fadeout.ScenarioError, match="with which a UE stays in its cell"):
        fadeout.check(replay)


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ('ue = "phone"', 'ue = "fone"', "`timetable` names the UE `fone`; expected `phone`"),
        ('policy = "timetable"\n', "", "`serving-cells` with another policy"),
        ('"drive", ue', '"drivee", ue', "unknown measurement 'drivee'"),
    ],
)
def test_a_mistake_of_a_replay_is_explained(
    replay: Path, pattern: str, replacement: str, message: str
):
    edited(replay, pattern, replacement)
    with pytest.raises(fadeout.ScenarioError, match=re.escape(message)):
        fadeout.check(replay)
