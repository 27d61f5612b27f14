"""Fits of links to measurements, whose links are known."""

import tomllib
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import fadeout
from fadeout.cli.app import app
from fadeout.fit import Course, Fit, fit, read_course
from fadeout.fit.course import of_run
from fadeout.measured.errors import MeasuredError
from fadeout.measured.inspect import inspect_table
from fadeout.validate import fit as recorded

LINK = """
duration = "5 s"
[link.path]
from = "server"
to = "phone"
rate = "%s"
delay = "%s"
queue = { limit = "%s" }
[flow.download]
from = "server"
to = "phone"
[probe]
congestion = "every-ack"
capture = ["server", "phone"]
"""
KNOWN = LINK % ("8 Mbit/s", "30 ms", "40 packets")
UNKNOWN = LINK % ("1 Mbit/s", "1 ms", "5 packets")
PATH = ["link.path.rate", "link.path.delay", "link.path.queue.limit"]
RATE, DELAY, LIMIT = TRUE = (8e6, 0.03, 40.0)
SAMPLES = [0.1 * number for number in range(1, 50)]


@pytest.fixture(scope="module")
def known(tmp_path_factory) -> Path:
    """Returns a run with the known link."""
    folder = tmp_path_factory.mktemp("known") / "out"
    fadeout.run(KNOWN, out=folder)
    return folder


@pytest.fixture(scope="module")
def table(known: Path) -> Path:
    """Returns a log of the sender, as `ss` or a kernel's tracer writes it."""
    like = Course(pl.Series(SAMPLES).to_numpy(), round_trip_s=pl.Series([0.0]).to_numpy())
    results = fadeout.Results.open(known)
    rows = results.congestion.filter(pl.col("srtt_s").is_not_null())
    course = of_run(results, "download", like)
    assert course is not None and course.round_trip_s is not None
    log = pl.DataFrame({"time_s": SAMPLES}).join_asof(rows, on="time_s", strategy="backward")
    log = log.select(
        pl.col("time_s").alias("t_s"),
        (pl.col("srtt_s") * 1e6).round().alias("srtt_us"),
        pl.col("cwnd_segments"),
        pl.col("acked_bytes"),
    )
    assert log["srtt_us"].to_numpy() * 1e-6 == pytest.approx(course.round_trip_s, abs=1e-6)
    path = known.parent / "sender.csv"
    log.write_csv(path)
    return path


@pytest.fixture(scope="module")
def found(table: Path) -> Fit:
    return fit(UNKNOWN, read_course(table), PATH)


def test_a_run_is_explained_by_its_own_link(found: Fit):
    for one, true in zip(found.parameters, TRUE, strict=True):
        # The table has microseconds and 0.1 s steps. A packet of the queue is 2.5 %.
        assert one.value == pytest.approx(true, rel=0.03 if one.kind == "queue" else 0.003)
        assert one.contains(true)
        # An interval that contains everything would state nothing.
        assert one.high / one.low < 1.2
    assert found.statements == []
    fadeout.check(UNKNOWN, set=found.overrides())


def test_the_result_does_not_depend_on_the_number_of_workers(found: Fit, table: Path):
    again = fit(UNKNOWN, read_course(table), PATH, workers=1)
    assert again.toml() == found.toml()


def test_a_capture_at_the_sender_gives_the_link(known: Path):
    found = fit(UNKNOWN, read_course(known / "captures" / "server.pcapng"), PATH)
    rate, delay, limit = found.parameters
    assert rate.value == pytest.approx(RATE, rel=0.01)
    assert delay.value == pytest.approx(DELAY, rel=0.02)
    assert limit.value == pytest.approx(LIMIT, rel=0.08)


def test_a_capture_at_the_receiver_has_no_round_trips(known: Path):
    course = read_course(known / "captures" / "phone.pcapng")
    assert course.round_trip_s is None
    assert course.delivered_bytes is not None


def test_two_delays_in_a_row_are_not_told_apart(table: Path):
    text = UNKNOWN.replace('to = "phone"\nrate', 'to = "router"\nrate', 1)
    text += '[link.rest]\nfrom = "router"\nto = "phone"\nrate = "unlimited"\ndelay = "1 ms"\n'
    keys = ["link.path.delay", "link.rest.delay"]
    # The queue at the router must not be a second unknown.
    given = {"link.path.rate": "8 Mbit/s", "link.path.queue.limit": "40 packets"}
    # The queue is full for the first time after 0.9 s.
    found = fit(text, read_course(table).until(2.5), keys, set=given)
    assert sum(one.value for one in found.parameters) == pytest.approx(DELAY, rel=0.01)
    assert any("cannot be told apart" in one and "smaller" in one for one in found.statements)


def test_a_queue_that_never_fills_has_only_a_lower_end(tmp_path: Path):
    text = KNOWN.replace('"40 packets"', '"4000 packets"').replace('"5 s"', '"2.5 s"')
    results = fadeout.run(text)
    rows = results.congestion.filter(pl.col("srtt_s").is_not_null())
    log = pl.DataFrame({"time_s": SAMPLES[:24]}).join_asof(rows, on="time_s", strategy="backward")
    log.select("time_s", "srtt_s", "cwnd_segments").write_csv(tmp_path / "sender.csv")
    found = fit(UNKNOWN, read_course(tmp_path / "sender.csv"), PATH)
    limit = found.parameters[2]
    assert limit.high_is_open
    assert limit.low <= 4000
    assert any("it is at least" in one for one in found.statements)


def test_a_recorded_linux_sender_has_the_known_link():
    # The medians over all recordings are on the page of the command, with these limits.
    row = recorded.one_fit("buf1_30m_40ms_cubic")
    for error, limit in zip(row.errors(), recorded.LIMITS.values(), strict=True):
        assert abs(error) <= limit
    assert all(row.covered())


def test_every_recording_without_random_loss_is_fitted():
    names = recorded.names()
    assert len(names) >= 50
    assert not any("loss" in name for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--free", "link.pat.rate"], "unknown key `pat`; did you mean `path`?"),
        (["--free", "link.path.loss"], "link.path.loss cannot be fitted"),
        (["--free", "flow.download.limit"], "expected a rate, a delay or a limit of a queue"),
        (["--free", "link.path.rate", "--flow", "upload"], "unknown flow 'upload'"),
        (["--free", "link.path.rate", "--until", "0.4"], "expected at least 20"),
        (["--free", "link.path.rate", "--captured", "a > b"], "expected a capture"),
        (["--free", ","], "expected at least one key"),
        (["--free", "link.path.rate,link.path.rate"], "is given twice"),
    ],
)
def test_a_mistake_is_explained(options: list[str], message: str, table: Path, tmp_path: Path):
    scenario = tmp_path / "link.toml"
    scenario.write_text(UNKNOWN)
    done = CliRunner().invoke(app, ["fit", str(scenario), "--to", str(table), *options])
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())


def test_several_flows_need_a_name(table: Path):
    text = UNKNOWN + '[flow.other]\nfrom = "server"\nto = "phone"\n'
    with pytest.raises(MeasuredError, match="the scenario has 2 flows; expected the one"):
        fit(text, read_course(table), ["link.path.rate"])


def test_a_flow_that_sends_nothing_is_an_error(table: Path):
    blocked = 'schedule = { intervals = [["0 s", "100 s"]] }'
    text = f'{UNKNOWN}[blockage.path]\nlink = "path"\n{blocked}\n'
    with pytest.raises(MeasuredError, match="delivers no data"):
        fit(text, read_course(table), ["link.path.rate"])


def test_a_capture_without_tcp_is_refused(tmp_path: Path):
    stream = 'application = { kind = "packet-stream", size = "250 B", rate = "400 kbit/s" }'
    udp = KNOWN.replace("[flow.download]", f"[flow.download]\n{stream}")
    fadeout.run(udp, out=tmp_path / "out")
    with pytest.raises(MeasuredError, match="no data over TCP"):
        read_course(tmp_path / "out" / "captures" / "server.pcapng")


def test_a_table_without_quantities_of_a_flow_is_refused(tmp_path: Path):
    path = tmp_path / "drive.csv"
    path.write_text("time_s,sinr_db\n" + "".join(f"{n},3\n" for n in range(30)))
    with pytest.raises(MeasuredError, match="no quantity of a flow; expected at least one column"):
        read_course(path)


def test_counts_of_each_interval_are_those_since_the_start(tmp_path: Path):
    both = []
    for name, counts in (("each", [5] * 30), ("total", [5 * n for n in range(1, 31)])):
        path = tmp_path / f"{name}.csv"
        rows = (f"{0.1 * (n + 1):.1f},{count}\n" for n, count in enumerate(counts))
        path.write_text("t_s,sent_bytes\n" + "".join(rows))
        both.append(read_course(path).delivered_bytes)
    assert both[0] == pytest.approx(both[1])


def test_inspect_names_the_columns_of_a_sender(table: Path):
    report = inspect_table(table)
    units = {one.quantity: one.unit for one in report.found}
    assert units == {"round-trip": "ms (from us)", "window": "segments", "data": "B"}


def test_the_command_writes_values_that_run(table: Path, tmp_path: Path):
    scenario = tmp_path / "link.toml"
    scenario.write_text(UNKNOWN)
    words = ["fit", str(scenario), "--to", str(table), "--free", "link.path.rate"]
    words += ["--set", "link.path.delay=30 ms", "--set", "link.path.queue.limit=40 packets"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "fit")])
    assert done.exit_code == 0, done.output
    values = tomllib.loads((tmp_path / "fit" / "fit.toml").read_text())
    assert (tmp_path / "fit" / "fit.png").stat().st_size > 0
    rate = values["link.path.rate"]["value"]
    assert float(rate.split()[0]) == pytest.approx(RATE, rel=0.005)
    fadeout.check(UNKNOWN, set={"link.path.rate": rate})
