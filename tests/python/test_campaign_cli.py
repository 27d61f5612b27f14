"""`fadeout sweep` and `fadeout campaign`."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from fadeout import Campaign
from fadeout.cli.app import app


def call(cli: CliRunner, *words: str, status: int = 0) -> str:
    result = cli.invoke(app, list(words))
    assert result.exit_code == status, result.output
    return result.output


def test_a_sweep_prints_means_with_intervals_and_goes_on(cli: CliRunner, lossy: Path):
    words = ["sweep", str(lossy), "--set", "flow.congestion-control=cubic,newreno", "--out", "c"]
    printed = call(cli, *words, "--seeds", "5")
    assert "±" in printed and "newreno" in printed and "10 runs in" in printed
    assert "equal with every seed" not in printed
    assert "10 of 12 had been run before" in call(cli, *words, "--seeds", "6")
    assert "12 of 12 had been run before" in call(cli, "campaign", "run", "c")


def test_equal_runs_have_an_interval_of_zero_and_the_table_says_why(cli: CliRunner):
    settings = ["--set", "flow.congestion-control=cubic,newreno", "--set", "duration=2 s"]
    printed = call(cli, "sweep", "clean-link", *settings, "--seeds", "5", "--out", "c")
    assert printed.count("± 0") > 2
    assert " ".join(printed.split()).count("± 0: equal with every seed") == 1
    compared = call(cli, "campaign", "compare", "c", "flow.congestion-control", "cubic")
    assert "encountered" not in compared


def test_values_zips_and_exclusions_are_given_by_options(cli: CliRunner, lossy: Path):
    call(
        cli,
        *("sweep", str(lossy), "-q", "--seeds", "2", "--out", "c", "--set", "duration=1 s"),
        *("--set", "link.access.rate=5..15:5 Mbit/s", "--exclude", "rate > 12"),
        *("--zip", "link.access.delay=1 ms,2 ms", "--zip", "link.access.queue.limit=10 kB,20 kB"),
        *("-m", "mean_rtt_s", "-m", "dropped_packets:sum"),
    )
    campaign = Campaign.open("c")
    assert campaign.points.height == 4
    assert campaign.keys == [
        "link.access.rate",
        "link.access.delay",
        "link.access.queue.limit",
    ]
    printed = call(cli, "campaign", "show", "c")
    assert "mean_rtt_s" in printed and "dropped_packets:sum" in printed
    status = call(cli, "campaign", "status", "c")
    assert "4 points, 2 seeds a point" in status and "2 seeds a point give no interval" in status


def test_a_campaign_file_is_run_and_exported(cli: CliRunner, lossy: Path, tmp_path: Path):
    (tmp_path / "campaign.toml").write_text(
        'scenario = "lossy.toml"\nseeds = "1..5"\nmetrics = ["goodput_mbps"]\n'
        '[grid]\n"flow.congestion-control" = ["cubic", "newreno"]\n'
    )
    printed = call(cli, "campaign", "run", "campaign.toml", "-j", "1")
    assert "campaign: out/campaign-campaign" in printed
    assert "10 runs: runs.csv" in call(
        cli, "campaign", "export", "out/campaign-campaign", "runs.csv"
    )
    assert pl.read_csv("runs.csv").height == 10
    plotted = call(cli, "campaign", "plot", "out/campaign-campaign", "-f", "svg")
    assert [Path(line).name for line in plotted.split()] == [
        "metric-goodput_mbps.svg",
        "cdf-goodput_mbps.svg",
    ]
    words = ["campaign", "plot", "out/campaign-campaign", "--baseline"]
    assert "differences-congestion-control.png" in call(cli, *words, "congestion-control=cubic")
    assert "cubic" in call(cli, *words, "congestion-control=cubik", status=2)
    assert "not of the form KEY=VALUE" in call(cli, *words, "cubic", status=2)
    output = call(cli, "campaign", "export", "out/campaign-campaign", "runs.xls", status=2)
    assert "neither CSV nor Parquet" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "link.access.dely=1 ms,2 ms"], "did you mean"),
        (["--set", "flow.profile"], "expected KEY=VALUES"),
        (["--set", "a=1", "--set", "a=2"], "given twice"),
        (["--until", "goodput_mbps"], "METRIC WIDTH"),
        (["-m", "goodputt_mbps"], "did you mean 'goodput_mbps'"),
        (["--seeds", "100000000"], "one campaign has at most"),
        (["-c", "mine=none.py:Mine"], "no file"),
    ],
)
def test_a_mistake_is_told_and_nothing_runs(
    cli: CliRunner, lossy: Path, words: list[str], message: str
):
    output = call(cli, "sweep", str(lossy), "--out", "c", *words, status=2)
    assert message in output
    assert not Path("c").exists()


@pytest.mark.parametrize("command", [["sweep"], ["campaign"], ["campaign", "run"]])
def test_help_teaches_with_an_example(cli: CliRunner, command: list[str]):
    assert "Examples:" in call(cli, *command, "--help")
