"""The study on handovers from LTE to 3G: its measure, and its expected results."""

from typing import Any

import polars as pl
import pytest

import fadeout
from fadeout.studies.inter_rat_handover import behaviours, radio, study
from fadeout.studies.inter_rat_handover.runs import (
    CELL_SETTINGS,
    CELLS,
    DATA,
    FIRST,
    ROWS,
    TOLERANCES,
    Effort,
    Setting,
    convergence,
    found,
    job,
)
from fadeout.study import Change, Numbers, Runs, Spread, ThreadRunner, overrides

WIDTH_S = 0.03


def download(*pieces: tuple[int, int]) -> pl.DataFrame:
    """Returns bins of a download. Each piece is a number of bins and their bytes."""
    sizes = [size for count, size in pieces for _ in range(count)]
    ends = [WIDTH_S * (number + 1) for number in range(len(sizes))]
    return pl.DataFrame({"time_s": ends, "bytes": sizes})


def test_a_download_runs_again_when_its_rate_is_back_for_good():
    # 200 bins at the old rate, 10 without data, 5 with a tenth more, and 200 at the old rate.
    rows = download((200, 1000), (10, 0), (5, 1100), (200, 1000))
    times = convergence(rows, 200 * WIDTH_S)
    # A window of ten bins still has 90 % if one bin has no data.
    assert times["time_s"] == pytest.approx(9 * WIDTH_S)
    assert times["bin_s"] == pytest.approx(11 * WIDTH_S)
    assert times["old_mbps"] == pytest.approx(1000 * 8 / WIDTH_S / 1e6)


def test_a_rate_that_falls_again_is_not_back():
    rows = download((200, 1000), (10, 0), (20, 1000), (10, 0), (200, 1000))
    assert convergence(rows, 200 * WIDTH_S)["time_s"] == pytest.approx(39 * WIDTH_S)
    never = download((200, 1000), (200, 500))
    assert convergence(never, 200 * WIDTH_S)["time_s"] == pytest.approx(200 * WIDTH_S)


def numbers_of(runs: Runs[Effort], *settings: Setting, **level: Any) -> dict[Setting, Numbers]:
    """Returns the numbers of each setting with the first seed."""
    results = found(runs, "setting", {(each,): each for each in settings}, **level)
    return {each: results[each,][0] for each in settings}


@pytest.fixture(scope="module")
def runs() -> Runs[Effort]:
    return Runs(ThreadRunner(workers=1), Effort(seeds=1))


def test_forwarding_loses_nothing_and_bicasting_what_waits_at_the_source(runs: Runs[Effort]):
    for row in ROWS[:2]:
        results = numbers_of(runs, *(row.setting(cell) for cell in CELLS))
        for setting, one in results.items():
            if setting.scheme == "forwarding":
                assert (one["lost"], one["retransmissions"]) == (0, 0)
            elif setting.is_fast:
                # The window has 44 segments. Lost are those that neither left in 10 ms nor are in
                # flight.
                assert 33 <= one["lost"] <= 43
                assert one["retransmissions"] >= one["lost"]
            else:
                assert one["lost"] <= 2


def test_a_longer_bicast_doubles_what_it_does_not_lose(runs: Runs[Effort]):
    setting = Setting(1.0, 1.0, 10.0, True, "bicasting", bicast_ms=1000.0)
    one = numbers_of(runs, setting)[setting]
    assert one["lost"] == 0
    assert one["doubled"] > 30


def test_what_the_paper_quotes_stands_beside_runs_of_its_own_figures(runs: Runs[Effort]):
    rows = study.quoted(found(runs, "figure row cell", CELL_SETTINGS))
    assert len(rows) == 9
    increase = {(row["after_mbps"], row["rtt_ms"]): row for row in rows if row["figure"] == "2"}
    assert increase[100.0, 10.0]["forwarding_published_most_s"] == 3.2
    # All data in the window of 64 KiB were forwarded. They arrive at the new rate after the
    # interruption of 0.1 s. Losses of bicasting must first be detected.
    once = increase[10.0, 100.0]
    assert 0 < once["forwarding_fast_s"] < 0.1 + 8 * 65536 / 10e6 < once["bicasting_fast_s"]
    both = [row for row in rows if row["figure"] == "3"]
    assert [row["forwarding_fast_s"] for row in both[:3]] == [
        row["forwarding_fast_s"] for row in both[3:]
    ]
    assert {row["bicasting_published_most_s"] for row in both[3:]} == {0.5, 2.2, 1.6}


def test_published_numbers_have_the_tolerance_of_the_published_file():
    retransmissions, time_s = (TOLERANCES[name] for name in ("retransmissions", "time_s"))
    times = time_s.check(9.3)
    assert (times.low, times.high) == pytest.approx((6.2, 13.95), rel=0.01)
    # The resolution is a segment, and a bin of 30 ms.
    assert retransmissions.check(1).outcome(Spread.of([0, 2])) == "holds"
    assert retransmissions.check(0).outcome(Spread.of([3])) == "does not hold"
    assert time_s.check(0.0).high == 0.03


def test_with_a_radio_forwarding_loses_nothing_and_bicasting_what_waits(runs: Runs[Effort]):
    settings = [FIRST.setting(cell) for cell in CELLS if cell.is_fast]
    results = numbers_of(runs, *settings, run=radio.job, read=radio.read)
    for setting, one in results.items():
        # The interruption of 100 ms, and the transport over both radios.
        assert 0.1 <= one["gap_s"] < 0.3
        if setting.scheme == "forwarding":
            assert (one["lost"], one["retransmissions"]) == (0, 0)
            assert one["forwarded"] > 30
        else:
            assert 30 <= one["lost"] <= 45
            assert one["retransmissions"] >= one["lost"]


def test_packets_have_the_papers_rates_over_the_radio(runs: Runs[Effort]):
    setting = ROWS[1].setting(CELLS[2])
    one = numbers_of(runs, setting, run=radio.job, read=radio.read)[setting]
    # TCP's and IP's headers take 2.7 % of 5 Mbit/s.
    assert one["old_mbps"] == pytest.approx(5 * 1460 / 1500, rel=0.06)
    assert one["new_mbps"] == pytest.approx(5 * 1460 / 1500, rel=0.1)


@pytest.mark.parametrize("change", DATA.all("radio-change", Change), ids=lambda one: one.name)
def test_every_change_of_the_radio_is_of_a_key(change: Change):
    pairs = {**radio.values(FIRST.setting(CELLS[-1]), 1), **change.values}
    fadeout.check(radio.SCENARIO, set=overrides(pairs))


def test_every_behaviour_is_a_scenario():
    for each in behaviours.behaviours():
        if each.start_ms == 10.0:
            one = job(each.setting(), 1)
            fadeout.check(one.scenario, set=one.overrides)


def test_behaviours_are_all_combinations_and_have_their_pace(
    runs: Runs[Effort], monkeypatch: pytest.MonkeyPatch
):
    assert len(set(behaviours.behaviours())) == 8 * 4 * 3 * 2 * 2
    late = "RFC 6582, slow but steady"
    kept = (
        {"RFC 6675 (SACK)", late},
        {"gaps after 200 ms (RFC 1122)"},
        {"smallest timeout 200 ms"},
        {"none"},
    )
    few = [
        [choice for choice in axis if choice.name in names]
        for axis, names in zip(behaviours.AXES, kept, strict=True)
    ]
    monkeypatch.setattr(behaviours, "AXES", few)
    section = behaviours.section(runs)
    assert section.table is not None
    found = {(row["sender"], row["bicast_ms_before"]): row for row in section.table.data}
    assert len(found) == 4
    # This sender repairs one segment for each delayed ACK in the first part of its recovery.
    assert found[late, 50.0]["time_s"] > 3
    assert found["RFC 6675 (SACK)", 50.0]["time_s"] < 1
    assert "the longest recovery is" in section.conclusion
