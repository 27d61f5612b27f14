import tomllib
from pathlib import Path

import polars as pl
import pytest

import fadeout
from conftest import ROOT, SCENARIO
from fadeout._columns import table_docs

TABLES = (
    "congestion",
    "throughput",
    "queues",
    "drops",
    "retransmissions",
    "timeouts",
    "flow_events",
    "blockages",
)


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    return fadeout.run(SCENARIO)


def test_a_run_fills_its_tables(results):
    for name in ("congestion", "throughput", "queues", "retransmissions", "blockages"):
        assert len(getattr(results, name)) > 0, name


def test_the_columns_of_every_table_are_the_documented_ones(results):
    for name in TABLES:
        assert getattr(results, name).columns == results.doc(name)["column"].to_list(), name


def test_every_column_is_documented_and_its_unit_agrees_with_its_name():
    suffixes = {"s": "_s", "Mbit/s": "_mbps", "bytes": "_bytes", "dB": "_db"}
    for table in table_docs().values():
        for column in table["columns"]:
            assert column["doc"].endswith("."), column
            suffix = suffixes.get(column["unit"], "")
            assert column["name"].endswith(suffix) or column["name"] == "bytes", column


def test_flows_and_links_are_called_by_their_names(results):
    assert results.flows["flow"].to_list() == ["download"]
    assert set(results.congestion["flow"].unique()) == {"download"}
    assert set(results.queues["link"].unique()) <= set(results.links["link"])


def test_the_goodput_is_the_delivered_bytes_over_the_duration(results):
    flow = results.flows.row(0, named=True)
    # The flow opens at zero and lasts until the end of the run.
    assert flow["goodput_mbps"] == pytest.approx(flow["delivered_bytes"] * 8e-6 / 2, rel=1e-9)
    assert results.throughput["bytes"].sum() == flow["delivered_bytes"]


def test_path_text_and_dict_are_the_same_scenario(results, scenario: Path):
    for source in (scenario, str(scenario), tomllib.loads(SCENARIO)):
        assert fadeout.run(source).fingerprint == results.fingerprint


def test_a_folder_holds_the_same_as_memory(results, scenario: Path, tmp_path: Path):
    written = fadeout.run(scenario, out=tmp_path / "run")
    opened = fadeout.Results.open(tmp_path / "run")
    for each in (written, opened):
        assert each.fingerprint == results.fingerprint
        for name in TABLES:
            assert each.table(name).equals(results.table(name)), name


def test_the_seed_moves_what_is_random():
    text = SCENARIO.replace('phase = "0.5 s"', 'phase = "random"')
    # With seed 1 the blockage takes both SYNs, and nothing is sent.
    first, again, other = (fadeout.run(text, seed=seed) for seed in (3, 3, 2))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert not first.blockages.equals(other.blockages)


def test_an_override_replaces_a_value():
    for given in ({"flow.congestion-control": "newreno"}, ["flow.congestion-control=newreno"]):
        assert fadeout.run(SCENARIO, set=given).flows["congestion_control"][0] == "newreno"


def test_a_string_for_the_overrides_is_refused():
    with pytest.raises(TypeError, match="key=value"):
        fadeout.run(SCENARIO, set="duration=1 s")


def test_a_mistake_says_where_what_and_what_was_meant():
    wrong = SCENARIO.replace('"cubic"', '"cubik"').replace('"10 ms"', '"10 parsecs"')
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(wrong)
    first, second = caught.value.errors
    assert first["line"] == 1 + wrong[: wrong.index("10 parsecs")].count("\n")
    assert first["expected"]
    assert "cubic" in (second["suggestion"] or "")
    assert isinstance(caught.value, fadeout.FadeoutError)


RADIO = """duration = "1 s"
[link.core]
from = "server"
to = "base"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.base]
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[ue.phone]
rlc = { mode = "um", t-reassembly = "33 ms" }
[flow.download]
from = "server"
to = "phone"
"""


@pytest.mark.parametrize(
    "refuse", [fadeout.check, fadeout.run, fadeout.Simulation], ids=lambda it: it.__name__
)
def test_what_only_a_layer_sees_has_its_place_too(refuse):
    with pytest.raises(fadeout.ScenarioError, match="t-Reassembly is 33 ms") as caught:
        refuse(RADIO)
    [mistake] = caught.value.errors
    assert mistake["line"] == RADIO[: RADIO.index("33 ms")].count("\n") + 1
    assert mistake["column"] == 1 + len('rlc = { mode = "um", t-reassembly = ')
    assert 'rlc = { mode = "um"' in mistake["rendered"]


def test_what_an_override_breaks_is_at_the_override():
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(RADIO, set=["ue.phone.rlc.t-reassembly=34 ms"])
    [mistake] = caught.value.errors
    assert mistake["file"] == "--set"


def test_a_folder_that_exists_is_refused_unless_forced(scenario: Path, tmp_path: Path):
    fadeout.run(scenario, out=tmp_path / "run")
    with pytest.raises(fadeout.ResultError, match="run"):
        fadeout.run(scenario, out=tmp_path / "run")
    fadeout.run(scenario, out=tmp_path / "run", force=True)


def test_a_folder_that_is_no_run_cannot_be_opened(tmp_path: Path):
    with pytest.raises(fadeout.ResultError, match=r"manifest|summary"):
        fadeout.Results.open(tmp_path)


def test_progress_is_reported_and_can_stop_a_run():
    seen = []

    def stop(state):
        seen.append(state)
        return False

    long = SCENARIO.replace('"2 s"', '"10000 s"')
    results = fadeout.run(long, progress=stop)
    assert len(seen) == 1
    assert {"time_s", "duration_s", "events", "packets", "wall_s"} <= set(seen[0])
    assert not results.is_complete
    assert "stopped" in repr(results)


def test_an_exception_in_progress_comes_through():
    def fail(_state):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fadeout.run(SCENARIO.replace('"2 s"', '"10000 s"'), progress=fail)


def test_a_mistyped_name_suggests_the_nearest(results):
    with pytest.raises(AttributeError, match="'congestion'"):
        results.congestoin  # noqa: B018
    with pytest.raises(AttributeError, match="'throughput'"):
        results.plot.troughput  # noqa: B018
    with pytest.raises(fadeout.ResultError, match="'queues'"):
        results.table("queue")


def test_a_table_that_was_not_recorded_says_so():
    results = fadeout.run(SCENARIO, set={"probe.queue": False})
    with pytest.raises(fadeout.ResultError, match="probe"):
        results.queues  # noqa: B018


def test_frames_keep_their_types_when_values_are_missing(results):
    assert results.flows.schema["flow_completion_time_s"] == pl.Float64


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_is_a_valid_scenario(path: Path):
    fadeout.check(path)
