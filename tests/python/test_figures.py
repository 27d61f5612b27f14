"""Figures state their run, the number of flows and the end time, and can be changed."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from typer.testing import CliRunner

import fadeout
from conftest import ROOT, SCENARIO
from fadeout.cli.app import app
from fadeout.plot.panels import has_short_flows, traffic_end_s
from fadeout.plot.style import OTHERS, PALETTE, legend_above, new_figure

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


def test_a_legend_does_not_cover_the_axes_above(results):
    figure = Figure(figsize=(5, 4))
    axes = list(figure.subplots(2, 1))
    results.plot.congestion(ax=axes[0])
    results.plot.rtt(ax=axes[1])
    figure.draw_without_rendering()
    for ax in axes:
        legend = ax.get_legend()
        assert legend is not None
        assert legend.get_window_extent().y1 <= ax.get_window_extent().y1


def test_the_last_window_is_drawn_to_the_end_of_the_run(results):
    figure = results.plot.throughput(window="1 s")
    assert "1 s mean" in texts(figure)
    assert np.asarray(figure.axes[0].lines[0].get_xdata())[-1] == results.duration_s


def test_the_text_of_a_vector_figure_is_text(results, tmp_path: Path):
    (path,) = results.plot.save(tmp_path, ["congestion"], "svg")
    text = path.read_text(encoding="utf-8")
    assert ">Window (segments)</text>" in text


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


def test_flows_that_have_no_name_are_grey_and_those_that_sent_most_have_one():
    text = SCENARIO + TRANSFER.replace("300 kB", "30 kB")
    more = text[text.index("[flow.") :].replace("download", "large").replace("30 kB", "3 MB")
    results = fadeout.run(text + "\n" + more, set={"flow.download.count": 12})
    figure = results.plot.congestion()
    assert "large" in texts(figure)
    grey = [line for line in figure.axes[0].lines if line.get_color() == OTHERS["color"]]
    assert len(grey) == 13 - 8


@pytest.mark.parametrize(
    "labels",
    [
        ["core", "hspa/downlink", "hspa/uplink", "drop: queue-full"],
        ["a", "a much longer name of a link", "b", "c", "drop: buffer-full"],
    ],
)
def test_a_legend_whose_columns_do_not_come_out_even_fits_its_axes(labels: list[str]):
    with new_figure(height=2.0) as (figure, (ax,)):
        for label in labels:
            ax.plot([0, 1], [0, 1], label=label)
        ax.set_ylabel("Queue (packets)")
        legend_above(ax, 4)
        figure.draw_without_rendering()
        legend = ax.get_legend()
        assert legend is not None
        assert legend.get_window_extent().x1 <= ax.get_window_extent().x1


def test_a_legend_fits_its_axes_and_names_a_line_once(multipath):
    figure = multipath.plot.overview()
    figure.draw_without_rendering()
    right = figure.bbox.x1
    names = []
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is not None:
            assert legend.get_window_extent().x1 <= right
            names += [text.get_text() for text in legend.get_texts()]
    assert len(names) == len(set(names))


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory as Linux counts it")
def test_a_walk_with_its_figures_needs_little_memory(tmp_path: Path):
    scenario = ROOT / "scenarios/mmwave-walk.toml"
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'fadeout', *sys.argv[1:]], check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, "run", str(scenario), "--out", str(tmp_path / "out")]
    short = ["--set", "duration=8 s", "--quiet"]
    done = subprocess.run([*command, *short], capture_output=True, text=True, check=True)
    # The process takes 185 MB, and 130 MB of them are libraries. For 25 s, whole tables in memory
    # took 665 MB. For 8 s they need 130 MB and 8/25 of the other 535 MB: 301 MB.
    assert int(done.stdout.split()[-1]) / 1024 < 250


def test_the_first_lines_differ_in_grey_too():
    def lightness(colour: str) -> float:
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                            for c in to_rgb(colour))  # fmt: skip
        return 116 * (0.2126 * red + 0.7152 * green + 0.0722 * blue) ** (1 / 3) - 16

    levels = sorted(lightness(colour) for colour in PALETTE[:4])
    # A difference of about ten in CIE's L* is visible at a glance.
    assert min(high - low for low, high in pairwise(levels)) > 10


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


def test_the_data_of_short_flows_take_the_place_of_their_rate():
    assert not has_short_flows(
        fadeout.run(SCENARIO + TRANSFER, set={"flow.download.application.size": "1500 kB"})
    )
    brief = fadeout.run(SCENARIO + TRANSFER, set={"flow.download.application.size": "20 kB"})
    assert brief.flows["completed_at_s"][0] < 1
    labels = [ax.get_ylabel() for ax in brief.plot.overview().axes]
    assert labels[0] == "Acknowledged (kB)"
    assert "Goodput (Mbit/s)" not in labels
    assert "throughput" not in brief.plot.available()


def test_data_in_flight_are_drawn_if_the_window_does_not_limit_the_sender(results):
    assert "in flight" not in texts(results.plot.congestion())
    limited = fadeout.run(SCENARIO, set={"flow.download.tcp.receive-window": 20_000})
    assert "in flight" in texts(limited.plot.congestion())


def test_a_run_of_another_version_and_a_missing_table_are_named(tmp_path: Path):
    results = fadeout.run(SCENARIO, out=tmp_path / "run")
    path = tmp_path / "run/congestion.parquet"
    pl.read_parquet(path).drop("cwnd_segments", "srtt_s").write_parquet(path)
    old = fadeout.Results.open(tmp_path / "run")
    with pytest.raises(fadeout.ResultError, match="congestion of this run has no column cwnd_"):
        old.plot.congestion()
    with pytest.raises(fadeout.ResultError, match=r"--set probe\.transport-blocks=true"):
        results.plot.sinr()
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run"), "congestion"])
    assert done.exit_code == 1
    assert "run the scenario again" in " ".join(done.stderr.split())
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run")])
    assert "no column srtt_s" in " ".join(done.stderr.split())
    path.write_bytes(b"PAR1")
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert "congestion" in done.stderr
    assert "Traceback" not in done.stderr
