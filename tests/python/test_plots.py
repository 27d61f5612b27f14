from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import fadeout
from conftest import SCENARIO
from fadeout._thinning import thin
from fadeout.plot import NAMES
from fadeout.plot.panels import MOST_POINTS, merged_intervals, rebin


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    return fadeout.run(SCENARIO)


DATAGRAMS = ("datagrams", "latency")
RADIO = ("sinr", "buffer", "delay")
"""Names of figures of runs with a radio access."""

CELL = """
    duration = "1 s"
    [link.core]
    from = "server"
    to = "base"
    rate = "1 Gbit/s"
    delay = "5 ms"
    [cell.base]
    radio = "lte"
    carrier = "2 GHz"
    bandwidth = "20 MHz"
    channel = { path-loss = "uma" }
    [ue.phone]
    position = ["100 m", "0 m"]
    [flow.download]
    from = "server"
    to = "phone"
    [probe]
    transport-blocks = true
    radio-delay = true
"""


@pytest.fixture(scope="module")
def radio_results() -> fadeout.Results:
    return fadeout.run(CELL)


@pytest.mark.parametrize("name", RADIO)
def test_every_figure_of_the_radio_access_has_labels_with_units(radio_results, name):
    figure = getattr(radio_results.plot, name)()
    for ax in figure.axes:
        assert "(" in ax.get_ylabel()
        assert ax.get_legend() is not None
    assert "(s)" in figure.axes[-1].get_xlabel()
    assert name in radio_results.plot.available()


@pytest.mark.parametrize("name", RADIO)
def test_a_figure_of_the_radio_access_needs_one(results, name):
    assert name not in results.plot.available()
    with pytest.raises(fadeout.ResultError, match="probe"):
        getattr(results.plot, name)()


def test_the_parts_of_a_delay_add_up_to_what_tcp_sees(radio_results):
    # Downlink and uplink delays make up the round trip, except the core's 10 ms.
    parts = radio_results.table("radio_delay")
    names = [column for column in parts.columns if column.endswith("_s") and column != "time_s"]
    delays = parts.with_columns(pl.sum_horizontal(names).alias("delay_s"))
    means = delays.group_by("direction").agg(pl.col("delay_s").mean())
    radio_s = means["delay_s"].sum()
    rtt_s = radio_results.flows["mean_rtt_s"][0]
    # Means over packets and over samples differ, as some ACKs acknowledge two packets.
    assert radio_s + 0.010 == pytest.approx(rtt_s, rel=0.25)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if name not in ("completions", "drive", "handover", "legs", "map", *DATAGRAMS, *RADIO)
    ],
)
def test_every_figure_has_labels_with_units_and_the_blockages(results, name, tmp_path: Path):
    figure = getattr(results.plot, name)()
    assert isinstance(figure, Figure)
    for ax in figure.axes:
        assert "(" in ax.get_ylabel()
        # There are two blockages, with one shaded patch each.
        assert len(ax.patches) == 2
    assert "(s)" in figure.axes[-1].get_xlabel()
    path = tmp_path / f"{name}.png"
    figure.savefig(path)
    assert path.stat().st_size > 5_000


def test_only_what_was_recorded_is_drawn(tmp_path: Path):
    results = fadeout.run(SCENARIO, set={"probe.queue": False})
    assert "queue" not in results.plot.available()
    assert len(results.plot.overview().axes) == 3
    with pytest.raises(fadeout.ResultError, match="probe"):
        results.plot.queue()


def test_a_run_without_flows_is_drawn(tmp_path: Path):
    with pytest.warns(UserWarning, match="no flow"):
        results = fadeout.run(SCENARIO.partition("[flow.")[0])
    assert results.plot.save(tmp_path)


def test_many_flows_are_drawn_and_a_wrong_name_suggests():
    results = fadeout.run(SCENARIO, set={"flow.download.count": 12})
    assert results.plot.congestion().axes[0].get_legend() is not None
    with pytest.raises(fadeout.ResultError, match="'download-3'"):
        results.plot.congestion(flows=["downlaod-3"])


@pytest.mark.parametrize("window", ["0 ms", "-1 s", "fast", "100", 0.0])
def test_a_window_that_is_no_length_of_time_is_refused(results, window):
    with pytest.raises(ValueError, match="expected a time"):
        results.plot.throughput(window=window)


def test_a_window_finer_than_the_record_is_refused(results):
    with pytest.raises(fadeout.ResultError, match="100 ms"):
        results.plot.throughput(window="10 ms")


def test_windows_keep_every_byte(results):
    total = results.throughput["bytes"].sum()
    for window_s in (0.1, 0.25, 0.3, 7.0):
        rates = rebin(results.throughput, window_s, results.duration_s)
        ends = (rates["time_s"] + window_s).clip(upper_bound=results.duration_s)
        bits = float((rates["rate_mbps"] * (ends - rates["time_s"])).sum()) * 1e6
        assert bits == pytest.approx(8 * total, rel=1e-9)


def test_thinning_keeps_peaks_and_troughs():
    count = 100_000
    frame = pl.DataFrame({"time_s": range(count), "x": [0.0] * count})
    frame = frame.with_columns(
        pl.when(pl.col("time_s") == 54_321).then(9.0).otherwise(pl.col("x")).alias("x")
    )
    thinned = thin(frame, "x", MOST_POINTS)
    assert len(thinned) <= MOST_POINTS + 2
    assert thinned["x"].max() == 9.0
    assert thinned["x"].min() == 0.0


def test_intervals_that_touch_are_one():
    frame = pl.DataFrame({"start_s": [3.0, 0.0, 1.0], "end_s": [4.0, 1.0, 2.0]})
    assert merged_intervals(frame) == [(0.0, 2.0), (3.0, 4.0)]


def test_each_direction_of_a_radio_interface_has_a_row(radio_results):
    rows = radio_results.interfaces
    assert rows["interface"].to_list() == ["phone/downlink", "phone/uplink"]
    assert rows["cell"].to_list() == ["base", "base"]
    downlink = rows.row(0, named=True)
    decoded = radio_results.table("transport_blocks").filter(pl.col("direction") == "downlink")
    # Blocks on the air at the end have not been decoded.
    assert 0 <= downlink["transport_blocks"] - len(decoded) <= 8
    assert downlink["harq_retransmissions"] >= decoded.filter(pl.col("round") > 0).height
    assert downlink["delivered_bytes"] >= radio_results.flows["delivered_bytes"][0]


DUAL = """
    duration = "1 s"
    [link.core]
    from = "server"
    to = "macro"
    rate = "1 Gbit/s"
    delay = "5 ms"
    [link.x2]
    from = "macro"
    to = "small"
    rate = "1 Gbit/s"
    delay = "2 ms"
    [cell.macro]
    radio = "lte"
    carrier = "2 GHz"
    bandwidth = "20 MHz"
    channel = { path-loss = "uma" }
    [cell.small]
    radio = "nr"
    carrier = "3.5 GHz"
    bandwidth = "20 MHz"
    channel = { path-loss = "umi" }
    [ue.phone]
    position = ["100 m", "0 m"]
    cell = "macro"
    pscell = "small"
    split = { duplication = "downlink" }
    [flow.download]
    from = "server"
    to = "phone"
    [probe]
    transport-blocks = true
"""


def test_the_figure_of_legs_stacks_what_each_carried_and_says_its_copies(radio_results):
    results = fadeout.run(DUAL)
    assert "legs" in results.plot.available()
    figure = results.plot.legs()
    down, up = figure.axes
    assert (down.get_ylabel(), up.get_ylabel()) == ("Downlink (Mbit/s)", "Uplink (Mbit/s)")
    assert "(s)" in up.get_xlabel()
    rows = results.legs.filter(pl.col("direction") == "downlink")
    copies = {cell: n for cell, n in rows.select("cell", "copies").iter_rows() if n}
    assert sum(copies.values()) > 100
    legend = down.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert [text.split(":")[0] for text in texts] == ["macro", "small"]
    for cell, number in copies.items():
        assert any(text.startswith(cell) and f"{number} copies" in text for text in texts)
    # The area corresponds to the bytes that arrived.
    blocks = results.table("transport_blocks").filter("is_ok", pl.col("direction") == "downlink")
    paths = [part.get_paths()[0] for part in down.collections]
    top = max(float(np.asarray(path.vertices)[:, 1].max()) for path in paths)
    bins = (pl.col("time_s") / 0.01).floor()
    sums = blocks.group_by(bins).agg(pl.col("size_bytes").sum() * 8 / 0.01 / 1e6)
    assert top == pytest.approx(sums["size_bytes"].max())
    with pytest.raises(fadeout.ResultError, match="phone"):
        results.plot.legs("phon")
    assert "legs" not in radio_results.plot.available()
    with pytest.raises(fadeout.ResultError, match="pscell"):
        radio_results.plot.legs()
