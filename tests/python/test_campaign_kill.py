"""Tests of campaigns that are killed at random moments: ten times, or FADEOUT_KILLS=100.

Tests that kill workers are in test_campaign_cluster.py.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from conftest import SCENARIO
from fadeout import Campaign, ResultError

KILLS = int(os.environ.get("FADEOUT_KILLS", "10"))

RUNS = 40 * KILLS
"""Number of runs of the campaign, which exceeds the number done between all kills."""

# Parts are written as often as possible, so that kills hit a write.
DRIVER = """
import sys
import fadeout.campaign.engine as engine
from fadeout import Campaign
engine.FLUSH_S = engine.TICK_S = 0.01

def say(done, total, said=[]):
    if not said:
        said.append(print("began", flush=True))

Campaign(sys.argv[1], out=sys.argv[2]).run(jobs=2, progress=say)
"""


def write_campaign(folder: Path) -> Path:
    lossy = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')
    (folder / "lossy.toml").write_text(lossy)
    path = folder / "campaign.toml"
    path.write_text(
        'scenario = "lossy.toml"\n'
        f'seeds = {RUNS // 4}\nset = {{ duration = "10 s" }}\n'
        '[grid]\n"flow.congestion-control" = ["cubic", "newreno"]\n'
        '"link.access.delay" = ["5 ms", "20 ms"]\n'
    )
    return path


def start(path: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", DRIVER, str(path), str(out)]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "began\n"
    return driver


def end_of(driver: subprocess.Popen[str]) -> int:
    """Returns the exit status of a driver when it has ended."""
    with driver:
        return driver.wait()


def runs_in(out: Path) -> list[str]:
    parts = sorted((out / "runs").glob("part-*.parquet"))
    return [run for part in parts for run in pl.read_parquet(part)["run"]]


def test_a_kill_loses_no_finished_run_and_doubles_none(tmp_path: Path):
    path, out = write_campaign(tmp_path), tmp_path / "c"
    random.seed(int(os.environ.get("FADEOUT_SEED", "1")))
    before: set[str] = set()
    killed = 0
    while killed < KILLS:
        driver = start(path, out)
        time.sleep(random.uniform(0, 0.3))
        driver.send_signal(signal.SIGKILL)
        assert end_of(driver) in (-signal.SIGKILL, 0)
        killed += 1
        found = runs_in(out)
        assert before <= set(found)
        before = set(found)
        # A driver that is killed during a merge leaves rows twice. They are read once.
        if (out / "plan.parquet").is_file():
            frame = Campaign.open(out).frame()
            assert set(frame["run"]) == before
            assert frame["run"].n_unique() == frame.height
    finished = Campaign(path, out=out).run(jobs=2)
    assert finished.done_before == len(before)
    assert finished.status.done == RUNS
    assert not list(out.rglob("*.tmp"))
    whole = Campaign(path, out=tmp_path / "whole")
    whole.run(jobs=1)
    files = [Campaign.open(c).export(tmp_path / f"{c.name}.parquet") for c in (out, whole.folder)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_two_drivers_at_once_double_nothing(tmp_path: Path):
    path, out = write_campaign(tmp_path), tmp_path / "c"
    drivers = [start(path, out) for _ in range(2)]
    assert [end_of(driver) for driver in drivers] == [0, 0]
    frame = Campaign.open(out).frame()
    assert frame.height == RUNS
    assert frame["run"].n_unique() == RUNS


def resize(folder: Path, size_kb: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size_kb}k", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system, which needs root")
def test_a_disk_that_becomes_full_loses_no_finished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("fadeout.campaign.engine.FLUSH_S", 0.0)
    monkeypatch.setattr("fadeout.campaign.engine.TICK_S", 0.01)
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "fadeout-test", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        path, out = write_campaign(tmp_path), small / "c"
        random.seed(int(os.environ.get("FADEOUT_SEED", "1")))
        before: set[str] = set()
        free_kb = 0
        for _ in range(max(1, KILLS // 10)):
            # The disk is first full with the campaign's own files, and then gets a little more
            # space.
            free_kb += random.randint(180, 220) if free_kb == 0 else random.randint(4, 60)
            resize(small, free_kb)
            with pytest.raises(ResultError, match="the disk is full"):
                Campaign(path, out=out).run(jobs=2)
            found = runs_in(out)
            assert before <= set(found)
            assert len(set(found)) < RUNS
            before = set(found)
            assert not list(out.rglob("*.tmp"))
        assert before
        resize(small, 64_000)
        finished = Campaign(path, out=out).run(jobs=2)
        assert (finished.done_before, finished.status.done) == (len(before), RUNS)
    finally:
        subprocess.run(["umount", str(small)], check=True)
