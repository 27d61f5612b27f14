import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli import app
from fadeout.studies.multipath import STUDY, runs
from fadeout.studies.multipath.claims import verdicts
from fadeout.studies.multipath.runs import SWEPT_M
from fadeout.studies.multipath.setups import (
    BALIA,
    CHANGES,
    CLAIMED,
    COUPLINGS,
    DISTANCES_M,
    FAR,
    LTE,
    MMWAVE,
    NEAR,
    SETUPS,
    SINGLE,
    VARIANTS,
    Change,
    concerning,
    job,
)
from fadeout.study import ThreadRunner

TEXTS: dict[str, str] = {"mp_50m": "", "mp_lte_50m": "", "mp_lte_150m": "", "balia": ""}


def found(near: Mapping[str, float], far: Mapping[str, float], *, spread: float = 0.0):
    """Six seeds with these goodputs of the single path, LTE, 73 GHz and BALIA over LTE.

    Every second seed's single path differs by `spread`, which its other paths do not share.
    """
    names = {SINGLE: "single", LTE: "lte", MMWAVE: "mmwave", BALIA: "balia"}
    return {
        (distance, setup): [
            {"goodput_mbps": values[name] + more, "rtt_ms": 30, "second_mbps": 10}
            for more in (0.0, spread if setup is SINGLE else 0.0) * 3
        ]
        for distance, values in ((NEAR, near), (FAR, far))
        for setup, name in names.items()
    }


def test_each_claim_is_judged_by_its_own_bounds():
    near = {"single": 100, "lte": 100, "mmwave": 135, "balia": 90}
    far = {"single": 100, "lte": 200, "mmwave": 150, "balia": 90}
    assert [v.word for v in verdicts(found(near, far), TEXTS)] == ["holds"] * 4
    near = {"single": 100, "lte": 120, "mmwave": 160, "balia": 110}
    far = {"single": 100, "lte": 200, "mmwave": 210, "balia": 90}
    assert [v.word for v in verdicts(found(near, far), TEXTS)] == ["does not hold"] * 4


def test_a_verdict_says_when_its_interval_reaches_a_bound():
    # Each gain is 1 % from a bound of its claim, and its interval 2.2 % wide.
    near = {"single": 100, "lte": 111, "mmwave": 152, "balia": 101}
    far = {"single": 100, "lte": 264, "mmwave": 150, "balia": 90}
    judged = verdicts(found(near, far, spread=4), TEXTS)
    assert all(verdict.holds and not verdict.is_sure for verdict in judged)
    assert judged[0].word == "holds, within the interval of a bound"


def test_a_verdict_on_few_seeds_has_no_interval_to_reach_a_bound():
    near = {"single": 100, "lte": 100, "mmwave": 135, "balia": 90}
    far = {"single": 100, "lte": 200, "mmwave": 150, "balia": 90}
    few = {point: numbers[:4] for point, numbers in found(near, far, spread=4).items()}
    assert [v.word for v in verdicts(few, TEXTS)] == ["holds"] * 4


def test_a_change_concerns_only_what_is_there():
    values = {
        "ue.ue-*.rlc.buffer": "2 MB",
        "cell.cell-lte.bandwidth": "10 MHz",
        "flow.download.multipath.path-scheduler": "ecf",
        "flow.download.congestion-control": "newreno",
        "flow.download.tcp": "{}",
    }
    alone = {
        "ue.ue-28.rlc.buffer": "2 MB",
        "flow.download.congestion-control": "newreno",
        "flow.download.tcp": "{}",
    }
    assert concerning(SINGLE, values) == alone
    assert concerning(MMWAVE, values) == {
        **alone,
        "ue.ue-73.rlc.buffer": "2 MB",
        "flow.download.multipath.path-scheduler": "ecf",
    }
    # A coupling is a congestion control itself.
    assert set(concerning(BALIA, values)) == {
        "ue.ue-28.rlc.buffer",
        "ue.ue-lte.rlc.buffer",
        "cell.cell-lte.bandwidth",
        "flow.download.multipath.path-scheduler",
        "flow.download.tcp",
    }


def test_a_change_of_lte_leaves_the_other_runs_as_they_are():
    change = Change("LTE", "10 MHz", {"cell.cell-lte.bandwidth": "10 MHz"})
    assert job(SINGLE, NEAR, {}, 1, change) == job(SINGLE, NEAR, {}, 1)
    assert job(MMWAVE, NEAR, {}, 1, change) == job(MMWAVE, NEAR, {}, 1)
    assert job(LTE, NEAR, {}, 1, change) != job(LTE, NEAR, {}, 1)


def test_every_change_and_variant_makes_a_scenario():
    short = {"duration": "0.02 s"}
    jobs = [job(setup, NEAR, short, 1, change) for change in CHANGES for setup in CLAIMED]
    jobs += [job(each.setup, NEAR, short, 1, each.change) for each in VARIANTS]
    # A run of a length of its own is as long as it says; the others only have to start.
    results = ThreadRunner().results(
        [each for each in jobs if "duration=8 s" not in each.overrides]
    )
    assert all(result.is_complete for result in results)


def test_paths_keep_their_names_when_the_second_one_opens_the_connection():
    change = Change("", "", starts_second=True)
    (swapped,) = ThreadRunner().results([job(LTE, NEAR, {"duration": "0.5 s"}, 1, change)])
    mmwave, lte = runs.paths(swapped)
    assert mmwave["path"] == "download/1"
    assert mmwave["goodput_mbps"] > lte["goodput_mbps"] > 0


def test_the_scenario_states_what_the_paper_states():
    resolved = fadeout.run(STUDY.folder / "scenario.toml", set={"duration": "10 ms"}).manifest
    cells = resolved["scenario"]["cell"]
    assert [cells[f"cell-{name}"]["carrier"] for name in ("28", "73", "lte")] == [
        "28 GHz",
        "73 GHz",
        "2.1 GHz",
    ]


def test_the_study_writes_all_its_tables(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    spend("multipath", seeds=2, swept_seeds=2, duration_s=0.2)
    kept = [change for change in CHANGES if change.duration_s is None]
    monkeypatch.setattr(runs, "CHANGES", (kept[0], kept[-1]))
    result = cli.invoke(app, ["study", "multipath", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    tables = json.loads(Path("study/results.json").read_text())
    rows = tables["distance"]
    assert len(rows) == len(DISTANCES_M) * len(SETUPS)
    assert {row["coupling"] for row in rows} == set(COUPLINGS)
    assert all(row["goodput_mbps_mean"] > 0 for row in rows)
    assert all(row["gain"] == 1 for row in rows if row["paths"] == SINGLE.name)
    assert len(tables["held_up"]) == len(SWEPT_M) * len(VARIANTS)
    assert len(tables["assumptions"]) == 3 * len(SWEPT_M) * 3
    report = Path("study/report.md").read_text()
    for name in ("distance", "held_up", "assumptions"):
        assert Path(f"study/figures/{name}.png").stat().st_size > 5_000
        assert f"figures/{name}.png" in report
