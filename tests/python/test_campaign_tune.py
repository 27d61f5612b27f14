"""Searches by Optuna."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fadeout import Campaign, ScenarioError
from fadeout.campaign.tune import read_range, tune
from fadeout.cli.app import app

# The goodput is best with a short delay and a queue that is long enough.
OVER = {
    "link.access.delay": "1..50 ms",
    "flow.congestion-control": "cubic,newreno",
    "link.access.queue.limit": "5..100 packets:log",
}


@pytest.fixture
def lossy(lossy: Path) -> Path:
    pytest.importorskip("optuna", reason="fadeout[tune] is not installed")
    return lossy


def search(scenario: Path, out: Path, **more: Any) -> Any:
    arguments: dict[str, Any] = {"seeds": 2, "trials": 10, **more}
    return tune(str(scenario), OVER, "goodput_mbps", out=out, **arguments)


def test_a_search_finds_the_best_of_what_it_tried_and_goes_on(lossy: Path, tmp_path: Path):
    first = search(lossy, tmp_path / "t", trials=6)
    whole = search(lossy, tmp_path / "t")
    alone = search(lossy, tmp_path / "alone", jobs=1)
    # Neither a continued search nor the number of workers changes the result.
    assert (whole.values, whole.score) == (alone.values, alone.score)
    assert whole.score.mean >= first.score.mean
    means = Campaign.open(tmp_path / "t").means("goodput_mbps")["goodput_mbps_mean"]
    assert whole.score.mean == pytest.approx(means.max())
    least = search(lossy, tmp_path / "t", maximise=False, trials=4)
    assert least.score.mean <= means.to_list()[0]


def test_what_is_searched_over_is_a_range_or_values():
    found = read_range("a", "10..1000 packets:log")
    assert (found.low, found.high, found.unit) == (10, 1000, "packets")  # pyright: ignore[reportAttributeAccessIssue]
    assert found.value(31.0) == "31 packets"  # pyright: ignore[reportAttributeAccessIssue]
    assert read_range("a", "cubic,bbr3") == ["cubic", "bbr3"]
    for text in ("9..1 ms", "5 ms", "1 s..5 ms", "0..1:log"):
        with pytest.raises(ScenarioError):
            read_range("a", text)


def test_the_command_prints_the_best_values(cli: CliRunner, lossy: Path):
    words = ["tune", str(lossy), "--over", "link.access.delay=1..50 ms", "--trials", "4"]
    words += ["--seeds", "2", "--out", "t", "--set", "duration=1 s"]
    result = cli.invoke(app, [*words, "--maximise", "goodput_mbps"])
    assert result.exit_code == 0, result.output
    assert "link.access.delay" in result.output and "best of 4 points" in result.output
    assert cli.invoke(app, words).exit_code == 2
