"""The study on QUIC: its networks, its measures and a short run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app
from fadeout.studies.quic import STUDY
from fadeout.studies.quic.runs import (
    CONTROLS,
    DATA,
    NETWORKS,
    TRANSPORTS,
    Network,
    measure,
    over_network,
)
from fadeout.studies.quic.study import COMPARISONS, MULTIPATH_QUIC, MULTIPATH_TCP, QUIC, TCP
from fadeout.study import At, Effort

SHORT = Effort(seeds=1, duration_s=1, runs=1)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_the_transports_of_a_network_differ_only_in_the_protocol_and_the_paths(network: Network):
    profiles: dict[str, list[str]] = {}
    for transport in TRANSPORTS:
        at = At({"network": network, "transport": transport}, seed=1, effort=SHORT)
        results = over_network(at).run(lambda _: True)
        flow = results.flows.row(0, named=True)
        profiles[transport.name] = [flow["profile"]]
        assert flow["goodput_mbps"] > 1, flow
        assert flow["congestion_control"] == "cubic"
        assert len(results.paths) == (2 if "several paths" in transport.tags else 0)
        if "several paths" in transport.tags:
            assert results.paths["arrived_bytes"].min() > 0  # pyright: ignore[reportOperatorIssue]
    assert profiles[TCP.name] == profiles[MULTIPATH_TCP.name] != ["quic"]
    assert profiles[QUIC.name] == profiles[MULTIPATH_QUIC.name] == ["quic"]


def test_a_silence_is_measured_within_a_bin():
    scenario = """
duration = "4 s"
[link.path]
from = "server"
to = "phone"
rate = "20 Mbit/s"
delay = "5 ms"
[blockage.wall]
link = "path"
schedule = { period = "100 s", duration = "300 ms", phase = "2 s" }
[flow.download]
from = "server"
to = "phone"
[probe]
throughput = "20 ms"
"""
    found = measure(fadeout.run(scenario))
    # Packets wait for 300 ms, and no data arrives during the time.
    assert found["silence_ms"] == pytest.approx(300, abs=21)
    assert 15 < found["goodput_mbps"] < 20


def test_the_study_has_the_numbers_that_its_effort_states():
    assert len(TRANSPORTS) == 4
    assert len(CONTROLS) == 5
    points = len(NETWORKS) * len(TRANSPORTS) * len(CONTROLS) + len(DATA["window"])
    assert STUDY.full.seeds >= 5
    assert STUDY.full.runs == points * STUDY.full.seeds
    assert STUDY.quick.runs == points * STUDY.quick.seeds


def test_the_study_compares_all_transports(cli: CliRunner, spend: Callable[..., None]):
    spend("quic", seeds=1, duration_s=0.6)
    result = cli.invoke(app, ["study", "quic", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert len(found["gains"]) == len(NETWORKS)
    for network in NETWORKS:
        assert [row["control"] for row in found[network.name]] == [it.name for it in CONTROLS]
    assert {f"{name}_mean" for name in COMPARISONS} <= found["gains"][0].keys()
    assert len(found["windows"]) == len(DATA["window"])
