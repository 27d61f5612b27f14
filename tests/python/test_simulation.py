import math

import pytest

import fadeout
from conftest import SCENARIO


@pytest.fixture(scope="module")
def at_once() -> fadeout.Results:
    return fadeout.run(SCENARIO)


def assert_same(results: fadeout.Results, expected: fadeout.Results) -> None:
    assert results.fingerprint == expected.fingerprint
    names = list(results.tables)
    assert names == list(expected.tables)
    for name in names:
        assert results.table(name).equals(expected.table(name)), name


@pytest.mark.parametrize("step_s", [0.001, 0.0137, 0.5])
def test_a_run_in_steps_is_the_same_run(at_once, step_s):
    simulation = fadeout.Simulation(SCENARIO)
    while simulation.now_s < simulation.duration_s:
        simulation.advance(simulation.now_s + step_s)
    results = simulation.finish()
    assert results.is_complete
    assert_same(results, at_once)


def test_from_event_to_event_it_is_the_same_run(at_once):
    simulation = fadeout.Simulation(SCENARIO)
    while (at := simulation.next_s) is not None:
        simulation.advance(at)
        assert simulation.now_s == at
    simulation.advance(math.inf)
    assert simulation.now_s == simulation.duration_s
    assert_same(simulation.finish(), at_once)


def test_a_run_that_ends_early_has_its_tables_until_then():
    simulation = fadeout.Simulation(SCENARIO, seed=7, set={"duration": "1 s"})
    simulation.advance(0.4)
    results = simulation.finish()
    assert not results.is_complete
    assert results.manifest["seed"] == 7
    times = results.congestion["time_s"].to_list()
    assert 0.3 < max(times) <= 0.4


@pytest.mark.parametrize("until_s", [0.25, -1.0, -math.inf, math.nan])
def test_there_is_no_step_into_the_past(until_s):
    simulation = fadeout.Simulation(SCENARIO)
    simulation.advance(0.5)
    with pytest.raises(ValueError, match=r"expected at least 0\.5 s, the present simulated time"):
        simulation.advance(until_s)
    assert simulation.now_s == 0.5
    simulation.advance(0.5)


def test_after_its_end_there_is_no_simulation():
    simulation = fadeout.Simulation(SCENARIO)
    simulation.finish()
    for call in (lambda: simulation.advance(1.0), simulation.finish, lambda: simulation.now_s):
        with pytest.raises(RuntimeError, match="the simulation is finished"):
            call()


def test_a_wrong_scenario_is_refused_before_anything_happens():
    with pytest.raises(fadeout.ScenarioError, match="duration"):
        fadeout.Simulation("seed = 1\n")


class Silent:
    def on_ack(self, window, ack):
        pass

    def on_congestion(self, window, event):
        window.ssthresh = 2


class Odd(Silent):
    def on_ack(self, window, ack):
        if ack.time_s >= 0.45:
            raise ZeroDivisionError("time is over")


def test_a_class_that_raises_ends_it_with_what_was_recorded():
    simulation = fadeout.Simulation(
        SCENARIO,
        set={"flow.congestion-control": "odd"},
        congestion_controls={"odd": Odd},
    )
    simulation.advance(0.4)
    with pytest.raises(fadeout.CongestionControlError, match="time is over") as caught:
        simulation.advance(1.0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not caught.value.results.is_complete
    with pytest.raises(RuntimeError, match="finished"):
        simulation.advance(1.0)


def test_a_step_is_not_entered_twice():
    class Curious(Silent):
        def on_ack(self, window, ack):
            simulation.advance(2.0)

    simulation = fadeout.Simulation(
        SCENARIO,
        set={"flow.congestion-control": "curious"},
        congestion_controls={"curious": Curious},
    )
    with pytest.raises(fadeout.CongestionControlError) as caught:
        simulation.advance(1.0)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert "middle of a step" in str(caught.value.__cause__)
