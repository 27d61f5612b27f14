"""Inputs of users as their tools wrote them, in `cases/field/`: the right value, or an error there.

Each input once gave a wrong result without a message, or needed conversion by hand. Other tests of
the readers are in `test_traces.py`, `test_measured.py` and `test_projection.py`.
"""

import re
import shutil
import warnings
from pathlib import Path

import pytest

import fadeout

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


def test_a_town_and_its_traffic_are_brought_onto_one_grid(case):
    folder = case("sumo-on-osm-projection")
    with pytest.warns(UserWarning, match=r"39\.8 % of 201 positions are within walls"):
        fadeout.run(folder / "town.toml")
    edited(folder / "town.toml", "^origin = .*$", 'net = "net.net.xml"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fadeout.run(folder / "town.toml")


def test_short_sequence_numbers_of_rlc_cost_rate():
    path = CASES / "rlc-sn-length" / "sn.toml"
    rates = [
        fadeout.run(path, set={"ue.phone.rlc.sn-field-length": bits}).flows["goodput_mbps"][0]
        for bits in (12, 18)
    ]
    # With 12 bits the window of 2,048 numbers holds back a part of the time only.
    assert 0.9 * rates[1] < rates[0] < rates[1]


def test_the_example_of_handovers_loses_nothing_while_it_forwards():
    lost = fadeout.run("scenarios/handover.toml").handovers["lost_packets"]
    assert lost.to_list() == [0] * len(lost)
