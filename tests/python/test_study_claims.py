"""Claims of publications, their checks, and verdicts on them."""

import math
import re
from typing import Any

import pytest

from fadeout.study import (
    Check,
    Claim,
    Estimate,
    Outcome,
    Spread,
    Verdict,
    claims_of,
    claims_section,
    number_text,
    published,
    studies,
)
from fadeout.study.forms import fill

RATIO = Check.of({"published": "1.5 to 3", "within": [1.3, 3.5], "neutral": 1})


def of(mean: float, half_width: float) -> Estimate:
    return Estimate(mean, half_width, 6)


@pytest.mark.parametrize(
    ("mean", "half_width", "outcome"),
    [
        (2.0, 0.1, Outcome.HOLDS),
        (3.4, 0.3, Outcome.OPEN),
        (1.3, 0.4, Outcome.OPEN),
        (3.77, 0.1, Outcome.SIGN_ONLY),
        (1.2, 0.05, Outcome.SIGN_ONLY),
        (1.1, 0.15, Outcome.FAILS),
        (0.9, 0.05, Outcome.FAILS),
        (2.0, math.nan, Outcome.FEW_SEEDS),
    ],
)
def test_a_value_is_judged_by_its_interval_and_the_check(
    mean: float, half_width: float, outcome: Outcome
):
    assert RATIO.outcome(of(mean, half_width)) == outcome


def test_a_loss_has_its_sign_below_the_value_without_effect():
    loss = Check.of({"within": [0.3, 0.65], "neutral": 0.96})
    assert loss.outcome(of(0.8, 0.05)) == Outcome.SIGN_ONLY
    assert loss.outcome(of(0.2, 0.05)) == Outcome.SIGN_ONLY
    assert loss.outcome(of(0.97, 0.005)) == Outcome.FAILS


def test_a_check_without_a_sign_fails_outside_its_limits():
    near_one = Check.of({"within": [0.9, 1.1]})
    assert near_one.outcome(of(1.75, 0.1)) == Outcome.FAILS
    assert near_one.outcome(of(1.0, 0.05)) == Outcome.HOLDS


def test_an_equal_value_is_not_above():
    more = Check.of({"above": 0})
    assert more.outcome(of(0.0, 0.0)) == Outcome.FAILS
    assert more.outcome(of(0.1, 0.2)) == Outcome.OPEN
    assert more.outcome(of(0.3, 0.2)) == Outcome.HOLDS
    assert Check.of({"below": 1}).outcome(of(1.2, 0.1)) == Outcome.FAILS


def test_all_phases_of_a_command_are_judged_by_the_least_and_the_most():
    phases = Spread.of([41, 42, 41])
    assert phases.text(".0f") == "41 (41 to 42)"
    assert Check.of({"within": [40, 42]}).outcome(phases) == Outcome.HOLDS
    assert Check.of({"within": [40, 41]}).outcome(phases) == Outcome.OPEN


def test_a_claim_has_the_worst_verdict_of_its_checks_and_shows_every_number():
    entry: dict[str, Any] = {
        "id": "gain",
        "text": "More is better.",
        "checks": [{"value": "near", "published": "none", "within": [0.9, 1.1]}],
        "each": {"published": "1.5 to 3", "within": [1.3, 3.5], "neutral": 1},
    }
    verdict = Verdict(Claim.of(entry), {"near": of(1.0, 0.01), "far": of(3.77, 0.1)}, "So it is")
    assert verdict.outcome == Outcome.SIGN_ONLY
    section = claims_section([verdict])
    assert section.table is not None
    assert section.table.rows == [
        ["`gain`: More is better.", "near", "none", "0.9 to 1.1", "1.00 ± 0.01", "holds"],
        ["", "far", "1.5 to 3", "1.3 to 3.5", "3.77 ± 0.10", "holds in sign only"],
    ]
    assert "1 holds, 1 holds in sign only (of 2)" in section.conclusion
    assert "So it is." in section.conclusion
    both = claims_section({"one": [verdict], "other": [verdict]})
    assert both.table is not None
    assert both.table.columns[-2:] == ["one", "other"]
    assert {row["setup"] for row in both.table.data} == {"one", "other"}


PAPERS = ["blockage", "inter-rat-handover", "link-retransmission", "multipath", "vehicular"]


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_of_a_paper_has_a_check(name: str):
    claims = claims_of(published(studies()[name].folder)).values()
    assert len(claims) >= 4
    assert all(claim.checks or claim.each for claim in claims)


def test_a_zero_has_no_sign_and_an_interval_is_never_zero():
    assert number_text(-0.04, ".1f") == "0.0"
    assert number_text(-0.06, ".1f") == "-0.1"
    assert of(0.7, 0.03).text(".1f", " %") == "0.70 ± 0.03 %"
    assert of(-0.001, 0.2).text("+.1f") == "0.0 ± 0.2"
    # Every seed has this value, or nearly this value.
    assert of(5.0, 0.0).text(".1f") == of(5.0, 1e-9).text(".1f") == "5.0"
    shown = [of(x, h).text(".1f") for x in (-0.01, 0.0, 3.0) for h in (0.0, 1e-6, 0.004, 0.04, 4)]
    assert not [text for text in shown if re.search(r"-0\.0+\b|± 0\.0+$", text)]


def test_a_field_has_no_zero_with_a_minus_sign():
    form = "{rate:+.1f} %, {rate:.1f} to {rate:.3f}"
    assert fill(form, {"rate": -0.04}) == "0.0 %, 0.0 to -0.040"
    assert fill(form, {"rate": -0.06}) == "-0.1 %, -0.1 to -0.060"
