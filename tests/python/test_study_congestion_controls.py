import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from fadeout import _native
from fadeout.cli.app import app
from fadeout.plot.labels import Label, place_labels
from fadeout.results import Results
from fadeout.studies.congestion_controls import study
from fadeout.studies.congestion_controls.runs import LINKS, PAGE, chance, entrants, fairness
from fadeout.study import Numbers

ALGORITHM = "flow.tested.congestion-control"


def test_every_congestion_control_of_the_registry_is_compared():
    kinds = {kind["name"]: kind["entries"] for kind in json.loads(_native.catalog())["kinds"]}
    names = {entry["name"] for entry in kinds["congestion-control"]}
    compared = entrants()
    algorithms = {entrant.name: entrant.values[ALGORITHM] for entrant in compared}
    assert set(algorithms.values()) == names
    assert len(algorithms) == len(compared)
    marked = {algorithm for name, algorithm in algorithms.items() if name != algorithm}
    assert marked == {"dctcp", "prague"}


def test_a_pair_of_seeds_exchanges_the_starts():
    for odd in (1, 3, 5):
        one, other = chance(odd), chance(odd + 1)
        assert one["link.path.delay"] == other["link.path.delay"]
        assert one["flow.tested.start"] == other["flow.cubic.start"]
        assert one["flow.cubic.start"] == other["flow.tested.start"]
    assert chance(1) != chance(3)


def test_jains_index_of_two():
    # Jain, Chiu, Hawe (1984): (sum x)^2 / (n sum x^2).
    assert fairness(5.0, 5.0)["jain"] == pytest.approx(1.0)
    assert fairness(1.0, 0.0)["jain"] == pytest.approx(0.5)
    assert fairness(3.0, 1.0) == pytest.approx(
        {"jain": 0.8, "share_pct": 75.0, "tested_mbps": 3.0, "cubic_mbps": 1.0}
    )


def test_the_study_compares_all_on_all_links(cli: CliRunner, spend: Callable[..., None]):
    spend("congestion-controls", seeds=2, duration_s=1)
    command = ["study", "congestion-controls", "--quick", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    compared = entrants()
    for link in LINKS:
        assert PAGE.titles[link.name] in result.stdout
        rows = found[link.name]
        assert [row["algorithm"] for row in rows] == [entrant.name for entrant in compared]
        for row in rows:
            assert 0 < row["goodput_mbps_mean"] < 100, row
            # At least the base round trip less 5 %.
            assert row["rtt_p95_ms_mean"] > 38, row
            assert 0.5 <= row["jain_mean"] <= 1.0 + 1e-12, row
            assert row["seeds"] == 2
        table = pl.read_parquet(f"study/tables/{link.name}.parquet")
        assert table["algorithm"].to_list() == [row["algorithm"] for row in rows]
    # Two seeds, each alone and with CUBIC, give one line a pair.
    assert len(pl.read_csv("study/tables/runs.csv")) == 2 * len(LINKS) * len(compared)
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report


def test_a_stopped_study_reports_what_was_done(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    spend("congestion-controls", seeds=2, duration_s=1)
    finished = itertools.count(1)
    measure = study.measure

    def stop_later(results: Results) -> Numbers:
        if next(finished) == 100:
            raise KeyboardInterrupt
        return measure(results)

    monkeypatch.setattr(study, "measure", stop_later)
    command = ["study", "congestion-controls", "--quick", "-j1", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 130, result.output
    assert "stopped early" in result.stderr
    found = json.loads(Path("study/results.json").read_text())
    assert "stopped early" in found["runs"]
    assert found["clean"][0]["goodput_mbps_mean"] > 0
    assert found["clean"][0]["goodput_mbps_ci95"] is None
    assert "blocked-lost" not in found


def test_names_of_a_crowd_overlap_neither_each_other_nor_the_points():
    figure = Figure(figsize=(3.5, 2.6), dpi=200)
    ax = figure.subplots()
    # Many points in a corner, some at one place, and a few apart.
    places = [(80 + 0.3 * (i % 4), 94 + 0.2 * (i % 3)) for i in range(15)]
    places += [(40, 60), (45, 90), (70, 20)]
    ax.plot(*zip(*places, strict=True), "o", markersize=3.6)
    ax.set_xlim(35, 85)
    ax.set_ylim(10, 100)
    names = [f"algorithm-{i}" for i in range(len(places))]
    labels = [Label(x, y, name, "black") for (x, y), name in zip(places, names, strict=True)]
    figure.draw_without_rendering()
    place_labels(figure, ax, labels)
    assert sorted(text.get_text() for text in ax.texts) == sorted(names)
    boxes = [text.get_window_extent() for text in ax.texts]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    points = ax.transData.transform(places)
    for box in boxes:
        assert ax.bbox.containsx(box.x0)
        assert ax.bbox.containsx(box.x1)
        assert not any(box.contains(*point) for point in np.asarray(points))
