import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fadeout.cli.app import app
from fadeout.studies.slow_start import claims, runs, study
from fadeout.studies.slow_start.delay import downlink_formula_tti, uplink_formula_tti
from fadeout.studies.slow_start.ramp import BIN_MS, Download, Measure
from fadeout.studies.slow_start.setups import (
    CHANGES,
    CLAIMS,
    CONCLUSIONS,
    PUBLISHED,
    SETTINGS,
    TOLERANCES,
    Setting,
)


def steady(rate_mbps: float, silent_ms: float, request_ms: float = 0.0) -> Download:
    """Returns a download with `silent_ms` of silence, and then a constant rate."""
    ends = np.arange(1, 20_001, dtype=np.float64) * BIN_MS
    total = np.maximum(ends - silent_ms, 0.0) * rate_mbps * 125
    return Download(ends_ms=ends, total_bytes=total, request_ms=request_ms)


def test_the_appendix_gives_the_printed_table_but_for_the_wait_with_a_period_of_one():
    for setting in SETTINGS:
        printed = setting.published("table2")
        for bler, suffix in ((0.0, "free"), (0.1, "10")):
            down = downlink_formula_tti(bler) * setting.tti_ms
            assert down == pytest.approx(printed[f"dl_{suffix}"])
            total = sum(uplink_formula_tti(setting.period_tti, bler)) * setting.tti_ms
            omitted = 0.5 * setting.tti_ms if setting.period_tti == 1 else 0.0
            assert total - omitted == pytest.approx(printed[f"ul_total_{suffix}"])


def test_a_window_fires_at_its_stamp():
    # 22.5 of the 25 ms must be busy: of windows every 5 ms, the one that begins after 60 ms.
    download = steady(21.0, silent_ms=60.0)
    starts = download.numbers(Measure("start"))
    ends = download.numbers(Measure("end", stamp=1.0))
    assert starts["ramp_ms"] == 60.0
    assert starts["ramp_kb"] == 0.0
    assert ends["ramp_ms"] == 85.0
    assert ends["ramp_kb"] == pytest.approx(25 * 21 / 8)


def test_the_aggregate_needs_ten_times_the_silence():
    # 21 (t - 59.8) / t = 18.9 at t = 598 ms. The next reading is at 600 ms.
    found = steady(21.0, silent_ms=59.8).numbers(Measure("start"))
    assert found["upt_ms"] == 600.0
    assert found["upt_kb"] == pytest.approx((600 - 59.8) * 21 / 8)


def test_time_zero_is_the_request_unless_told():
    download = steady(21.0, silent_ms=59.8, request_ms=20.0)
    assert download.numbers(Measure("request"))["upt_ms"] == 400.0
    assert download.numbers(Measure("opening", from_opening=True))["upt_ms"] == 600.0


def test_a_rate_that_is_not_reached_is_no_number():
    found = steady(18.0, silent_ms=0.0).numbers(Measure("start"))
    assert all(np.isnan(value) for value in found.values())


def test_cells_have_the_tolerances_of_the_published_file():
    ramp = claims.cell_check(Setting(1.0, 5), "ramp_ms")
    assert (ramp.low, ramp.high) == pytest.approx((180 / 1.35, 180 * 1.35), rel=1e-3)
    # Five milliseconds are the resolution of the observations.
    short = claims.cell_check(Setting(0.1, 1), "ramp_ms")
    assert (short.low, short.high) == (5, 15)
    accepted = claims.cell_check(Setting(1.0, 1), "upt_ms")
    assert (accepted.low, accepted.high) == (600, 1100)
    # 1,560 kB contradict the row, and are replaced by 1,146.
    replaced = claims.cell_check(Setting(0.5, 5), "upt_kb")
    assert replaced.low == pytest.approx(1146 / 1.35, rel=1e-3)
    # A reduction of 44 % leaves 56 %.
    left = CLAIMS["reductions"].check(CONCLUSIONS[0].value)
    assert (left.published, left.neutral) == ("0.56", 1.0)
    assert left.low == pytest.approx(0.56 / 1.35, rel=1e-2)


def test_conclusions_have_the_ratios_of_the_text_and_the_tolerance_of_their_column():
    stated = PUBLISHED["text_claims"].items()
    for conclusion, (name, number) in zip(CONCLUSIONS, stated, strict=True):
        ratio = 1 - number / 100 if name.endswith("_pct") else number
        check = CLAIMS["reductions"].check(conclusion.value)
        factor = TOLERANCES[conclusion.column].factor
        assert check.published == f"{ratio:.3g}"
        assert (check.low, check.high) == pytest.approx((ratio / factor, ratio * factor), rel=3e-3)


def test_a_changed_size_of_segments_has_a_rate_of_its_own():
    loads = runs.loads()
    assert len(loads) == 3 * len(runs.BLERS) + 3
    assert {size for _, _, size in loads} == {1460, 1000}


def test_the_study_meets_the_appendix_and_compares_all_settings(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    spend("slow-start", seeds=2, packets=500, packets_with_errors=5_000)
    changed = ("as in the scenario", "segments", "delayed ACKs")
    few = [change for change in CHANGES if change.assumption in changed]
    for module in (runs, study):
        monkeypatch.setattr(module, "CHANGES", few)
    result = cli.invoke(app, ["study", "slow-start", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert len(found["table2"]) == len(SETTINGS) * len(runs.BLERS) * 4
    # With 5,000 packets the mean with 10 % errors has a standard error of 0.8 %.
    for row in found["table2"]:
        assert abs(row["deviation_pct"]) < (3 if row["bler"] else 1)
    names = ("ramp_ms", "ramp_kb", "upt_ms", "upt_kb")
    table = {
        (row["tti_ms"], row["sr_tti"], name): row[f"{name}_mean"]
        for row in found["table1"]
        for name in names
    }
    for period in (5, 1):
        ramps = [table[tti, period, "ramp_ms"] for tti in (1.0, 0.5, 0.1)]
        assert ramps == sorted(ramps, reverse=True)
        assert len(set(ramps)) == 3
    # The bytes until 90 % divided by the time give 90 % of the rate. They are observed every 5 ms.
    for setting in SETTINGS:
        key = (setting.tti_ms, setting.period_tti)
        rate = table[*key, "upt_kb"] * 8 / table[*key, "upt_ms"]
        assert rate == pytest.approx(0.9 * 21, rel=0.06)
    for row in found["saturation"]:
        assert row["reached_mbps"] == pytest.approx(21, rel=0.005)
    checked = {(row["claim"], row["value"]) for row in found["claims"]}
    assert len(checked) == len(table) + len(CONCLUSIONS)
    assert len(found["assumptions"]) == len(SETTINGS) * len(few)
    missed = {(row["tti_ms"], row["sr_tti"], row["column"]) for row in found["misses"]}
    for row in found["misses"]:
        assert not 0.75 <= row["ours"] / row["published"] <= 4 / 3
    # The README mentions this cell: the bytes of the ramp at 1 ms.
    assert (1.0, 5, "ramp_kb") in missed
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
