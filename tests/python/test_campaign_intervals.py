"""Tests of confidence intervals, and of campaigns that add seeds until an interval is narrow."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fadeout
from fadeout import Campaign, ScenarioError, sweep
from fadeout.campaign.comparison import compare
from fadeout.campaign.seeds import Seeds, read_seeds
from fadeout.statistics import (
    bootstrap,
    estimate,
    holm,
    interval_text,
    limits_text,
    paired_difference,
    value_text,
)


def until(**given: Any) -> Seeds:
    return read_seeds({"metric": "goodput_mbps", "half-width": "5 %", **given})


def test_an_interval_of_a_mean_is_that_of_students_t():
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0], 0.95)
    # 2.776 standard errors, which are sqrt(2.5 / 5).
    assert found.mean == 3.0
    assert math.isclose(found.half_width, 2.7764451 * math.sqrt(0.5), rel_tol=1e-6)
    assert math.isclose(found.p_value, 0.01324, rel_tol=1e-3)


def test_fewer_than_five_runs_have_no_interval():
    assert not estimate([1.0, 2.0, 3.0, 4.0]).is_known
    assert estimate([]).text() == "-"
    assert not bootstrap(np.median, [1.0, 2.0]).is_known


def test_the_difference_of_pairs_does_not_see_what_both_have():
    common = [10.0, 30.0, 20.0, 50.0, 40.0, 60.0]
    ours = [each + 1 + 0.01 * n for n, each in enumerate(common)]
    assert paired_difference(ours, common).half_width < 0.03
    assert estimate(ours).half_width > 10


def test_p_values_are_corrected_as_holm_does():
    assert holm([0.01, 0.04, 0.03, math.nan])[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert math.isnan(holm([0.5, math.nan])[1])


def share_of_intervals_with_the_mean(
    seeds: Seeds, draw: Any, mean: float, trials: int, confidence: float | None = None
) -> float:
    """Returns the share of points whose final interval includes the true mean."""
    held = 0
    for _ in range(trials):
        values: list[float] = []
        count = seeds.first()
        while len(values) < count:
            values += draw(count - len(values)).tolist()
            count = seeds.next(len(values), values)
        found = estimate(values, confidence or seeds.confidence_of_a_look)
        held += found.low <= mean <= found.high
    return held / trials


@pytest.mark.parametrize("width", [0.02, 0.05, 0.1])
def test_the_confidence_is_kept_although_the_interval_is_looked_at_often(width: float):
    random = np.random.default_rng(7)
    seeds = until(**{"half-width": f"{100 * width} %", "max": 80})

    def draw(count: int) -> np.ndarray:
        return random.normal(10, 2, count)

    trials = 1500
    held = share_of_intervals_with_the_mean(seeds, draw, 10, trials)
    # Three standard deviations of a share of 0.95 in this number of trials.
    assert held >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials)


def test_one_look_is_not_corrected_and_many_are():
    assert until(min=20, max=20).confidence_of_a_look == 0.95
    many = until(min=5, max=100)
    assert many.stages == [5, 10, 20, 40, 80, 100]
    assert math.isclose(many.confidence_of_a_look, 1 - 0.05 / 6)


def test_a_point_stops_when_its_interval_is_narrow(lossy: Path, tmp_path: Path):
    seeds = {"metric": "goodput_mbps", "half-width": "3 %", "max": 40}
    grid = {"link.access.loss.probability": [0.0, 0.03]}
    campaign = sweep(lossy, grid, seeds=seeds, out=tmp_path / "c", jobs=3)
    means = campaign.means("goodput_mbps")
    counts = means["goodput_mbps_n"].to_list()
    # Without loss nothing is random, so the first examination suffices.
    assert counts[0] == 5
    assert counts[1] in (10, 20, 40)
    if campaign.status().wide == 0:
        row = means.row(1, named=True)
        half = (row["goodput_mbps_high"] - row["goodput_mbps_low"]) / 2
        assert half <= 0.03 * row["goodput_mbps_mean"]
    alone = sweep(lossy, grid, seeds=seeds, out=tmp_path / "alone", jobs=1)
    assert alone.frame().equals(campaign.frame())


def test_an_interval_that_never_narrows_ends_and_says_so(lossy: Path, tmp_path: Path):
    seeds = {"metric": "goodput_mbps", "half-width": "0.0001 %", "max": 12}
    campaign = sweep(lossy, seeds=seeds, out=tmp_path / "c")
    assert campaign.frame().height == 12
    assert campaign.status().wide == 1
    assert any("1 of 1 points have all 12 seeds" in each for each in campaign.warnings())
    assert campaign.run().done_now == 0


def test_schemes_are_compared_pair_by_pair(lossy: Path, tmp_path: Path):
    grid = {"flow.congestion-control": ["cubic", "newreno", "vegas"]}
    campaign = sweep(lossy, grid, seeds=6, out=tmp_path / "c")
    found = campaign.compare("congestion-control", "cubic", "goodput_mbps", "timeouts")
    assert found.height == 4
    frame = campaign.frame()
    by = {
        name: frame.filter(pl.col("flow.congestion-control") == name)["goodput_mbps"]
        for name in ("cubic", "vegas")
    }
    row = found.filter(pl.col("metric") == "goodput_mbps").row(1, named=True)
    expected = paired_difference(by["vegas"].to_list(), by["cubic"].to_list())
    assert (row["difference"], row["low"], row["n"]) == (expected.mean, expected.low, 6)
    assert row["p_corrected"] >= row["p_value"]
    for key, value, message in (
        ("congestion-contro", "cubic", "did you mean"),
        ("congestion-control", "cubik", "did you mean 'cubic'"),
    ):
        with pytest.raises(ScenarioError, match=message):
            campaign.compare(key, value)


def test_two_runs_are_compared_in_scenario_and_results(lossy: Path, tmp_path: Path):
    for name in ("cubic", "newreno"):
        control = {"flow.congestion-control": name}
        fadeout.run(lossy, seed=3, set=control, out=tmp_path / name)
    found = compare(tmp_path / "cubic", tmp_path / "newreno")
    assert found.scenario == [("flow.download.congestion-control.name", "cubic", "newreno")]
    assert not found.is_same
    assert "goodput_mbps" in found.results["metric"].to_list()
    assert compare(tmp_path / "cubic", tmp_path / "cubic").is_same
    Campaign({"scenario": str(lossy)}, out=tmp_path / "c").run()
    with pytest.raises(fadeout.ResultError, match="one is a run and one a campaign"):
        compare(tmp_path / "cubic", tmp_path / "c")


def test_two_campaigns_are_compared_by_points_and_seeds(lossy: Path, tmp_path: Path):
    grid = {"flow.congestion-control": ["cubic", "newreno"]}
    folders = []
    for name, delay in (("a", "10 ms"), ("b", "15 ms")):
        folders.append(tmp_path / name)
        sweep(lossy, grid, seeds=5, out=folders[-1], set={"link.access.delay": delay})
    found = compare(*folders)
    assert found.scenario == [("set.link.access.delay", "10 ms", "15 ms")]
    assert found.results["paired"].all()
    assert found.results["n"].to_list() == [5] * found.results.height
    assert compare(folders[0], folders[0]).is_same


def test_a_mean_has_the_digits_that_its_interval_supports():
    for mean, half_width, text in (
        (26.79745, 3e-5, "26.797 ± <0.001"),
        (9.44135, 0.00099, "9.4413 ± 0.0010"),
        (4.708, 0.1033, "4.71 ± 0.10"),
        (1234567.0, 34567.0, "1,235,000 ± 35,000"),
        (0.0, 0.001, "0.0000 ± 0.0010"),
        (8.4e-7, 3e-8, "8.4e-07 ± 3e-08"),
        (6.1035e-5, 3e-10, "6.1035e-05 ± <1e-09"),
        # All values were equal.
        (2916000.0, 0.0, "2,916,000 ± 0"),
        (0.071661234, 0.0, "0.07166 ± 0"),
        # There is no interval.
        (562.6412, None, "562.6"),
        (5.0, math.inf, "5"),
        (None, None, "-"),
        (math.nan, 1.0, "-"),
    ):
        assert interval_text(mean, half_width) == text


@settings(deadline=None)
@given(
    mean=st.floats(-1e8, 1e8, allow_subnormal=False),
    half_width=st.floats(1e-9, 1e8),
)
@example(mean=6.103515625e-05, half_width=1e-9)
def test_no_half_width_above_zero_is_printed_as_zero(mean: float, half_width: float):
    first, second = interval_text(mean, half_width).split(" ± ")
    shown = float(second.lstrip("<").replace(",", ""))
    assert shown > 0
    # A last digit of two is at most a twentieth of the half-width.
    step = shown if second.startswith("<") else half_width / 2
    assert abs(float(first.replace(",", "")) - mean) <= max(step, 6e-5 * abs(mean))


def test_a_difference_has_the_digits_of_the_shorter_side_of_its_interval():
    for difference, text in (
        ((0.04016, -0.06307, 0.1434), "+0.04 [-0.06, +0.14]"),
        ((6219.4, 1750.0, 58433.3), "+6,200 [+1,800, +58,400]"),
        ((1e-5, -0.2, 0.3), "0.00 [-0.20, +0.30]"),
        ((6.1035e-5, 6.1034e-5, 6.1036e-5), "+6.1035e-05 [+6.1034e-05, +6.1036e-05]"),
        ((0.0, 0.0, 0.0), "0"),
        ((-4.33e-7, None, None), "-4.33e-07"),
        ((-201300.0, None, None), "-201,300"),
        ((4.22e9, None, None), "+4.22e+09"),
        ((None, None, None), "-"),
    ):
        assert limits_text(*difference) == text
    assert value_text(4345.0) == "4,345"


def test_an_interval_of_a_ratio_that_is_the_same_in_all_pairs_has_no_length():
    values = [1.0, 2.0, 4.0, 8.0, 16.0]

    def ratio(ours: np.ndarray, base: np.ndarray) -> float:
        return float(np.mean(ours) / np.mean(base))

    found = bootstrap(ratio, values, values)
    assert (found.mean, found.low, found.high) == (1.0, 1.0, 1.0)
