"""Numbers of runs over seeds, combinations of choices, and rows and lines of reports."""

import math
from pathlib import Path

import pytest

from fadeout.study import (
    Change,
    Choice,
    combined,
    difference,
    gain_pct,
    mean,
    mean_over_places,
    pivot,
    ratio_over_places,
    series,
    side_by_side,
)
from fadeout.study.figures import bar_rows, line_panels

SCENARIO = Path("studies") / "scenario.toml"


def test_a_run_without_a_value_is_left_out_of_means_and_pairs():
    ours = [{"rtt": 2.0}, {"rtt": None}, {"rtt": 4.0}, {"rtt": math.nan}]
    base = [{"rtt": 1.0}, {"rtt": 9.0}, {"rtt": None}, {"rtt": 9.0}]
    assert mean(ours, "rtt").mean == 3.0
    # Only the first seed has both values.
    assert difference(ours, base, "rtt").mean == 1.0
    assert gain_pct(ours, base, "rtt").mean == pytest.approx(100)
    assert gain_pct(ours, base, "rtt").count == 1


def test_a_gain_over_zero_is_zero():
    assert gain_pct([{"timeouts": 3.0}] * 2, [{"timeouts": 0.0}] * 2, "timeouts").mean == 0


def test_later_choices_replace_values_scenario_and_add_to_the_removed_tables():
    place = Choice("place", {"a": "1", "b": "2"}, without=("cell",))
    change = Change("sites", values={"b": "3"}, scenario="sites.toml", without=("flow.x",))
    job = combined(SCENARIO, {"a": "0", "duration": "1 s"}, place, change)
    assert job.scenario == Path("studies") / "sites.toml"
    assert job.overrides == ("a=1", 'duration="1 s"', "b=3")
    assert job.without == ("cell", "flow.x")
    assert combined(SCENARIO, {}, place).scenario == SCENARIO


def test_values_of_removed_tables_have_no_effect():
    alone = Choice("alone", without=("flow.rival", "link.x.loss"))
    given = {"flow.rival": "{}", "flow.rival.start": "1", "flow.rivals": "2", "link.x.rate": "3"}
    assert combined(SCENARIO, given, alone).overrides == ("flow.rivals=2", "link.x.rate=3")


RECORDS = [
    {"place": place, "sender": sender, "load": load, "rate": 10 * load + number}
    for number, (place, sender) in enumerate((("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")))
    for load in (1, 2)
]


def test_pivoted_records_have_every_number_once():
    wide = pivot(RECORDS, "load", "place", "sender")
    assert [(row["place"], row["sender"]) for row in wide] == [
        ("x", "a"),
        ("x", "b"),
        ("y", "a"),
        ("y", "b"),
    ]
    assert wide[1] == {"place": "x", "sender": "b", "rate": {1: 11, 2: 21}}
    assert sum(len(row["rate"]) for row in wide) == len(RECORDS)


def test_lines_of_a_figure_have_the_order_of_the_records():
    assert series(RECORDS, "place", "sender", value="rate") == {
        "x": {"a": [10, 20], "b": [11, 21]},
        "y": {"a": [12, 22], "b": [13, 23]},
    }


def test_ratios_over_places_are_those_of_places_that_both_have():
    ours = {"clear": [4.0, 4.0], "obstructed": [2.0, 2.0]}
    base = {"clear": [2.0, 2.0, 100.0], "obstructed": [1.0, 1.0, 100.0]}
    both = side_by_side({"ours": ours, "base": base})
    assert both["clear"] == [{"ours": 4.0, "base": 2.0}] * 2

    def ratio(zero: float) -> float:
        return ratio_over_places(both, 50, lambda each: each["ours"], lambda each: zero).mean

    found = ratio_over_places(both, 50, lambda each: each["ours"], lambda each: each["base"])
    assert found.mean == pytest.approx(2)
    assert ratio(0.0) == math.inf
    # The mean is between those of the strata, with a weight that is neither zero nor one.
    assert 2 < mean_over_places(ours, 50, lambda each: each).mean < 4


def test_panels_share_the_largest_limit():
    values = {
        title: {"line": [mean([{"n": size}] * 6, "n")] * 2}
        for title, size in (("low", 1.0), ("high", 9.0))
    }
    shared = line_panels(values, (1, 2), x_label="x", share_y=True)
    own = line_panels(values, (1, 2), x_label="x")
    bars = bar_rows(values, ("one", "two"))
    assert [ax.get_ylim()[0] for figure in (shared, own, bars) for ax in figure.axes] == [0] * 6
    assert shared.axes[0].get_ylim()[1] == shared.axes[1].get_ylim()[1] > 9
    assert own.axes[0].get_ylim()[1] < 2 < own.axes[1].get_ylim()[1]
