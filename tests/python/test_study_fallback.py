from typing import Any, cast

import fadeout
from fadeout.studies.fallback import STUDY, answers
from fadeout.studies.fallback.runs import (
    CLEAR,
    KINDS,
    NOTHING,
    POINTS,
    REMEDIES,
    SENDERS,
    THRESHOLDS,
    Effort,
    Plan,
    first_s,
)
from fadeout.study import Choice, Found, Runner, Runs

LENGTHS = (0.1, 0.5, 1.0)
BLOCKED = {length: Choice(f"{length:g} s") for length in LENGTHS}
OURS = REMEDIES[1]


def found_with(gains: dict[float, float], spread: float = 0.1) -> Found:
    """Returns runs with these gains of one remedy by length. Without blockages both are equal."""

    def numbers(gain: float, seed: int) -> dict[str, float]:
        base = 100.0 + seed
        off = spread * (-1) ** seed
        return {
            "goodput_mbps": base + gain + off,
            "silence_ms": 200.0 - gain,
            "macro_pct": 10.0 if gain else 0.0,
        }

    made = {
        (sender, remedy, blocked): [
            numbers(gains.get(length, 0.0) if remedy == OURS else 0.0, seed) for seed in range(1, 6)
        ]
        for sender in SENDERS
        for remedy in (NOTHING, OURS)
        for length, blocked in {0.0: CLEAR, **BLOCKED}.items()
    }
    return Found(("sender", "remedy", "blocked"), made)


def test_a_remedy_helps_from_the_shortest_length_after_which_it_always_does():
    row = (SENDERS[0], OURS)
    late = found_with({0.1: -5.0, 0.5: 5.0, 1.0: 8.0})
    assert answers.from_length(late, row, "goodput_mbps") == "0.5 s"
    # A gain that is interrupted counts from the last length at which it begins.
    again = found_with({0.1: 5.0, 0.5: -5.0, 1.0: 8.0})
    assert answers.from_length(again, row, "goodput_mbps") == "1 s"
    worse = found_with({1.0: -1.0})
    assert answers.from_length(worse, row, "goodput_mbps") is None
    answer = answers.judged(late)[0]
    assert (answer["goodput_from"], answer["silence_from"]) == ("0.5 s", "0.5 s")
    # 10 % of a second for 108 Mbit/s and a little more by seed: some 7.2 ms for a megabyte.
    assert 7.0 < answers.macro_ms_a_megabyte(late, (*row, BLOCKED[1.0])).mean < 7.6


def test_the_answer_names_what_is_best_and_says_nothing_where_nothing_is():
    words = answers.words(found_with({0.5: 5.0, 1.0: 8.0}))
    assert "nothing at 0.1 s" in words
    assert f"*{OURS.name}* at 0.5 to 1 s (+8 % at 1 s)" in words
    assert f"*{OURS.name}* at 0.5 to 1 s (192 ms for 200 ms at 1 s)" in words


class Recorder:
    """Runner that checks each scenario, and returns equal numbers without a run."""

    is_whole = True

    def collect(self, jobs: list[Any], read: object) -> list[dict[str, float]]:
        """Returns one number for each run."""
        for job in jobs:
            job.check()
        return [{"macro_pct": 1.0} for _ in jobs]


def test_every_remedy_is_tried_and_blockages_end_with_the_run():
    effort = Effort(seeds=1, duration_s=10, lengths_s=LENGTHS)
    plan = Plan(Runs(cast("Runner", Recorder()), effort))
    main = plan.main()
    assert main.parts("remedy") == list(REMEDIES)
    assert len({remedy.name for remedy in REMEDIES}) == len(REMEDIES)
    assert all(remedy == NOTHING or {*KINDS} & {*remedy.tags} for remedy in REMEDIES)
    # A coupled control, and one that uses rates, are run with one sender only.
    assert len(answers.rows(main)) == 2 * len(REMEDIES) - 2
    assert len(list(plan.found("vehicle"))) == len(REMEDIES) - 2
    wide = set(POINTS.wide_lengths_s) & set(LENGTHS)
    assert len(list(plan.found("rate"))) == len(wide) * len(REMEDIES)
    assert len(THRESHOLDS) >= 5
    assert len(list(plan.found("thresholds"))) == 2 * 2 * (1 + len(THRESHOLDS))
    # Two of the longest blockages end before the run does.
    assert all(first_s(seed) + 5 + 2 < 10 for seed in range(1, 100))
    fadeout.check(STUDY.folder / "scenario.toml")
