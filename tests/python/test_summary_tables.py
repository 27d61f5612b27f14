"""The tables of `summary.json`: all of it is documented, and the frames are as documented."""

import json
from typing import Any

import polars as pl
import pytest

import fadeout
from conftest import ROOT, SCENARIO
from fadeout._columns import table_docs
from fadeout.cli import app

SUMMARIES = {name: table for name, table in table_docs().items() if table["place"] is not None}

TRANSFER = 'application = { kind = "transfer", size = "100 kB" }\n'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[fadeout.Results]:
    """Runs with a row of every table between them, the multipath one first."""
    folder = tmp_path_factory.mktemp("runs")
    examples = ("multipath-wifi-lte", "lte-download")
    short = {"duration": "1 s"}
    return [
        *(fadeout.run(ROOT / f"scenarios/{x}.toml", set=short, out=folder / x) for x in examples),
        fadeout.run(SCENARIO + TRANSFER, out=folder / "transfer"),
    ]


def objects(found: Any, place: list[str]) -> list[dict[str, Any]]:
    """The objects at `place`, by the documentation's rule."""
    for number, key in enumerate(place):
        if isinstance(found, list):
            return [row for each in found for row in objects(each, place[number:])]
        found = found.get(key, [])
    return found if isinstance(found, list) else [found]


def test_every_key_of_the_summary_is_a_documented_column_or_table(runs):
    places = [table["place"].split(".") if table["place"] else [] for table in SUMMARIES.values()]
    for results in runs:
        assert results.folder is not None
        document = json.loads((results.folder / "summary.json").read_text(encoding="utf-8"))
        for table, place in zip(SUMMARIES.values(), places, strict=True):
            columns = {column["name"] for column in table["columns"]}
            inner = {other[-1] for other in places if other[:-1] == place and other}
            for row in objects(document, place):
                assert columns <= set(row) <= columns | inner, place


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
