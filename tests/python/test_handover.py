"""Handovers from Python: their tables and their figure."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

import fadeout
from conftest import ROOT
from fadeout.drives import serving
from fadeout.mobility import _failures, _stays
from fadeout.plot import MOST_PAGES
from fadeout.plot.cells import cell_colors


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    # The time includes the first change of cell.
    return fadeout.run(ROOT / "scenarios/handover.toml", set={"duration": "22 s"})


def test_a_change_of_cell_has_a_row_with_the_times_of_its_steps(results: fadeout.Results):
    (row,) = results.handovers.head(1).to_dicts()
    steps = ["triggered_s", "commanded_s", "left_s", "entered_s", "completed_s", "switched_s"]
    times = [row[step] for step in steps]
    assert times == sorted(times)
    assert len(results.measurements) > 0
    assert len(results.rrc) > 0


def test_its_figure_has_labels_with_units_and_can_be_saved(
    results: fadeout.Results, tmp_path: Path
):
    assert "handover" in results.plot.available()
    figure = results.plot.handover()
    assert "(s)" in figure.axes[-1].get_xlabel()
    figure.savefig(tmp_path / "handover.png")
    assert (tmp_path / "handover.png").stat().st_size > 10_000


def test_the_figure_of_one_change_has_arrows_between_lanes_and_durations(
    results: fadeout.Results,
):
    row = results.handovers.row(0, named=True)
    figure = results.plot.handover()
    assert f"change of cell 1 of {len(results.handovers)}: phone: west → middle" in (
        figure.get_suptitle().replace("\n", " ")
    )
    lanes = next(ax for ax in figure.axes if "UE" in [t.get_text() for t in ax.get_yticklabels()])
    texts = [text.get_text() for text in lanes.texts]
    preparation_ms = 1e3 * (row["commanded_s"] - row["triggered_s"])
    assert f"preparation {preparation_ms:.3g} ms" in texts
    assert "command received" in texts
    arrows = [
        (text.arrow_patch, text.xy)
        for text in lanes.texts
        if isinstance(text, Annotation) and not text.get_text()
    ]
    arrived = results.rrc.filter(pl.col("event") == "command-received")["time_s"][0]
    assert (arrived, 1.0) in [xy for _, xy in arrows]
    low, high = lanes.get_xlim()
    assert low < row["triggered_s"] < row["switched_s"] < high < low + 1
    whole = results.plot.handover("all").axes[0].get_xlim()
    assert whole == (0, 22)


def test_each_change_of_cell_is_a_file(results: fadeout.Results, tmp_path: Path):
    names = [name for name, _ in results.plot._pages("handover")]
    count = min(len(results.handovers), MOST_PAGES)
    assert names == ["handover", *(f"handover-{number}" for number in range(2, count + 1))]
    with pytest.raises(ValueError, match="got number 98"):
        results.plot.save(tmp_path, ["handover-99"])
    with pytest.raises(ValueError, match="unknown figure"):
        results.plot.save(tmp_path, ["handover-x"])


def test_the_map_has_paths_in_the_colours_of_the_cells_that_served(results: fadeout.Results):
    (ax,) = results.plot.map().axes
    colors = cell_colors(results)
    served = {cell for _, cell in serving(results)["phone"] if cell}
    lines = [one for one in ax.collections if isinstance(one, LineCollection)]
    drawn = {to_hex(np.asarray(one.get_colors())[0]).upper() for one in lines}
    assert {colors[cell] for cell in served} <= drawn
    assert {"west", "middle", "east", "phone"} <= {text.get_text() for text in ax.texts}
    # The phone starts at the mast of its first cell.
    (start,) = [one for one in ax.collections if not isinstance(one, LineCollection)]
    assert np.asarray(start.get_offsets()).tolist() == [[50.0, 40.0]]
    assert to_hex(np.asarray(start.get_facecolor())[0]).upper() == colors["west"]


def test_the_overview_has_the_serving_cell_above_the_rate(results: fadeout.Results):
    labels = [ax.get_ylabel() for ax in results.plot.overview().axes]
    assert labels.index("Cell") < labels.index("Goodput (Mbit/s)")
    assert "RLC buffer (kB)" in labels


def test_without_mobility_management_there_is_no_such_figure():
    plain = fadeout.run(ROOT / "scenarios/lte-download.toml", set={"duration": "1 s"})
    assert "handover" not in plain.plot.available()
    with pytest.raises(fadeout.ResultError):
        plain.plot.handover()


def test_a_handover_between_links_has_a_row_and_a_figure(tmp_path: Path):
    results = fadeout.run(ROOT / "scenarios/inter-rat.toml", set={"duration": "93 s"})
    (row,) = results.link_handovers.to_dicts()
    assert row["source"] == "lte"
    assert row["target"] == "umts"
    assert row["node"] == "phone"
    assert row["forwarded_waiting"] > 40
    assert "handover" in results.plot.available()
    figure = results.plot.handover(0)
    assert [ax.get_ylabel() for ax in figure.axes][1] == "Data (MB)"
    assert "change of link 1 of 1: phone: lte → umts, success" in figure.get_suptitle()
    lane = figure.axes[0]
    names = [label.get_text() for label in lane.get_yticklabels()]
    assert names == ["duration", "source", "target", "anchor"]
    texts = [text for text in lane.texts if isinstance(text, Annotation)]
    assert "nothing sent 100 ms" in {text.get_text() for text in texts}
    # Arrows have no text: source to target, target to anchor, and the end marker.
    assert sum(not text.get_text() for text in texts) == 3
    figure.savefig(tmp_path / "handover.png")
    assert (tmp_path / "handover.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="there are 1 changes of cell; got number 1"):
        results.plot.handover(1)


def test_a_change_of_cell_has_the_flows_of_its_ue_only():
    settings = {"ue.phone.count": 2, "duration": "2 s"}
    attached = fadeout.run(ROOT / "scenarios/attach.toml", set=settings)
    figure = attached.plot.handover(0)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["duration", "UE", "target", "core"], "a UE that attaches has no source"
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert "search and access" in texts
    # With one flow the legend names the lines, and not the flow.
    legend = figure.axes[1].get_legend()
    assert legend is not None
    assert "cwnd" in {text.get_text() for text in legend.get_texts()}


def test_no_cell_serves_a_ue_before_its_initial_attach():
    settings = {"ue.phone.count": 2, "duration": "2 s"}
    attached = fadeout.run(ROOT / "scenarios/attach.toml", set=settings)
    for steps in serving(attached).values():
        assert steps[0] == (0.0, None)
        assert steps[-1][1] == "station"
        assert steps[-1][0] > 1.0
    settings["duration"] = "1.05 s"
    with pytest.warns(UserWarning, match="not attached by the end of the run"):
        unattached = fadeout.run(ROOT / "scenarios/attach.toml", set=settings)
    assert serving(unattached) == {"phone-0": [(0.0, None)], "phone-1": [(0.0, None)]}


def change(
    source: str, target: str, completed_s: float, outcome: str = "success"
) -> dict[str, Any]:
    return {
        "procedure": "handover",
        "outcome": outcome,
        "source": source,
        "target": target,
        "completed_s": completed_s,
    }


def test_a_stay_shorter_than_the_least_is_a_ping_pong_if_the_ue_goes_back():
    there_and_back = [change("a", "b", 1.0), change("b", "a", 1.5)]
    assert _stays(there_and_back, 1.0) == (1, 0)
    assert _stays(there_and_back, 0.5) == (0, 0), "as long as the least is no ping-pong"
    onwards = [change("a", "b", 1.0), change("b", "c", 1.9), change("c", "b", 2.0)]
    assert _stays(onwards, 1.0) == (1, 1)
    # After a failure the time of stay is not known. A refused handover changes nothing.
    failed = [change("a", "b", 1.0), change("b", "c", 1.5, "failed"), change("b", "a", 1.9)]
    assert _stays(failed, 1.0) == (0, 0)
    refused = [change("a", "b", 1.0), change("b", "c", 1.5, "refused"), change("b", "a", 1.9)]
    assert _stays(refused, 1.0) == (1, 0)


@pytest.mark.parametrize(
    ("ways", "ping_pongs", "short_stays"),
    [
        # The values are those of pingpong_1, pingpong_2, pingpong_equal_mts and pingpong_chain in
        # the handover test vectors. The vectors' short stays include ping-pongs.
        ([("b", 10), ("a", 10.6), ("b", 12), ("c", 12.5), ("b", 13.4)], 2, 3),
        ([("b", 0), ("a", 0.4), ("b", 0.8)], 2, 2),
        ([("b", 5), ("a", 6)], 0, 0),
        ([("b", 1), ("c", 1.3), ("a", 1.6)], 0, 2),
    ],
)
def test_stays_are_counted_as_the_sheet_has_them(ways, ping_pongs, short_stays):
    cells = ["a", *(cell for cell, _ in ways)]
    changes = [
        change(source, target, at) for source, (target, at) in zip(cells, ways, strict=False)
    ]
    assert _stays(changes, 1.0) == (ping_pongs, short_stays - ping_pongs)


def test_a_failure_is_of_the_state_that_the_report_says():
    state_1 = [("a", "link-failure")]
    state_2 = [("b", "condition-entered"), ("b", "report-sent"), ("a", "link-failure")]
    left = [("b", "condition-entered"), ("b", "condition-left"), ("a", "link-failure")]
    state_3 = [("b", "condition-entered"), ("b", "command-received"), ("b", "access-failure")]
    assert _failures(state_1) == [1, 0, 0]
    assert _failures(state_2) == [0, 1, 0]
    assert _failures(left) == [1, 0, 0]
    assert _failures(state_3) == [0, 0, 1]
    # A re-establishment that fails does not count as a failed handover.
    assert _failures([*state_1, ("b", "cell-selected"), ("b", "access-failure")]) == [1, 0, 0]
    well = [*state_3[:2], ("b", "access-done"), ("b", "link-failure")]
    assert _failures(well) == [1, 0, 0]


def test_the_metrics_of_the_example(results: fadeout.Results):
    (row,) = fadeout.handover_metrics(results).iter_rows(named=True)
    changes = results.table("handovers").filter(
        pl.col("outcome").cast(pl.String) == "success",
        pl.col("procedure").cast(pl.String) == "handover",
    )
    assert row["handovers"] == len(changes)
    assert row["ping_pongs"] <= row["handovers"]
    assert row["downlink_gap_s"] == pytest.approx(changes["downlink_gap_s"].mean())
    (of_ue,) = fadeout.handover_metrics(results, per_ue=True).iter_rows(named=True)
    assert of_ue == {"ue": "phone", **row}
    with pytest.raises(ValueError, match="expected a time"):
        fadeout.handover_metrics(results, minimum_stay="soon")


NEVER_ATTACHED = {"mobility-management.q-rx-lev-min": "-40 dBm", "duration": "2 s"}


def test_ues_that_never_attach_are_warned_of_behind_the_run():
    said = 'UEs "phone-0", "phone-1" and 38 more: not attached by the end of the run.*q-rx-lev-min'
    with pytest.warns(UserWarning, match=said):
        results = fadeout.run(ROOT / "scenarios/attach.toml", set=NEVER_ATTACHED)
    assert results.is_complete
    simulation = fadeout.Simulation(ROOT / "scenarios/attach.toml", set=NEVER_ATTACHED)
    simulation.advance(math.inf)
    # If the warning is an exception, it has the results.
    with pytest.raises(UserWarning, match=said) as caught:
        simulation.finish()
    warning: Any = caught.value
    assert warning.results.fingerprint == results.fingerprint
    # A run that ends early gives no warning, as the rest is not known.
    simulation = fadeout.Simulation(ROOT / "scenarios/attach.toml", set=NEVER_ATTACHED)
    simulation.advance(0.5)
    assert not simulation.finish().is_complete
