"""Linux's own TCP between nodes. Tests that need a kernel are skipped if there is none."""

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
from conftest import kernel_link, needs_kernel
from fadeout import kernel
from fadeout.kernel.build import free_clock

SCENARIO = (
    kernel_link(rate="20 Mbit/s", limit=100)
    + """
[flow.file]
from = "server"
to = "client"
application = { kind = "transfer", size = "3 MB" }
"""
)


def guests(parent: int) -> set[int]:
    """Returns the processes of user-mode Linux that `parent` has started."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (process / "stat").read_text().rpartition(")")[2].split()
            if (
                b"time-travel=ext" in (process / "cmdline").read_bytes()
                and int(after_name[1]) == parent
            ):
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


# A guest that requests the time for ever, and never becomes idle.
CHATTERER = """\
#!{python}
import socket, struct, sys
(path,) = [a.split(":", 2)[2] for a in sys.argv if a.startswith("time-travel=")]
clock = socket.socket(socket.AF_UNIX)
clock.connect(path)
for number in range(10**9):
    clock.sendall(struct.pack("<IIQ", 4 if number else 1, number, 0))
    clock.recv(16)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kernels run on Linux")
def test_a_kernel_that_does_not_come_to_rest_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = kernel.folder() / "any"
    folder.mkdir(parents=True)
    fake = kernel.Kernel("6.12.1", folder)
    (folder / "release").write_text("6.12.1\n")
    fake.agent.touch()
    linux = folder / "linux"
    linux.write_text(CHATTERER.format(python=sys.executable))
    linux.chmod(0o755)
    with pytest.raises(fadeout.FadeoutError, match="did not become idle"):
        fadeout.run(SCENARIO)
    assert guests(os.getpid()) == set()


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


def test_a_reading_of_the_clock_takes_as_long_as_the_guest_is_told(tmp_path: Path) -> None:
    source = tmp_path / "arch/um/kernel/time.c"
    header = tmp_path / "arch/um/include/linux/time-internal.h"
    assert not free_clock(tmp_path), "no Linux at all"
    for file, text in (
        (source, "static u64 timer_read(x)\n{ time_travel_update_time_rel(TIMER_MULTIPLIER); }\n"),
        (header, "#define TIMER_MULTIPLIER 512\n"),
    ):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert not free_clock(tmp_path), "one that counts otherwise is left as it is"
    assert "clock_costs" not in source.read_text()
    header.write_text("#define TIMER_MULTIPLIER 256\n")
    assert free_clock(tmp_path)
    assert header.read_text() == "#define TIMER_MULTIPLIER 1\n"
    assert "rel(clock_costs)" in source.read_text()
    assert source.read_text().index("clock-costs=") < source.read_text().index("timer_read(x)")


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
    results = fadeout.run(SCENARIO)
    assert guests(os.getpid()) == set()
    flow = results.flows.row(0, named=True)
    assert flow["delivered_bytes"] == 3_000_000
    assert flow["completed_at_s"] is not None
    # 20.5 ms are the propagation of both directions and the transmission of a segment.
    assert flow["min_rtt_s"] == pytest.approx(0.0206, abs=0.0006)
    rows = results.congestion
    assert max(rows["cwnd_segments"]) > 20
    at = rows["time_s"].to_list()[1:]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    # A row every 10 ms, until the connection ends.
    assert all(abs(gap - 0.01) < 1e-6 for gap in gaps[:-1])
    assert results.throughput.select(pl.col("bytes").sum()).item() == 3_000_000


@needs_kernel
def test_kernels_of_two_versions_talk_to_each_other() -> None:
    releases = sorted({one.release for one in kernel.installed()})
    if len(releases) < 2:
        pytest.skip("one version was built; fadeout kernel build --source makes another")
    for server, client in (releases[:2], releases[1::-1]):
        text = SCENARIO
        for node, release in (("server", server), ("client", client)):
            named = f'[node.{node}]\nkernel = "6.12"'
            assert named in text
            text = text.replace(named, f'[node.{node}]\nkernel = "{release}"')
        flow = fadeout.run(text).flows.row(0, named=True)
        assert flow["delivered_bytes"] == 3_000_000
        assert flow["completed_at_s"] is not None


@needs_kernel
def test_a_killed_run_leaves_no_guest_and_no_socket(tmp_path: Path) -> None:
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
    while len(started := guests(run.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(started) == 2
    run.send_signal(signal.SIGKILL)
    run.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{guest}").exists() for guest in started):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert list(temporary.iterdir()) == []


PROGRAMS = SCENARIO.replace("application =", 'start = "100 s"\napplication =')


def with_command(node: str, command: str, text: str = PROGRAMS) -> str:
    return text.replace(f"[node.{node}]\n", f"[node.{node}]\ncommand = {command!r}\n")


def test_a_program_runs_only_where_it_is_allowed() -> None:
    text = with_command("server", "true")
    with pytest.raises(fadeout.FadeoutError, match="--allow-programs"):
        fadeout.run(text)
    with pytest.raises(fadeout.FadeoutError, match="--allow-programs"):
        fadeout.Simulation(text)


def test_what_a_kernel_alone_can_do_needs_one() -> None:
    for line, told in (
        ('command = "true"', "command"),
        ('path-manager = "userspace"', "path-manager"),
    ):
        text = SCENARIO.replace('kernel = "6.12"', line, 1).replace('kernel = "6.12"', "", 1)
        with pytest.raises(fadeout.ScenarioError, match=told):
            fadeout.check(text)
    with pytest.raises(fadeout.ScenarioError, match="routes of flows"):
        fadeout.check(with_command("other", "true", SCENARIO + '[node.other]\nkernel = "6.12"\n'))


@needs_kernel
def test_what_a_program_says_is_kept_and_its_failure_ends_the_run(tmp_path: Path) -> None:
    text = with_command("server", "echo hello; ls -d /etc; cat /etc/hosts")
    fadeout.run(text, allow_programs=True, out=tmp_path / "run")
    said = (tmp_path / "run" / "program-server.txt").read_text().split()
    assert said[:2] == ["hello", "/etc"]
    assert {"server", "client"} <= set(said)
    text = with_command("client", "echo no luck; exit 3")
    with pytest.raises(fadeout.FadeoutError, match=r"\"client\" ended with status 3: no luck"):
        fadeout.run(text, allow_programs=True, out=tmp_path / "failed")
    # Results until the failure are kept.
    assert (tmp_path / "failed" / "kernel-client.log").is_file()
    assert not fadeout.Results.open(tmp_path / "failed").is_complete


@needs_kernel
def test_a_program_cannot_change_files_of_this_machine(tmp_path: Path) -> None:
    text = with_command("server", f"touch {tmp_path}/new || echo refused")
    fadeout.run(text, allow_programs=True, out=tmp_path / "run")
    assert "refused" in (tmp_path / "run" / "program-server.txt").read_text()
    assert not (tmp_path / "new").exists()


TWO_PATHS = (
    SCENARIO.replace(
        "[flow.file]",
        """
[link.other]
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "20 ms"
queue = { limit = "100 packets" }
[flow.file]""",
    ).replace("3 MB", "6 MB")
    + 'multipath = { paths = [["path"], ["other"]] }\n'
)


@needs_kernel
@pytest.mark.parametrize("manager", ["kernel", "userspace"])
def test_a_flow_by_two_paths_is_the_kernels_multipath_tcp(manager: str) -> None:
    text = TWO_PATHS.replace('kernel = "6.12"', f'kernel = "6.12"\npath-manager = "{manager}"')
    results = fadeout.run(text)
    assert results.flows.row(0, named=True)["delivered_bytes"] == 6_000_000
    rates = results.paths["goodput_mbps"].to_list()
    assert rates[0] == pytest.approx(19, rel=0.1)
    assert rates[1] == pytest.approx(4.7, rel=0.15)
    assert set(results.congestion["flow"].unique()) == {"file/0", "file/1"}


@needs_kernel
def test_a_path_manager_in_the_guest_opens_a_backup_as_the_kernel_does() -> None:
    text = TWO_PATHS.replace('["other"]', '{ links = ["other"], backup = true }')
    for manager in ("kernel", "userspace"):
        told = text.replace('kernel = "6.12"', f'kernel = "6.12"\npath-manager = "{manager}"')
        results = fadeout.run(told)
        # The second path has rows for its state, and carries no data.
        assert set(results.congestion["flow"].unique()) == {"file/0", "file/1"}
        assert results.paths["sent_segments"].to_list()[1] == 0


@needs_kernel
@pytest.mark.parametrize("manager", ["kernel", "userspace"])
def test_connections_of_one_machine_share_its_further_addresses(manager: str) -> None:
    text = TWO_PATHS.replace('kernel = "6.12"', f'kernel = "6.12"\npath-manager = "{manager}"')
    text += """
[flow.second]
from = "server"
to = "client"
start = "0.2 s"
application = { kind = "transfer", size = "2 MB" }
multipath = { paths = [["path"], ["other"]] }
"""
    results = fadeout.run(text)
    assert results.flows["delivered_bytes"].to_list() == [6_000_000, 2_000_000]
    assert all(sent > 100 for sent in results.paths["sent_segments"])


@needs_kernel
def test_the_same_run_again_is_the_same_to_the_printed_digits() -> None:
    one, other = (fadeout.run(SCENARIO).flows.row(0, named=True) for _ in range(2))
    for key in ("delivered_bytes", "retransmitted_segments", "max_cwnd_segments", "sent_segments"):
        assert one[key] == other[key]
    assert one["completed_at_s"] == pytest.approx(other["completed_at_s"], abs=1e-5)


@needs_kernel
def test_buffers_of_a_flow_are_the_kernels() -> None:
    wide = SCENARIO.replace("10 ms", "50 ms").replace("20 Mbit/s", "50 Mbit/s")
    narrow = wide + "tcp = { maximum-receive-window = 65535 }\n"
    rates = [fadeout.run(text).flows["goodput_mbps"][0] for text in (wide, narrow)]
    # A window of 86 kB (0.66 of 131 kB) in 100 ms gives 6.9 Mbit/s.
    assert rates[1] < 7.5 < rates[0]


@needs_kernel
def test_packets_of_one_instant_are_answered_by_fewer_acks_with_receive_offload() -> None:
    burst = SCENARIO.replace(
        '"20 Mbit/s"',
        '{ steps = [["0 s", "0 bit/s"], ["5 ms", "1 Gbit/s"], '
        '["6 ms", "0 bit/s"]], repeat-every = "10 ms" }',
    ).replace('"100 packets"', '"1000 packets"')
    offload = burst.replace("[node.client]", "[node.client]\nreceive-offload = true")
    for text in (burst, offload):
        flow = fadeout.run(text).flows.row(0, named=True)
        assert flow["delivered_bytes"] == 3_000_000
