import fadeout
from fadeout.studies.fallback import STUDY, answers
from fadeout.studies.fallback.runs import (
    CLEAR_S,
    NOTHING,
    POINTS,
    REMEDIES,
    SCENARIO,
    SENDERS,
    Effort,
    first_s,
    head,
    points,
    swept_points,
    vehicle_points,
    wide_points,
)
from fadeout.study import Found

LENGTHS = (0.1, 0.5, 1.0)
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
        (sender, remedy.name, head(length)): [
            numbers(gains.get(length, 0.0) if remedy == OURS else 0.0, seed) for seed in range(1, 6)
        ]
        for sender in SENDERS
        for remedy in (NOTHING, OURS)
        for length in (CLEAR_S, *LENGTHS)
    }
    return Found(("sender", "remedy", "blocked"), made)


def test_a_remedy_helps_from_the_shortest_length_after_which_it_always_does():
    sender = next(iter(SENDERS))
    late = found_with({0.1: -5.0, 0.5: 5.0, 1.0: 8.0})
    assert answers.from_length(late, sender, OURS.name, "goodput_mbps") == "0.5 s"
    # A gain that is interrupted counts from the last length at which it begins.
    again = found_with({0.1: 5.0, 0.5: -5.0, 1.0: 8.0})
    assert answers.from_length(again, sender, OURS.name, "goodput_mbps") == "1 s"
    worse = found_with({1.0: -1.0})
    assert answers.from_length(worse, sender, OURS.name, "goodput_mbps") is None
    row = answers.judged(late)[0]
    assert (row["goodput_from"], row["silence_from"]) == ("0.5 s", "0.5 s")
    # 10 % of a second for 108 Mbit/s and a little more by seed: some 7.2 ms for a megabyte.
    assert 7.0 < answers.macro_ms_a_megabyte(late, (sender, OURS.name, "1 s")).mean < 7.6


def test_the_answer_names_what_is_best_and_says_nothing_where_nothing_is():
    words = answers.words(found_with({0.5: 5.0, 1.0: 8.0}))
    assert "nothing at 0.1 s" in words
    assert f"*{OURS.name}* at 0.5 to 1 s (+8 % at 1 s)" in words
    assert f"*{OURS.name}* at 0.5 to 1 s (192 ms for 200 ms at 1 s)" in words


def test_every_remedy_is_tried_and_blockages_end_with_the_run():
    effort = Effort(seeds=5, duration_s=10, lengths_s=LENGTHS)
    tried = points(effort)
    assert {point.remedy for point in tried} == set(REMEDIES)
    assert len({remedy.name for remedy in REMEDIES}) == len(REMEDIES)
    # A coupled control, and one that uses rates, are run with one sender only.
    assert len(vehicle_points()) == len(REMEDIES) - 2
    wide = set(POINTS.wide_lengths_s) & set(LENGTHS)
    assert len(wide_points(effort)) == len(wide) * len(REMEDIES)
    assert len(POINTS.thresholds_kb) >= 5
    assert len(swept_points()) == 2 * 2 * (1 + len(POINTS.thresholds_kb))
    # Two of the longest blockages end before the run does.
    assert all(first_s(seed) + 5 + 2 < 10 for seed in range(1, 100))
    assert STUDY.folder / "scenario.toml" == SCENARIO
    fadeout.check(SCENARIO)
