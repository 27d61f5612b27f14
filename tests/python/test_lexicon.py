"""Search for names: lists, explanations, examples, and completion in the shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT
from fadeout import _examples, _lexicon, _schema
from fadeout.cli import complete
from fadeout.cli.app import app
from fadeout.studies import questions
from fadeout.study import studies


def test_every_kind_is_described_and_has_a_place_in_a_scenario():
    kinds = _lexicon.catalog().values()
    assert {kind["name"] for kind in kinds} == set(_lexicon.KINDS)
    assert [kind["name"] for kind in kinds if not _lexicon.places(kind)] == []


def test_every_scheme_is_a_value_of_a_profiles_parameter():
    (entry, *_) = _lexicon.catalog()["profiles"]["entries"]
    choices = {p["name"]: p.get("choices", []) for p in entry["parameters"]}
    for scheme in _lexicon.SCHEMES:
        assert scheme.value in choices[scheme.parameter]
        path, _, value = scheme.use.replace("NAME.", "").partition(" = ")
        info = ["flow.link-info.link=bottleneck", "flow.link-info.prediction=1 s"]
        told = info if scheme.parameter == "outage-response" else []
        clean = ROOT / "scenarios" / "clean-link.toml"
        fadeout.check(clean, set=[f"{path}={value.strip(chr(34))}", *told])


@pytest.mark.parametrize("command", ["list", "explain"])
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Freeze-TCP", 'outage-response = "freeze"'),
        ("freeze", "Freeze-TCP"),
        ("elfn", "ELFN"),
        ("cubic", "RFC 9438"),
        ("hystart", "cubic"),
        ("blest", "path"),
    ],
)
def test_whatever_has_a_name_is_found(cli: CliRunner, command: str, word: str, expected: str):
    result = cli.invoke(app, [command, word])
    assert result.exit_code == 0, result.stderr
    shown = result.stdout + cli.invoke(app, ["list", "schemes", word]).stdout
    assert expected in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["link.queue.limit"], "1000 packets"),
        (["link"], "delay"),
        (["carrier"], "cell.NAME.carrier"),
        (["congestion"], "cwnd_segments"),
        (["congestion.srtt_s"], "Smoothed round-trip time"),
        (["expected", "a", "rate,", "found", "10", "without", "a", "unit"], "Mbit/s"),
        (["exit status 143"], "SIGTERM"),
        (["EngineBug"], "report"),
    ],
)
def test_explain_knows_keys_tables_columns_and_errors(cli: CliRunner, words, expected: str):
    result = cli.invoke(app, ["explain", *words])
    assert result.exit_code == 0, result.stderr
    assert expected in result.stdout


def test_explain_suggests_a_name(cli: CliRunner):
    result = cli.invoke(app, ["explain", "cubik"])
    assert result.exit_code == 2
    assert "cubic" in result.stderr


def test_nothing_that_is_listed_is_wider_than_a_terminal_of_80_columns(scenario: Path):
    import pty

    for arguments in (["list"], ["list", "congestion-controls"], ["list", "profiles", "linux"]):
        parent, child = pty.openpty()
        env = {**os.environ, "COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}
        with subprocess.Popen(
            [sys.executable, "-m", "fadeout", *arguments], stdout=child, env=env
        ) as process:
            os.close(child)
            text = b""
            try:
                while chunk := os.read(parent, 65536):
                    text += chunk
            except OSError:
                pass  # Linux reports a closed pseudo-terminal as an error.
            process.wait()
        os.close(parent)
        import re

        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.decode())
        assert plain.strip()
        assert [line for line in plain.splitlines() if len(line) > 80] == []


def test_defaults_have_their_unit_once_and_ranges_are_digits(cli: CliRunner):
    shown = cli.invoke(app, ["list", "applications", "transfer"]).stdout
    assert "10 MB" in shown
    assert "10 MB bytes" not in shown
    shown = cli.invoke(app, ["list", "profiles", "linux"]).stdout
    assert "1,000 bytes to 1 GiB" in shown
    assert "e+0" not in shown


def test_a_name_with_colons_is_printed_as_it_is(cli: CliRunner):
    result = cli.invoke(app, ["check", "nosuch:x:.toml"])
    assert "nosuch:x:.toml" in result.stderr


def test_every_example_runs_from_what_the_package_carries(cli: CliRunner):
    known = _examples.examples()
    assert {path.name for path in (ROOT / "scenarios").glob("*.toml")} == {
        example.path.name for example in known.values()
    }
    shown = cli.invoke(app, ["examples"]).stdout
    for example in known.values():
        assert example.name in shown
        assert example.title
        assert example.title in shown
    assert cli.invoke(app, ["examples", "blockage"]).stdout == known["blockage"].text


def test_new_writes_a_scenario_that_is_right(cli: CliRunner):
    assert cli.invoke(app, ["new", "mine", "--from", "lossy-link"]).exit_code == 0
    fadeout.check(Path("mine.toml"))
    assert cli.invoke(app, ["new", "mine"]).exit_code == 1
    assert cli.invoke(app, ["new", "mine", "--force"]).exit_code == 0
    written = Path("mine.toml").read_text()
    assert written == "#:schema ./scenario.schema.json\n\n" + _examples.examples()["blockage"].text
    assert cli.invoke(app, ["new", "multipath-outage"]).exit_code == 0
    assert "multipath" in Path("multipath-outage.toml").read_text()
    assert cli.invoke(app, ["new", "mine", "--force", "--from", "drive-test"]).exit_code == 0
    fadeout.check(Path("mine.toml"))
    assert cli.invoke(app, ["new", "yours", "--from", "drive-test"]).exit_code == 1, (
        "one file of two"
    )
    wrong = cli.invoke(app, ["new", "x", "--from", "lossy"])
    assert wrong.exit_code == 2
    assert "'lossy-link'" in wrong.stderr


def test_an_example_that_is_no_file_yet_is_named(cli: CliRunner):
    result = cli.invoke(app, ["run", "blockage.toml"])
    assert result.exit_code == 1
    assert "fadeout new blockage" in result.stderr


def test_values_are_completed():
    assert ("cubic", _lexicon.exactly("cubic")[0].summary) in complete.topics("cubi")
    assert [name for name, _ in complete.overrides("flow.profile=li")] == [
        "flow.profile=linux",
        "flow.profile=linux-6.12",
        "flow.profile=linux-6.18",
    ]
    assert "link.queue.limit=" in [name for name, _ in complete.overrides("link.queue.l")]
    assert [name for name, _ in complete.figures("thr")] == ["throughput"]
    assert "blockage" in [name for name, _ in complete.examples("b")]
    assert "schemes" in [name for name, _ in complete.kinds("sch")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_completes_names_by_kind(shell: str):
    line = "fadeout list congestion-controls cub"
    env = {
        **os.environ,
        "_FADEOUT_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from fadeout.cli import main; main()"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cubic" in done.stdout, done.stderr


def test_keys_of_the_schema_are_found_once():
    paths = [key.path for key in _schema.all_keys()]
    assert len(paths) == len(set(paths)) > 100


def test_each_study_has_its_question_by_its_name():
    assert list(questions()) == list(studies())
    assert all(question.endswith("?") for question in questions().values())
