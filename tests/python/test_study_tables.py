"""Sets of runs, tables and figures that `study.toml` describes."""

from pathlib import Path
from typing import cast

import pytest

from fadeout import ScenarioError
from fadeout.results import Results
from fadeout.study import (
    IN_SIGHT,
    SIGHTS,
    At,
    Change,
    Choice,
    Data,
    Effort,
    Found,
    Grid,
    Page,
    Runner,
    Runs,
    Tables,
)
from fadeout.study.job import Job
from fadeout.study.store import may_read

STUDY = """
[[sender]]
name = "CUBIC"
[[sender]]
name = "Reno"
kind = "old"
set = { "flow.congestion-control" = "reno" }

[[change]]
assumption = "as in the scenario"
[[change]]
assumption = "delay"
value = "{}"
grid = { "link.delay" = ["1 ms", "2 ms"] }

[[runs]]
name = "all"
axes = { sender = "sender", change = "change" }
seeds = "few"

[[table]]
name = "rates"
of = "all"
pivot = "sender"
mean = ["mbps"]
gain-pct = { gain = { of = "mbps", over = { sender = "CUBIC" } } }

[[figure]]
table = "rates"
name = "bars"
kind = "bars"
x = "_change"
line = "sender"
numbers = { "Mbit/s" = "mbps" }
"""

PAGE = """# Rates

## Rates {#rates}

| change | {senders*} | gain |
|---|---|---|
| {_change} | {mbps[*].mean:.0f} | {gain[Reno].mean:+.0f} |

![Bars.](bars)
"""


class FewSeeds(Effort):
    """An effort with fewer seeds for one set of runs."""

    few = 2


class Recorder:
    """Runner whose values depend on the sender and the seed only."""

    is_whole = True

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def expect(self, runs: int) -> None:
        """Ignores the number of runs."""

    def collect(self, jobs, read):
        """Returns numbers without a run."""
        self.jobs += jobs
        return [{"mbps": (20.0 if "reno" in str(job.overrides) else 10.0)} for job in jobs]

    def results(self, jobs):
        """Returns nothing in place of complete results."""
        self.jobs += jobs
        return [None for _ in jobs]


def measure(results: Results) -> dict[str, float]:
    """Stands for the reader of a run, which the recorder does not call."""
    return {"mbps": results.duration_s}


@pytest.fixture
def data(tmp_path: Path) -> Data:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "report.md").write_text(PAGE)
    return Data.read(tmp_path)


def edited(data: Data, old: str, new: str) -> Data:
    """Returns the data with another text in the file."""
    text = data.file.read_text()
    assert old in text
    data.file.write_text(text.replace(old, new))
    return Data.read(data.file.parent)


def run(data: Data, name: str = "all") -> tuple[Found, list[Job]]:
    runner = Recorder()
    effort = FewSeeds(seeds=5)
    return Grid(data, Runs(cast(Runner, runner), effort), [measure]).found(name), runner.jobs


def test_a_set_of_runs_has_every_combination_with_each_seed(data: Data):
    found, jobs = run(data)
    assert len(jobs) == 2 * 3 * 2
    assert {job.seed for job in jobs} == {1, 2}
    assert [part.name for part in found.parts("change")][1] == "delay: 1 ms"
    # The values of a later axis come after those of an earlier one.
    assert jobs[-1].overrides[-2:] == ('flow.congestion-control="reno"', 'link.delay="2 ms"')


def by_rate(at: At) -> Job:
    """Makes a run whose values depend on a number and on the seed."""
    values = {"link.rate": f"{at['mbps'] * at.seed:g} Mbit/s", "flow.rate": at.sight or "all"}
    return at.job(Path("other.toml"), values)


MADE = STUDY.replace("[[table]]", """
[[runs]]
name = "made"
axes = { mbps = [1, 2.5], sender = "sender", more = "more" }
make = "by_rate"
seeds = 2
length = 3
set = { "link.delay" = "7 ms" }

[[table]]""", 1)  # fmt: skip


def run_made(data: Data, old: str = "", new: str = "") -> tuple[Grid, list[Job]]:
    data.file.write_text(MADE.replace(old, new))
    runner = Recorder()
    runs = Runs(cast(Runner, runner), FewSeeds(seeds=5, duration_s=9))
    lists = {"more": [None], "near": [50]}
    return Grid(Data.read(data.file.parent), runs, [measure], lists, [by_rate]), runner.jobs


def test_python_makes_the_runs_of_a_set_with_numbers_on_an_axis(data: Data):
    grid, jobs = run_made(data)
    assert not jobs, "a set is run when its numbers are asked for"
    found = grid["made"]
    assert [point[0] for point in found] == [1, 1, 2.5, 2.5]
    assert found.labels(next(iter(found))) == {"mbps": 1, "sender": "CUBIC", "more": None}
    assert len(jobs) == 4 * 2
    last = jobs[-1]
    assert (last.scenario, last.seed) == (Path("other.toml"), 2)
    assert last.overrides == (
        'duration="3 s"',
        'link.rate="5 Mbit/s"',
        'flow.rate="all"',
        'link.delay="7 ms"',
        'flow.congestion-control="reno"',
    )


def test_a_set_in_places_has_runs_with_and_without_line_of_sight(data: Data):
    grid, jobs = run_made(data, 'more = "more" }', 'distance_m = "near" }\nin-places = true')
    found = grid.places("made")
    assert {len(places) for each in found.numbers.values() for places in each.values()} == {2}
    assert list(found[next(iter(found))]) == list(SIGHTS)
    assert len(jobs) == 2 * 4 * 2
    assert {job.overrides[2] for job in jobs} == {'flow.rate="clear"', 'flow.rate="obstructed"'}
    grid.whole("made")
    assert {(job.seed, job.overrides[2]) for job in jobs[16:]} == {(1, 'flow.rate="clear"')}
    assert all(job.with_tables for job in jobs[16:])
    at = next(iter(found))
    assert found.mean(at, "mbps").mean == found.plain_mean(at, "mbps") == 10
    assert found.of_sight(at, "mbps", IN_SIGHT) == 10
    assert found.count(at) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        ('make = "by_rate"', 'make = "by_rates"', "did you mean 'by_rate'"),
        ('more = "more"', 'more = "moer"', "moer"),
        ("seeds = 2", "seeds = true", "seeds"),
    ),
)
def test_a_wrong_key_of_made_runs_is_an_error(data: Data, old: str, new: str, message: str):
    with pytest.raises(ScenarioError, match=message):
        run_made(data, old, new)[0].found("made")


def test_a_pivoted_table_has_a_row_for_each_change_and_a_gain_over_the_base(data: Data):
    found, _ = run(data)
    tables = Tables(data, Page.read(data.file.parent), {"all": found})
    section = tables.section("rates", senders=["CUBIC", "Reno"])
    assert section.table is not None
    assert section.table.rows == [
        ["as in the scenario", "10", "20", "+100"],
        ["delay: 1 ms", "10", "20", "+100"],
        ["delay: 2 ms", "10", "20", "+100"],
    ]
    # The data file has every point, with the columns of its choice and its change.
    assert len(section.table.data) == 6
    assert section.table.data[-1]["sender_kind"] == "old"
    assert section.table.data[-1]["value"] == "2 ms"
    assert list(section.figures) == ["Bars."]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        ('sender = "sender", change', 'sender = "senders", change', "did you mean 'sender'"),
        ('of = "all"', 'of = "al"', "did you mean 'all'"),
        ("over = { sender", "over = { seder", "did you mean 'sender'"),
        ('over = { sender = "CUBIC" }', 'over = { sender = "Vegas" }', "no run has Vegas"),
        ('seeds = "few"', 'seeds = "few"\nread = "measur"', "did you mean 'measure'"),
        ('seeds = "few"', 'seeds = "fe"', "did you mean 'few'"),
        ('seeds = "few"', 'only = { sender = "CUBI" }', "did you mean 'CUBIC'"),
        ('of = "all"', 'of = "all"\nonly = { sender = "Reo" }', "did you mean 'Reno'"),
        ('kind = "bars"', 'kind = "bar"', "did you mean 'bars'"),
    ),
)
def test_a_wrong_name_is_an_error_with_its_nearest_name(
    data: Data, old: str, new: str, message: str
):
    with pytest.raises(ScenarioError, match=message):
        wrong = edited(data, old, new)
        found, _ = run(wrong)
        Tables(wrong, Page.read(wrong.file.parent), {"all": found}).section("rates", senders=[])


def test_numbers_are_found_by_the_names_of_their_point():
    here, change = Choice("here"), Change("delay", "1 ms")
    found = Found(("place", "change"), {(here, change): [{"mbps": 1.0}, {"mbps": 3.0}]})
    assert found.at(place="here", change="delay: 1 ms") == [{"mbps": 1.0}, {"mbps": 3.0}]
    assert found.mean((here, change), "mbps").mean == 2.0
    assert found.median((here, change), "mbps").bounds == (1.0, 3.0)
    assert found.only({"place": "here"}) == found


def test_a_module_that_makes_a_page_reads_no_run(monkeypatch: pytest.MonkeyPatch):
    assert may_read(measure)
    monkeypatch.setattr(measure, "__module__", "fadeout.studies.blockage.claims")
    assert not may_read(measure)


def test_further_numbers_of_a_run_follow_from_others(data: Data):
    found, _ = run(data)
    more = found.with_numbers(lambda _point, each: {"kbps": 1000 * each["mbps"]})
    assert all(more.mean(at, "kbps").mean == 1000 * found.mean(at, "mbps").mean for at in found)


def test_choices_that_python_adds_come_last(data: Data):
    parts = {"sender": Data.read(data.file.parent).all("sender", Choice)[1]}
    at = At(parts, seed=3, effort=FewSeeds(seeds=5), values={"b": "1"})
    job = at.job(Path("x.toml"), {"a": "1"}, Choice("drawn", {"b": "2", "c": "3"}))
    assert job.overrides == ("a=1", "b=2", 'flow.congestion-control="reno"', "c=3")


def test_a_set_is_run_at_given_points_with_other_seeds(data: Data):
    grid, jobs = run_made(data)
    points = grid.points("made")
    found = grid.found("made", [*points[:1], (7, *points[1][1:])], seeds=3)
    assert [name for name, *_ in found] == [1, 7]
    assert len(jobs) == 2 * 3
