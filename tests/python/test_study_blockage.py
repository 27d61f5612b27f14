import json
import math
import tomllib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app
from fadeout.studies.blockage import STUDY, cell, checks, knee, link, reductions, search, study
from fadeout.studies.blockage.assumptions import (
    CHANGES,
    NO_GUARD,
    REDUCTIONS,
    SENDERS,
    candidates,
    reduction,
)
from fadeout.studies.blockage.cell_assumptions import CELL_CHANGES, DEPTHS, MODEL_B_DB
from fadeout.studies.blockage.paper import PUBLISHED
from fadeout.studies.blockage.runs import CELL, LINK, Found, Level
from fadeout.study import Job, Runs, ThreadRunner, overrides, studies

STATED = PUBLISHED["setup"]["stated"]


def test_the_cell_states_what_the_paper_states():
    resolved = tomllib.loads(CELL.scenario.read_text())
    cell = resolved["cell"]["base-station"]
    channel = cell["channel"]
    assert cell["carrier"] == f"{STATED['carrier_ghz']:g} GHz"
    assert cell["antenna"]["width"] == STATED["tx_hpbw_deg"]
    assert channel["ue-antenna"]["width"] == STATED["rx_hpbw_deg"]
    vehicle = channel["blockage"]
    assert vehicle["width"] == STATED["blocker_width_m"]
    assert vehicle["height"] == STATED["blocker_height_m"]
    assert [vehicle["nearest"], vehicle["farthest"]] == STATED["blocker_distance_to_rx_m"]
    assert vehicle["period"] == f"{STATED['blockage_period_s']:g} s"
    assert resolved["link"]["core"]["delay"] == f"{STATED['cn_latency_ms']:g} ms"


def test_the_cell_reaches_the_papers_clear_rate():
    (rate,) = CELL.unblocked(Runs(ThreadRunner(), STUDY.full), [{}])
    # The number of resource blocks changes the rate in steps of 1.8 %.
    assert rate == pytest.approx(PUBLISHED["case"][0]["throughput_mbps"], rel=0.01)


def test_every_assumption_of_the_full_stack_runs():
    jobs = [
        Job(
            CELL.scenario,
            overrides(
                {**DEPTHS[depth], **change.values, **CELL.blocked(0.2), **CELL.fixed_phase}
                | {**CELL.quiet, "duration": "60 ms"}
            ),
        )
        for change in CELL_CHANGES
        for depth in change.depths
    ]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*the RLC buffer")
        assert all(results.is_complete for results in ThreadRunner().results(jobs))


def test_the_vehicles_depth_is_model_bs():
    # TR 38.901 clause 7.6.4.2, computed independently.
    def depth(from_receiver: float) -> float:
        tx, rx, distance, width, height = 5.0, 1.0, 50.0, 4.8, 1.4
        d1, d2 = distance - from_receiver, from_receiver

        def term(a: float, b: float, direct: float) -> float:
            detour = math.hypot(d1, a) + math.hypot(d2, b) - direct
            return math.atan(math.pi / 2 * math.sqrt(math.pi * 38e9 / 3e8 * detour)) / math.pi

        slant = math.hypot(distance, tx - rx)
        vertical = term(height - tx, height - rx, slant) + term(tx, rx, slant)
        horizontal = 2 * term(width / 2, width / 2, distance)
        return -20 * math.log10(1 - vertical * horizontal)

    found = [depth(d) for d in reversed(STATED["blocker_distance_to_rx_m"])]
    assert found == pytest.approx(MODEL_B_DB, abs=0.05)


def test_findings_are_judged_by_the_papers_checks():
    def judged(losses: tuple[float, ...], spread: float, seeds: int = 6) -> list[str]:
        runs = [
            [Found(loss + spread * (-1) ** n, 800, timeouts=index) for n in range(seeds)]
            for index, loss in enumerate(losses)
        ]
        return [verdict.outcome for verdict in checks.verdicts(runs)]

    assert judged((12, 54, 72), 0.1) == ["holds"] * 4
    # Losses below the blocked time have the wrong sign. The fall to 1 s is the largest.
    assert judged((1, 3, 12), 0.1) == ["does not hold", "holds", "does not hold", "holds"]
    assert judged((3, 5, 30), 0.1)[0] == "holds in sign only"
    assert judged((12, 54, 72), 30)[0] == "open"
    assert judged((12, 54, 72), 0.1, seeds=4) == ["too few seeds"] * 4


def test_the_windows_after_a_loss_include_the_papers_and_linuxs():
    assert reduction(0.7) == {}
    assert {0.2, 0.7, 0.8} <= set(REDUCTIONS)
    values = [f"{key}={value}" for key, value in reduction(0.2).items()]
    manifest = fadeout.run(LINK.scenario, set=[*values, "duration=0.01 s"]).manifest
    flow = manifest["scenario"]["flow"]["download"]
    assert flow["congestion-control"]["beta"] == 0.2


def test_the_senders_are_those_that_the_paper_and_the_rfcs_describe():
    guarded, without = (SENDERS[name] for name in ("no SACK (RFC 6582, impatient)", NO_GUARD))
    assert {k for k in guarded if guarded[k] != without[k]} == {"flow.profile"}
    assert without["flow.profile"] == "reno"
    assert {"impatient", "slow"} <= {
        word for name in SENDERS for word in name.replace(")", "").split()
    }


def slower(level: Level, changes: dict[str, str]) -> Level:
    """Returns the level with a scenario of a lower rate: fewer packets cost less to simulate."""
    text = level.scenario.read_text()
    for old, new in {'duration = "30 s"': 'duration = "5 s"', **changes}.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = Path(level.scenario.name)
    path.write_text(text)
    return replace(level, scenario=path.resolve())


def few_points(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Reduces the points of each table for `--quick`, and the rate to a tenth."""
    slow_link = slower(LINK, {'"843 Mbit/s"': '"84.3 Mbit/s"'})
    for module in (knee, link, reductions, search, study):
        monkeypatch.setattr(module, "LINK", slow_link)
    slow_cell = slower(CELL, {"resource-blocks = 168": "resource-blocks = 17", "5.3 MB": "0.53 MB"})
    for module in (cell, study):
        monkeypatch.setattr(module, "CELL", slow_cell)
    monkeypatch.setattr(knee, "ROUND_TRIPS_MS", (30, 42))
    monkeypatch.setattr(knee, "WINDOWS_MB", (4.7, 67.1))
    monkeypatch.setattr(search, "candidates", lambda *_axes: list(candidates((0.7,), (2,)))[:2])
    monkeypatch.setattr(reductions, "REDUCTIONS", (0.2, 0.7))
    for module in (link, study):
        monkeypatch.setattr(module, "CHANGES", CHANGES[:3])
    small = replace(
        STUDY.quick,
        seeds=2, knee_seeds=1, fine_seeds=1, lengths_s=(1, 2), refined=1, refined_seeds=1,
        curve_seeds=1, cell_seeds=1, cell_changes=CELL_CHANGES[:1], losses_db=(25,),
    )  # fmt: skip
    monkeypatch.setitem(studies(), "blockage", replace(STUDY, quick=replace(small, **changes)))


def test_the_blockage_study_answers_its_questions(cli: CliRunner, monkeypatch: pytest.MonkeyPatch):
    # One period of the blockages has each of them once, and tables have few points.
    few_points(monkeypatch, cell_seeds=2, duration_s=5)
    command = ["study", "blockage", "--quick", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "12 %" in result.stdout
    found = json.loads(Path("study/results.json").read_text())
    assert [row["published_loss_pct"] for row in found["table"]] == [12.0, 54.0, 72.0]
    for level in ("link_nothing_passes", "full_stack_nothing_passes", "full_stack_vehicle"):
        losses = [row[f"{level}_mean_pct"] for row in found["table"]]
        assert losses == sorted(losses), level
    # Over both levels, a blockage of 1 s every 5 s costs about its share of the time. The cost of
    # shorter blockages depends on the phase.
    for level in ("link_nothing_passes", "full_stack_nothing_passes"):
        assert 15 < found["table"][-1][f"{level}_mean_pct"] < 35, level
    assert len(found["senders"]) == 2 * len(SENDERS)
    assert len(found["fine"]) == 4
    assert len(found["length"]) == 2 * len(knee.LENGTH_SETUPS)
    assert len(found["reductions"]) == 2 * (len(reductions.SHOWN) + 1)
    assert {row["claim"] for row in found["claims"]} == {"kept", "ordering", "knee", "timeouts"}
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
    refused = cli.invoke(app, command)
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
