"""Handovers from Python: their tables and their figure."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fadeout
from conftest import ROOT
from fadeout.mobility import _failures, _stays


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
    figure.savefig(tmp_path / "handover.png")
    assert (tmp_path / "handover.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="there are 1 changes of cell; got number 1"):
        results.plot.handover(1)


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
