"""The study on handovers from LTE to 3G: its measure, and its expected results."""

from typing import Any

import polars as pl
import pytest

from fadeout.studies.inter_rat_handover import behaviours, study
from fadeout.studies.inter_rat_handover.radio import measure_radio, over_radio
from fadeout.studies.inter_rat_handover.runs import (
    CELLS,
    DATA,
    LISTS,
    ROWS,
    TOLERANCES,
    Cell,
    convergence,
    measure,
    over_links,
)
from fadeout.study import At, Change, Choice, Effort, Grid, Job, Numbers, Runs, Spread, ThreadRunner

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


EFFORT = Effort(seeds=1)


def at(**parts: Any) -> At:
    """Returns a point with the first seed."""
    return At(parts, 1, EFFORT)


@pytest.fixture(scope="module")
def runs() -> Runs[Effort]:
    return Runs(ThreadRunner(workers=1), EFFORT)


def grid(runs: Runs[Effort], **lists: list[Choice]) -> Grid:
    """Returns the sets of runs of the study. Some lists of the file may be shorter."""
    return Grid(DATA, runs, study.READERS, {**LISTS, **lists}, study.MAKERS)


def test_forwarding_loses_nothing_and_bicasting_what_waits_at_the_source(runs: Runs[Effort]):
    for row in ROWS["figure4"][:2]:
        for cell in CELLS:
            (one,) = runs.each([over_links(at(row=row, cell=cell))], measure)
            if cell.scheme == "forwarding":
                assert (one["lost"], one["retransmissions"]) == (0, 0)
            elif cell.is_fast:
                # The window has 44 segments. Lost are those that neither left in 10 ms nor are in
                # flight.
                assert 33 <= one["lost"] <= 43
                assert one["retransmissions"] >= one["lost"]
            else:
                assert one["lost"] <= 2


def test_a_longer_bicast_doubles_what_it_does_not_lose(runs: Runs[Effort]):
    (one,) = runs.each([over_links(at(begins_ms_before=1000.0))], measure)
    assert one["lost"] == 0
    assert one["doubled"] > 30


def test_what_the_paper_quotes_stands_beside_runs_of_its_own_figures(runs: Runs[Effort]):
    sets = grid(runs)
    rows = study.quoted(sets["figure4"] | sets["figure5"])
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


def over_the_radio(runs: Runs[Effort], cell: Cell, **parts: Any) -> Numbers:
    """Returns the numbers of a run with the radio."""
    return runs.each([over_radio(at(cell=cell, **parts))], measure_radio)[0]


def test_with_a_radio_forwarding_loses_nothing_and_bicasting_what_waits(runs: Runs[Effort]):
    for cell in CELLS[2:]:
        one = over_the_radio(runs, cell)
        # The interruption of 100 ms, and the transport over both radios.
        assert 0.1 <= one["gap_s"] < 0.3
        if cell.scheme == "forwarding":
            assert (one["lost"], one["retransmissions"]) == (0, 0)
            assert one["forwarded"] > 30
        else:
            assert 30 <= one["lost"] <= 45
            assert one["retransmissions"] >= one["lost"]


def test_packets_have_the_papers_rates_over_the_radio(runs: Runs[Effort]):
    one = over_the_radio(runs, CELLS[2], row=ROWS["figure4"][1])
    # TCP's and IP's headers take 2.7 % of 5 Mbit/s.
    assert one["old_mbps"] == pytest.approx(5 * 1460 / 1500, rel=0.06)
    assert one["new_mbps"] == pytest.approx(5 * 1460 / 1500, rel=0.1)


@pytest.mark.parametrize("change", DATA.all("radio-change", Change), ids=lambda one: one.name)
def test_every_change_of_the_radio_is_of_a_key(change: Change):
    over_radio(at(change=change, cell=CELLS[-1])).check()


def test_behaviours_are_all_combinations_and_each_is_a_scenario():
    jobs: list[Job] = []

    class Listed(Runs[Effort]):
        """Runs that are listed, and not done."""

        def over_seeds(self, points, job, read, seeds=None):
            """Lists the run of each point."""
            jobs.extend(job(point, 1) for point in points)
            return {}

    grid(Listed(ThreadRunner(workers=1), EFFORT)).found("behaviours")
    assert len(set(jobs)) == 8 * 4 * 3 * 2 * 2
    for job in jobs[::2]:
        job.check()


def test_behaviours_have_their_pace(runs: Runs[Effort]):
    late = "RFC 6582, slow but steady"
    kept = {
        "sender": {"RFC 6675 (SACK)", late},
        "receiver": {"gaps after 200 ms (RFC 1122)"},
        "timer": {"smallest timeout 200 ms"},
        "transmit": {"none"},
    }
    few = {
        axis: [choice for choice in DATA.all(axis, Choice) if choice.name in names]
        for axis, names in kept.items()
    }
    section = behaviours.section(grid(runs, **few)["behaviours"])
    assert section.table is not None
    found = {(row["sender"], row["bicast_ms_before"]): row for row in section.table.data}
    assert len(found) == 4
    # This sender repairs one segment for each delayed ACK in the first part of its recovery.
    assert found[late, 50.0]["time_s"] > 3
    assert found["RFC 6675 (SACK)", 50.0]["time_s"] < 1
    assert "the longest recovery is" in section.conclusion
