"""Functions of `Results` other than its frames: tables, saving, notebooks, early ends."""

import _thread
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import fadeout
from conftest import SCENARIO
from fadeout import _toml

TABLES = Path(__file__).resolve().parents[2] / "tools" / "tables.py"
CAPTURE = '\n[probe]\ncapture = ["phone"]\n'


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    return fadeout.run(SCENARIO + CAPTURE)


def test_the_attributes_are_those_that_are_written_of_the_tables():
    subprocess.run([sys.executable, TABLES, "--check"], check=True)


def test_tables_are_a_mapping_of_names_to_frames(results):
    assert "congestion" in results.tables
    assert "radio_delay" not in results.tables
    assert results.tables["congestion"].equals(results.congestion)
    assert len(results.tables) == len(list(results.tables))
    with pytest.raises(KeyError):
        results.tables["radio_delay"]
    assert "congestion" in results.tables._repr_html_()


def test_what_is_saved_from_memory_is_what_a_run_writes(results, tmp_path: Path):
    written = fadeout.run(SCENARIO + CAPTURE, out=tmp_path / "written")
    assert results.save(tmp_path / "saved") == tmp_path / "saved"
    saved = fadeout.Results.open(tmp_path / "saved")
    files = [
        sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        for folder in (tmp_path / "written", tmp_path / "saved")
    ]
    assert files[0] == files[1]
    assert saved.manifest == written.manifest
    for name in written.tables:
        assert saved.table(name).equals(written.table(name)), name
        # Units and meanings are saved with the columns.
    one, other = (tmp_path / name / "congestion.parquet" for name in ("written", "saved"))
    assert one.read_bytes() == other.read_bytes()
    (captured,) = results.captures.values()
    assert (tmp_path / "saved" / next(iter(results.captures))).read_bytes() == captured
    assert saved.captures == {name: tmp_path / "saved" / name for name in results.captures}, (
        "of a folder they are paths"
    )


def test_saving_replaces_a_run_only_when_told_to(results, tmp_path: Path):
    results.save(tmp_path / "run")
    with pytest.raises(fadeout.ResultError, match="--force"):
        results.save(tmp_path / "run")
    results.save(tmp_path / "run", force=True)
    opened = fadeout.Results.open(tmp_path / "run")
    with pytest.raises(fadeout.ResultError, match="the folder of these results"):
        opened.save(tmp_path / "run", force=True)
    with pytest.raises(fadeout.ResultError, match="inside the folder of these results"):
        opened.save(tmp_path / "run" / "copy")
    (tmp_path / "run" / "figures").mkdir()
    copy = opened.save(tmp_path / "copy")
    assert (copy / "figures").is_dir(), "a folder is copied with what lies in it"
    assert not list(tmp_path.glob(".*")), "nothing is left behind"


def test_a_notebook_shows_the_flows_and_escapes_what_a_scenario_says():
    results = fadeout.run(SCENARIO.replace("two seconds", "<script>alert(1)</script>"))
    text = results._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    for part in ("download", "goodput Mbit/s", results.fingerprint, "congestion"):
        assert part in text


def test_the_manifest_names_the_commit_where_it_is_known(results):
    known = fadeout._native.build_info().get("commit")  # type: ignore[attr-defined]
    assert results.manifest.get("commit") == known


def test_numbers_of_numpy_are_numbers(results):
    seeded = fadeout.run(SCENARIO, seed=np.int64(3), set={"duration": "1 s"})
    assert seeded.seed == 3
    assert _toml.value(np.array([1.5, 2.0])) == "[1.5, 2.0]"
    with pytest.raises(TypeError):
        fadeout.run(SCENARIO, seed=1.5)  # type: ignore[arg-type]


def test_a_dict_that_holds_itself_or_is_too_deep_is_a_mistake():
    round_about: dict[str, object] = {}
    round_about["link"] = round_about
    listed: list[object] = []
    listed.append(listed)
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"x": deep}
    for wrong in (round_about, {"x": listed}, deep, {"x": [deep]}):
        with pytest.raises(fadeout.ScenarioError, match="nested"):
            fadeout.check(wrong)


def test_pandas_that_is_missing_is_said_with_what_brings_it(results, monkeypatch):
    try:
        frame = results.to_pandas("flows")
    except ImportError as error:
        assert "fadeout[pandas]" in str(error)
    else:
        assert list(frame["flow"]) == ["download"]


def test_ctrl_c_in_a_run_keeps_what_there_is():
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(fadeout.Interrupted, match="stopped at") as caught:
        fadeout.run(SCENARIO, set={"duration": "400000 s"})
    results = caught.value.results
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not results.is_complete
    assert len(results.congestion) > 0
    assert results.summary["duration_s"][0] == results.duration_s < 400_000


class Full(Exception):
    results: fadeout.Results


def test_what_a_progress_callback_raises_keeps_what_there_is(tmp_path: Path):
    def full(state: dict[str, float]) -> None:
        if state["time_s"] > 0:
            raise Full("enough")

    long = {"duration": "400000 s"}
    with pytest.raises(Full, match="enough") as caught:
        fadeout.run(SCENARIO, set=long, progress=full)
    results = caught.value.results
    assert not results.is_complete
    assert len(results.congestion) > 0
    assert f"{results.duration_s:g} s" in caught.value.__notes__[0]
    with pytest.raises(Full) as caught:
        fadeout.run(SCENARIO, set=long, progress=full, out=tmp_path / "out")
    assert str(tmp_path / "out") in caught.value.__notes__[0]
    assert len(fadeout.Results.open(tmp_path / "out").congestion) > 0


def test_importing_the_package_loads_no_library_before_it_is_used():
    code = "import sys, fadeout; print([m for m in ('polars', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("command", "loaded"),
    [
        (["--version"], []),
        (["--help"], []),
        (["check", "it.toml"], []),
        (["list"], []),
        (["list", "studies"], []),
        (["explain", "flow.congestion-control"], []),
        (["run", "it.toml", "--no-figures", "--out", "run"], []),
        (["run", "it.toml", "--out", "run"], ["polars", "numpy", "matplotlib"]),
        (["campaign", "run", "--help"], []),
        (["compare", "--help"], []),
        (["tune", "--help"], []),
        (["study", "--help"], []),
        (["validate", "--help"], []),
    ],
)
def test_a_command_loads_only_the_libraries_that_it_uses(
    command: list[str], loaded: list[str], tmp_path: Path
):
    (tmp_path / "it.toml").write_text(SCENARIO)
    arrays = ["polars", "numpy", "scipy", "pandas"]
    heavy = [*arrays, "matplotlib", "distributed", "optuna", "pydantic"]
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([m for m in {heavy} if m in sys.modules]))\n"
        "from fadeout.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines()[-1] == str(loaded)
