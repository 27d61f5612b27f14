import json
import math
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import fadeout
from fadeout.studies.blockage import STUDY, runs
from fadeout.studies.blockage.claims import verdicts
from fadeout.studies.blockage.runs import (
    CASES_S,
    CELL_BLOCKAGE,
    CELL_CHANGES,
    DATA,
    DEPTHS,
    FOLDER,
    LENGTHS,
    MODEL_B_DB,
    NO_GUARD,
    PUBLISHED,
    SENDERS,
    Plan,
    reduction,
    totals,
)
from fadeout.study import QUIET_CELL, Choice, Data, Found, Job, Runs, ThreadRunner, combined
from fadeout.study.job import Reader

STATED = PUBLISHED["setup"]["stated"]


def test_the_cell_states_what_the_paper_states():
    resolved = tomllib.loads((FOLDER / "cell.toml").read_text())
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
    values = {**QUIET_CELL, **STUDY.full.duration}
    (clear,) = (each for each in DATA.all("clear", Choice) if "cell" in each.tags)
    (run,) = ThreadRunner().results([combined(FOLDER / "cell.toml", values, clear)])
    rate = totals(run)["goodput_mbps"]
    # The number of resource blocks changes the rate in steps of 1.8 %.
    assert rate == pytest.approx(PUBLISHED["case"][0]["throughput_mbps"], rel=0.01)


def test_every_assumption_of_the_full_stack_runs():
    blocked = Choice("0.2 s", {f"{CELL_BLOCKAGE}.duration": "0.2 s"})
    short = Choice("short", {"duration": "60 ms"})
    phase = DATA.all("cell-phase", Choice)
    jobs = [
        combined(FOLDER / "cell.toml", QUIET_CELL, depth, change, blocked, *phase, short)
        for change in CELL_CHANGES
        for depth in DEPTHS
        if not change.depths or depth.name in change.depths
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
        runs = {
            (length,): [
                {"loss_pct": loss + spread * (-1) ** n, "timeouts": index} for n in range(seeds)
            ]
            for index, (length, loss) in enumerate(zip(LENGTHS, losses, strict=True))
        }
        return [verdict.outcome for verdict in verdicts(Found(("blocked",), runs))]

    assert judged((12, 54, 72), 0.1) == ["holds"] * 4
    # Losses below the blocked time have the wrong sign. The fall to 1 s is the largest.
    assert judged((1, 3, 12), 0.1) == ["does not hold", "holds", "does not hold", "holds"]
    assert judged((3, 5, 30), 0.1)[0] == "holds in sign only"
    assert judged((12, 54, 72), 30)[0] == "open"
    assert judged((12, 54, 72), 0.1, seeds=4) == ["too few seeds"] * 4


def test_the_windows_after_a_loss_include_the_papers_and_linuxs():
    assert reduction(0.7) == {}
    sets = {each["name"]: each["axes"] for each in DATA["runs"]}
    assert {0.2, 0.7, 0.8} <= set(sets["reductions"]["window_after_a_loss"])
    values = [f"{key}={value}" for key, value in reduction(0.2).items()]
    manifest = fadeout.run(FOLDER / "scenario.toml", set=[*values, "duration=0.01 s"]).manifest
    flow = manifest["scenario"]["flow"]["download"]
    assert flow["congestion-control"]["beta"] == 0.2


def test_the_senders_are_those_that_the_paper_and_the_rfcs_describe():
    senders = {sender.name: sender.values for sender in SENDERS}
    guarded, without = senders["no SACK (RFC 6582, impatient)"], NO_GUARD.values
    assert {k for k in guarded if guarded[k] != without[k]} == {"flow.profile"}
    assert without["flow.profile"] == '"reno"'
    assert {"impatient", "slow"} <= {
        word for name in senders for word in name.replace(")", "").split()
    }


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Gives the study scenarios with a tenth of the rate, and runs of 5 s.

    Fewer packets cost less to simulate.
    """
    changes = {
        "scenario.toml": {'"843 Mbit/s"': '"84.3 Mbit/s"'},
        "cell.toml": {"resource-blocks = 168": "resource-blocks = 17", "5.3 MB": "0.53 MB"},
        "study.toml": {"length = 30": "length = 5"},
    }
    for file, of in changes.items():
        text = (FOLDER / file).read_text()
        for old, new in of.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (tmp_path / file).write_text(text)
    monkeypatch.setattr(runs, "FOLDER", tmp_path)
    monkeypatch.setattr(runs, "DATA", Data.read(tmp_path))


@pytest.mark.usefixtures("slow")
def test_a_total_blockage_costs_its_share_of_the_time_on_both_levels():
    # One period of the blockages has each of them once.
    plan = Plan(Runs(ThreadRunner(), replace(STUDY.quick, duration_s=5)))
    for name in ("link", "full-stack"):
        points = [at for at in plan.points(name) if "nothing passes" in at[0].name]
        found = plan.found(name, points, seeds=2)
        means = [found.mean(point, "loss_pct").mean for point in found]
        assert means == sorted(means)
        # The cost of shorter blockages depends on the phase.
        assert 15 < means[-1] < 35


@dataclass
class Drawn:
    """Runner that draws the numbers of a run from its content. Whole results are simulated."""

    is_whole: bool = True
    expected: int = 0
    jobs: set[Job] = field(default_factory=set)

    def expect(self, runs: int) -> None:
        self.expected = runs

    def collect(self, jobs: Sequence[Job], read: Reader[Any]) -> list[Any]:
        self.jobs.update(jobs)
        return [self.numbers(job) for job in jobs]

    def results(self, jobs: Sequence[Job]) -> list[fadeout.Results]:
        return ThreadRunner().results(jobs)

    def numbers(self, job: Job) -> dict[str, float]:
        if job.without:
            return {"goodput_mbps": 800.0, "timeouts": 0.0, "recoveries": 0.0}
        share = int(job.name(totals)[:8], 16) / 16**8
        return {
            "goodput_mbps": 750.0 - 300 * share,
            "timeouts": float(round(share)),
            "recoveries": 1.0,
        }


@pytest.mark.usefixtures("slow", "without_pdf")
def test_the_report_has_all_its_tables(tmp_path: Path):
    runner = Drawn()
    effort = replace(STUDY.quick, duration_s=5, grid_lengths_s=(5,), lengths_s=(5, 20))
    STUDY.report(runner, effort).write(tmp_path)
    whole = len(DEPTHS) + 2 * len(CASES_S)
    assert len(runner.jobs) + whole == runner.expected
    found = json.loads((tmp_path / "results.json").read_text())
    published = [row["published_loss_pct"] for row in found["table"] if row["setup"] == "nearest"]
    assert published == [12.0, 54.0, 72.0]
    rows = {name: len(of) / len(LENGTHS) for name, of in found.items() if isinstance(of, list)}
    assert rows["senders"] == 2 * len(SENDERS)
    assert rows["fine"] == 8 * 9
    assert rows["length"] == len(effort.lengths_s) * len(DATA["length-setup"])
    assert rows["reductions"] == 6 * (3 + 1)
    axes = ("stack", "round_trip", "buffer", "effect", "reduction", "length_s")
    grid = {tuple(row[axis] for axis in axes) for row in found["grid"]}
    assert rows["grid"] == len(grid) == 3 * 3 * 2 * 2 * len(SENDERS)
    assert {row["claim"] for row in found["claims"]} == {"kept", "ordering", "knee", "timeouts"}
    report = (tmp_path / "report.md").read_text()
    assert "12 %" in report
    for figure in (tmp_path / "figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
