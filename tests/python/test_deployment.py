"""Deployments from Python: positions of UEs, the map, and the study on 3GPP's calibrations."""

import numpy as np
import pytest
from typer.testing import CliRunner

import fadeout
from fadeout._columns import all_table_docs, table_docs
from fadeout.cli.app import app
from fadeout.plot import map as network
from fadeout.studies.calibration import efficiency, study
from fadeout.studies.calibration.cases import CALIBRATED, MEASURES, PUBLISHED, UNPUBLISHED, drop
from fadeout.study import Choice, combined

CITY = """
duration = "10 ms"
[deployment.city]
layout = { kind = "uma", sites = "7" }
[link.core]
from = "server"
to = "city"
rate = "1 Gbit/s"
delay = "1 ms"
[ue.phone]
count = 5
drop = { deployment = "city" }
[ue.given]
downlink-sinr = "10 dB"
uplink-sinr = "10 dB"
[flow.one]
from = "server"
to = "phone-0"
"""


def test_geometry_has_a_row_for_each_ue_and_is_the_same_each_time():
    found = fadeout.geometry(CITY)
    assert found["ue"].to_list() == [*(f"phone-{n}" for n in range(5)), "given"]
    assert found["cell"].null_count() == 1
    assert (found["coupling_loss_db"].drop_nulls() > 30).all()
    assert (found["sinr_db"].drop_nulls() <= found["snr_db"].drop_nulls()).all()
    assert (found["sinr_db"].drop_nulls() <= found["sir_db"].drop_nulls()).all()
    assert found.equals(fadeout.geometry(CITY))
    assert not found.equals(fadeout.geometry(CITY, seed=2))
    changed = fadeout.geometry(CITY, set={"deployment.city.cell.tx-power": "59 dBm"})
    assert changed["snr_db"][0] == pytest.approx(found["snr_db"][0] + 10.0)


def test_a_mistake_of_a_deployment_is_told_at_its_place():
    with pytest.raises(fadeout.ScenarioError) as error:
        fadeout.geometry(CITY.replace('"uma"', '"umma"'))
    assert "uma" in str(error.value)
    assert error.value.errors[0]["line"] == 4


def test_the_geometry_is_that_of_the_run():
    results = fadeout.run(CITY)
    serving = dict(results.interfaces.select("interface", "cell").iter_rows())
    # Fading decides which clusters beams use. These antennas have no beams.
    found = fadeout.geometry(CITY, set={"deployment.city.cell.channel.fading": "none"})
    quiet = fadeout.run(CITY, set={"deployment.city.cell.channel.fading": "none"})
    heard = dict(quiet.interfaces.select("interface", "cell").iter_rows())
    for ue, cell in found.select("ue", "cell").iter_rows():
        if cell is not None:
            assert heard[f"{ue}/downlink"] == cell
    assert len(serving) == 12


def test_the_map_has_sites_directions_and_ues():
    results = fadeout.run(CITY)
    assert "map" in results.plot.available()
    figure = results.plot.map()
    (ax,) = figure.axes
    # An arrow for each sector, a name for each site, and the scale.
    assert len([text for text in ax.texts if not text.get_text()]) == 21
    assert len([text for text in ax.texts if text.get_text()]) == 7 + 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("East (m)", "North (m)")
    dots = sum(np.asarray(each.get_offsets()).shape[0] for each in ax.collections)
    assert dots == 6
    assert figure.get_size_inches()[0] == pytest.approx(3.5)


def test_there_is_no_map_of_what_stands_in_one_place():
    links = "duration = '1 ms'\n[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Gbit/s'\ndelay = '1 us'\n"
    results = fadeout.run(links + "[flow.f]\nfrom = 'x'\nto = 'y'\n")
    assert "map" not in results.plot.available()
    with pytest.raises(fadeout.ResultError, match="no map"):
        results.plot.map()


def test_the_scale_is_round():
    assert [network._round_length(most) for most in (7, 19, 55, 1000)] == [5, 10, 50, 1000]


def test_every_case_of_the_calibration_can_be_dropped():
    for case in [*CALIBRATED, *UNPUBLISHED]:
        changes = {**case.changes} | {"ue.phone.count": 4}
        found = drop(changes, 1)
        assert found["geometry_with_noise_db"].null_count() == 0, case.name
        for measure in [each for each in MEASURES if each in case.published]:
            percentiles = case.published[measure]
            assert list(percentiles) == sorted(percentiles)
            least, most = case.limits(measure) or (percentiles, percentiles)
            for value, low, high in zip(percentiles, least, most, strict=True):
                assert low <= value <= high


def test_the_law_of_the_distance_is_that_of_a_hexagon():
    random = np.random.default_rng(1)
    x, y = random.uniform(-1, 1, (2, 200_000)) * study.SITE_DISTANCE_M
    apothem = study.SITE_DISTANCE_M / 2
    inside = np.abs(x) <= apothem
    for sign in (1, -1):
        inside &= np.abs(0.5 * x + sign * np.sqrt(0.75) * y) <= apothem
    distances = np.hypot(x, y)[inside]
    for distance in (60.0, 200.0, 260.0, 280.0):
        share = float(np.mean(distances <= distance))
        # Five standard deviations of a share of 43,000 UEs.
        assert study.distance_share(distance) == pytest.approx(share, abs=0.012)
    assert study.distance_share(study.distance_at(0.3)) == pytest.approx(0.3)


def test_a_full_buffer_uses_what_the_geometry_lets_it_use():
    few = {"ue.phone.count": "114", "duration": '"300 ms"'}
    (case,) = (each for each in efficiency.CASES if each.name == "case-1-rr")
    job = combined(efficiency.SCENARIO, {}, case, Choice("few UEs", few))
    found = efficiency.efficiencies(job.run(lambda _: True))
    theirs = efficiency.mapped(case, 1)
    # Some sectors have no UE. The mean is two UEs a sector, and the mapping has ten.
    assert 0.5 * theirs["cell"] < found["cell"] < 1.5 * theirs["cell"]
    assert 0.0 <= found["edge"] < found["cell"]
    assert theirs["edge"] < theirs["cell"] / 10


def test_every_published_efficiency_has_a_case_that_runs():
    few = {"ue.phone.count": "19", "duration": '"60 ms"'}
    names = [one["name"] for one in PUBLISHED["efficiency"]]
    assert names == [case.name for case in efficiency.IMT_ADVANCED]
    for one, case in zip(PUBLISHED["efficiency"], efficiency.IMT_ADVANCED, strict=True):
        job = combined(efficiency.SCENARIO, {}, case, Choice("few UEs", few))
        rates = efficiency.user_rates(job.run(lambda _: True))
        assert len(rates) == 19
        assert 0.0 < max(rates) < 5.0
        columns = [one[f"ue_{p}"] for p in (5, 50, 95)] + [one["cell"]]
        assert {len(column) for column in columns} == {len(one["organisations"])}
        for least, middle, most, cell in zip(*columns, strict=True):
            assert least < middle < most < cell


def test_the_columns_of_the_geometry_are_listed_with_their_units(cli: CliRunner):
    listed = all_table_docs()["geometry"]
    assert [column["name"] for column in listed["columns"]] == fadeout.geometry(CITY).columns
    assert {c["name"]: c["unit"] for c in listed["columns"]}["sinr_db"] == "dB"
    # No results have this table.
    assert "geometry" not in table_docs()
    found = cli.invoke(app, ["list", "tables", "geometry"])
    assert found.exit_code == 0
    assert "fadeout.geometry(scenario)" in found.stdout
    assert "coupling_loss_db" in found.stdout
