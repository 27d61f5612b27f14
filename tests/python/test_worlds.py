"""One run in several worlds: threads from Python and from the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app

NETWORKS = """
duration = "300 ms"
worlds = "by-carrier"
""" + "".join(
    f"""
[link.core-{n}]
from = "server"
to = "cell-{n}"
rate = "{100 + n} Mbit/s"
delay = "{5 + n} ms"

[cell.cell-{n}]
radio = "lte"
carrier = "{n} GHz"
bandwidth = "10 MHz"
channel = {{ path-loss = "free-space" }}

[ue.phone-{n}]
cell = "cell-{n}"
position = ["100 m", "0 m"]

[flow.bulk-{n}]
from = "server"
to = "phone-{n}"
"""
    for n in (1, 2)
)


def test_the_number_of_threads_changes_nothing() -> None:
    one = fadeout.run(NETWORKS, threads=1)
    for threads in (2, 5, None):
        other = fadeout.run(NETWORKS, threads=threads)
        assert other.fingerprint == one.fingerprint
        assert other.manifest == one.manifest
        assert other.flows.equals(one.flows)
        assert other.congestion.equals(one.congestion)
        assert other.throughput.equals(one.throughput)


def test_flows_fare_as_in_one_world() -> None:
    divided = fadeout.run(NETWORKS, threads=2)
    whole = fadeout.run(NETWORKS, set={"worlds": "one"})
    assert divided.flows.equals(whole.flows)
    assert divided.throughput.equals(whole.throughput)
    assert divided.manifest["scenario"]["worlds"] == "by-carrier"
    assert "worlds" not in whole.manifest["scenario"]


def test_progress_can_end_a_divided_run() -> None:
    told = []

    def progress(state: dict[str, float]) -> bool:
        told.append(state["time_s"])
        return False

    longer = {"duration": "1000 s"}
    results = fadeout.run(NETWORKS, set=longer, progress=progress, threads=2)
    assert not results.is_complete
    assert len(told) == 1
    assert 0 < results.duration_s < 1000


def test_one_world_takes_one_thread_however_many_there_may_be() -> None:
    one = fadeout.run(NETWORKS, set={"worlds": "one"})
    assert fadeout.run(NETWORKS, set={"worlds": "one"}, threads=2).fingerprint == one.fingerprint


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(fadeout.ScenarioError, match="all cells are on one carrier"):
        fadeout.run(NETWORKS, set={"cell.carrier": "2 GHz"})
    with pytest.raises(fadeout.ScenarioError, match="one in steps"):
        fadeout.Simulation(NETWORKS)


def test_the_command_takes_threads_and_check_says_what_keeps_a_scenario_together(
    tmp_path: Path, cli: CliRunner
) -> None:
    file = tmp_path / "networks.toml"
    file.write_text(NETWORKS)
    command = ["run", str(file), "--no-figures", "--quiet", "--out", str(tmp_path / "out")]
    assert cli.invoke(app, [*command, "--threads", "2"]).exit_code == 0
    written = fadeout.Results.open(tmp_path / "out")
    assert written.fingerprint == fadeout.run(NETWORKS, threads=1).fingerprint
    assert cli.invoke(app, ["check", str(file)]).exit_code == 0
    joined = cli.invoke(app, ["check", str(file), "--set", 'probe.capture=["server"]'])
    assert joined.exit_code == 2
    assert "probe.capture" in joined.stderr
