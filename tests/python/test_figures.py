"""Figures say what they show: which run, how many of how many, until when; and can be changed."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import fadeout
from conftest import ROOT, SCENARIO
from fadeout.plot.panels import traffic_end_s

TRANSFER = 'application = { kind = "transfer", size = "300 kB" }\n'


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    return fadeout.run(SCENARIO)


@pytest.fixture(scope="module")
def multipath() -> fadeout.Results:
    path = ROOT / "scenarios" / "multipath-outage.toml"
    return fadeout.run(path, set={"duration": "3 s"})


def texts(figure: Figure) -> str:
    found = [text.get_text() for text in figure.texts]
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is not None:
            found += [legend.get_title().get_text(), *(t.get_text() for t in legend.get_texts())]
        found += [ax.get_title(), ax.get_title(loc="left")]
    return "\n".join(found)


def test_a_figure_carries_title_seed_and_fingerprint_and_its_file_too(results, tmp_path: Path):
    shown = texts(results.plot.congestion())
    assert "two seconds over ten megabits" in shown
    assert f"seed 3, fingerprint {results.fingerprint}" in shown
    (path,) = results.plot.save(tmp_path, ["rtt"])
    assert results.fingerprint.encode() in path.read_bytes()


def test_title_and_size_are_the_callers(results):
    figure = results.plot.rtt(title="mine", size=(6, 2))
    assert texts(figure).startswith("mine")
    assert tuple(figure.get_size_inches()) == (6, 2)
    assert "two seconds" not in texts(results.plot.rtt(title=""))


def test_axes_of_the_callers_own_are_drawn_into(results):
    figure = Figure()
    axes = list(figure.subplots(2, 1))
    assert results.plot.rtt(ax=axes[0]) is figure
    assert results.plot.queue(ax=axes[1], title="the queue") is figure
    assert all(ax.lines for ax in axes)
    assert "fingerprint" not in texts(figure)
    assert "the queue" in texts(figure)
    with pytest.raises(ValueError, match="4 panels"):
        results.plot.overview(ax=axes)
    four = list(Figure().subplots(4, 1))
    assert results.plot.overview(ax=four) is four[0].figure


def test_what_is_returned_can_be_changed(results):
    figure = results.plot.congestion()
    figure.axes[0].set_yscale("log")
    figure.axes[0].lines[0].set_color("black")
    assert figure.axes[0].get_yscale() == "log"


def test_a_notebook_shows_a_figure_and_the_plots(results):
    for shown in (results.plot.rtt(), results.plot):
        assert shown._repr_png_().startswith(b"\x89PNG")
    before = dict(mpl.rcParams)
    results.plot.rtt()
    assert dict(mpl.rcParams) == before, "no global state is touched"


def test_many_flows_are_counted_and_their_thresholds_have_a_legend():
    results = fadeout.run(SCENARIO, set={"flow.download.count": 12})
    for name in ("congestion", "throughput", "rtt"):
        assert "8 of 12 flows" in texts(getattr(results.plot, name)())
    assert "ssthresh" in texts(results.plot.congestion())
    chosen = [f"download-{number}" for number in range(10)]
    figure = results.plot.rtt(flows=chosen)
    assert " of " not in texts(figure)
    lines = figure.axes[0].lines
    assert len(lines) == 10
    assert len({(line.get_color(), str(line.get_linestyle())) for line in lines}) == 10


def test_a_few_flows_are_not_counted(results):
    assert " of " not in texts(results.plot.congestion()).replace("of download", "")


def test_the_time_axis_ends_where_the_traffic_does(results):
    short = fadeout.run(SCENARIO + TRANSFER, set={"duration": "30 s"})
    end = short.flows["completed_at_s"][0]
    for ax in short.plot.overview().axes:
        assert ax.get_xlim() == (0, pytest.approx(end * 1.03))
    assert traffic_end_s(results) == 2


def test_the_paths_of_a_multipath_flow_are_drawn(multipath):
    for name in ("congestion", "rtt"):
        figure = getattr(multipath.plot, name)()
        shown = texts(figure)
        assert "download/0" in shown
        assert "download/1" in shown
        for line in figure.axes[0].lines[:1]:
            assert len(np.asarray(line.get_xdata())) > 10
    assert "goodput" in texts(multipath.plot.throughput(flows=["download"]))
