"""Tests of user-written handover policies."""

import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT
from fadeout import _toml
from fadeout.campaign import Campaign, spec
from fadeout.campaign.jobs import Planner
from fadeout.cli.app import app
from fadeout.handover_policy import HandoverEnd, HandoverPolicy, MeasurementReport

EXAMPLE = ROOT / "scenarios/handover.toml"
SHORT = {
    "duration": "20 s",
    "cell.channel": {"path-loss": "uma", "shadowing": False, "line-of-sight": "clear"},
}
OWN = {**SHORT, "mobility-management.policy": "mine"}


class Strongest(HandoverPolicy):
    """A policy like the built-in `a3` that stores its reports."""

    def __init__(self) -> None:
        self.reports: list[MeasurementReport] = []
        self.ends: list[HandoverEnd] = []

    def on_report(self, report: MeasurementReport) -> str | None:
        self.reports.append(report)
        return next(iter(report.cells), None)

    def on_handover(self, handover: HandoverEnd) -> None:
        self.ends.append(handover)


def run_own(cls: type, **named: object) -> fadeout.Results:
    changes = {**OWN, "mobility-management.policy": {"name": "mine", **named}}
    return fadeout.run(EXAMPLE, set=changes, handover_policies={"mine": cls})


def test_a_class_that_does_as_a3_has_its_bits():
    made = []

    def make() -> Strongest:
        made.append(Strongest())
        return made[-1]

    own = fadeout.run(EXAMPLE, set=OWN, handover_policies={"mine": make})
    built_in = fadeout.run(EXAMPLE, set=SHORT)
    assert own.manifest["fingerprint"] == built_in.manifest["fingerprint"]
    (policy,) = made
    report = policy.reports[0]
    assert report.ue == "phone"
    assert report.event == "a3"
    assert report.serving == "west"
    assert list(report.cells) == ["middle"]
    assert report.cells["middle"] > report.serving_dbm + 4
    assert report.loads == {"west": 1, "middle": 0, "east": 0}
    assert report.max_ues is None
    assert 0 < report.time_s < 20
    (end,) = policy.ends
    assert (end.ue, end.source, end.target) == ("phone", "west", "middle")
    assert (end.procedure, end.outcome) == ("handover", "success")
    assert end.time_s > report.time_s


def test_parameters_are_keywords_of_the_constructor():
    seen = []

    class Mine(HandoverPolicy):
        def __init__(self, margin_db: float = 0, word: str = "") -> None:
            seen.append((margin_db, word))

        def on_report(self, report: MeasurementReport) -> None:
            del report

    results = run_own(Mine, **{"margin-db": 2, "word": "x"})
    assert seen == [(2, "x")]
    assert len(results.handovers) == 0


def test_a_method_that_raises_ends_the_run_and_keeps_results():
    class Raises(HandoverPolicy):
        def on_report(self, report: MeasurementReport) -> str:
            raise KeyError(report.serving)

    with pytest.raises(fadeout.HandoverPolicyError) as caught:
        run_own(Raises)
    assert "Raises.on_report raised KeyError at" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)
    assert not caught.value.results.is_complete
    assert 5 < caught.value.results.duration_s < 20

    simulation = fadeout.Simulation(EXAMPLE, set=OWN, handover_policies={"mine": Raises})
    with pytest.raises(fadeout.HandoverPolicyError):
        simulation.advance(20)


@pytest.mark.parametrize(
    ("answer", "part"),
    [("mitte", "not a cell that the UE measures; expected one of west, middle, east"), (3, "int")],
)
def test_an_answer_that_is_no_cell_raises(answer: object, part: str):
    class Wrong:
        def on_report(self, report: MeasurementReport) -> object:
            del report
            return answer

    with pytest.raises(fadeout.HandoverPolicyError, match=part):
        run_own(Wrong)


def test_mistakes_are_found_before_the_run():
    class Empty(HandoverPolicy):
        pass

    with pytest.raises(
        fadeout.ScenarioError, match=r"no method on_report; expected on_report\(self"
    ):
        run_own(Empty)
    with pytest.raises(fadeout.ScenarioError, match="built-in one has this name"):
        fadeout.run(EXAMPLE, set=SHORT, handover_policies={"strongest": Strongest})
    with pytest.raises(fadeout.ScenarioError, match="unknown handover policy"):
        fadeout.check(EXAMPLE, set={"mobility-management.policy": "strongst"})
    with pytest.warns(UserWarning, match="does not use the handover policy 'mine'"):
        fadeout.run(
            EXAMPLE, set={**SHORT, "duration": "1 s"}, handover_policies={"mine": Strongest}
        )


def test_the_command_takes_a_class_from_a_file(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(
        textwrap.dedent(
            """
            class Stays:
                def on_report(self, report):
                    return None
            """
        )
    )
    arguments = ["run", str(EXAMPLE), "--out", str(tmp_path / "out"), "--no-figures"]
    arguments += ["--set", 'mobility-management.policy="mine"', "--set", 'duration="2 s"']
    arguments += ["--handover-policy", f"mine={file}:Stays"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    wrong = [*arguments[:-1], "mine=nowhere.py:Stays", "--force"]
    outcome = CliRunner().invoke(app, wrong)
    assert outcome.exit_code == 2
    assert "--handover-policy: no file" in " ".join(outcome.output.split())


POLICIES = """
class Strongest:
    def on_report(self, report):
        return next(iter(report.cells), None)


class Odd:
    def on_report(self, report):
        raise ValueError("seven")
"""


def test_a_policy_of_a_file_runs_in_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("policies.py").write_text(POLICIES)
    settings = [f"{key}={_toml.value(value)}" for key, value in SHORT.items()]
    options = [part for text in settings for part in ("--set", text)]
    command = ["sweep", str(EXAMPLE), *options, "--out", "c", "--seeds", "1"]
    command += ["--set", 'mobility-management.policy="a3","mine","odd"']
    command += ["--handover-policy", "mine=policies.py:Strongest"]
    command += ["--handover-policy", "odd=policies.py:Odd"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    campaign = Campaign.open("c")
    frame = campaign.frame()
    assert frame["mobility-management.policy"].to_list() == ["a3", "mine"]
    assert frame["fingerprint"].n_unique() == 1, "it does as a3"
    (failure,) = campaign.failures.to_dicts()
    assert failure["kind"] == "HandoverPolicyError"
    assert "seven" in failure["reason"]


def test_a_run_is_named_by_the_file_of_its_policy(tmp_path: Path):
    file = tmp_path / "policies.py"
    document = {
        "scenario": str(EXAMPLE),
        "set": OWN,
        "handover-policies": {"mine": f"{file}:Strongest"},
    }

    def name() -> str:
        return Planner(spec.read(document)).points[0].content

    file.write_text(POLICIES)
    before = name()
    assert name() == before
    file.write_text(POLICIES + "# other\n")
    assert name() != before


def test_a_policy_that_no_point_uses_is_a_warning(tmp_path: Path):
    document = {
        "scenario": str(EXAMPLE),
        "set": SHORT,
        "handover-policies": {"mine": Strongest},
    }
    with pytest.warns(UserWarning, match="no point uses the handover policy 'mine'"):
        Planner(spec.read(document))


STAYS = """

class Stays:
    def on_report(self, report):
        return None
"""


def test_a_search_runs_over_policies_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("optuna", reason="fadeout[tune] is not installed")
    monkeypatch.chdir(tmp_path)
    Path("policies.py").write_text(POLICIES + STAYS)
    settings = [f"{key}={_toml.value(value)}" for key, value in SHORT.items()]
    options = [part for text in settings for part in ("--set", text)]
    command = ["tune", str(EXAMPLE), *options, "--out", "t", "--seeds", "1", "--trials", "6"]
    command += ["--over", "mobility-management.policy=mine,stays", "--maximise", "goodput_mbps"]
    command += ["--handover-policy", "mine=policies.py:Strongest"]
    command += ["--handover-policy", "stays=policies.py:Stays"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    frame = Campaign.open("t").frame().sort("mobility-management.policy")
    assert frame["mobility-management.policy"].to_list() == ["mine", "stays"]
    mine, stays = frame["goodput_mbps"].to_list()
    assert mine != stays, "one changes cell, the other does not"
    (row,) = (line for line in result.output.splitlines() if "mobility-management.policy" in line)
    assert ("mine" in row, "stays" in row) == (mine > stays, stays > mine)
    missing = [*command[:-1], "stays=policies.py:Nobody"]
    assert CliRunner().invoke(app, missing).exit_code == 2
