import json
import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from fadeout.cli import app
from fadeout.studies.link_retransmission.claims import (
    download_verdict,
    gain_holds,
    latencies,
    latency_holds,
    retransmission_verdicts,
    times_text,
)
from fadeout.studies.link_retransmission.setups import (
    BOTH,
    CHANGES,
    DISTANCES_M,
    HARQ,
    MODES,
    NONE,
    SIZES_MB,
)

TEXTS = {"retx_gain": "", "retx_latency": "", "wget": ""}


def means(gains: dict[int, float], rtts_ms: tuple[float, float, float] = (10, 20, 30)):
    return {
        (distance, mode.name): (100 * (gain if mode is BOTH else 1), rtt_ms)
        for distance, gain in gains.items()
        for mode, rtt_ms in zip(MODES, rtts_ms, strict=True)
    }


def test_the_gain_holds_between_its_bounds_and_not_beside_them():
    assert gain_holds(means({50: 1.09, 100: 1.31, 150: 3.49}), (50, 100, 150))
    assert not gain_holds(means({50: 1.2, 100: 2, 150: 2}), (50, 100, 150))
    assert not gain_holds(means({50: 1, 100: 1.2, 150: 2}), (50, 100, 150))
    assert not gain_holds(means({50: 1, 100: 2, 150: 3.6}), (50, 100, 150))


def test_a_delay_that_nobody_measured_proves_nothing():
    unknown = means({150: 2}, (math.nan, 20, 30))
    assert not latency_holds(unknown, 150)
    assert latencies(unknown, 150) == "- / 20 / 30"
    assert latency_holds(means({150: 2}), 150)
    assert not latency_holds(means({150: 2}, (10, 30, 20)), 150)


def test_a_ratio_over_next_to_nothing_is_only_large():
    assert times_text(1.234) == "1.23"
    assert times_text(math.inf) == times_text(1e5) == "> 100"


def test_files_are_compared_with_the_long_transfer():
    gains = {50: 1.0, 100: 1.5}
    times = {
        (distance, mode.name, 1): 1.0 if mode is BOTH else 1.6
        for distance in gains
        for mode in MODES
    }
    assert download_verdict(means(gains), times, (50, 100), TEXTS).holds
    times[100, HARQ.name, 1] = 1.4
    assert not download_verdict(means(gains), times, (50, 100), TEXTS).holds
    assert [v.claim for v in retransmission_verdicts(means(gains), (50, 100), TEXTS)] == [
        "retx_gain",
        "retx_latency",
    ]


def test_the_study_writes_all_its_tables(cli: CliRunner, spend: Callable[..., None]):
    spend("link-retransmission", seeds=2, swept_seeds=1, delay_seeds=1, duration_s=1)
    command = ["study", "link-retransmission", "--quick", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert [row["claim"] for row in found["claims"]] == ["retx_gain", "retx_latency", "wget"]
    assert len(found["bulk"]) == len(DISTANCES_M) * len(MODES)
    goodput = {(row["distance_m"], row["mode"]): row["goodput_mbps_mean"] for row in found["bulk"]}
    for distance in DISTANCES_M:
        # Retransmissions on the link never cost TCP much; without them it may have nothing.
        assert goodput[distance, BOTH.name] > 0.9 * goodput[distance, NONE.name]
        assert goodput[distance, BOTH.name] > 0
    downloads = pl.read_parquet("study/tables/downloads.parquet")
    assert len(downloads) == len(DISTANCES_M) * len(MODES) * len(SIZES_MB)
    assert len(pl.read_csv("study/tables/assumptions.csv")) == (1 + len(CHANGES)) * 9
    drop = {row["link"]: row["median_drop_db"] for row in found["walk"]}
    # Medians out of sight less those in sight at 58 m, without shadowing: 27 and 16 dB.
    assert drop["28 GHz"] > 10
    assert drop["LTE 2.1 GHz"] > 5
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
