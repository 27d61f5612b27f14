"""Properties of the compiled module that its Python callers need."""

import io
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from conftest import SCENARIO
from fadeout import _native


def test_without_tables_the_summary_is_the_same():
    whole = _native.run(SCENARIO)
    bare = _native.run(SCENARIO, tables=False)
    assert set(bare["tables"]) == {"flows", "links"}
    assert bare["tables"].items() <= whole["tables"].items()
    assert bare["summary"] == whole["summary"]


def test_runs_in_threads_do_not_disturb_each_other():
    alone = _native.run(SCENARIO)
    with ThreadPoolExecutor(max_workers=4) as pool:
        outcomes = list(pool.map(_native.run, [SCENARIO] * 8))
    assert all(outcome == alone for outcome in outcomes)


def test_bins_add_up_to_the_delivered_bytes():
    outcome = _native.run(SCENARIO)
    bins = pl.read_ipc_stream(io.BytesIO(outcome["tables"]["throughput"]))
    flows = pl.read_ipc_stream(io.BytesIO(outcome["tables"]["flows"]))
    assert bins["bytes"].sum() == flows["delivered_bytes"][0]


@pytest.mark.parametrize("seed", [-1, 2**63, 2**200])
def test_a_seed_out_of_range_is_a_mistake_with_its_range(seed: int):
    with pytest.raises(_native.ScenarioError, match="seed") as caught:
        _native.run(SCENARIO, seed=seed)
    assert caught.value.errors[0]["expected"]


def test_a_seed_replaces_the_scenarios():
    outcome = _native.run(SCENARIO, seed=99, overrides=["seed=5"])
    assert json.loads(outcome["manifest"])["seed"] == 99


def test_what_only_a_layer_can_refuse_is_found_by_check(tmp_path):
    (tmp_path / "bad.trace").write_text("not a number\n")
    text = SCENARIO.replace('rate = "10 Mbit/s"', 'rate = { trace = "bad.trace" }')
    for call in (_native.check, _native.run):
        with pytest.raises(_native.ScenarioError, match=r"bad\.trace"):
            call(text, base_dir=str(tmp_path))


def test_exceptions_survive_pickling_with_what_they_carry():
    with pytest.raises(_native.ScenarioError) as caught:
        _native.check("duration = 3")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.errors == caught.value.errors
    assert str(again) == str(caught.value)


def test_a_result_error_has_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "run"
    with pytest.raises(_native.ResultError) as caught:
        _native.run(SCENARIO, out=str(target))
    assert caught.value.path == str(target)
