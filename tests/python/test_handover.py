"""Handover from Python: its tables, and the figure of it."""

from pathlib import Path

import pytest

import fadeout
from conftest import ROOT


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    # The first change of cell is behind it.
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
