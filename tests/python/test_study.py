import json
import math
import multiprocessing
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fadeout
from fadeout.campaign.engine import Threads
from fadeout.cli.progress import count_progress
from fadeout.results import Results
from fadeout.statistics import student_t
from fadeout.studies.blockage import STUDY
from fadeout.studies.blockage.runs import PUBLISHED
from fadeout.study import (
    Effort,
    Estimate,
    Job,
    Options,
    Report,
    Runs,
    Section,
    Store,
    Study,
    Table,
    ThreadRunner,
    estimate,
    overrides,
    paired_difference,
    paired_ratio,
    run_study,
    studies,
    unfinished_runs,
)
from fadeout.study.figures import grouped_bars, line_with_intervals, mark_cut_intervals
from fadeout.study.job import Item, Reader
from fadeout.study.report import data_of
from fadeout.study.store import results_version

ROOT = Path(__file__).parents[2]
SCENARIO = STUDY.folder / "scenario.toml"


def test_the_interval_of_a_textbook_sample():
    # Student's sleep data (1908), group 2 minus group 1: mean 1.58, 95 % interval 0.70 to 2.46.
    extra = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    other = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    found = paired_difference(other, extra)
    assert found.mean == pytest.approx(1.58)
    assert found.half_width == pytest.approx(0.88, abs=0.005)


def test_students_t_meets_its_table():
    # Values from tables of the t distribution, 97.5 %.
    for degrees, expected in ((1, 12.706), (19, 2.093), (40, 2.021), (60, 2.000), (1000, 1.962)):
        assert student_t(degrees) == pytest.approx(expected, abs=0.0006)


def test_what_both_runs_of_a_pair_share_does_not_widen_their_ratio():
    base = (1000.0, 200.0, 3000.0, 400.0, 1400.0)
    exact = paired_ratio([2 * value for value in base], base)
    assert exact.mean == pytest.approx(2)
    assert exact.half_width == pytest.approx(0, abs=1e-12)
    # Residuals are 30, -30 and 0 about 1, so the variance is 450. The half-width is t(4) sqrt(450 /
    # 5) over the mean of 1200.
    found = paired_ratio((1030.0, 170.0, 3000.0, 400.0, 1400.0), base)
    assert found.mean == pytest.approx(1)
    assert found.half_width == pytest.approx(2.7764451 * 90**0.5 / 1200)


def test_a_ratio_over_nothing_is_an_error():
    with pytest.raises(ValueError, match="not zero"):
        paired_ratio((1.0, 2.0), (0.0, 0.0))


def test_fewer_than_five_seeds_have_no_interval_and_say_how_many_they_are():
    for count in (1, 2, 3, 4):
        few = estimate([float(value) for value in range(count)])
        assert few.ci95 is None
        assert f"{few:+.1f}" == f"{(count - 1) / 2:+.1f} (n = {count})"
        assert few.data("loss_", "_pct") == {"loss_mean_pct": few.mean, "loss_ci95_pct": None}
    assert paired_ratio((1.0, 3.0), (1.0, 1.0)).ci95 is None
    five = estimate([0.0, 1.0, 2.0, 3.0, 4.0])
    assert f"{five:.1f}" == "2.0 ± 2.0"
    assert five.text(".1f", " %") == "2.0 ± 2.0 %"
    assert estimate([1.0, 2.0]).text(".1f", " %") == "1.5 % (n = 2)"
    assert f"{estimate([]):.1f}" == "-"


def small(seed: int = 1, **values: str) -> Job:
    return Job(SCENARIO, overrides({"duration": "1 s", **values}), seed=seed)


def fingerprint(results: Results) -> str:
    return results.fingerprint


def goodput(results: Results) -> float:
    return results.flows["goodput_mbps"][0]


def test_the_number_of_workers_changes_no_bit():
    # The first blockages, which differ by seed, are within 4 s.
    jobs = [small(seed, duration="4 s") for seed in (1, 2, 3)]
    one, many = (ThreadRunner(workers=workers).collect(jobs, fingerprint) for workers in (1, 3))
    assert one == many
    assert len(set(one)) == 3


def test_equal_runs_are_done_once():
    counted: list[int] = []
    runs = Runs(ThreadRunner(progress=lambda done, _total: counted.append(done)), Effort(seeds=3))
    found = runs.over_seeds(["one", "other"], lambda _point, seed: small(seed), goodput)
    assert found["one"] == found["other"]
    assert runs.over_seeds(["again"], lambda _point, seed: small(seed), goodput, 2) == {
        "again": found["one"][:2]
    }
    assert max(counted) == 3


def test_overrides_of_equal_meaning_are_equal_texts():
    assert overrides({"a": "5 ms", "b": "cubic", "c": "0.1", "d": "[1, 2]"}) == overrides(
        {"a": '"5 ms"', "b": '"cubic"', "c": "0.1", "d": "[1, 2]"}
    )


def test_a_run_is_named_by_what_it_depends_on():
    base = small()
    others = [
        small(2),
        small(duration="2 s"),
        replace(base, without=("blockage",)),
        replace(base, with_tables=True),
        replace(base, scenario=studies()["slow-start"].folder / "scenario.toml"),
    ]
    names = [job.name(goodput) for job in (base, *others)]
    assert len({*names, base.name(fingerprint)}) == len(names) + 1
    assert small().name(goodput) == base.name(goodput)


def test_finished_runs_are_read_again_and_only_the_others_are_run(tmp_path: Path):
    path = tmp_path / "unfinished"
    jobs = [small(seed) for seed in (1, 2, 3)]
    first = Store(path, "build")
    before = ThreadRunner(store=first).collect(jobs[:2], goodput)
    first.close()
    # File of a process that was killed while it wrote a part.
    (path / f".part-x.parquet.{socket.gethostname()}-4194305.tmp").write_bytes(b"PAR1")
    read: list[float] = []

    def not_read(results: Results) -> float:
        read.append(goodput(results))
        return read[-1]

    not_read.__module__, not_read.__qualname__ = goodput.__module__, goodput.__qualname__
    second = Store(path, "build")
    assert len(second) == 2
    found = ThreadRunner(store=second).collect(jobs, not_read)
    assert found[:2] == before
    assert read == [found[2]]
    second.close()
    assert not list(path.glob(".*"))
    assert len(Store(path, "build")) == 3
    second.remove()
    assert not path.exists()


def test_what_is_read_again_is_equal_to_the_last_bit(tmp_path: Path):
    store = Store(tmp_path / "unfinished", "build")
    items = [{"a": 0.1 + 0.2, "b": math.nan, "c": 5e-324, "d": 2**60, "e": [None, "x"]}]
    for number, item in enumerate(items):
        assert repr(store.keep(str(number), item)) == repr(item)
    store.close()
    again = Store(store.path, "build")
    assert repr([again[str(number)] for number in range(len(items))]) == repr(items)


def test_runs_of_another_version_are_not_used(tmp_path: Path):
    path = tmp_path / "unfinished"
    store = Store(path, "build")
    store.keep("run", 1.0)
    store.close()
    other = Store(path, "another")
    assert len(other) == 0
    other.keep("run", 2.0)
    other.close()
    assert Store(path, "another")["run"] == 2.0
    assert len(list(path.iterdir())) == 1
    (path / "part-0.parquet").write_bytes(b"\xff\xfe")
    assert len(Store(path, "build")) == 0


def test_an_edited_text_keeps_the_runs_and_edited_code_does_not(tmp_path: Path):
    (tmp_path / "runs.py").write_text("a = 1")
    (tmp_path / "report.md").write_text("One.")
    version = results_version.__wrapped__
    before = version(tmp_path)
    (tmp_path / "report.md").write_text("Two.")
    assert version(tmp_path) == before
    (tmp_path / "runs.py").write_text("a = 2")
    assert version(tmp_path) != before


def test_an_interval_that_leaves_the_axes_has_an_arrow_at_the_edge():
    figure = Figure()
    whole, cut = figure.subplots(1, 2)
    inside, wide = Estimate(5, 2, 5), Estimate(5, 9, 5)
    none = Estimate(5, math.nan, 2)
    for ax in (whole, cut):
        ax.set_ylim(0, 10)
        grouped_bars(ax, {"a": [inside, none]}, ["black"])
    line_with_intervals(cut, [0, 1], [inside, wide], color="red")
    mark_cut_intervals(figure)

    def arrows(ax: Axes) -> list[tuple[str, float]]:
        lines = [line for line in ax.lines if line.get_transform() == ax.transAxes]
        return [(str(line.get_marker()), float(np.ravel(line.get_ydata())[0])) for line in lines]

    assert arrows(whole) == []
    assert arrows(cut) == [("v", 0.0), ("^", 1.0)]


def test_a_report_has_each_figure_as_png_and_as_pdf(tmp_path: Path):
    section = Section(name="drawn", title="Drawn", figures={"One.": Figure(), "Two.": Figure()})
    Report(title="Title", introduction="", sections=[section], facts={}).write(tmp_path)
    written = {each.name for each in (tmp_path / "figures").iterdir()}
    assert written == {"drawn.png", "drawn.pdf", "drawn-2.png", "drawn-2.pdf"}


def test_a_table_has_its_numbers_as_text_and_as_data():
    rate = Estimate(1.25, math.nan, 2)
    record = {"name": "x", "rate": rate, "by_length": {"1 s": rate, "2 s": 3}, "_hidden": 7}
    assert data_of(record, "_mbps") == {
        "name": "x",
        "rate_mean_mbps": 1.25,
        "rate_ci95_mbps": None,
        "by_length_1 s_mean_mbps": 1.25,
        "by_length_1 s_ci95_mbps": None,
        "by_length_2 s": 3,
    }
    assert Table(["rate"], [[f"{rate:.1f}"]], []).lacks_intervals
    assert not Table(["rate"], [["1.25"]], []).lacks_intervals


def test_the_scenario_states_what_the_paper_states():
    results = fadeout.run(STUDY.folder / "scenario.toml", set={"duration": "1 s"})
    stated = PUBLISHED["setup"]["stated"]
    resolved = results.manifest["scenario"]
    assert results.flows["congestion_control"][0] == stated["congestion_control"]
    radio = resolved["link"]["radio"]["rate"]["radio"]
    assert radio["carrier"] == f"{stated['carrier_ghz']:g} GHz"
    assert radio["tx-beamwidth"] == f"{stated['tx_hpbw_deg']:g} deg"
    assert radio["rx-beamwidth"] == f"{stated['rx_hpbw_deg']:g} deg"
    assert resolved["link"]["core"]["delay"] == f"{stated['cn_latency_ms']:g} ms"
    vehicle = resolved["blockage"]["vehicle"]
    assert vehicle["schedule"]["period"] == f"{stated['blockage_period_s']:g} s"


def test_a_study_that_exists_is_listed_and_has_its_files():
    expected = [
        "blockage",
        "calibration",
        "congestion-controls",
        "fallback",
        "inter-rat-handover",
        "link-retransmission",
        "mobility",
        "multipath",
        "quic",
        "slow-start",
        "vehicular",
    ]
    assert list(studies()) == expected
    for study in studies().values():
        for name in ("scenario.toml", "README.md"):
            assert (study.folder / name).is_file(), name
        if study.name not in ("calibration", "mobility"):
            # The scenarios of these two studies have no flow, which gives a warning.
            fadeout.check(study.folder / "scenario.toml")


def test_ctrl_c_keeps_the_runs_that_were_done(tmp_path: Path):
    seen: list[int] = []

    def stop_after_three(done: int, total: int) -> None:
        seen.append(total)
        if done >= 3:
            raise KeyboardInterrupt

    store = Store(tmp_path / "unfinished", "build")
    runner = ThreadRunner(workers=1, progress=stop_after_three, store=store)
    jobs = [small(seed) for seed in range(1, 100)]
    found = runner.collect(jobs, fingerprint)
    assert not runner.is_whole
    assert set(seen) == {len(jobs)}
    assert len(found) == len(jobs)
    assert all(found[:3])
    assert found[-1] is None
    assert 3 <= len(store) < len(jobs)
    store.close()
    whole = ThreadRunner(workers=1).collect(jobs[:3], fingerprint)
    assert found[:3] == whole
    # After the stop no further run starts.
    with pytest.raises(KeyboardInterrupt):
        runner.collect(jobs[-1:], goodput)


def test_ctrl_c_before_the_first_run_is_done_remains_an_interrupt():
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThreadRunner(workers=1, progress=stop).collect([small(duration="1000 s")], fingerprint)


def test_a_job_may_leave_out_a_table_within_a_table():
    scenario = studies()["congestion-controls"].folder / "scenario.toml"
    common = ("duration=1 s",)
    both, alone = ThreadRunner().results(
        [
            Job(scenario, common, without=("blockage",)),
            Job(scenario, common, without=("blockage", "flow.cubic")),
        ]
    )
    assert list(both.flows["flow"]) == ["tested", "cubic"]
    assert list(alone.flows["flow"]) == ["tested"]


@dataclass
class Stopping:
    """A study of three runs that stops as if by Ctrl-C after some sections."""

    stops_after: int | None = None
    begun: int = 0

    def sections(self, runs: Runs[Effort]) -> Iterator[Section]:
        for number in range(3):
            if number == self.stops_after:
                raise KeyboardInterrupt
            self.begun += 1
            (found,) = runs.each([small(number)], goodput)
            record = {"rate": found}
            table = Table(["r"], [[f"{found}"]], [record])
            yield Section(f"s{number}", f"Part {number}", table=table)

    def study(self) -> Study[Effort]:
        effort = Effort(seeds=1, runs=3)
        return Study("stopping", STUDY.folder, "Stopping", "", effort, effort, self.sections)


def test_the_study_in_the_documentation_runs(
    tmp_path: Path, scenario: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    scenario.rename("scenario.toml")
    page = (ROOT / "docs/studies/writing.md").read_text()
    for kind, name in (("toml", "study.toml"), ("markdown", "report.md"), ("python", "two.py")):
        Path(name).write_text(page.split(f"```{kind}\n")[1].split("```")[0])
    module = ModuleType("two")
    exec(Path("two.py").read_text(), vars(module))
    report = run_study(module.STUDY, tmp_path / "out", Options(quick=True, seeds=5))
    assert report.is_whole
    rows = json.loads((tmp_path / "out/results.json").read_text())["goodput"]
    assert [row["name"] for row in rows] == ["CUBIC", "NewReno"]
    assert all(0 < row["goodput_mbps_mean"] < 10 for row in rows)


class ProcessRunner:
    """Runner that does the runs in processes, the last run first."""

    is_whole = True

    def expect(self, runs: int) -> None:
        pass

    def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
        spawn = multiprocessing.get_context("spawn")
        # A second process would only load the libraries once more.
        with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
            found = [pool.submit(in_process, job, read) for job in reversed(jobs)]
            return [future.result() for future in reversed(found)]

    def results(self, jobs: Sequence[Job]) -> list[Results]:
        return ThreadRunner().results(jobs)


def test_an_executor_of_campaigns_does_the_runs_of_a_study(tmp_path: Path):
    jobs = [small(seed) for seed in (1, 2, 3, 4)]
    counted: list[int] = []
    store = Store(tmp_path / "unfinished", "build")
    runner = ThreadRunner(
        executor=Threads(2), store=store, progress=lambda done, _total: counted.append(done)
    )
    assert runner.collect(jobs, fingerprint) == ThreadRunner().collect(jobs, fingerprint)
    assert (counted[-1], len(store), runner.read) == (4, 4, 4)
    # Runs in the store are not repeated.
    assert ThreadRunner(executor=Threads(1), store=store).collect(jobs, fingerprint)
    assert runner.read == 4
    store.close()

    def fails(_results: Results) -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ThreadRunner(executor=Threads(2)).collect(jobs, fails)


def test_finished_runs_can_be_kept_for_the_next_report(tmp_path: Path):
    out = tmp_path / "out"
    options = Options(keeps_runs=True)
    first = run_study(Stopping().study(), out, options)
    effort = json.loads((out / "effort.json").read_text())
    assert effort["runs"] == effort["done_now"] == first.facts["runs"] > 0
    report = (out / "report.md").read_text()
    run_study(Stopping().study(), out, options, force=True)
    effort = json.loads((out / "effort.json").read_text())
    assert (effort["runs"], effort["done_now"]) == (first.facts["runs"], 0)
    assert (out / "report.md").read_text() == report


def in_process(job: Job, read: Reader[Item]) -> Item:
    return read(job.run(lambda _state: True))


def test_another_way_of_doing_the_runs_gives_the_same_report(tmp_path: Path):
    effort = Effort(seeds=2, duration_s=1, runs=2)

    def sections(runs: Runs[Effort]) -> Iterator[Section]:
        found = runs.over_seeds([0], lambda _point, seed: small(seed), goodput)
        records = [{"rate": rate} for rate in found[0]]
        rows = [[f"{rate}"] for rate in found[0]]
        yield Section("rates", "Rates", table=Table(["rate"], rows, records))

    study = Study("a", STUDY.folder, "A", "", effort, effort, sections)
    for folder, runner in (("threads", None), ("processes", ProcessRunner())):
        run_study(study, tmp_path / folder, Options(), runner=runner)
    threads, processes = (
        (tmp_path / folder / "report.md").read_text() for folder in ("threads", "processes")
    )
    assert threads == processes


# The calibration evaluates places before it has a few runs.
@pytest.mark.parametrize("name", [name for name in studies() if name != "calibration"])
def test_the_runs_of_a_study_can_be_handed_to_other_processes(name: str):
    asked: list[tuple[list[Job], Reader[object]]] = []

    class Recorder(ProcessRunner):
        def collect(self, jobs: Sequence[Job], read: Reader[Item]) -> list[Item | None]:
            asked.append((list(jobs), read))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies()[name].report(Recorder(), studies()[name].quick)
    assert pickle.loads(pickle.dumps(asked)) == asked
    ((jobs, _),) = asked
    assert len(jobs) > 10
    assert len(jobs) == len(set(jobs)) <= studies()[name].quick.runs


def test_a_stopped_study_reports_its_sections_and_goes_on_from_there(tmp_path: Path):
    out, options = tmp_path / "out", Options()
    stopped = run_study(Stopping(stops_after=2).study(), out, options)
    assert not stopped.is_whole
    assert [section.name for section in stopped.sections] == ["s0", "s1"]
    assert "**Incomplete.**" in (out / "report.md").read_text()
    assert json.loads((out / "results.json").read_text())["is_incomplete"]
    store = unfinished_runs(Stopping().study(), out, options)
    assert len(store) == 2
    counted: list[int] = []
    whole = run_study(
        Stopping().study(), out, options, force=True, progress=lambda done, _: counted.append(done)
    )
    assert whole.is_whole
    assert not store.path.exists()
    run_study(Stopping().study(), tmp_path / "fresh", options)
    assert (out / "report.md").read_text() == (tmp_path / "fresh/report.md").read_text()
    assert (out / "results.json").read_text() == (tmp_path / "fresh/results.json").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "out"]


def test_a_study_that_was_stopped_before_its_first_section_has_no_report(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        run_study(Stopping(stops_after=0).study(), tmp_path / "out", Options())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_refused_before_the_first_run(tmp_path: Path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/mine.txt").write_text("")
    stopping = Stopping()
    for force in (False, True):
        with pytest.raises(fadeout.ResultError, match="notes"):
            run_study(stopping.study(), tmp_path / "notes", Options(), force=force)
    assert stopping.begun == 0


def test_a_killed_study_keeps_its_finished_runs(tmp_path: Path):
    command = [sys.executable, "-m", "fadeout", "study", "congestion-controls", "--quick"]
    command += ["-j1", "--seeds", "2", "--out", str(tmp_path / "out")]
    path = tmp_path / "study-congestion-controls-quick-seeds-2.unfinished"
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while process.poll() is None and not list(path.glob("part-*")):
            time.sleep(0.02)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    study = studies()["congestion-controls"]
    kept = unfinished_runs(study, tmp_path / "out", Options(quick=True, seeds=2))
    assert kept.path == path
    assert len(kept) > 0
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_without_a_terminal_a_study_says_how_far_it_is(capsys: pytest.CaptureFixture[str]):
    with count_progress("study x", quiet=False) as progress:
        for done in range(201):
            progress(done, 200)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("study x: 0 of 200 runs")
    assert lines[-1].startswith("study x: 200 of 200 runs")
    with count_progress("study x", quiet=True) as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""
