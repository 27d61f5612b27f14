import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT, SCENARIO
from fadeout import EngineBug
from fadeout.cli.app import app


def test_a_run_writes_results_and_figures_and_prints_a_summary(cli: CliRunner, scenario: Path):
    result = cli.invoke(app, ["run", str(scenario), "--seed", "7", "--out", "out/x"])
    assert result.exit_code == 0, result.output
    assert "download" in result.output
    assert "out/x" in result.output
    results = fadeout.Results.open("out/x")
    assert results.manifest["seed"] == 7
    assert {path.name for path in Path("out/x/figures").iterdir()} == {
        "congestion.png",
        "overview.png",
        "queue.png",
        "rtt.png",
        "throughput.png",
    }


def test_a_run_says_where_its_captures_are(cli: CliRunner, scenario: Path):
    result = cli.invoke(
        app,
        ["run", str(scenario), "--out", "out", "--no-figures", "--set", 'probe.capture=["phone"]'],
    )
    assert result.exit_code == 0, result.output
    assert "captures: out/captures, 1 file, " in result.output


def test_without_out_each_run_has_its_own_folder(cli: CliRunner, scenario: Path):
    for _ in range(2):
        result = cli.invoke(app, ["run", str(scenario), "--no-figures"])
        assert result.exit_code == 0, result.output
    assert sorted(path.name for path in Path("out").iterdir()) == ["small", "small-2"]


def test_an_existing_run_is_refused_unless_forced(cli: CliRunner, scenario: Path):
    command = ["run", str(scenario), "--no-figures", "--out", "out/x"]
    assert cli.invoke(app, command).exit_code == 0
    refused = cli.invoke(app, command)
    assert refused.exit_code == 1
    assert "out/x" in refused.stderr
    assert cli.invoke(app, [*command, "--force"]).exit_code == 0


def test_a_folder_that_is_no_run_is_never_replaced(cli: CliRunner, scenario: Path):
    Path("precious").mkdir()
    Path("precious/thesis.tex").write_text("years of work")
    result = cli.invoke(app, ["run", str(scenario), "--out", "precious", "--force"])
    assert result.exit_code == 1
    assert Path("precious/thesis.tex").read_text() == "years of work"


def test_set_replaces_a_value(cli: CliRunner, scenario: Path):
    command = ["run", str(scenario), "--no-figures", "-o", "x"]
    result = cli.invoke(app, [*command, "--set", "flow.congestion-control=newreno"])
    assert result.exit_code == 0, result.output
    assert "newreno" in result.output


def test_mistakes_exit_with_2_and_show_place_and_nearest_name(cli: CliRunner, tmp_path: Path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SCENARIO.replace('"cubic"', '"cubik"').replace("delay =", "dely ="))
    for command in (["check", str(wrong)], ["run", str(wrong)]):
        result = cli.invoke(app, command)
        assert result.exit_code == 2
        assert "wrong.toml:" in result.stderr
        assert "cubic" in result.stderr
        assert "delay" in result.stderr
        assert "Traceback" not in result.output + result.stderr


def test_a_wrong_override_exits_with_2(cli: CliRunner, scenario: Path):
    result = cli.invoke(app, ["run", str(scenario), "--set", "flow.congestion-controll=reno"])
    assert result.exit_code == 2
    assert "congestion-control" in result.stderr


def test_check_says_ok_and_goes_on_after_a_mistake(cli: CliRunner, scenario: Path, tmp_path: Path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("duration = 3")
    result = cli.invoke(app, ["check", str(wrong), str(scenario)])
    assert result.exit_code == 2
    assert "small.toml: ok" in result.stdout


def test_a_missing_file_exits_with_1_and_names_it(cli: CliRunner):
    result = cli.invoke(app, ["run", "nowhere.toml"])
    assert result.exit_code == 1
    assert "nowhere.toml" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_exits_with_1_and_names_it(cli: CliRunner, scenario: Path):
    Path("locked").mkdir(mode=0o500)
    result = cli.invoke(app, ["run", str(scenario), "--out", "locked/x"])
    assert result.exit_code == 1
    assert "locked" in result.stderr


def test_a_file_in_the_way_of_out_exits_with_1_and_names_it(cli: CliRunner, scenario: Path):
    Path("file").write_text("")
    result = cli.invoke(app, ["run", str(scenario), "--out", "file/x"])
    assert result.exit_code == 1
    assert "file" in result.stderr


def test_a_bug_of_the_engine_exits_with_70(
    cli: CliRunner, scenario: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_args, **_kwargs):
        raise EngineBug("in flight is never negative")

    monkeypatch.setattr(fadeout, "run", fail)
    result = cli.invoke(app, ["run", str(scenario)])
    assert result.exit_code == 70
    assert "in flight is never negative" in result.stderr


def test_ctrl_c_exits_with_130_and_keeps_what_was_recorded(tmp_path: Path):
    path = tmp_path / "long.toml"
    path.write_text(SCENARIO.replace('"2 s"', '"400000 s"'))
    command = [sys.executable, "-m", "fadeout", "run", str(path), "--no-figures", "--out", "x"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        # The hidden folder appears when the simulation begins.
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".x.partial*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    results = fadeout.Results.open(tmp_path / "x")
    assert not results.is_complete
    assert len(results.congestion) > 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["list"], "congestion-controls"),
        (["list", "congestion-controls"], "RFC 9438"),
        (["list", "congestion-control", "cubic"], "fast-convergence"),
        (["list", "profiles"], "newreno"),
        (["list", "queue-disciplines"], "drop-tail"),
        (["list", "applications"], "bulk"),
        (["list", "studies"], "blockage"),
        (["list", "tables"], "retransmissions"),
        (["list", "tables", "congestion"], "cwnd_segments"),
    ],
)
def test_list_knows(cli: CliRunner, arguments: list[str], expected: str):
    result = cli.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert expected in result.stdout
    assert "\x1b[" not in result.stdout
    assert "…" not in result.stdout.replace("1, 2, …", "")


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["list", "congestion-control-algorithms"], "congestion-controls"),
        (["list", "congestion-controls", "cubik"], "cubic"),
        (["list", "tables", "throughputs"], "throughput"),
        (["study", "blokage"], "blockage"),
        (["validate", "linus"], "linux"),
    ],
)
def test_an_unknown_name_exits_with_2_and_suggests(
    cli: CliRunner, arguments: list[str], nearest: str
):
    result = cli.invoke(app, arguments)
    assert result.exit_code == 2
    assert f"'{nearest}'" in result.stderr


def test_list_prints_json(cli: CliRunner):
    entries = json.loads(cli.invoke(app, ["list", "congestion-controls", "--json"]).stdout)
    assert {"name", "aliases", "parameters", "citation"} <= set(entries[0])


def test_the_version_tells_version_and_build(cli: CliRunner):
    result = cli.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert fadeout.__version__ in result.stdout
    assert result.stdout.count("rustc") == 1


def test_the_mean_round_trip_is_that_of_the_samples(cli: CliRunner, scenario: Path):
    command = ["run", str(scenario), "--no-figures", "--out", "out"]
    result = cli.invoke(app, command, env={"COLUMNS": "200"})
    (flow,) = fadeout.Results.open("out").flows.iter_rows(named=True)
    lines = result.stdout.splitlines()
    head = next(line for line in lines if "mean RTT" in line)
    row = next(line for line in lines if line.startswith(" download "))
    assert "mean RTT ms" in head
    assert f" {1e3 * flow['mean_rtt_s']:.1f} " in row
    assert f" {1e3 * flow['mean_srtt_s']:.1f} " not in row


def test_every_command_has_help_with_an_example(cli: CliRunner):
    for command in ("run", "study", "check", "list", "validate", "plot"):
        result = cli.invoke(app, [command, "--help"])
        assert result.exit_code == 0
        assert f"fadeout {command}" in result.stdout


def test_plot_draws_an_earlier_run(cli: CliRunner, scenario: Path):
    assert cli.invoke(app, ["run", str(scenario), "--no-figures", "-o", "x"]).exit_code == 0
    result = cli.invoke(app, ["plot", "x", "rtt", "--format", "pdf"])
    assert result.exit_code == 0, result.output
    assert Path("x/figures/rtt.pdf").read_bytes().startswith(b"%PDF")
    unknown = cli.invoke(app, ["plot", "x", "rrt"])
    assert unknown.exit_code == 2
    assert "'rtt'" in unknown.stderr


def test_the_schema_in_the_repository_is_current(cli: CliRunner):
    printed = cli.invoke(app, ["schema"]).stdout
    kept = (ROOT / "schemas" / "scenario.schema.json").read_text()
    assert printed == kept, "run `make schema`"


SCRIPT = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 2000) = 2000
+0 > P. 1:2001(2000) ack 1
"""


@pytest.mark.parametrize("name", ["missing.pkt", "folder", "device"])
def test_a_script_that_cannot_be_read_is_named_and_the_others_run(
    cli: CliRunner, tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    good = ROOT / "crates/packetdrill/tests/scripts/nagle.pkt"
    result = cli.invoke(app, ["packetdrill", "--json", str(tmp_path / name), str(good)])
    assert result.exit_code == 2
    outcomes = [report["outcome"] for report in json.loads(result.stdout)]
    assert outcomes == ["invalid", "passed"]


@pytest.mark.parametrize(
    ("old", "new", "status", "words"),
    [
        ("ack 1 win 512", "ack 1 win 512", 0, "passed"),
        ("P. 1:2001(2000) ack 1", "P. 1:2001(2000) ack 2", 1, "ack 2 expected, 1 sent"),
        ("listen(3, 1) = 0", "listen(3, 1", 2, "invalid"),
        ("IPPROTO_TCP", "IPPROTO_SCTP", 3, "SCTP is not supported"),
        ("IPPROTO_TCP", "IPPROTO_MPTCP", 0, "passed"),
    ],
)
def test_a_packetdrill_script_tells_its_outcome_by_the_exit_status(
    cli: CliRunner, tmp_path: Path, old: str, new: str, status: int, words: str
):
    script = tmp_path / "one.pkt"
    script.write_text(SCRIPT.replace(old, new))
    result = cli.invoke(app, ["packetdrill", str(script)])
    assert result.exit_code == status, result.output
    assert words in result.output
    reports = json.loads(cli.invoke(app, ["packetdrill", "--json", str(script)]).stdout)
    assert [report["name"] for report in reports] == [str(script)]


def test_every_conformance_script_passes_on_the_command_line(cli: CliRunner):
    scripts = sorted((ROOT / "crates/packetdrill/tests/scripts").glob("*.pkt"))
    result = cli.invoke(app, ["packetdrill", "--quiet", *map(str, scripts)])
    assert result.exit_code == 0, result.output
