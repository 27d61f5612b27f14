"""The summary tables of a run: every table is documented, and frames match the documentation."""

import json
from pathlib import Path

import polars as pl
import pytest

import fadeout
from conftest import ROOT, SCENARIO
from fadeout._columns import table_docs
from fadeout.cli.app import app

SUMMARIES = {name: table for name, table in table_docs().items() if table["always"]}

TRANSFER = 'application = { kind = "transfer", size = "100 kB" }\n'


WRONG = {"duration": "500 ms", "blockage-prediction.false-alarms": 1}
"""Settings with which a prediction follows every report."""


SHORT_HEADERS = {
    "duration": "1 s",
    "ue.phone.pdcp": {"name": "standard", "header-compression": "rohc"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[fadeout.Results]:
    """Returns runs that have rows of all tables between them, the multipath one first."""
    folder = tmp_path_factory.mktemp("runs")
    examples = ("multipath-wifi-lte", "dual-connectivity")
    short = {"duration": "1 s"}
    return [
        *(fadeout.run(ROOT / f"scenarios/{x}.toml", set=short, out=folder / x) for x in examples),
        fadeout.run(ROOT / "scenarios/lte-download.toml", set=SHORT_HEADERS, out=folder / "lte"),
        fadeout.run(ROOT / "scenarios/interruption.toml", set=short, out=folder / "interruption"),
        fadeout.run(ROOT / "scenarios/street-canyon.toml", set=WRONG, out=folder / "street-canyon"),
        fadeout.run(SCENARIO + TRANSFER + 'transport = "quic"\n', out=folder / "quic"),
        fadeout.run(SCENARIO + TRANSFER, out=folder / "transfer"),
    ]


def test_every_key_of_the_summary_is_a_documented_column_or_table(runs):
    keys = {table["key"]: table for table in SUMMARIES.values() if table["key"] is not None}
    for results in runs:
        assert results.folder is not None
        document = json.loads((results.folder / "summary.json").read_text(encoding="utf-8"))
        for key, table in keys.items():
            found = document.get(key) if key else document
            columns = {column["name"] for column in table["columns"]}
            inner = set(keys) - {""} if not key else set()
            if found is not None:
                assert columns <= set(found) <= columns | inner, key


def test_a_table_without_rows_has_no_file_and_is_a_frame_all_the_same(runs):
    transfer = runs[-1]
    assert not (transfer.folder / "interfaces.parquet").exists()
    for frame in (transfer.interfaces, transfer.scan("interfaces").collect()):
        assert len(frame) == 0
        assert frame.columns == transfer.doc("interfaces")["column"].to_list()


def test_a_table_that_the_manifest_lists_and_is_gone_is_an_error(tmp_path: Path):
    results = fadeout.run(SCENARIO + TRANSFER, out=tmp_path / "run")
    (tmp_path / "run" / "flows.parquet").unlink()
    with pytest.raises(fadeout.ResultError, match=r"flows\.parquet"):
        _ = fadeout.Results.open(tmp_path / "run").flows
    assert len(results.links) > 0


def test_a_run_in_memory_and_in_a_folder_has_the_same_rows(tmp_path: Path):
    kept = fadeout.run(SCENARIO + TRANSFER)
    written = fadeout.run(SCENARIO + TRANSFER, out=tmp_path / "run")
    saved = fadeout.Results.open(kept.save(tmp_path / "saved"))
    for name in SUMMARIES:
        assert kept.table(name).equals(written.table(name))
        assert kept.table(name).equals(saved.table(name))


def test_the_summary_is_short_however_many_flows_there_are(tmp_path: Path):
    many = SCENARIO + TRANSFER + "count = 500\n"
    results = fadeout.run(many, set={"duration": "100 ms"}, out=tmp_path / "run")
    assert len(results.flows) == 500
    assert (tmp_path / "run" / "summary.json").stat().st_size < 1000


def test_the_folder_of_an_earlier_version_is_named_as_such(tmp_path: Path):
    fadeout.run(SCENARIO, set={"duration": "100 ms"}, out=tmp_path / "run")
    path = tmp_path / "run" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"flows": []}))
    with pytest.raises(fadeout.ResultError, match="earlier version"):
        fadeout.Results.open(tmp_path / "run")


@pytest.mark.parametrize("name", list(SUMMARIES))
def test_a_frame_has_the_documented_columns_and_types(runs, name: str):
    docs = fadeout.Results.doc(name)
    kinds = {"f64": pl.Float64, "u32": pl.Int64, "u64": pl.Int64, "bool": pl.Boolean}
    for results in runs:
        frame = getattr(results, name)
        assert frame.columns == docs["column"].to_list()
        stated = [kinds.get(kind, pl.String) for kind in docs["type"]]
        assert list(frame.schema.values()) == stated
    assert any(len(getattr(results, name)) for results in runs)


@pytest.mark.parametrize("name", list(SUMMARIES))
def test_a_column_that_is_not_optional_has_a_value_in_every_row(runs, name: str):
    for column in SUMMARIES[name]["columns"]:
        for results in runs:
            missing = getattr(results, name)[column["name"]].null_count()
            assert missing == 0 or column.get("optional"), column["name"]


def test_the_paths_of_a_flow_add_up_to_it(runs):
    results = runs[0]
    for flow in results.flows.iter_rows(named=True):
        paths = results.paths.filter(pl.col("flow") == flow["flow"])
        assert len(paths) == 2
        for column in ("sent_segments", "retransmitted_segments", "timeouts"):
            assert paths[column].sum() == flow[column]
        assert paths["arrived_bytes"].sum() >= flow["delivered_bytes"]


def test_a_run_names_its_tables_and_each_is_an_attribute(runs):
    for results in runs:
        assert set(SUMMARIES) <= set(results.tables) <= set(dir(results))
        for name in results.tables:
            assert getattr(results, name).columns == results.doc(name)["column"].to_list()


def test_the_command_prints_the_paths_of_a_multipath_flow(cli):
    scenario = str(ROOT / "scenarios" / "multipath-wifi-lte.toml")
    result = cli.invoke(app, ["run", scenario, "--set", "duration=1 s", "--no-figures"])
    assert result.exit_code == 0, result.output
    printed = [line.split()[0] for line in result.output.splitlines() if line.strip()]
    assert {"download/0", "download/1"} <= set(printed)
