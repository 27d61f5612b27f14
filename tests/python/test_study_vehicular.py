"""The study of cars under 28 GHz."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app
from fadeout.studies.vehicular.claims import gain, verdicts
from fadeout.studies.vehicular.runs import MOTORWAY, SCENARIO, Numbers, Point, points
from fadeout.studies.vehicular.setups import (
    CHANGES,
    CUBIC,
    LOADS,
    MAIN,
    PLACES,
    RTW,
    SCHEMES,
    URBAN_RANDOM,
)
from fadeout.studies.vehicular.study import CLAIMS, STUDY


def numbers(goodput: float, rtt: float) -> list[Numbers]:
    """Six seeds around a mean."""
    return [{"goodput_mbps": goodput + n, "rtt_ms": rtt + n / 10} for n in range(6)]


def judged(ours: float) -> dict[str, bool | None]:
    """The verdicts where RTW-TCP has this share of what others have at urban-random."""

    def of(point: Point) -> list[Numbers]:
        place, scheme, load = point
        is_ours = scheme is RTW and place is URBAN_RANDOM
        share = ours if is_ours else 1.0
        less = 0.97 if "urban" in place.name else 1.0
        return numbers(300 * load * share * less, 10 / share)

    found = {point: of(point) for point in points(STUDY.full)}
    return {one.claim: one.holds for one in verdicts(found, LOADS, 300.0, CLAIMS)}


def test_claims_are_judged_by_the_sign_of_what_was_found():
    better, worse = judged(1.1), judged(0.9)
    assert better["urban_random"] is True
    assert worse["urban_random"] is False
    assert better["mobility_sensitivity"] is True
    assert worse["mobility_sensitivity"] is False
    assert better["rural_over_urban"] is True
    assert better["rtt_like_throughput"] is True
    assert worse["rtt_like_throughput"] is False


def test_a_gain_over_nothing_is_none():
    assert gain(numbers(1.0, 1.0), [{"goodput_mbps": 0.0}] * 6, "goodput_mbps").mean == 0.0


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda one: one.name)
def test_every_sender_is_one(scheme):
    fadeout.check(SCENARIO, set=[f"{key}={value}" for key, value in scheme.values.items()])


@pytest.mark.filterwarnings("ignore:mobility-management")
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.name)
def test_every_change_is_of_a_key(change):
    fadeout.check(SCENARIO, set=[f"{key}={value}" for key, value in change.values.items()])


def test_the_motorway_has_the_papers_density():
    lanes = 4
    published = 0.119
    tracks = fadeout.tracks(MOTORWAY, every="100 s", set={"duration": "1 s"})
    # Gaps are drawn: some twelve vehicles on each of four lanes of 400 m.
    density = len(tracks) / 400
    assert density == pytest.approx(published, rel=0.3)
    assert tracks["vehicle"].n_unique() > 5 * lanes


def test_the_study_writes_all_its_tables(cli: CliRunner, spend: Callable[..., None]):
    spend("vehicular", seeds=1, swept_seeds=1, duration_s=0.3, loads=(0.5, 1.0), class_loads=(1.0,))
    result = cli.invoke(app, ["study", "vehicular", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    claims = {row["claim"] for row in found["claims"]}
    assert claims <= set(CLAIMS)
    assert len(found["throughput"]) == 2 * len(PLACES) * len(MAIN)
    assert len(found["assumptions"]) == 1 + len(CHANGES)
    assert {row["sender"] for row in found["classes"]} == {one.name for one in SCHEMES}
    assert len(found["motorway"]) == len(MAIN)
    assert CUBIC.name in Path("study/report.md").read_text()
