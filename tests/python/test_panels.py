"""Panels draw gaps, caps and thinned series as they were recorded."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fadeout
from conftest import SCENARIO
from fadeout._thinning import broken, thin
from fadeout.plot import panels, radio
from fadeout.plot.map import site_name
from fadeout.plot.panels import Canvas, Panel, has_rows
from fadeout.report import parts
from fadeout.report.scenario import short_numbers
from fadeout.report.series import Panels


def drawn(panel: Panel, tables: dict[str, pl.DataFrame]) -> Axes:
    """Returns axes with a panel of a run that has these tables only."""
    run: Any = SimpleNamespace(
        scan=lambda name: tables[name].lazy(),
        has_table=lambda name: name in tables,
        interfaces=pl.DataFrame(schema={"interface": pl.String, "cell": pl.String}),
        flows=pl.DataFrame({"start_s": [0.0], "completed_at_s": [None]}),
        manifest={"scenario": {"cell": {"a": {}, "b": {}}}},
        duration_s=10.0,
    )
    ax = Figure().subplots()
    assert isinstance(ax, Axes)
    assert panel.finds_data(run)
    panel.draw(Canvas(ax, run, None, True, True, set()))
    return ax


def test_a_buffer_that_does_not_exist_is_a_gap():
    times = [0.0, 0.5, 1.0, 8.0, 8.5]
    rows = pl.DataFrame({"time_s": times, "bearer": "phone", "direction": "downlink"})
    rows = rows.with_columns(
        pl.lit(5000).alias("rlc_new_bytes"), pl.lit(0).alias("rlc_retransmission_bytes")
    )
    (line,) = drawn(radio.BUFFER, {"bearers": rows}).lines
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert x[np.isnan(y)].tolist() == [pytest.approx(1.0)]
    assert np.nanmin(y) == np.nanmax(y) == 5.0


def test_a_queue_is_unknown_after_a_second_without_an_arrival():
    times = [0.0, 0.5, 1.0, 8.0, 8.5]
    rows = pl.DataFrame({"time_s": times, "link": "core", "queued_packets": 318})
    (line,) = drawn(panels.QUEUE, {"queues": rows}).lines
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert x[np.isnan(y)].tolist() == [pytest.approx(1.0)]
    assert np.nanmin(y) == np.nanmax(y) == 318
    (sparse,) = drawn(panels.QUEUE, {"queues": rows.head(2)}).lines
    assert np.nanmax(sparse.get_xdata()) == pytest.approx(0.5), "no line to the end of the run"


def test_a_transfer_that_ended_leaves_no_queue_in_the_report():
    transfer = {"kind": "transfer", "size": "500 kB"}
    results = fadeout.run(SCENARIO, set={"flow.download.application": transfer, "duration": "4 s"})
    queue = next(panel for panel in Panels(results).all(1000) if panel.id == "queue")
    assert queue.lines
    for line in queue.lines:
        assert line.rows["time_s"][-1] < 2.0
        assert math.isnan(line.rows["queued_packets"][-1])


def test_the_report_says_which_lines_leave_rows_out():
    results = fadeout.run(SCENARIO)
    (whole,) = [panel for panel in Panels(results).all(10**6) if panel.id == "cwnd"]
    assert parts.thinned([whole]) == ""
    (short,) = [panel for panel in Panels(results).all(40) if panel.id == "cwnd"]
    rows = results.congestion.height
    assert short.recorded == rows > short.shown == len(short.lines[0].rows)
    assert f"Congestion window ({short.shown:,} of {rows:,})" in parts.thinned([short])


def test_numbers_of_a_scenario_have_six_digits():
    assert short_numbers('["22.22222222222222 m/s", "3.5 GHz"]') == '["22.2222 m/s", "3.5 GHz"]'


def blocks(sinr_db: list[float], cells: list[str]) -> dict[str, pl.DataFrame]:
    rows = {"time_s": np.arange(len(sinr_db)) / 10, "sinr_db": sinr_db, "cell": cells}
    frame = pl.DataFrame(rows)
    frame = frame.with_columns(pl.lit("phone").alias("ue"), pl.lit("downlink").alias("direction"))
    return {"transport_blocks": frame}


def test_a_sinr_at_its_cap_is_marked_and_does_not_fill_the_axis():
    ax = drawn(radio.SINR, blocks([30.0] * 30 + [29.0] * 10, ["a"] * 40))
    names = [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]
    assert names == ["phone", "receiver's cap: 75 % of blocks"]
    low, high = ax.get_ylim()
    assert high - low >= radio.LEAST_RANGE_DB
    assert high < 32
    free = drawn(radio.SINR, blocks([12.0, 14.0], ["a", "a"]))
    assert "cap" not in str(free.get_legend_handles_labels())


def test_the_sinr_of_two_cells_are_two_lines():
    ax = drawn(radio.SINR, blocks([10.0, 20.0] * 5, ["a", "b"] * 5))
    assert {line.get_label() for line in ax.lines} == {"a", "b"}
    assert len({line.get_color() for line in ax.lines}) == 2


def test_an_empty_table_has_no_data():
    run: Any = SimpleNamespace(scan=lambda _: pl.DataFrame(schema={"x": pl.Int64}).lazy())
    assert not has_rows(run, "t")
    run = SimpleNamespace(scan=lambda _: pl.DataFrame({"x": [1]}).lazy())
    assert has_rows(run, "t")
    assert not has_rows(run, "t", pl.col("x") > 1)


def test_a_thinned_series_holds_the_recorded_value_and_keeps_gaps():
    count = 10_000
    time = pl.Series("time_s", np.arange(count) / 1000)
    value = pl.Series("value", np.where(np.arange(count) == 9_998, 9.0, 1.0))
    rows = pl.DataFrame([time, value])
    # Nothing is recorded for a while, and the value then is the last one before.
    rows = pl.concat([rows, pl.DataFrame({"time_s": [99.0], "value": [2.0]})])
    short = thin(rows, "value", 40)
    held = short.filter(pl.col("time_s") < 99)["value"][-1]
    assert held == 1.0
    assert short["value"].max() == 9.0
    is_missing = pl.col("time_s").is_between(4, 5)
    gaps = rows.with_columns(pl.when(~is_missing).then("value").alias("value"))
    assert thin(broken(rows, "value", 1.0), "value", 40)["value"].is_nan().sum() == 1
    assert thin(gaps, "value", 40)["value"].is_nan().sum() == 1


def test_a_site_has_the_name_that_its_cells_share():
    assert site_name(["west"]) == "west"
    assert site_name(["city-1-a", "city-1-b", "city-1-c"]) == "city-1"
    assert site_name(["lte", "umts"]) == "lte, umts"


def test_a_direction_without_packets_has_no_data_of_their_delay():
    table = pl.DataFrame({"direction": ["downlink"]})
    run: Any = SimpleNamespace(scan=lambda _: table.lazy(), has_table=lambda _: True)
    downlink, uplink = radio.DELAY
    assert downlink.finds_data(run)
    assert not uplink.finds_data(run)
