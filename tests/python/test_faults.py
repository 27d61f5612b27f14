"""Hostile files, full disks and signals: a message and an exit status at once, and no data lost."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import SCENARIO
from fadeout import _files
from fadeout.cli.app import app

COMMAND = [sys.executable, "-m", "fadeout"]
LONG = SCENARIO.replace('"2 s"', '"400000 s"')


def run_limited(
    arguments: list[str], cwd: Path, kind: int, most: int
) -> "subprocess.CompletedProcess[str]":
    def limit() -> None:
        resource.setrlimit(kind, (most, most))

    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=300,
    )


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_scenario_that_is_no_text_has_its_place_named(cli: CliRunner, command: str):
    Path("latin.toml").write_bytes(b'title = "ok"\nname = "caf\xe9"\n')
    result = cli.invoke(app, [command, "latin.toml"])
    assert result.exit_code == 2
    assert "latin.toml:2:12" in result.stderr
    assert "UTF-8" in result.stderr
    assert "Traceback" not in result.stderr
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(Path("latin.toml"))
    assert caught.value.errors[0]["line"] == 2


def test_devices_pipes_and_folders_are_refused_at_once(cli: CliRunner):
    Path("zero").symlink_to("/dev/zero")
    os.mkfifo("pipe")
    Path("folder").mkdir()
    for name in ("zero", "pipe", "folder"):
        for command in ("check", "run", "packetdrill"):
            result = cli.invoke(app, [command, name])
            assert result.exit_code in (1, 2), (command, name)
            assert len(result.stderr.splitlines()) == 1, result.stderr
            assert name in result.stderr
            assert "regular file" in result.stderr


def test_a_file_that_is_too_large_is_not_read(cli: CliRunner):
    with Path("huge.toml").open("wb") as file:
        file.truncate(_files.LARGEST + 1)
    result = cli.invoke(app, ["check", "huge.toml"])
    assert result.exit_code == 1
    assert "at most" in result.stderr


def test_what_is_kept_of_a_run_that_fills_the_disk_can_be_read(tmp_path: Path):
    path = tmp_path / "long.toml"
    before, _, rest = LONG.replace('rate = "10', 'rate = "100').partition("[blockage")
    # A row for each ACK makes the first row groups full after seconds of the run.
    every_ack = '\n[probe]\ncongestion = "every-ack"\n'
    path.write_text(before + rest[rest.index("[flow") :] + every_ack)
    # A limit on the size of files simulates a full disk, as both end a write in the same way.
    done = run_limited(
        ["run", str(path), "--out", "x", "--no-figures"], tmp_path, resource.RLIMIT_FSIZE, 2_000_000
    )
    assert done.returncode == 1, done.stderr
    assert "can be read in x" in done.stderr
    assert "Traceback" not in done.stderr
    results = fadeout.Results.open(tmp_path / "x")
    assert not results.is_complete
    assert len(results.congestion) >= 1 << 16, "whole row groups are kept"
    rows = {entry["name"]: entry["rows"] for entry in results.manifest["tables"]}
    assert {name: len(results.table(name)) for name in rows} == rows
    assert not list(tmp_path.glob(".x*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_of_a_batch_system_keeps_what_was_recorded(tmp_path: Path, number: signal.Signals):
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    command = [*COMMAND, "run", str(path), "--no-figures", "--out", "x"]

    def hear() -> None:
        # Under nohup the command would ignore SIGHUP too.
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=hear
    ) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob(".x.partial*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert not fadeout.Results.open(tmp_path / "x").is_complete
    assert not list(tmp_path.glob(".x*"))


def test_what_a_killed_run_left_is_named_and_what_a_live_one_writes_is_not(
    cli: CliRunner, scenario: Path
):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    Path("out").mkdir()
    for process in (gone.pid, os.getpid()):
        Path(f"out/.a.partial-{process}").mkdir()
    result = cli.invoke(app, ["run", str(scenario), "--no-figures"])
    assert result.exit_code == 0
    assert f".a.partial-{gone.pid} " in result.stderr
    assert f".a.partial-{os.getpid()} " not in result.stderr


def test_too_little_memory_is_a_line(tmp_path: Path, scenario: Path):
    limits = (100_000_000, 400_000_000)
    for most in limits:
        done = run_limited(["run", str(scenario)], tmp_path, resource.RLIMIT_AS, most)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr, done.stderr


def test_a_package_that_is_missing_is_a_line(tmp_path: Path, scenario: Path):
    (tmp_path / "polars.py").write_text("raise ModuleNotFoundError('no', name='polars')")
    done = subprocess.run(
        [sys.executable, "-c", "from fadeout.cli import main; main()", "run", str(scenario)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the package polars is missing" in done.stderr
    assert len(done.stderr.splitlines()) == 1
