"""Tests of predictions of blockages."""

import math
from typing import Any

import pytest

from fadeout.predictions import Prediction, Predictor, Report, Settings, cuts, predict, score

PERIOD = 0.04


def drive(
    name: str, start_s: float, speed: float, shadow: tuple[float, float], length: float = 80.0
) -> list[Report]:
    """Returns the reports of a car that drives east past a shadow."""
    steps = int(length / speed / PERIOD)
    places = [(start_s + n * PERIOD, n * PERIOD * speed) for n in range(steps)]
    return [
        Report(time, name, "unit", x, 2.0, speed, 0.0, shadow[0] <= x < shadow[1])
        for time, x in places
    ]


def street(cars: int = 5, shadow: tuple[float, float] = (40.0, 55.0)) -> list[Report]:
    """Returns the reports of cars that follow each other at several speeds."""
    speeds = [10.0, 14.0, 20.0, 12.0, 25.0]
    every = [drive(f"car-{n}", 30.0 * n, speeds[n % 5], shadow) for n in range(cars)]
    return sorted(one for car in every for one in car)


def test_a_shadow_that_one_car_has_met_is_predicted_for_the_next():
    reports = street()
    found = predict(reports, Settings(resolution_m=1.0, learning=1, horizon_s=5.0))
    assert [one.ue for one in found] == ["car-1", "car-2", "car-3", "car-4"]
    truth = cuts(reports)
    for one in found:
        ((start, stop),) = truth[one.ue, "unit"]
        speed = {"car-1": 14, "car-2": 20, "car-3": 12, "car-4": 25}[one.ue]
        # Regions have 1 m, and a car at up to 25 m/s reports every 40 ms.
        assert one.starts_s == pytest.approx(start, abs=1.5 / speed + PERIOD)
        assert one.lasts_s == pytest.approx(stop - start, abs=2 / speed + 2 * PERIOD)
        assert one.told_s == one.made_s + 0.02
    whole = score(found, truth)
    assert whole["precision"] == 1.0
    assert whole["recall"] == 4 / 5, "nobody knew for the first car"


def test_nothing_is_said_before_a_region_is_known():
    for learning, expected in ((10, 1), (30, 2), (1000, 5)):
        settings = Settings(resolution_m=5.0, learning=learning, horizon_s=5.0)
        found = predict(street(), settings)
        assert len({one.ue for one in found}) <= 5 - expected


def test_without_the_future_it_says_the_same():
    settings = Settings(
        learning=1, place_error_m=1.5, speed_error=0.05, missed=0.2, false=0.01, horizon_s=5.0
    )
    reports = street(10)
    whole = predict(reports, settings)
    assert len(whole) > 5
    for end in range(0, len(reports), len(reports) // 6):
        known = reports[:end]
        until = known[-1].time_s if known else -math.inf
        past = [one for one in whole if one.made_s < until]
        assert predict(known, settings)[: len(past)] == past


def test_without_errors_it_is_as_exact_as_its_regions():
    reports = street()
    errors = {}
    for side in (0.5, 2.0, 8.0):
        settings = Settings(resolution_m=side, learning=1, horizon_s=5.0)
        found = score(predict(reports, settings), cuts(reports))
        errors[side] = found["length_error_s"]
        # Two edges, each within a region, at 12 to 25 m/s, with reports 40 ms apart.
        assert errors[side] is not None
        assert errors[side] < 2 * side / 12 + 2 * PERIOD
    assert errors[0.5] < errors[8.0]


def test_a_gap_of_reports_is_a_cut():
    heard = [one for one in street() if not one.is_cut]
    found = predict(heard, Settings(resolution_m=1.0, learning=1, horizon_s=5.0))
    truth = cuts(street())
    assert score(found, truth)["recall"] == 4 / 5


def test_wrong_predictions_cost_precision_and_missed_ones_recall():
    reports = street(25)
    settings = {"resolution_m": 2.0, "learning": 1, "horizon_s": 5.0}
    truth = cuts(reports)
    right = score(predict(reports, Settings(**settings)), truth)
    false = score(predict(reports, Settings(**settings, false=0.02)), truth)
    missed = score(predict(reports, Settings(**settings, missed=0.5)), truth)
    assert right["precision"] == 1.0
    assert false["precision"] is not None
    assert false["precision"] < 0.9
    assert missed["recall"] is not None
    # 24 known blockages, each lost with probability one half: five standard errors.
    assert abs(missed["recall"] - 0.5 * 24 / 25) < 5 * 0.5 / math.sqrt(24)
    assert missed["precision"] == 1.0


def test_what_is_told_after_its_beginning_is_a_miss():
    reports = street()
    truth = cuts(reports)
    settings = Settings(resolution_m=1.0, learning=1, horizon_s=1.0, delay_s=1.0)
    assert score(predict(reports, settings), truth)["recall"] == 0
    prompt = Settings(resolution_m=1.0, learning=1, horizon_s=1.0, delay_s=0.1)
    lead = score(predict(reports, prompt), truth)["lead_s"]
    assert lead == pytest.approx(0.9, abs=0.15)


def test_an_error_of_place_moves_the_beginning_and_not_the_length():
    reports = street(15)
    plain = {"resolution_m": 0.5, "learning": 1, "horizon_s": 5.0}
    truth = cuts(reports)
    # The map uses exact positions first. Then all other cars have their own position error.
    exact = score(predict(reports, Settings(**plain)), truth)
    shifted = score(predict(reports, Settings(**plain, place_error_m=3.0)), truth)
    assert exact["onset_error_s"] is not None
    assert shifted["onset_error_s"] is not None
    assert shifted["onset_error_s"] > 2 * exact["onset_error_s"]


def test_nobody_who_stands_is_told_anything():
    standing = [Report(n * PERIOD, "car", "unit", 39.0, 2.0, 0.0, 0.0, False) for n in range(50)]
    assert (
        predict(street() + [one._replace(time_s=one.time_s + 500) for one in standing])[-1].ue
        != "car"
    )


def test_scores_of_nothing():
    assert score([], {})["precision"] is None
    lonely = Prediction(1.0, 1.0, "car", "unit", 2.0, 1.0)
    assert score([lonely], {})["precision"] == 0.0
    assert score([lonely], {("car", "unit"): [(5.0, 6.0)]})["recall"] == 0.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"resolution_m": 0}, "resolution_m is 0"),
        ({"delay_s": -1.0}, "delay_s is -1.0"),
        ({"false": 1.5}, "expected a share"),
        ({"speed_error": math.nan}, "finite number"),
    ],
)
def test_wrong_settings_are_refused(values: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        Predictor(Settings(**values))


def test_regions_may_be_beams_of_the_unit():
    reports = street()
    beams = Settings(beam_width_deg=2.0, learning=1, horizon_s=5.0, sites={"unit": (0.0, -20.0)})
    found = predict(reports, beams)
    truth = cuts(reports)
    assert {one.ue for one in found} == {"car-1", "car-2", "car-3", "car-4"}
    assert score(found, truth)["recall"] == 4 / 5, "nobody knew for the first car"
    # With one beam for all directions, the region does not help.
    one = predict(reports, Settings(beam_width_deg=360.0, learning=1, sites={"unit": (0.0, 0.0)}))
    assert one == []
    with pytest.raises(ValueError, match="sites"):
        predict(reports, Settings(beam_width_deg=2.0))
    with pytest.raises(ValueError, match="beam_width_deg is 0"):
        Settings(beam_width_deg=0.0)
