"""Comparison of our TCP with a kernel's. Tests that need a kernel are skipped if there is none."""

import json
import warnings
from importlib import resources
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import fadeout
from conftest import kernel_link, needs_kernel
from fadeout.cli.app import app
from fadeout.validate.kernel import Compared, cases, compare, figure, matrix, sides
from fadeout.validate.kernel.measured import at_instants, measured
from packets import packets

EXAMPLES = Path(__file__).parents[2] / "scenarios"
SCENARIO = (
    kernel_link(rate="10 Mbit/s", limit=30)
    + """
[flow.file]
from = "server"
to = "client"
start = "100 ms"
congestion-control = "newreno"
tcp = { maximum-send-buffer = 1000000 }
[flow.voice]
from = "server"
to = "client"
application = { kind = "packet-stream", rate = "100 kbit/s" }
"""
)


def test_the_sides_differ_in_the_kernels_and_in_what_those_have_of_themselves():
    pair = sides(SCENARIO)
    assert pair.flows == ("file",)
    fadeout.check(pair.ours)
    assert "kernel =" not in pair.ours.text
    assert pair.kernel.text.count('kernel = "6.12"') == 2
    assert 'congestion-control = "reno"' in pair.ours.text
    assert "maximum-send-buffer = 1000000" in pair.ours.text
    # A seed shifts the start by less than a tick.
    starts = [pair.start(seed)["file"] for seed in range(1, 21)]
    assert len({round(start, 6) for start in starts}) == 20
    assert all(0.1 <= start < 0.11 for start in starts)


def test_a_scenario_without_tcp_has_nothing_to_compare():
    text = SCENARIO.split("[flow.file]")[0] + "[flow.voice]" + SCENARIO.split("[flow.voice]")[1]
    with pytest.raises(fadeout.FadeoutError, match="no flow of TCP"):
        sides(text)


def test_state_is_read_at_whole_multiples_of_ten_milliseconds():
    pair = sides(SCENARIO)
    results = fadeout.run(pair.ours)
    values = measured(results, pair)["file"]
    flow = results.flows.filter(results.flows["flow"] == "file").row(0, named=True)
    assert values["goodput_mbps"] == pytest.approx(flow["delivered_bytes"] * 8e-6 / 3.9)
    assert values["max_cwnd_segments"] <= flow["max_cwnd_segments"]


def test_windows_of_a_scenario_are_those_that_a_kernel_makes_of_them():
    text = SCENARIO.replace("maximum-send-buffer = 1000000", "receive-window = 1000000")
    # The guest's window is 170/256 of 2 MB of memory, and grows.
    assert "maximum-receive-window = 1328125" in sides(text).ours.text
    assert "tcp.receive-window" not in sides(text).ours.text


def test_keys_that_a_kernel_ignores_are_left_out_on_both_sides_with_a_warning():
    text = SCENARIO.replace(
        "maximum-send-buffer = 1000000",
        'maximum-send-buffer = 1000000, mss = 1000, minimum-rto = "1 s", timer-tick = "10 ms"',
    ).replace('"newreno"', '{ name = "cubic", beta = 0.5 }')
    text = text.replace("tcp =", 'profile = "rfc"\ntcp =')
    told = "flow file: tcp.mss, profile, congestion-control.beta left out"
    with pytest.warns(UserWarning, match=told):
        pair = sides(text)
    for side in (pair.ours, pair.kernel):
        assert "mss" not in side.text and "beta" not in side.text and "rfc" not in side.text
        # A kernel obeys this key, so both sides have it.
        assert 'minimum-rto = "1 s"' in side.text
    assert "timer-tick" not in pair.kernel.text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fadeout.check(pair.kernel)


def test_newer_kernels_are_compared_with_the_profile_of_their_receive_buffer():
    for version, profile, window in (
        ("6.12", "linux", 6_291_456),
        ("6.12.117", "linux", 6_291_456),
        ("6.18.2", "linux-6.18", 32 << 20),
        ("7.0", "linux-6.18", 32 << 20),
    ):
        text = sides(SCENARIO, kernel=version).ours.text
        assert f'profile = "{profile}"' in text
        assert f"maximum-receive-window = {window * 170 // 256}" in text
        fadeout.check(sides(SCENARIO, kernel=version).ours)


WEB = SCENARIO.replace(
    "[flow.voice]",
    """
[flow.web]
from = "server"
to = "client"
start = "200 ms"
application = { kind = "transfer", size = "20 kB" }
arrivals = { rate = 4.0, size = "20 kB" }
[flow.staggered]
from = "server"
to = "client"
start = "50 ms"
application = { kind = "transfer", size = "30 kB" }
count = 3
start-spacing = "200 ms"
[flow.voice]""",
)


def test_flows_of_one_entry_are_compared_together():
    pair = sides(WEB)
    assert pair.flows == ("file", "web", "staggered")
    assert pair.several == {"web", "staggered"}
    # The seed itself draws the starts of arrivals.
    assert set(pair.start(1)) == {"file", "staggered"}
    for text in (pair.ours, pair.kernel):
        fadeout.check(text, set=pair.settings(1))
    assert "profile" in pair.ours.text.split("[flow.web]")[1].split("[flow.staggered]")[0]
    results = fadeout.run(pair.ours, set=pair.settings(1))
    rows = {row["flow"]: row for row in results.flows.iter_rows(named=True)}
    members = pair.members(rows)
    assert members["staggered"] == ["staggered-0", "staggered-1", "staggered-2"]
    assert len(members["web"]) >= 4
    values = measured(results, pair)
    assert list(values) == ["file", "web", "staggered"]
    for entry, names in members.items():
        seconds = sum(
            (rows[name]["completed_at_s"] or results.duration_s) - rows[name]["start_s"]
            for name in names
        )
        delivered = sum(rows[name]["delivered_bytes"] for name in names)
        assert values[entry]["goodput_mbps"] == pytest.approx(delivered * 8e-6 / seconds)
        lost = sum(rows[name]["retransmitted_segments"] for name in names)
        assert values[entry]["retransmitted_segments"] == lost


def test_a_flow_of_a_group_of_ues_is_refused_by_name():
    cell = (resources.files("fadeout.validate.kernel") / "lte_cell.toml").read_text()
    text = 'duration = "1 s"\n' + cell.replace("[ue.phone]", "[ue.phone]\ncount = 2")
    with pytest.raises(fadeout.FadeoutError, match="download-0 is one of a group of UEs"):
        sides(text)


TWO_PATHS = """
duration = "2 s"
[link.one]
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "10 ms"
[link.other]
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "10 ms"
[flow.both]
from = "server"
to = "client"
multipath = { paths = [["one"], ["other"]], maximum-send-buffer = "1 MB" }
"""


def test_a_connection_by_several_paths_is_compared_path_by_path(tmp_path: Path):
    pair = sides(TWO_PATHS)
    for text in (pair.ours, pair.kernel):
        fadeout.check(text, set=pair.settings(1))
    results = fadeout.run(pair.ours, set=pair.settings(1))
    values = measured(results, pair)
    assert list(values) == ["both", "both/0", "both/1"]
    assert "mean_srtt_ms" not in values["both"]
    parts = [values[name]["goodput_mbps"] for name in ("both/0", "both/1")]
    assert sum(parts) == pytest.approx(values["both"]["goodput_mbps"], rel=0.1)
    files = figure.draw(pair, tmp_path / "two.png", theirs=results, ours=results)
    assert [file.name for file in files] == ["two.png", "two-both-1.png"]
    assert all(file.stat().st_size > 10_000 for file in files)
    row = Compared("both", (values["both"],), (values["both"],))
    assert len(matrix.cells(row)) == len(matrix.TABLE)


def test_scenarios_that_are_given_are_cases_by_the_names_of_their_files(tmp_path: Path):
    one, other = tmp_path / "a" / "x.toml", tmp_path / "b" / "x.toml"
    for path in (one, other):
        path.parent.mkdir()
        path.write_text(SCENARIO)
    assert [case.name for case in cases.given([one, one])] == ["x"]
    names = [case.name for case in cases.given([one, other], set={"duration": "1 s"})]
    assert names == [str(one), str(other)]
    other.write_text(SCENARIO.replace("10 Mbit/s", "10 Mbit", 1))
    with pytest.raises(fadeout.ScenarioError):
        cases.given([one, other])


def test_the_study_of_two_cells_gives_either_side_what_a_guest_has():
    from fadeout.studies.multipath import kernel
    from fadeout.studies.multipath.study import STUDY
    from fadeout.study import At

    for point in kernel.POINTS:
        made = kernel.beside_kernel(At({"point": point}, 1, STUDY.full))
        has_kernel = any("kernel=" in value for value in made.overrides)
        assert has_kernel == (point[2] == kernel.KERNEL)
        fadeout.check(made._text(), set=list(made.overrides))


def test_the_matrix_has_its_cases_and_each_is_a_scenario():
    every = cases.cases()
    assert len(every) >= 200
    assert len({case.name for case in every}) == len(every)
    assert {case.group for case in every if case.is_quick} == {case.group for case in every}
    assert all(len(case.seeds) >= (20 if case.is_chaotic else 5) for case in every)
    for case in every:
        pair = sides(case.document)
        for text in (pair.ours, pair.kernel):
            fadeout.check(text, set=pair.settings(1))


def values(goodput: float, retransmitted: float) -> dict[str, float]:
    return {
        "goodput_mbps": goodput,
        "mean_srtt_ms": 20.0,
        "retransmitted_segments": retransmitted,
        "max_cwnd_segments": 30.0,
    }


def test_an_error_beyond_its_tolerance_is_a_miss():
    theirs = tuple(values(10.0, 100.0) for _ in range(5))
    near = Compared("near", theirs, tuple(values(10.29, 110.0) for _ in range(5)))
    far = Compared("far", theirs, tuple(values(10.31, 116.0) for _ in range(5)))
    assert near.misses() == []
    assert [miss.split(":")[1] for miss in far.misses()] == [" goodput Mbit/s", " retransmitted"]
    one_seed = (values(8.9, 100.0), *theirs[1:])
    assert "a seed" in Compared("one", theirs, one_seed).misses()[0]


def test_chaotic_rows_are_compared_as_distributions():
    spread = tuple(values(10 + 0.2 * n, 100.0 + n) for n in range(20))
    assert Compared("same", spread, spread[::-1], is_chaotic=True).misses() == []
    shifted = tuple(values(one["goodput_mbps"] + 3, 100.0 + n) for n, one in enumerate(spread))
    (miss,) = Compared("shifted", spread, shifted, is_chaotic=True).misses()
    assert "distributions differ" in miss and "median" in miss


def test_mistakes_of_the_command_line_are_told():
    runner = CliRunner()
    for arguments, told in (
        (["validate", "kernel"], "SCENARIO"),
        (["validate", "linux", "x.toml"], "recordings"),
        (["validate", "kernel", "x.toml", "--matrix"], "its own scenarios"),
        (["validate", "kernel", "--matrix", "--only", "nothing"], "no case has nothing"),
    ):
        result = runner.invoke(app, arguments)
        assert result.exit_code in (1, 2), arguments
        assert told in " ".join(result.stderr.replace("│", " ").split()), result.stderr


@needs_kernel
def test_a_plain_link_is_the_same_on_both_sides():
    (flow,) = compare(SCENARIO, seeds=[1, 2])
    assert flow.misses() == []
    assert flow.rows()[0].quantity.key == "goodput_mbps"


@needs_kernel
def test_a_kernel_obeys_the_keys_of_tcp_that_it_has():
    # With random losses, timeouts decide the result.
    tcp = 'tcp = { minimum-rto = "1 s", tail-loss-probe = false }'
    text = SCENARIO.replace("tcp = { maximum-send-buffer = 1000000 }", tcp)
    text = text.replace("queue = {", "loss = { probability = 0.05 }\nqueue = {")
    (flow,) = compare(text, seeds=[1, 2])
    assert flow.misses() == []


@needs_kernel
def test_in_a_cell_both_send_the_same_packets(tmp_path: Path):
    # The comparison ends when the congestion window no longer limits, as hundreds of packets then
    # arrive at one instant.
    both = sides(EXAMPLES / "mmwave-walk.toml")
    wanted = [*both.settings(2), 'duration="0.6 s"', 'probe.capture=["server", "phone"]']
    captures = [tmp_path / side / "captures" for side in ("kernel", "ours")]
    for capture, text in zip(captures, (both.kernel, both.ours), strict=True):
        fadeout.run(text, seed=2, set=wanted, out=capture.parent)
    for node in ("server", "phone"):
        sides_sent = [packets(capture / f"{node}.pcapng") for capture in captures]
        # A capture does not show the order of arriving ACKs and departing data at one instant.
        for end in (0, 1):
            kernel, ours = ([one for one in sent if one.ports[end] == 5201] for sent in sides_sent)
            assert len(kernel) > 10_000
            assert kernel == ours


@needs_kernel
def test_a_stopped_matrix_goes_on(tmp_path: Path):
    wanted = matrix.chosen(only=["buffer cubic 10M 40ms 1bdp"])
    assert len(wanted) == 1
    first = matrix.run_matrix(wanted, tmp_path, seeds=1)
    assert len(first.found) == 2
    # The last line of a process that was killed.
    path = tmp_path / matrix.FILE
    path.write_text(path.read_text() + '{"case": "buff')
    again = matrix.run_matrix(wanted, tmp_path, seeds=1)
    assert again.found.keys() == first.found.keys()
    assert path.read_text().count("\n") == 2
    (row,) = matrix.compared(again)
    sides_run = {json.loads(line)["side"] for line in path.read_text().splitlines()}
    assert sides_run == {"kernel", "ours"}
    assert row.misses() == []
    assert matrix.markdown([row]).count("\n") == 3


def test_what_arrives_at_an_instant_counts_after_it_and_a_kernel_tells_a_little_later():
    def rows(times_s: list[float]) -> pl.DataFrame:
        flow = ["file"] * len(times_s)
        windows = [float(n) for n in range(len(times_s))]
        return pl.DataFrame(
            {
                "time_s": times_s,
                "flow": flow,
                "srtt_s": [0.04] * len(flow),
                "cwnd_segments": windows,
            }
        )

    ours = at_instants(rows([0.105, 0.12, 0.125]), "file", (0.1, 0.13), is_told=False)
    assert ours["time_s"].to_list() == pytest.approx([0.11, 0.12, 0.13])
    assert ours["cwnd_segments"].to_list() == [0, 0, 2]
    told = at_instants(rows([0.11 + 2e-7, 0.12 + 9e-7, 0.13]), "file", (0.1, 0.13), is_told=True)
    assert told["cwnd_segments"].to_list() == [0, 1, 2]
