"""The study on cars with 28 GHz."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fadeout
from conftest import needs_tool
from fadeout import _traces
from fadeout.cli.app import app
from fadeout.studies.vehicular import (
    between_cars,
    city,
    failures,
    handovers,
    load,
    runs,
    today,
)
from fadeout.studies.vehicular.between_cars import crossed
from fadeout.studies.vehicular.claims import classes_verdict, gain, verdicts
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
from fadeout.study import Outcome, ThreadRunner


def numbers(goodput: float, rtt: float) -> list[Numbers]:
    """Returns the numbers of six seeds around a mean."""
    return [{"goodput_mbps": goodput + n, "rtt_ms": rtt + n / 10} for n in range(6)]


def judged(ours: float) -> dict[str, Outcome]:
    """Returns the verdicts for this ratio of RTW-TCP's goodput to that of others at
    urban-random.
    """

    def of(point: Point) -> list[Numbers]:
        place, scheme, load = point
        is_ours = scheme is RTW and place is URBAN_RANDOM
        share = ours if is_ours else 1.0
        less = 0.97 if "urban" in place.name else 1.0
        return numbers(300 * load * share * less, 10 / share)

    found = {point: of(point) for point in points(STUDY.full)}
    return {one.claim.name: one.outcome for one in verdicts(found, LOADS, 300.0, CLAIMS)}


def test_claims_are_judged_by_their_checks():
    better, more, worse = judged(1.08), judged(1.3), judged(0.9)
    assert better["urban_random"] == "holds"
    assert more["urban_random"] == "holds in sign only"
    assert worse["urban_random"] == "does not hold"
    assert worse["mobility_sensitivity"] == "does not hold"
    assert better["rural_over_urban"] == "holds"
    assert better["rtt_like_throughput"] == "holds"
    assert worse["rtt_like_throughput"] == "does not hold"


def test_a_gain_over_nothing_is_none():
    assert gain(numbers(1.0, 1.0), [{"goodput_mbps": 0.0}] * 6, "goodput_mbps").mean == 0.0


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda one: one.name)
def test_every_sender_is_one(scheme):
    fadeout.check(SCENARIO, set=[f"{key}={value}" for key, value in scheme.values.items()])


@pytest.mark.filterwarnings("ignore:mobility-management")
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.name)
def test_every_change_is_of_a_key(change):
    # An oracle evaluates all channels of the run when the scenario is checked.
    given = {"duration": "0.5 s", **change.values}
    fadeout.check(SCENARIO, set=[f"{key}={value}" for key, value in given.items()])


def test_the_motorway_has_the_papers_density():
    lanes = 4
    published = 0.119
    tracks = fadeout.tracks(MOTORWAY, every="100 s", set={"duration": "1 s"})
    # Gaps are random: some twelve vehicles on each of four lanes of 400 m.
    density = len(tracks) / 400
    assert density == pytest.approx(published, rel=0.3)
    assert tracks["vehicle"].n_unique() > 5 * lanes


@pytest.mark.filterwarnings("ignore:mobility-management")
def test_every_network_and_reading_makes_a_scenario():
    jobs = [handovers.of_square(STUDY.quick, 290.0, point, 1) for point in handovers.POINTS]
    jobs += [handovers.of_motorway(STUDY.quick, point, 1) for point in handovers.MOTORWAY_POINTS]
    for each in dict.fromkeys(jobs):
        each.check()


def test_a_handover_between_base_stations_loses_what_is_not_forwarded():
    short = dataclasses.replace(STUDY.quick, duration_s=1.5)
    made = (
        handovers.of_square(short, 290.0, (network, CUBIC), 1)
        for network in (handovers.SHARED, handovers.FORWARDED, handovers.LOSSY)
    )
    shared, forwarded, lossy = map(handovers.measure_handovers, ThreadRunner().results([*made]))
    assert shared["lost_packets"] == forwarded["lost_packets"] == 0
    assert (lossy["lost_packets"] or 0) > 100
    assert (lossy["handovers"] or 0) > 0


def test_the_papers_gain_appears_where_its_check_holds():
    records = [
        {"sender": "a", "network": "n", "verdict": "holds"},
        {"sender": "a", "network": "m", "verdict": "does not hold"},
        {"sender": "CUBIC", "network": "n", "verdict": "holds"},
    ]
    assert handovers.appears(records, "7 %").endswith("- a: holds with n.")
    assert handovers.appears(records[1:], "7 %").endswith(": none.")


def test_the_study_writes_all_its_tables(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    spend(
        "vehicular",
        seeds=1,
        swept_seeds=1,
        duration_s=0.1,
        loads=(0.5, 1.0),
        class_loads=(1.0,),
        static_loads=(1.0, 100.0),
        failure_s=0.2,
    )
    few = CHANGES[:2]
    monkeypatch.setattr(runs, "CHANGES", few)
    networks = (handovers.SHARED, handovers.LOSSY)
    for name in ("", "MOTORWAY_"):
        points = getattr(handovers, f"{name}POINTS")
        points = [point for point in points if point[0] in networks]
        monkeypatch.setattr(handovers, f"{name}POINTS", points)
        monkeypatch.setattr(handovers, f"{name}NETWORKS", networks)
    result = cli.invoke(app, ["study", "vehicular", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert {row["claim"] for row in found["claims"]} == set(CLAIMS)
    assert len(found["load"]) == 2 * len(load.NETWORKS)
    assert len(found["failures"]) == len(failures.FAILURES) * len(failures.MODES)
    assert {row["place"] for row in found["between-cars"]} == set(between_cars.PLACES)
    assert len(found["today"]) == len(today.POINTS)
    for figure in ("load", "failures", "maps", "windows"):
        assert Path(f"study/figures/{figure}.png").stat().st_size > 10_000
    assert len(found["throughput"]) == 2 * len(PLACES) * len(MAIN)
    assert len(found["assumptions"]) == 1 + len(few)
    assert len(found["handovers"]) == 2 * len(handovers.SENDERS)
    assert len(found["motorway-handovers"]) == 2 * len(handovers.MOTORWAY_SENDERS)
    assert {row["sender"] for row in found["classes"]} == {one.name for one in SCHEMES}
    assert len(found["motorway"]) == len(MAIN)
    report = Path("study/report.md").read_text()
    assert CUBIC.name in report
    assert report.index("paper RTT ms") < report.index("The paper's claims")


def test_claims_of_the_new_tables_are_judged_by_what_was_found():
    def standing(hspa_pct: float) -> dict[load.Load, list[Numbers]]:
        return {
            (network, at): [
                {
                    "rate_mbps": at - n / 10,
                    "loss_pct": (hspa_pct if network.radio == load.HSPA else 0.0) + n / 1000,
                }
                for n in range(6)
            ]
            for network, at in load.points(STUDY.full)
        }

    assert load.verdict(standing(3.0), STUDY.full, CLAIMS).holds is True
    assert load.verdict(standing(0.0), STUDY.full, CLAIMS).holds is False

    def cut(within: float) -> dict[failures.Case, list[Numbers]]:
        numbers: list[Numbers] = [
            {"within_pct": within - n / 10, "longest_ms": 9.0} for n in range(6)
        ]
        return dict.fromkeys(failures.CASES, numbers)

    assert failures.verdict(cut(100.0), CLAIMS).holds is True
    assert failures.verdict(cut(90.0), CLAIMS).holds is False

    def paths(pct: float) -> dict[str, list[Numbers]]:
        numbers: list[Numbers] = [
            {"nearest_pct": pct + n / 10, "unit_pct": 10.0 + n} for n in range(6)
        ]
        return dict.fromkeys(between_cars.PLACES, numbers)

    assert between_cars.verdict(paths(1.0), CLAIMS).holds is True
    assert between_cars.verdict(paths(30.0), CLAIMS).holds is False

    found = {point: numbers(300.0, 10.0) for point in points(STUDY.full)}
    # Values that are exactly equal are no gain.
    assert classes_verdict(found, LOADS[-1], CLAIMS).holds is False


def test_lines_pass_through_boxes_that_stand_between():
    # A truck of 10 m by 2 m, 3 m high, along the y axis.
    box = np.array([[0.0, 0.0, np.pi / 2, 10.0, 2.0, 3.0]])

    def cut(start: tuple[float, ...], end: tuple[float, ...]) -> bool:
        return bool(crossed(np.array([start]), np.array([end]), box)[0])

    assert cut((-10, 0, 1.5), (10, 0, 1.5))
    assert cut((-10, 4.9, 1.5), (10, 4.9, 1.5))
    assert not cut((-10, 5.1, 1.5), (10, 5.1, 1.5))
    # Lines along its side, over its roof, and from 8 m down to 1.6 m beyond or inside it.
    assert not cut((1.1, -20, 1.5), (1.1, 20, 1.5))
    assert not cut((-10, 0, 3.1), (10, 0, 3.1))
    assert not cut((-10, 0, 8.0), (30, 0, 1.6))
    assert cut((-10, 0, 8.0), (3, 0, 1.6))
    # A line that ends before it, and one from an antenna on its roof.
    assert not cut((-10, 0, 1.5), (-2, 0, 1.5))
    on_roof = np.array([[0.0, 0.0, 3.0]])
    away = np.array([[20.0, 0.0, 1.5]])
    assert crossed(on_roof, away, box)[0]
    assert not crossed(on_roof, away, box, np.array([[0, -1]]))[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("choice", today.CHOICES, ids=lambda one: one.name)
def test_every_choice_of_today_is_one(choice):
    fadeout.check(today.SCENARIO, set=[f"{key}={value}" for key, value in choice.pairs])


def test_a_city_that_is_left_out_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_traces, "find_sumo", lambda: None)
    assert "pip install" in str(city.why_not(STUDY.full))
    assert "quick" in str(city.why_not(STUDY.quick))


@pytest.mark.filterwarnings("ignore:mobility-management")
@needs_tool("SUMO")
def test_the_city_has_its_vehicles_for_a_minute():
    assert city.why_not(STUDY.full) is None
    tracks = fadeout.tracks(city.SCENARIO, every="15 s")
    there = tracks.group_by("time_s").len().sort("time_s")
    assert there["time_s"].to_list() == [0.0, 15.0, 30.0, 45.0, 60.0]
    assert there["len"].to_list() == [200] * 5
    # Every tenth vehicle is a lorry.
    assert tracks.unique("vehicle")["length_m"].value_counts().height == 2
    driving = tracks.filter((tracks["time_s"] > 0) & (tracks["speed_mps"] > 5))
    assert len(driving) > 100
    for choice in city.CHOICES:
        fadeout.check(city.SCENARIO, set=[f"{key}={value}" for key, value in choice.pairs])
