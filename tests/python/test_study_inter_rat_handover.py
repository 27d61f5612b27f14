"""The study on handovers from LTE to 3G: its measure, and its expected results."""

import polars as pl
import pytest

from fadeout.studies.inter_rat_handover import tables
from fadeout.studies.inter_rat_handover.runs import Effort, convergence, found
from fadeout.studies.inter_rat_handover.setups import ROWS, Setting
from fadeout.study import Runs, ThreadRunner

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


@pytest.fixture(scope="module")
def runs() -> Runs[Effort]:
    return Runs(ThreadRunner(workers=1), Effort(seeds=1))


def test_forwarding_loses_nothing_and_bicasting_what_waits_at_the_source(runs: Runs[Effort]):
    for row in ROWS[:2]:
        settings = {cell: row.setting(*cell) for cell in row.cells}
        results = found(runs, settings.values())
        for (is_fast, scheme), setting in settings.items():
            (one,) = results[setting]
            if scheme == "forwarding":
                assert (one["lost"], one["retransmissions"]) == (0, 0)
            elif is_fast:
                # The window has 44 segments. Lost are those that neither left in 10 ms nor are in
                # flight.
                assert 33 <= one["lost"] <= 43
                assert one["retransmissions"] >= one["lost"]
            else:
                assert one["lost"] <= 2


def test_a_longer_bicast_doubles_what_it_does_not_lose(runs: Runs[Effort]):
    setting = Setting(1.0, 1.0, 10.0, True, "bicasting", bicast_ms=1000.0)
    (one,) = found(runs, [setting])[setting]
    assert one["lost"] == 0
    assert one["doubled"] > 30


def test_what_the_paper_quotes_stands_beside_runs_of_its_own_figures(runs: Runs[Effort]):
    section = tables.quoted(runs)
    assert section.table is not None
    rows = section.table.data
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
