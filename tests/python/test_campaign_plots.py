"""Figures of a campaign show the numbers of its frames."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

import fadeout
from conftest import LOSSY
from fadeout.campaign.plots import label_of

RATES = ["2 Mbit/s", "5 Mbit/s"]
CONTROLS = ["cubic", "newreno"]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> fadeout.Campaign:
    return fadeout.sweep(
        LOSSY,
        {"link.access.rate": RATES, "flow.congestion-control": CONTROLS},
        seeds=5,
        set={"duration": "1 s"},
        out=tmp_path_factory.mktemp("plots") / "c",
    )


def bars(ax: Axes) -> list[ErrorbarContainer]:
    return [one for one in ax.containers if isinstance(one, ErrorbarContainer)]


def test_a_metric_is_drawn_by_a_key_with_its_means_and_intervals(campaign):
    (ax,) = campaign.plot.metric("goodput_mbps").axes
    assert ax.get_xlabel() == "link.access.rate (Mbit/s)"
    assert ax.get_ylabel() == "goodput (Mbit/s)"
    means = campaign.means("goodput_mbps")
    for control, drawn in zip(CONTROLS, bars(ax), strict=True):
        own = means.filter(pl.col("flow.congestion-control") == control)
        line, _, (intervals,) = drawn.lines
        assert line is not None
        assert drawn.get_label() == control
        assert np.asarray(line.get_xdata()).tolist() == [2.0, 5.0]
        assert np.asarray(line.get_ydata()).tolist() == own["goodput_mbps_mean"].to_list()
        ends = [np.asarray(each)[:, 1] for each in intervals.get_segments()]
        assert [low for low, _ in ends] == pytest.approx(own["goodput_mbps_low"].to_list())
        assert [high for _, high in ends] == pytest.approx(own["goodput_mbps_high"].to_list())


def test_small_multiples_share_an_axis_and_name_their_value(campaign):
    figure = campaign.plot.metric(x="congestion-control", panels="rate")
    assert [ax.get_title(loc="right") for ax in figure.axes] == [f"rate = {r}" for r in RATES]
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert [text.get_text() for text in first.get_xticklabels()] == CONTROLS


def test_a_distribution_ends_at_one_and_has_a_line_for_each_point(campaign):
    (ax,) = campaign.plot.cdf("goodput_mbps", where={"rate": "2 Mbit/s"}).axes
    assert len(ax.lines) == 2
    frame = campaign.frame().filter(pl.col("link.access.rate") == "2 Mbit/s")
    for control, line in zip(CONTROLS, ax.lines, strict=True):
        own = frame.filter(pl.col("flow.congestion-control") == control)["goodput_mbps"].sort()
        assert np.asarray(line.get_xdata())[1:].tolist() == own.to_list()
        assert np.asarray(line.get_ydata())[-1] == 1.0


def test_differences_are_those_of_the_comparison(campaign):
    figure = campaign.plot.differences("congestion-control", "cubic", "goodput_mbps")
    (ax,) = figure.axes
    table = campaign.compare("congestion-control", "cubic", "goodput_mbps")
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    found = [float(np.asarray(dot.get_xdata())[0]) for dot in dots]
    assert found == table["difference"].to_list()
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        f"{rate}, newreno" for rate in RATES
    ]


def test_axes_of_the_callers_own_take_one_panel(campaign):
    figure = Figure()
    ax = figure.subplots()
    assert isinstance(ax, Axes)
    assert campaign.plot.metric(ax=ax) is figure
    with pytest.raises(fadeout.ScenarioError, match="one panel"):
        campaign.plot.metric(panels="rate", ax=ax)


def test_wrong_names_suggest_the_right_ones(campaign):
    for call in (
        lambda: campaign.plot.metric("goodput_mbp"),
        lambda: campaign.plot.metric(x="congestion-contrl"),
        lambda: campaign.plot.cdf(where={"rate": "3 Mbit/s"}),
    ):
        with pytest.raises(fadeout.ScenarioError, match=r"did you mean|one of"):
            call()


def test_a_notebook_shows_the_means_and_a_figure(campaign, tmp_path: Path):
    shown = campaign._repr_html_()
    assert "4 points, 20 of 20 runs done" in shown
    assert "<table" in shown
    assert campaign.plot._repr_png_().startswith(b"\x89PNG")
    empty = fadeout.Campaign({"scenario": LOSSY, "seeds": 1}, tmp_path / "none")
    assert "was not run yet" in empty._repr_html_()


def test_metrics_have_words_and_units():
    assert label_of("mean_rtt_s") == "mean RTT (s)"
    assert label_of("queues.delay_s:p99") == "queues delay p99 (s)"
    assert label_of("goodput_mbps[bulk]") == "goodput of bulk (Mbit/s)"
    assert label_of("retransmitted_segments") == "retransmitted segments"
