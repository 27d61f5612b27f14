"""Flow-completion times."""

import polars as pl
import pytest

import fadeout
from conftest import SCENARIO
from fadeout.cli.app import app

PAGES = """
duration = "10 s"
[link.access]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
queue.limit = "100 packets"
[flow.pages]
from = "server"
to = "phone"
application = "web"
arrivals = { rate = 5.0, size = "50 kB" }
[flow.film]
from = "server"
to = "phone"
application = { kind = "transfer", size = "1 MB" }
[flow.bulk]
from = "server"
to = "phone"
start = "9 s"
"""


@pytest.fixture(scope="module")
def results() -> fadeout.Results:
    return fadeout.run(PAGES)


def test_a_completed_flow_has_a_row_with_its_size_and_times(results):
    done = results.completions
    assert set(done["application"]) == {"web", "transfer"}
    film = done.row(by_predicate=pl.col("flow") == "film", named=True)
    assert film["size_bytes"] == 1_000_000
    assert film["group"] == "film"
    assert 0.02 < film["first_byte_s"] < film["completed_at_s"] == film["completion_time_s"]
    assert film["mean_rate_mbps"] == pytest.approx(8 / film["completion_time_s"])
    ends = done["start_s"] + done["completion_time_s"]
    # The tolerance covers rounding of doubles of some seconds.
    assert (ends - done["completed_at_s"]).abs().max() < 1e-9
    assert done["completed_at_s"].is_sorted()


def test_a_flow_that_never_ends_has_no_row(results):
    assert "bulk" not in results.completions["flow"]
    assert "bulk" not in results.completion_times["group"]


def test_a_group_is_the_flows_of_one_arrival_process(results):
    row = results.completion_times.row(by_predicate=pl.col("group") == "pages", named=True)
    pages = results.flows.filter(pl.col("flow").str.starts_with("pages-"))
    assert row["flows"] == len(pages) > 20
    assert row["completed"] == pages["flow_completion_time_s"].is_not_null().sum()
    assert row["p50_s"] <= row["p90_s"] <= row["p95_s"] <= row["p99_s"] <= row["longest_s"]


def test_without_completed_flows_the_tables_are_empty_and_typed():
    results = fadeout.run(SCENARIO)
    assert len(results.completions) == len(results.completion_times) == 0
    assert results.completions.schema["completion_time_s"] == pl.Float64
    assert results.completion_times.schema["p99_s"] == pl.Float64
    assert "completions" not in results.plot.available()
    with pytest.raises(fadeout.ResultError, match="no flow completed"):
        results.plot.completions()


def test_the_line_of_a_group_ends_at_the_share_that_completed(results):
    ax = results.plot.completions().axes[0]
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert set(lines) == {"pages", "film"}
    row = results.completion_times.row(by_predicate=pl.col("group") == "pages", named=True)
    shares = list(lines["pages"].get_ydata())
    assert shares[0] == 0
    assert shares[-1] == row["completed"] / row["flows"]
    assert "(s)" in ax.get_xlabel()


def test_the_command_prints_percentiles_by_group_and_draws_them(cli, tmp_path):
    (tmp_path / "pages.toml").write_text(PAGES)
    result = cli.invoke(app, ["run", "pages.toml", "--out", "x"])
    assert result.exit_code == 0, result.output
    heading = next(line for line in result.output.splitlines() if "longest s" in line)
    assert heading.split()[-8:] == ["p90", "s", "p95", "s", "p99", "s", "longest", "s"]
    row = next(line for line in result.output.splitlines() if line.split()[:1] == ["pages"])
    flows, completed = (int(number) for number in row.split()[1:3])
    assert 0 < completed <= flows
    assert (tmp_path / "x" / "figures" / "completions.png").is_file()
