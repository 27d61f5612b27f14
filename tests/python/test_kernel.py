"""Linux's own TCP between nodes. What needs a kernel is skipped where there is none."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import fadeout
from fadeout import kernel

SCENARIO = """
duration = "4 s"
[node.server]
kernel = "6.12"
[node.client]
kernel = "6.12"
[link.path]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "10 ms"
queue = { limit = "100 packets" }
[flow.file]
from = "server"
to = "client"
application = { kind = "transfer", size = "3 MB" }
"""


def has_kernel() -> bool:
    return sys.platform == "linux" and any(
        one.release.startswith("6.12") for one in kernel.installed()
    )


needs_kernel = pytest.mark.skipif(
    not has_kernel(), reason="there is no kernel 6.12; fadeout kernel build makes one"
)


def guests() -> set[int]:
    """Processes of user-mode Linux."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"time-travel=ext" in (process / "cmdline").read_bytes():
                found.add(int(process.name))
        except OSError:
            continue
    return found


def test_without_a_kernel_the_error_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kernel.installed() == []
    with pytest.raises(fadeout.FadeoutError, match="kernel build"):
        kernel.find("6.12")
    with pytest.raises(fadeout.FadeoutError, match=r"\"server\".*kernel build 6\.12"):
        fadeout.run(SCENARIO)


def test_the_newest_of_a_version_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number, release in enumerate(["6.1.9", "6.12.2", "6.12.10"]):
        folder = kernel.folder() / str(number)
        folder.mkdir(parents=True)
        (folder / "release").write_text(release + "\n")
        kernel.Kernel(release, folder).agent.touch()
    assert [one.release for one in kernel.installed()] == ["6.12.10", "6.12.2", "6.1.9"]
    assert kernel.find("6.12").release == "6.12.10"
    assert kernel.find("6.1").release == "6.1.9"


def test_a_build_without_its_tools_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(fadeout.FadeoutError, match="no make, cc"):
        kernel.build()


def test_an_archive_that_is_not_linux_is_refused(tmp_path: Path) -> None:
    if kernel.missing_tools():
        pytest.skip("no tools to build a kernel")
    (tmp_path / "other").mkdir()
    archive = tmp_path / "other.tar"
    subprocess.run(["tar", "-cf", archive, "-C", tmp_path, "other"], check=True)
    with pytest.raises(fadeout.FadeoutError, match="arch/um"):
        kernel.build(source=archive)
    with pytest.raises(fadeout.FadeoutError, match="no such file"):
        kernel.build(source=tmp_path / "missing.tar")


def test_a_kernel_at_one_end_alone_is_a_mistake() -> None:
    text = SCENARIO.replace('[node.client]\nkernel = "6.12"\n', "")
    with pytest.raises(fadeout.ScenarioError, match="kernel"):
        fadeout.check(text)


def test_a_congestion_control_that_linux_lacks_is_a_mistake() -> None:
    text = SCENARIO + 'congestion-control = "copa"\n'
    with pytest.raises(fadeout.ScenarioError, match="Linux has no congestion control"):
        fadeout.check(text)


@needs_kernel
def test_a_round_trip_is_twice_the_delay_to_a_microsecond() -> None:
    checked = kernel.check(kernel.find("6.12"), delay_s=0.0123, count=10)
    assert len(checked.echoes_s) == 10
    assert all(abs(echo - 0.0246) <= 1e-6 for echo in checked.echoes_s)


@needs_kernel
def test_every_byte_arrives_and_the_tables_are_filled() -> None:
    before = guests()
    results = fadeout.run(SCENARIO)
    assert guests() <= before
    flow = results.flows.row(0, named=True)
    assert flow["delivered_bytes"] == 3_000_000
    assert flow["completed_at_s"] is not None
    # 20.5 ms is the propagation there and back and the sending of a segment, less its ACK.
    assert flow["min_rtt_s"] == pytest.approx(0.0206, abs=0.0006)
    rows = results.congestion
    assert max(rows["cwnd_segments"]) > 20
    at = rows["time_s"].to_list()[1:]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    # Every 10 ms, until the connection ends.
    assert all(abs(gap - 0.01) < 1e-6 for gap in gaps[:-1])
    assert results.throughput.select(pl.col("bytes").sum()).item() == 3_000_000


@needs_kernel
def test_a_killed_run_leaves_no_guest_and_no_socket(tmp_path: Path) -> None:
    before = guests()
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO.replace("4 s", "4000 s").replace("3 MB", "1 GB"))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-m", "fadeout", "run", str(file), "--no-figures", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(guests() - before) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    deadline = time.monotonic() + 20
    while guests() - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert guests() <= before
    assert list(temporary.iterdir()) == []
