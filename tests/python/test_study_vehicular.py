"""The study on cars with 28 GHz."""

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
from fadeout.studies.vehicular.between_cars import crossed
from fadeout.studies.vehicular.claims import (
    classes_verdict,
    failures_verdict,
    paths_verdict,
    standing_verdict,
    verdicts,
)
from fadeout.studies.vehicular.runs import (
    CASES,
    CLAIMS,
    CLASSES,
    DATA,
    FOLDER,
    MAIN,
    PLACES,
    STANDING,
    at_load,
    measure_handovers,
)
from fadeout.studies.vehicular.study import STUDY, appears, why_no_city
from fadeout.study import (
    Change,
    Choice,
    Found,
    OfSeeds,
    Outcome,
    ThreadRunner,
    combined,
    gain_pct,
)

LOADS = STUDY.full.loads
CHANGES, NETWORKS = DATA.all("change", Change), DATA.all("network", Change)
SQUARE = FOLDER / "scenario.toml"
MOTORWAY, CITY = FOLDER / "motorway.toml", FOLDER / "city" / "city.toml"
RTW, _, CUBIC, _ = MAIN


def numbers(goodput: float, rtt: float) -> OfSeeds:
    """Returns the numbers of six seeds around a mean."""
    return [{"goodput_mbps": goodput + n, "rtt_ms": rtt + n / 10} for n in range(6)]


def judged(ours: float) -> dict[str, Outcome]:
    """Returns the verdicts for this ratio of RTW-TCP's goodput to that of others at
    urban-random.
    """

    def of(place: Choice, sender: Choice, load: float) -> OfSeeds:
        is_ours = sender == RTW and place.name == "urban-random"
        share = ours if is_ours else 1.0
        less = 0.97 if "urban" in place.name else 1.0
        return numbers(300 * load * share * less, 10 / share)

    return {one.claim.name: one.outcome for one in verdicts(grid(of), LOADS, 300.0)}


def grid(of: Callable[[Choice, Choice, float], OfSeeds]) -> Found:
    """Returns made-up numbers of every sender at every place and load."""
    numbers = {
        (place, at_load(load, 300.0), one): of(place, one, load)
        for place in PLACES
        for one in (*MAIN, *CLASSES)
        for load in LOADS
    }
    return Found(("place", "load", "sender"), numbers)


def test_claims_are_judged_by_their_checks():
    better, more, worse = judged(1.08), judged(1.3), judged(0.9)
    assert better["urban_random"] == "holds"
    assert more["urban_random"] == "holds in sign only"
    assert worse["urban_random"] == "does not hold"
    assert worse["mobility_sensitivity"] == "does not hold"
    assert better["rural_over_urban"] == "holds"
    assert better["rtt_like_throughput"] == "holds"
    assert worse["rtt_like_throughput"] == "does not hold"


def test_a_gain_over_no_throughput_is_zero():
    assert gain_pct(numbers(1.0, 1.0), [{"goodput_mbps": 0.0}] * 6, "goodput_mbps").mean == 0.0


@pytest.mark.parametrize("scheme", (*MAIN, *CLASSES), ids=lambda one: one.name)
def test_every_sender_is_one(scheme):
    fadeout.check(SQUARE, set=[f"{key}={value}" for key, value in scheme.values.items()])


@pytest.mark.filterwarnings("ignore:mobility-management")
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.name)
def test_every_change_is_of_a_key(change):
    # An oracle evaluates all channels of the run when the scenario is checked.
    given = {"duration": "0.5 s", **change.values}
    fadeout.check(SQUARE, set=[f"{key}={value}" for key, value in given.items()])


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
    short = {"duration": "0.5 s"}
    senders = (*DATA.all("reading", Choice), *DATA.all("stack", Choice))
    jobs = [
        combined(scenario, short, load, network, sender)
        for scenario, networks, load in (
            (SQUARE, NETWORKS, at_load(1, 290.0)),
            (MOTORWAY, DATA.all("motorway-network", Change), Choice("")),
        )
        for network in networks
        for sender in (RTW, *senders)
    ]
    for each in dict.fromkeys(jobs):
        each.check()


def test_a_handover_between_base_stations_loses_what_is_not_forwarded():
    short = {"duration": "1.5 s"}
    made = [
        combined(SQUARE, short, at_load(2, 290.0), network, CUBIC).seeded(1, with_tables=True)
        for network in NETWORKS[:3]
    ]
    shared, forwarded, lossy = map(measure_handovers, ThreadRunner().results(made))
    assert shared["lost_packets"] == forwarded["lost_packets"] == 0
    assert (lossy["lost_packets"] or 0) > 100
    assert (lossy["handovers"] or 0) > 0


def test_the_papers_gain_appears_where_its_check_holds():
    records = [
        {"sender": "a", "_network": "n", "verdict": "holds"},
        {"sender": "a", "_network": "m", "verdict": "does not hold"},
        {"sender": "CUBIC", "_network": "n", "verdict": "holds"},
    ]
    assert appears(records, "7 %").endswith("- *a*: holds with\n  - n")
    assert appears(records[1:], "7 %").endswith(": none.")


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
        static_loads=(1, 100),
        failure_s=0.2,
    )
    # The third network drops data at a handover.
    few = {"change": slice(3), "network": slice(0, 3, 2), "motorway-network": slice(1)}
    for key, chosen in few.items():
        monkeypatch.setitem(DATA.document, key, DATA[key][chosen])
    result = cli.invoke(app, ["study", "vehicular", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert {row["claim"] for row in found["claims"]} == set(CLAIMS)
    assert len(found["load"]) == 2 * len(STANDING)
    assert len(found["failures"]) == len(CASES)
    assert {row["place"] for row in found["between-cars"]} == {
        place.name for place in PLACES[1:]
    } | {"motorway"}
    assert len(found["today"]) == len(DATA["density"]) * len(DATA["choice"])
    for figure in ("load", "failures", "maps", "windows"):
        assert Path(f"study/figures/{figure}.png").stat().st_size > 10_000
    assert len(found["throughput"]) == 2 * len(PLACES) * len(MAIN)
    assert len(found["assumptions"]) == 2 * 3
    assert len(found["handovers"]) == 2 * 8
    assert len(found["motorway-handovers"]) == 7
    assert {row["sender"] for row in found["classes"]} == {one.name for one in (*MAIN, *CLASSES)}
    assert len(found["motorway"]) == len(MAIN)
    report = Path("study/report.md").read_text()
    assert CUBIC.name in report
    assert report.index("paper RTT ms") < report.index("The paper's claims")


def test_claims_of_the_new_tables_are_judged_by_what_was_found():
    def standing(hspa_pct: float) -> Found:
        numbers = {
            (one, f"{at:g}"): [
                {
                    "rate_mbps": at - n / 10,
                    "loss_pct": (hspa_pct if one.kind == "HSPA+" else 0.0) + n / 1000,
                }
                for n in range(6)
            ]
            for one in STANDING
            for at in STUDY.full.static_loads
        }
        return Found(("standing", "load_mbps"), numbers)

    assert standing_verdict(standing(3.0)).holds is True
    assert standing_verdict(standing(0.0)).holds is False

    def cut(within: float) -> Found:
        numbers = [{"within_pct": within - n / 10} for n in range(6)]
        return Found(("failure", "link", "sender"), dict.fromkeys(CASES, numbers))

    assert failures_verdict(cut(100.0)).holds is True
    assert failures_verdict(cut(90.0)).holds is False

    def paths(pct: float) -> Found:
        numbers = [{"nearest_pct": pct + n / 10, "unit_pct": 10.0 + n} for n in range(6)]
        return Found(("place",), {(Choice("motorway"),): numbers})

    assert paths_verdict(paths(1.0)).holds is True
    assert paths_verdict(paths(30.0)).holds is False

    # Values that are exactly equal are no gain.
    equal = grid(lambda *_: numbers(300.0, 10.0))
    assert classes_verdict(equal, LOADS[-1]).holds is False


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
@pytest.mark.parametrize("choice", DATA.all("choice", Choice), ids=lambda one: one.name)
def test_every_choice_of_today_is_one(choice):
    fadeout.check(
        FOLDER / "with-lte.toml", set=[f"{key}={value}" for key, value in choice.values.items()]
    )


def test_a_city_that_is_left_out_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_traces, "find_sumo", lambda: None)
    assert "pip install" in str(why_no_city(STUDY.full))
    assert "quick" in str(why_no_city(STUDY.quick))


@pytest.mark.filterwarnings("ignore:mobility-management")
@needs_tool("SUMO")
def test_the_city_has_its_vehicles_for_a_minute():
    assert why_no_city(STUDY.full) is None
    tracks = fadeout.tracks(CITY, every="15 s")
    there = tracks.group_by("time_s").len().sort("time_s")
    assert there["time_s"].to_list() == [0.0, 15.0, 30.0, 45.0, 60.0]
    assert there["len"].to_list() == [200] * 5
    # Every tenth vehicle is a lorry.
    assert tracks.unique("vehicle")["length_m"].value_counts().height == 2
    driving = tracks.filter((tracks["time_s"] > 0) & (tracks["speed_mps"] > 5))
    assert len(driving) > 100
    for choice in DATA.all("city-choice", Choice):
        fadeout.check(CITY, set=[f"{key}={value}" for key, value in choice.values.items()])
