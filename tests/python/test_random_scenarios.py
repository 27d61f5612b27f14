"""Random scenarios are refused at their place, or run with results that make sense.

`FADEOUT_CASES` is the number of cases, `FADEOUT_SEED` the seed of the first, as in Rust's tests.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from generator import features, limits, pairs, run
from generator.bases import is_accepted
from generator.schema import bounds_of, load, quantity

SEED = int(os.environ.get("FADEOUT_SEED", "1"))
CASES = int(os.environ.get("FADEOUT_CASES", "200"))
SOAK = "FADEOUT_CASES" in os.environ
BATCHES = 8
"""Number of parts of the cases, which run side by side."""
FILES = Path(__file__).with_name("cases")

# A soak test has no time limit, but each of its cases has one.
pytestmark = [pytest.mark.timeout(0)] if SOAK else []


@pytest.fixture(scope="module")
def runner() -> Iterator[run.Runner]:
    with run.Runner() as one:
        yield one


def judge(runner: run.Runner, verdict: run.Verdict, replay: str) -> None:
    """Fails with a shrunk scenario if a case has a fault."""
    if verdict.faults:
        pytest.fail(run.report(runner, verdict, replay), pytrace=False)
    assert verdict.kind != "refused" or verdict.message, f"no message, {replay}"
    assert not verdict.unplaced, f"a refusal without line and column, {replay}"


def replay(number: int, name: str) -> str:
    """Returns the command that runs one case again."""
    test = f"python -m pytest tests/python/test_random_scenarios.py -k {name}"
    return f"FADEOUT_SEED={number} FADEOUT_CASES=1 {test}"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_changed_scenarios_run_or_are_refused_at_their_place(runner: run.Runner, batch: int):
    for number in range(SEED + batch, SEED + CASES, BATCHES):
        verdict = runner.run({"kind": "mutated", "seed": number, "again": number % 4 == 0})
        judge(runner, verdict, replay(number, "changed"))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_each_key_has_its_least_and_its_greatest_value(runner: run.Runner, batch: int):
    # A soak test has all of them. The stride separates neighbours in the schema.
    leaves = limits.leaves()
    cases = min(CASES, len(leaves)) if SOAK else 64
    for number in range(SEED + batch, SEED + cases, BATCHES):
        leaf = number * 1_000_003 % len(leaves)
        verdict = runner.run({"kind": "limits", "leaf": leaf, "seed": number})
        judge(runner, verdict, f"{leaves[leaf].name()}: {replay(number, 'least')}")


def test_each_pair_of_features_is_in_a_scenario(runner: run.Runner):
    cover = pairs.Cover(Random(SEED), lambda one: is_accepted(features.compose(one)))
    for number, choices in enumerate(cover.rows(None if SOAK and CASES > 1 else 40)):
        # A second run must have the same bits; in a soak each scenario has one.
        is_again = SOAK or number % 4 == 0
        verdict = runner.run({"kind": "pairs", "choices": choices, "again": is_again})
        assert verdict.kind != "refused", f"{choices}: {verdict.message}"
        judge(runner, verdict, "PYTHONPATH=tests/python python -m generator FILE")


def test_the_cover_has_each_pair_once_at_least():
    cover = pairs.Cover(Random(SEED), lambda _: True)
    seen = set().union(*(pairs.pairs_in(row) for row in cover.rows()))
    assert seen == set(pairs.all_pairs())
    assert not cover.refused


def test_a_refused_pair_spoils_no_row():
    def refuses(choices: features.Choices) -> bool:
        return choices["rlc"] == "tm" and choices["handover"] == "daps"

    cover = pairs.Cover(Random(SEED), lambda one: not refuses(one))
    rows = list(cover.rows())
    assert not any(refuses(row) for row in rows)
    missing = set(pairs.all_pairs()) - set().union(*(pairs.pairs_in(row) for row in rows))
    assert missing == set(cover.refused)
    assert missing == {frozenset({pairs.Value("rlc", "tm"), pairs.Value("handover", "daps")})}


def test_a_failing_scenario_becomes_small(runner: run.Runner, monkeypatch: pytest.MonkeyPatch):
    text = (FILES / "ltm-order.toml").read_text()

    def has_building(given: str, *, again: bool = False) -> run.Verdict:
        faults = ["wanted"] if "path-loss" in given else []
        return run.Verdict("fault", given, faults)

    monkeypatch.setattr(runner, "text", has_building)
    small = run.shrink(runner, text, "wanted")
    assert len(small.splitlines()) == 1
    assert "path-loss" in small


def test_bounds_of_the_schema_are_read():
    duration = load()["properties"]["duration"]
    bounds = bounds_of("time", duration)
    assert bounds.most == 1e6
    assert bounds.least is not None
    assert 0 < bounds.least < 1e-3
    found = quantity("1.5 km")
    assert found is not None
    assert found.value == 1500


def test_a_run_without_end_is_a_hang_and_a_panic_is_a_fault(runner: run.Runner):
    # The server cannot hang, as its child ends at the limit of processor time.
    verdict = runner.run({"kind": "none-such", "text": "duration = 3"})
    assert verdict.kind == "refused"
    verdict = runner.run({"kind": "limits", "leaf": -(10**9), "seed": 1})
    assert verdict.kind == "fault"
    assert "generator itself" in verdict.faults[0]
