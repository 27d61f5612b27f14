"""Traces of SUMO that are made or converted before a scenario is read."""

import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fadeout
from conftest import needs_tool
from fadeout import _traces

SCENARIO = """
duration = "30 s"
[vehicles.seen]
road = { file = "%s", format = "%s" }
[cell.unit]
carrier = "28 GHz"
bandwidth = "100 MHz"
channel = { path-loss = "v2x-urban" }
[ue.driver]
vehicles = "seen"
"""

needs_sumo = needs_tool("SUMO")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FADEOUT_CACHE", str(tmp_path / "cache"))


def crossing(folder: Path) -> Path:
    """Writes streets with a crossing, cars and trucks that turn there, and their configuration."""
    (folder / "n.nod.xml").write_text(
        '<nodes><node id="w" x="-200" y="0"/><node id="m" x="0" y="0" type="traffic_light"/>'
        '<node id="e" x="200" y="0"/><node id="n" x="0" y="200"/></nodes>'
    )
    edges = "".join(
        f'<edge id="{one}{other}" from="{one}" to="{other}" numLanes="1" speed="13.9"/>'
        for one, other in ("wm", "me", "mn", "em", "nm", "mw")
    )
    (folder / "e.edg.xml").write_text(f"<edges>{edges}</edges>")
    program = _traces.find_sumo()
    assert program is not None
    subprocess.run(
        [
            program.with_name("netconvert"),
            "-n",
            folder / "n.nod.xml",
            "-e",
            folder / "e.edg.xml",
            "-o",
            folder / "city.net.xml",
        ],
        check=True,
        capture_output=True,
    )
    (folder / "city.rou.xml").write_text(
        '<routes><vType id="lorry" vClass="truck" length="10.5" height="3.4"/><vType id="car"/>'
        '<route id="a" edges="wm me"/><route id="b" edges="wm mn"/><route id="c" edges="em mw"/>'
        '<flow id="x" type="car" route="a" begin="0" end="20" period="4"/>'
        '<flow id="y" type="lorry" route="b" begin="1" end="20" period="7"/>'
        '<flow id="z" type="car" route="c" begin="0" end="20" period="5"/></routes>'
    )
    config = folder / "city.sumocfg"
    config.write_text(
        '<configuration><input><net-file value="city.net.xml"/><route-files value="city.rou.xml"/>'
        '</input><time><end value="30"/><step-length value="0.01"/></time></configuration>'
    )
    return config


def scenario(folder: Path, file: str, kind: str) -> Path:
    path = folder / "drive.toml"
    path.write_text(SCENARIO % (file, kind))
    return path


@needs_sumo
def test_sumo_is_run_and_vehicles_are_where_it_has_them(tmp_path: Path):
    config = crossing(tmp_path)
    tracks = fadeout.tracks(scenario(tmp_path, config.name, "sumo"), every="10 ms")
    program = _traces.find_sumo()
    assert program is not None
    fine = tmp_path / "fine.csv"
    attributes = ["--fcd-output.attributes", "x,y,angle,type,speed", "--precision", "4"]
    subprocess.run(
        [program, "-c", config, "--fcd-output", fine, *attributes, "--no-step-log", "true"],
        check=True,
        capture_output=True,
    )
    # The truth has a position every 10 ms. The trace that is read has one every 50 ms.
    truth = pl.read_csv(fine, separator=";").drop_nulls("vehicle_id")
    kinds = dict(truth.select("vehicle_id", "vehicle_type").unique().rows())
    assert set(tracks["length_m"].drop_nulls().unique()) == {5.0, 10.5}
    assert set(tracks["height_m"].unique()) == {1.5, 3.4}
    order = sorted(kinds)
    tracks = tracks.with_columns(
        (pl.col("time_s") * 100).round().cast(pl.Int64).alias("step"),
        # The front bumper, from the middle of the box.
        (pl.col("x_m") + pl.col("length_m") / 2 * pl.col("heading_deg").radians().cos()).alias("x"),
        (pl.col("y_m") + pl.col("length_m") / 2 * pl.col("heading_deg").radians().sin()).alias("y"),
    )
    joined = truth.with_columns(
        (pl.col("timestep_time") * 100).round().cast(pl.Int64).alias("step"),
        pl.col("vehicle_id")
        .replace_strict(order, range(len(order)))
        .cast(pl.UInt64)
        .alias("vehicle"),
    ).join(tracks, on=["step", "vehicle"], how="inner")
    # The comparison covers the time from the first 50 ms to the last.
    assert joined.height > 0.95 * truth.height
    apart = np.hypot(
        joined["x"].to_numpy() - joined["vehicle_x"].to_numpy(),
        joined["y"].to_numpy() - joined["vehicle_y"].to_numpy(),
    )
    at_steps = (joined["step"] % 5 == 0).to_numpy()
    assert apart[at_steps].max() < 1.5e-3, "where SUMO says, to its digits"
    assert apart.max() < 0.05, "and in between"


@needs_sumo
def test_a_trace_is_made_once_and_anew_when_what_goes_in_changes(tmp_path: Path):
    config = crossing(tmp_path)
    first, types = _traces._run(config)
    made = first.stat().st_mtime_ns
    assert _traces._run(config)[0] == first
    assert first.stat().st_mtime_ns == made
    assert 'height = "3.4 m"' in types[1]
    routes = tmp_path / "city.rou.xml"
    routes.write_text(routes.read_text().replace('period="4"', 'period="3"'))
    assert _traces._run(config)[0] != first


@needs_sumo
def test_what_sumo_refuses_is_said(tmp_path: Path):
    config = crossing(tmp_path)
    routes = tmp_path / "city.rou.xml"
    routes.write_text(routes.read_text().replace("wm me", "wm nowhere"))
    with pytest.raises(fadeout.ScenarioError, match="SUMO failed: Error"):
        fadeout.tracks(scenario(tmp_path, config.name, "sumo"))


def test_without_sumo_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "net.xml").write_text("<net/>")
    (tmp_path / "a.sumocfg").write_text(
        '<configuration><net-file value="net.xml"/></configuration>'
    )
    monkeypatch.setattr(_traces, "find_sumo", lambda: None)
    with pytest.raises(fadeout.ScenarioError, match=r"pip install 'fadeout\[sumo\]'"):
        fadeout.check(scenario(tmp_path, "a.sumocfg", "sumo"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is missing; expected a SUMO configuration"),
        ("no xml", "expected XML of SUMO"),
        ("<configuration/>", "names no network"),
        ('<configuration><net-file value="gone.xml"/></configuration>', "gone.xml is missing"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / "a.sumocfg").write_text(text)
    with pytest.raises(fadeout.ScenarioError, match=message):
        fadeout.check(scenario(tmp_path, "a.sumocfg", "sumo"))


TABLE = {
    "timestep_time": [1.0, 1.5, 2.0],
    "vehicle_id": ["a", None, "a"],
    "vehicle_x": [100.0, None, 120.0],
    "vehicle_y": [50.0, None, 50.0],
    "vehicle_angle": [90.0, None, 90.0],
    "vehicle_type": ["t", None, "t"],
    "vehicle_speed": [20.0, None, 20.0],
}


def test_a_table_in_parquet_is_read_as_csv_is(tmp_path: Path):
    frame = pl.DataFrame(TABLE, schema_overrides={"vehicle_angle": pl.Float32})
    frame.write_parquet(tmp_path / "fcd.parquet")
    frame.drop_nulls().write_csv(tmp_path / "fcd.csv", separator=";")
    read = fadeout.tracks(scenario(tmp_path, "fcd.parquet", "sumo-parquet"), every="250 ms")
    assert read["time_s"].to_list() == [1.0, 1.25, 1.5, 1.75, 2.0]
    assert read["x_m"].to_list() == pytest.approx([97.5, 102.5, 107.5, 112.5, 117.5])
    assert read.equals(
        fadeout.tracks(scenario(tmp_path, "fcd.csv", "sumo-csv"), every="250 ms"), null_equal=True
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame(TABLE).drop("vehicle_angle"), "no column `vehicle_angle`"),
        (
            pl.DataFrame(TABLE).with_columns(pl.lit("00:01").alias("timestep_time")),
            "--human-readable-time",
        ),
        (None, "expected Parquet"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, frame: pl.DataFrame | None, message: str):
    path = tmp_path / "fcd.parquet"
    if frame is None:
        path.write_bytes(b"PAR1 and nothing")
    else:
        frame.write_parquet(path)
    with pytest.raises(fadeout.ScenarioError, match=message):
        fadeout.check(scenario(tmp_path, "fcd.parquet", "sumo-parquet"))


FCD = """<fcd-export>
<timestep time="25200"><vehicle id="0" x="-150" y="40" angle="90" type="car" speed="15"/>
<person id="0" x="300" y="-200" angle="0" speed="1.2" edge="w"/></timestep>
<timestep time="25230"><vehicle id="0" x="300" y="40" angle="90" type="car" speed="15"/>
<person id="0" x="300" y="-164" angle="0" speed="1.2" edge="w"/></timestep>
</fcd-export>
"""
CSV = """timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;\
vehicle_lane;vehicle_edge
25200;0;-150;40;90;car;15;e_0;
25200;p;300;-200;0;ped;1.2;;w
25230;0;300;40;90;car;15;e_0;
25230;p;300;-164;0;ped;1.2;;w
"""


FLOW = """[link.core]
from = "server"
to = "unit"
rate = "1 Gbit/s"
delay = "1 ms"
[flow.download]
from = "server"
to = "driver"
"""


def seen(scenario: Path) -> pl.DataFrame:
    return fadeout.tracks(scenario, every="10 s").select("time_s", "vehicle", "x_m", "y_m")


def test_persons_are_no_vehicles_in_any_format(tmp_path: Path):
    (tmp_path / "fcd.xml").write_text(FCD)
    (tmp_path / "fcd.csv").write_text(CSV)
    table = pl.read_csv(tmp_path / "fcd.csv", separator=";", infer_schema_length=None)
    table.write_parquet(tmp_path / "fcd.parquet")
    found = []
    for name, form in (("xml", "sumo-fcd"), ("csv", "sumo-csv"), ("parquet", "sumo-parquet")):
        path = tmp_path / f"{name}.toml"
        text = SCENARIO % (f"fcd.{name}", form)
        path.write_text(text.replace('" }\n[cell', '", start = "25200 s" }\n[cell'))
        found.append(seen(path))
        assert found[-1]["vehicle"].n_unique() == 1
        assert found[-1].equals(found[0])
    # The car drives at 15 m/s, and its middle is 2.5 m behind its front.
    assert found[0]["x_m"].to_list() == pytest.approx([-152.5, -2.5, 147.5, 297.5])


def test_a_trace_apart_from_the_run_is_refused_with_the_start_that_fits(tmp_path: Path):
    (tmp_path / "fcd.xml").write_text(FCD)
    path = tmp_path / "late.toml"
    path.write_text(SCENARIO % ("fcd.xml", "sumo-fcd") + FLOW)
    with pytest.raises(fadeout.ScenarioError, match='expected `start = "25200 s"`'):
        fadeout.check(path)


def test_a_trace_that_ends_before_the_run_is_a_warning(tmp_path: Path):
    (tmp_path / "fcd.xml").write_text(FCD)
    path = tmp_path / "short.toml"
    text = SCENARIO % ("fcd.xml", "sumo-fcd") + FLOW
    text = text.replace('" }\n[cell', '", start = "25200 s" }\n[cell')
    path.write_text(text.replace('"30 s"', '"60 s"'))
    with pytest.warns(UserWarning, match="the trace has no vehicle during 50 % of the run"):
        fadeout.check(path)
