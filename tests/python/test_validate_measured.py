"""Comparison with published measurements: the stored values, the entries and their judgement."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app
from fadeout.statistics import estimate
from fadeout.validate.measured import artefacts, judge, model
from fadeout.validate.measured.readings import READINGS

COPY = "entry,point,half,count,p10,median,p90\n"


def loaded() -> list[model.Entry]:
    stored = model.stored_references()
    return [model.load(name, stored) for name in model.names()]


@pytest.mark.parametrize("entry", loaded(), ids=model.names())
def test_every_entry_has_a_source_and_a_licence_and_a_scenario_that_loads(entry: model.Entry):
    assert entry.source.licence
    assert entry.source.stores in model.STORES
    assert len(entry.source.commit) == 40
    assert entry.network
    assert entry.assumed
    assert entry.name in artefacts.DERIVATIONS
    for point in entry.points:
        assert point.reading in READINGS
        fadeout.check(entry.scenario, set=point.settings or None)
    known = {"", *(point.name for point in entry.points)}
    assert set(entry.missing) <= known


def test_stored_values_belong_to_entries_whose_licence_allows_them():
    entries = {entry.name: entry for entry in loaded()}
    for path, stores in ((model.TABLES, "tables"), (model.FIGURES, "figures")):
        for (name, point), reference in model.read_references(path):
            assert entries[name].source.stores == stores
            assert point in {each.name for each in entries[name].points}
            assert reference.median is not None or reference.p90 is not None
            values = (reference.p10, reference.median, reference.p90)
            known = [value for value in values if value is not None]
            assert known == sorted(known)
    without = [entry for entry in entries.values() if entry.source.stores == "nothing"]
    assert without
    assert not any(point.references for entry in without for point in entry.points)


def test_a_parameter_is_never_judged_by_the_half_that_gave_it():
    entry = next(entry for entry in loaded() if entry.name == "rtt-drive")
    ours = estimate([10.0] * 5)
    for half, verdict in ((model.CHOSEN, "chosen from"), (model.HELD_OUT, "within")):
        reference = model.Reference(half, 100, None, 10.0, 20.0)
        row = judge.Row(entry, entry.points[0], reference, "median", 10.0, ours, 0.15)
        assert row.verdict == verdict


def test_an_error_beyond_its_tolerance_is_outside():
    entry = loaded()[0]
    reference = model.Reference(model.HELD_OUT, 100, None, 10.0, None)
    for ours, verdict in ((11.4, "within"), (8.6, "within"), (11.6, "outside"), (8.4, "outside")):
        interval = estimate([ours] * 5)
        row = judge.Row(entry, entry.points[0], reference, "median", 10.0, interval, 0.15)
        assert row.verdict == verdict


def test_the_halves_of_a_data_set_are_about_equal_and_fixed():
    units = [f"file.csv:{number}" for number in range(1000)]
    chosen = [unit for unit in units if model.half_of(unit) == model.CHOSEN]
    # 4 standard deviations of a fair coin, 1,000 times.
    assert abs(len(chosen) - 500) < 64
    assert [model.half_of(unit) for unit in ("a", "b")] == [model.CHOSEN, model.CHOSEN]
    assert model.half_of("e") == model.HELD_OUT


def test_quantiles_lie_between_values_linearly():
    assert artefacts.quantile([3.0, 1.0, 2.0], 0.5) == 2
    assert artefacts.quantile([1.0, 2.0], 0.25) == 1.25
    assert math.isnan(artefacts.quantile([], 0.5))


def test_an_entry_runs_end_to_end_with_few_seeds():
    found = judge.compare(judge.entries(["one-way-n78"], None), seeds=1)
    rows = {(row.point.name, row.quantity): row for row in found.rows}
    assert rows["uplink, configured grants", "median"].verdict == "within"
    assert rows["uplink, requests", "median"].verdict == "outside"
    assert rows["downlink", "median"].verdict == "chosen from"
    # The downlink waits for at most a slot and has the delay of the equipment, 3.65 ms.
    assert 4.5 < rows["downlink", "median"].ours.mean < 6
    assert found.headline() == "2 of 4 rows with held-out values are within the tolerances"


def test_a_copy_of_the_data_replaces_stored_values(tmp_path: Path):
    root = tmp_path / "DETERMINISTIC6G" / "deterministic6g_data"
    folder = root / "PD-Wireless-5G-2a" / "raw"
    folder.mkdir(parents=True)
    down, up = artefacts.HISTOGRAMS["2a"]
    # Half of the packets are in each of two bins, so that the median is the limit between them.
    (folder / down).write_text("4.0\t50\n5.0\t50\n")
    (folder / up).write_text("7.0 0.5\n8.0 0.5\n")
    entry = judge.entries(["one-way-n78"], tmp_path)[0]
    down_values, up_values, _ = (point.references[0] for point in entry.points)
    assert (down_values.half, down_values.median) == (model.CHOSEN, 5.0)
    assert (up_values.half, up_values.median) == (model.HELD_OUT, 8.0)
    assert (up_values.p10, up_values.p90) == (7.2, 8.8)


def test_copies_of_a_run_count_once(tmp_path: Path):
    folder = tmp_path / "zxr805" / "CICV5G" / "data" / "Urban road"
    folder.mkdir(parents=True)
    run = "pub_time(ms) sub_time(ms) delay(ms) x\n0 16 16 1\n50 68 18 1\n"
    for name in ("urban_n78_v20_run01.txt", "urban_n78_v20_run02.txt"):
        (folder / name).write_text(run)
    (folder / "urban_n8_v20_run01.txt").write_text(run.replace("16", "20"))
    points = judge.entries(["rtt-drive"], tmp_path)[0].points
    counts = {point.name: sum(each.count or 0 for each in point.references) for point in points}
    assert counts == {"n78": 2, "n8": 2}


def test_a_copy_that_is_not_as_expected_is_refused(tmp_path: Path):
    root = tmp_path / "DETERMINISTIC6G" / "deterministic6g_data"
    folder = root / "PD-Wireless-5G-2a" / "raw"
    folder.mkdir(parents=True)
    with pytest.raises(fadeout.FadeoutError, match="No such file"):
        judge.entries(["one-way-n78"], tmp_path)
    for name in artefacts.HISTOGRAMS["2a"]:
        (folder / name).write_text("<html>\n")
    with pytest.raises(fadeout.FadeoutError, match="is not as in commit 694effc0"):
        judge.entries(["one-way-n78"], tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entry,point\n", "expected the columns entry,point,half"),
        (COPY + "a,b,held-out,1\n", ":2: expected 7 cells, found 4"),
        (COPY + "a,b,heldout,1,1,2,3\n", ":2: unknown half 'heldout', did you mean 'held-out'"),
        ("# note\n" + COPY + "a,b,held-out,1,x,2,3\n", ":3: column p10: expected a number"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path: Path, text: str, message: str):
    path = tmp_path / "tables.csv"
    path.write_text(text)
    with pytest.raises(fadeout.FadeoutError) as caught:
        model.read_references(path)
    assert message in str(caught.value)


def command(*arguments: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["validate", "measured", *arguments])
    return found.exit_code, found.stdout, " ".join(found.stderr.replace("│", " ").split())


def test_wrong_options_are_refused(tmp_path: Path):
    status, _, errors = command("--only", "idel-lte")
    assert status == 2
    assert "did you mean 'idle-lte'" in errors
    status, _, errors = command("--data", str(tmp_path / "none"))
    assert status == 2
    assert "is no folder" in errors
    status, _, errors = command("--matrix")
    assert status == 2
    assert "measured has its own scenarios" in errors
    found = CliRunner().invoke(app, ["validate", "linux", "--json"])
    assert found.exit_code == 2


def test_entries_without_values_are_named_and_not_judged():
    status, text, _ = command("--only", "walk", "--json")
    assert status == 0
    document = json.loads(text)
    assert document["rows"] == []
    assert document["not-compared"][0]["entry"] == "walk-n78"
    assert "--data" in document["not-compared"][0]["why"]
