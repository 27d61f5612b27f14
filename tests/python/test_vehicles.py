"""Vehicles over time, and the map of a run with them."""

from pathlib import Path

import polars as pl
import pytest
from matplotlib.collections import LineCollection
from typer.testing import CliRunner

import fadeout
from fadeout._columns import all_table_docs, table_docs
from fadeout.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
MOTORWAY = ROOT / "scenarios/motorway.toml"
CANYON = ROOT / "scenarios/street-canyon.toml"


def share(of: pl.Series) -> float:
    """Returns the share of true values in a column."""
    return sum(of.to_list()) / len(of)


def test_tracks_have_each_vehicle_at_its_speed():
    tracks = fadeout.tracks(MOTORWAY, every="500 ms")
    assert tracks["time_s"].unique().sort().to_list() == [n / 2 for n in range(21)]
    assert set(tracks["ue"].drop_nulls().unique()) == {f"car-{n}" for n in range(4)}
    speeds = (tracks["speed_mps"] * 3.6).round(3).unique().sort().to_list()
    assert speeds == [80.0, 100.0, 140.0]
    heights = tracks.unique("vehicle")["height_m"]
    # A fifth of about 90 vehicles are trucks. The limits are five standard errors.
    assert 0.02 < share(heights == 3.0) < 0.38


def test_sights_say_what_is_in_the_way():
    sights = fadeout.sights(MOTORWAY, every="100 ms", seed=2)
    assert sights.height == 101 * 10 * 4
    assert (sights["vehicles_db"] >= 0).all()
    blocked = share(sights["vehicles_db"] > 6)
    assert 0.001 < blocked < 0.5
    assert not sights["behind_building"].any()
    behind = share(fadeout.sights(CANYON, every="1 s")["behind_building"])
    assert 0.2 < behind < 0.95


def test_a_trace_has_boxes_behind_its_points(tmp_path: Path):
    (tmp_path / "fcd.csv").write_text(
        "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed\n"
        "1.00;a;100.00;50.00;90.00;truck;10.00\n"
        "3.00;a;120.00;50.00;90.00;truck;10.00\n"
    )
    scenario = tmp_path / "drive.toml"
    scenario.write_text(
        'duration = "5 s"\n'
        "[vehicles.seen]\n"
        'road = { file = "fcd.csv", format = "sumo-csv" }\n'
        'types = [{ length = "5 m" }, { name = "truck", length = "13 m", height = "3 m" }]\n'
        '[cell.unit]\ncarrier = "28 GHz"\nbandwidth = "100 MHz"\n'
        'channel = { path-loss = "v2x-urban" }\n'
        '[ue.driver]\nvehicles = "seen"\n'
    )
    tracks = fadeout.tracks(scenario, every="1 s")
    assert tracks["time_s"].to_list() == [1.0, 2.0, 3.0]
    assert tracks["x_m"].to_list() == pytest.approx([93.5, 103.5, 113.5])
    assert tracks["length_m"].unique().to_list() == [13.0]


def test_steps_that_make_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="steps of at least"):
        fadeout.tracks(MOTORWAY, every="1 us")


def test_the_map_shows_the_ways_of_cars_and_what_is_in_them():
    results = fadeout.run(CANYON, set={"duration": "1 s"})
    figure = results.plot.map()
    lines = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    # The track, and marks below it for a vehicle, a building or a lost beam.
    assert len(lines) == 4 * 4
    legend = figure.axes[0].get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert {"its way", "beam at times", "vehicle at the start"} <= set(names)


def test_who_is_on_a_vehicle_is_served_where_it_is():
    geometry = fadeout.geometry(CANYON)
    tracks = fadeout.tracks(CANYON, every="15 s").filter(pl.col("time_s") == 0)
    for ue, x, y in geometry.select("ue", "x_m", "y_m").rows():
        own = tracks.filter(pl.col("ue") == ue)
        # Antennas are in the middle of the roof.
        assert (own["x_m"][0], own["y_m"][0]) == pytest.approx((x, y))


@pytest.mark.parametrize("table", ["tracks", "sights"])
def test_the_columns_are_listed_with_their_units(cli: CliRunner, table: str):
    listed = {column["name"]: column["unit"] for column in all_table_docs()[table]["columns"]}
    assert list(listed) == getattr(fadeout, table)(MOTORWAY, every="1 s").columns
    assert listed["time_s"] == "s"
    # No results have this table.
    assert table not in table_docs()
    found = cli.invoke(app, ["list", "tables", table])
    assert found.exit_code == 0
    assert f"fadeout.{table}(scenario)" in found.stdout
