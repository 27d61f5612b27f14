import json
import statistics
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli import app
from fadeout.studies.blockage import STUDY
from fadeout.studies.blockage.study import PUBLISHED
from fadeout.study import Batch, Job, estimate, paired_difference, paired_ratio, studies
from fadeout.study.statistics import student_t


def test_the_interval_of_a_textbook_sample():
    # Student's sleep data (1908), group 2 minus group 1: mean 1.58, 95 % interval 0.70 to 2.46.
    extra = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    other = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    found = paired_difference(other, extra)
    assert found.mean == pytest.approx(1.58)
    assert found.half_width == pytest.approx(0.88, abs=0.005)


def test_students_t_meets_its_table():
    # Tables of the t distribution, 97.5 %.
    for degrees, expected in ((1, 12.706), (19, 2.093), (40, 2.021), (60, 2.000), (1000, 1.962)):
        assert student_t(degrees) == pytest.approx(expected, abs=0.0006)


def test_what_both_runs_of_a_pair_share_does_not_widen_their_ratio():
    base = (1000.0, 200.0, 3000.0)
    exact = paired_ratio([2 * value for value in base], base)
    assert exact.mean == pytest.approx(2)
    assert exact.half_width == pytest.approx(0, abs=1e-12)
    # Residuals 30, -30 and 0 about 1: deviation 30, so t(2) 30 / sqrt(3) over the mean of 1400.
    found = paired_ratio((1030.0, 170.0, 3000.0), base)
    assert found.mean == pytest.approx(1)
    assert found.half_width == pytest.approx(4.303 * 30 / 3**0.5 / 1400)


def test_a_ratio_over_nothing_is_an_error():
    with pytest.raises(ValueError, match="not zero"):
        paired_ratio((1.0, 2.0), (0.0, 0.0))


def test_one_value_has_no_interval():
    with pytest.raises((ValueError, statistics.StatisticsError)):
        estimate([1.0])


def test_the_number_of_workers_changes_no_bit():
    jobs = [Job(("duration=6 s",), seed=seed) for seed in (1, 2, 3)]
    one, many = (
        [r.fingerprint for r in Batch(STUDY.folder / "scenario.toml", workers=workers).run(jobs)]
        for workers in (1, 3)
    )
    assert one == many
    assert len(set(one)) == 3


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
        "congestion-controls",
        "link-retransmission",
        "multipath",
        "slow-start",
    ]
    assert list(studies()) == expected
    for study in studies().values():
        for name in ("scenario.toml", "README.md"):
            assert (study.folder / name).is_file(), name
        fadeout.check(study.folder / "scenario.toml")


def test_the_blockage_study_answers_its_questions(cli: CliRunner):
    command = ["study", "blockage", "--quick", "--seeds", "2", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "12 %" in result.stdout
    found = json.loads(Path("study/results.json").read_text())
    assert [row["published_loss_pct"] for row in found["table"]] == [12.0, 54.0, 72.0]
    for level in ("link_nothing_passes", "full_stack_nothing_passes", "full_stack_vehicle"):
        losses = [row[f"{level}_mean_pct"] for row in found["table"]]
        assert losses == sorted(losses), level
    # Over both levels a second in five takes about its share; shorter ones depend on the phase.
    for level in ("link_nothing_passes", "full_stack_nothing_passes"):
        assert 15 < found["table"][-1][f"{level}_mean_pct"] < 35, level
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
    refused = cli.invoke(app, command)
    assert refused.exit_code == 1
    assert "--force" in refused.stderr


def test_ctrl_c_keeps_the_runs_that_were_done():
    seen: list[int] = []

    def stop_after_three(done: int, total: int) -> None:
        seen.append(total)
        if done == 3:
            raise KeyboardInterrupt

    batch = Batch(STUDY.folder / "scenario.toml", workers=1, progress=stop_after_three)
    jobs = [Job(("duration=1 s",), seed=seed) for seed in range(1, 30)]
    found = batch.collect(jobs, lambda results: results.fingerprint)
    assert not batch.is_whole
    assert set(seen) == {len(jobs)}
    assert len(found) == len(jobs)
    assert all(found[:3])
    assert found[-1] is None
    whole = Batch(STUDY.folder / "scenario.toml", workers=1).run(jobs[:3])
    assert found[:3] == [results.fingerprint for results in whole]


def test_ctrl_c_before_the_first_run_is_done_remains_an_interrupt():
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    batch = Batch(STUDY.folder / "scenario.toml", workers=1, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        batch.collect([Job(("duration=1 s",))], lambda results: results)


def test_a_job_may_leave_out_a_table_within_a_table():
    folder = studies()["congestion-controls"].folder
    batch = Batch(folder / "scenario.toml")
    common = ("duration=1 s",)
    both, alone = batch.run(
        [Job(common, without=("blockage",)), Job(common, without=("blockage", "flow.cubic"))]
    )
    assert list(both.flows["flow"]) == ["tested", "cubic"]
    assert list(alone.flows["flow"]) == ["tested"]
