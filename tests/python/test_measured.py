"""Measured tables: logs of drive tests as loggers write them, read without conversion."""

import gzip
import math
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fadeout
from fadeout.measured import replay
from fadeout.measured.errors import MeasuredError
from fadeout.measured.inspect import inspect_table
from fadeout.measured.presets import presets
from fadeout.measured.table import Measurement, open_measurement

PLAIN = "time_s,rate_mbps\n0,12\n5,24\n"

LINK = """
duration = "10 s"
[link.cell]
from = "server"
to = "phone"
rate = %s
delay = "20 ms"
queue.limit = "1 MB"
reverse = { rate = "20 Mbit/s" }
[flow.download]
from = "server"
to = "phone"
"""
SERIES = '{ series = "drive.csv" }'
LOG = '{ measurement = "log" }'


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FADEOUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def scenario(tmp_path: Path):
    """Returns a function that writes a table and a scenario, and returns the scenario's path."""

    def write(table: str | bytes, rate: str = SERIES, more: str = "", name: str = "drive.csv"):
        data = table if isinstance(table, bytes) else table.encode()
        (tmp_path / name).write_bytes(data)
        path = tmp_path / "drive.toml"
        path.write_text(LINK % rate + more)
        return path

    return write


def measured(folder: Path, text: str | bytes, **keys: object) -> Measurement:
    file = folder / "log.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_measurement(file, name="log.csv", table=keys)


def rates(folder: Path, text: str | bytes, duration_s: float = 10, **keys: object):
    """Returns the rates of a table during a run, each with its start in seconds."""
    table = measured(folder, text, **keys)
    found = replay.steps(table, "rate", round(duration_s * 1e9), ("rate_mbps", 1.0))
    return [tuple(map(float, row.split(","))) for row in found.text.splitlines()[1:]]


def refused(scenario: Path) -> str:
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(scenario)
    (error,) = caught.value.errors
    assert error["line"] > 1
    return error["message"]


@pytest.mark.parametrize(
    "table",
    [
        "\ufefftime_s,rate_mbps\n0,12\n5,24\n",
        "Time_s,Rate_Mbps\n0,12\n5,24\n",
        "time_s,rate_mbps\r\n0,12\r\n5,24\r\n",
        "time_s;rate_mbps\n0;12\n5;24\n",
        "time_s;rate_mbps\n0;12,0\n5;24,0\n",
        "sep=;\ntime_s;rate_mbps\n0;12\n5;24\n",
        "time_s\trate_mbps\n0\t12\n5\t24\n",
        '"time_s","rate_mbps"\n0,12\n5,24\n',
        'time_s,rate_mbps,place\n0,12,"High St, 5"\n5,24,"Quay\nwest"\n',
        "# a drive\ntime_s,rate_mbps\n0,12\n# a stop\n5,24\n\n",
        "time_ms,rate_mbps\n0,12\n5000,24\n",
        "time_s,rate_kbps\n0,12000\n5,24000\n",
        "Time [s],RATE (kbit/s)\n0,12000\n5,24000\n",
        "time_s,rate_mbps\n1576318590,12\n1576318595,24\n",
        "timestamp,rate_mbps\n1576318590123,12\n1576318595123,24\n",
        "time,rate_mbps\n2019-12-14T10:16:30Z,12\n2019-12-14T10:16:35Z,24\n",
        "time,rate_mbps\n2019-12-14 10:16:30.5,12\n2019-12-14 10:16:35.5,24\n",
        "time,rate_mbps\n2019-12-14T10:16:30+02:00,12\n2019-12-14T09:16:35+01:00,24\n",
        "time,rate_mbps\nWed Dec 15 16:04:38 UTC 2021,12\nWed Dec 15 16:04:43 UTC 2021,24\n",
        "time,rate_mbps\n2020-12-10 17:10:38.558 EST,12\n2020-12-10 17:10:43.558 EST,24\n",
        # Without its time, the same name of the test in each process of pytest.
        gzip.compress(PLAIN.encode(), mtime=0),
        "time_s,rate_mbps\n0,12\n5,24\n".encode("utf-16"),
        "time_s,rate_mbps,Straße\n0,12,Süd\n5,24,Süd\n".encode("latin-1"),
    ],
)
def test_a_table_in_any_form_has_the_same_results_bit_for_bit(scenario, table):
    plain = fadeout.run(scenario(PLAIN)).fingerprint
    assert fadeout.run(scenario(table)).fingerprint == plain


def test_a_table_in_parquet_has_the_same_results(scenario, tmp_path: Path):
    plain = fadeout.run(scenario(PLAIN)).fingerprint
    path = scenario(PLAIN, LOG, '[measurement.log]\nfile = "log.parquet"\n')
    start = datetime(2026, 3, 1, tzinfo=UTC)
    frame = pl.DataFrame({"time": [start, start.replace(second=5)], "rate_mbps": [12, 24]})
    frame.write_parquet(tmp_path / "log.parquet")
    assert fadeout.run(path).fingerprint == plain


def test_a_log_with_keys_of_a_measurement(scenario):
    log = (
        "Timestamp,DL,SNR\n2026.03.01_10.16.30,12000,6\n2026.03.01_10.16.31,-,-\n"
        "2026.03.01_10.16.35,24000,7\n"
    )
    more = '[measurement.log]\nfile = "drive.csv"\ncolumns.rate = "DL"\nunits.rate = "kbit/s"\n'
    plain = fadeout.run(scenario(PLAIN)).fingerprint
    assert fadeout.run(scenario(log, LOG, more)).fingerprint == plain


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("time_s,rate_mbps,rate_mbps\n0,12,3\n", "line 1: two columns are called `rate_mbps`"),
        ('"time_s","rate_mbps","rate_mbps"\n0,12,3\n', "line 1: 2 columns are called `rate_mbps`"),
        ("time_s;rate_mbps;throughput_kbps\n0;1;2\n", "the columns `rate_mbps`, `throughput_kbps`"),
        ("time_s;rate\n0;12\n", "the column `rate` has no unit"),
        ("rate_mbps;x\n12;1\n", "line 1: no column for the time; the header has rate_mbps, x"),
        ("time_s;rate_mbps\n0;12\n5;fast\n", 'line 3: "fast" as the rate; expected a number'),
        ("time_s;rate_mbps\n0;12\n5;-3\n", "line 3: the rate is -3; expected 0 to 1e+09 Mbit/s"),
        ("time_s;rate_mbps\n0;12\n0;14\n", "line 3: the time 0 s occurs again (one such row)"),
        ("time_s;rate_mbps\n5;12\n0;14\n", "line 3: the time goes back by 5 s to 0 s"),
        ('"time_s",rate_mbps\n0,12\n\n# x\n5,24,9\n', "line 5: 3 cells; expected 2"),
        ('time_s,rate_mbps\n0,"1,234"\n', "may separate decimals or thousands"),
        ("time;rate_mbps\n0;12\n1000;24\n", "times in an unknown unit, 1000 apart"),
        ("time;rate_mbps\nyesterday;12\n", 'line 2: "yesterday" as a time'),
        ("time;rate_mbps\n03/04/2026 10:00:00;12\n", 'fit "%d/%m/%Y'),
        (
            "time;rate_mbps\n2026-03-01 10:00;12\nnoon;14\n",
            'line 3: "noon" as a time; expected the',
        ),
        ("# nothing\n# here\n", "the series is empty"),
        (b"\x1f\x8b\x08\x00cut", "expected a complete gzip file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not text"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_with_the_line(scenario, table, expected):
    message = refused(scenario(table))
    assert message.startswith(('link "cell": drive.csv', 'link "cell": ')), message
    assert expected in message, message


@pytest.mark.parametrize(
    ("keys", "expected", "key"),
    [
        ('file = "gone.csv"', "gone.csv is missing", "file"),
        ('columns.rate = "DL_bitrat"', "did you mean 'DL_bitrate'?", "columns"),
        ('units.rate = "furlong"', "unknown unit 'furlong'", "units"),
        ('preset = "g-netrack"', "did you mean 'g-nettrack'?", "preset"),
        ('start = "soon"', 'start "soon"; expected "first"', "start"),
        ('start = "2026-03-02 10:00:00"', "but the run covers 2026-03-02 10:00:00", "start"),
        ('maximum-gap = "2 s"', "line 3: no row for 5 s before 2026-03-01 10:16:35", "maximum-gap"),
        ('outside = "refuse"', "the last row is at 2026-03-01 10:16:35, but the run", "outside"),
        ('zone = "Europe/Helsinky"', "there is no time zone 'Europe/Helsinky'", "zone"),
    ],
)
def test_a_wrong_key_of_a_measurement_is_named_at_its_place(scenario, keys, expected, key):
    log = "Timestamp,DL_bitrate\n2026.03.01_10.16.30,12000\n2026.03.01_10.16.35,24000\n"
    own = {"file": '"drive.csv"', "columns.rate": '"DL_bitrate"', "units.rate": '"kbit/s"'}
    name, _, value = keys.partition(" = ")
    own[name] = value
    text = "".join(f"{one} = {text}\n" for one, text in own.items())
    path = scenario(log, LOG, "[measurement.log]\n" + text)
    if key in ("outside",):
        path.write_text(path.read_text().replace('"10 s"', '"11 s"'))
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(path)
    (error,) = caught.value.errors
    assert expected in error["message"]
    assert "[measurement.log]" in error["rendered"] or key in error["rendered"]


def test_a_measurement_that_does_not_exist_is_named(scenario):
    more = '[measurement.lag]\nfile = "drive.csv"\n'
    assert "unknown measurement 'log', did you mean 'lag'?" in refused(scenario(PLAIN, LOG, more))
    assert "expected a table [measurement.log]" in refused(scenario(PLAIN, LOG))


def test_an_unknown_key_of_a_measurement_is_a_mistake_of_the_scenario(scenario):
    more = '[measurement.log]\nfile = "drive.csv"\nduplicate = "last"\n'
    with pytest.raises(fadeout.ScenarioError, match="did you mean `duplicates`"):
        fadeout.check(scenario(PLAIN, LOG, more))


@pytest.mark.parametrize(
    ("outside", "duration", "expected"),
    [
        ("hold", 10, [(0, 12), (5, 24)]),
        ("end", 20, [(0, 12), (5, 24), (10, 0)]),
        ("repeat", 30, [(0, 12), (5, 24)]),
    ],
)
def test_the_rule_outside_of_the_rows(tmp_path: Path, outside, duration, expected):
    assert rates(tmp_path, PLAIN, duration, outside=outside) == expected


def test_repeated_rows_begin_where_the_run_does(tmp_path: Path):
    # The period is 10 s, as the last row lasts as long as the row before it.
    found = rates(tmp_path, PLAIN, 30, outside="repeat", start="7 s")
    assert found == [(0, 24), (3, 12), (8, 24)]


@pytest.mark.parametrize(
    ("start", "expected"),
    [("first", [(0, 12), (5, 24)]), ("2 s", [(0, 12), (3, 24)]), ("6 s", [(0, 24)])],
)
def test_a_run_may_start_within_a_table(tmp_path: Path, start, expected):
    assert rates(tmp_path, PLAIN, start=start) == expected


def test_a_run_may_start_at_a_date(tmp_path: Path):
    log = "time,rate_mbps\n2026-03-01 10:00:00,12\n2026-03-01 10:00:05,24\n"
    assert rates(tmp_path, log, start="2026-03-01 10:00:02") == [(0, 12), (3, 24)]


@pytest.mark.parametrize(("rule", "rate"), [("first", 12), ("last", 14), ("mean", 13)])
def test_the_rule_for_two_rows_of_one_time(tmp_path: Path, rule, rate):
    assert rates(tmp_path, "time_s,rate_mbps\n0,12\n0,14\n5,24\n", duplicates=rule)[0] == (0, rate)


def test_rows_out_of_order_are_sorted_only_if_the_keys_say_so(tmp_path: Path):
    log = "time_s,rate_mbps\n0,12\n6,24\n5,18\n"
    with pytest.raises(MeasuredError, match="line 4: the time goes back by 1 s to 5 s"):
        rates(tmp_path, log)
    assert rates(tmp_path, log, order="sort") == [(0, 12), (5, 18), (6, 24)]


def test_daylight_saving_time_depends_on_the_zone(tmp_path: Path):
    # At 3:00 of this day clocks in Helsinki go forward to 4:00.
    log = "time,rate_mbps\n2026-03-29 02:59:59,12\n2026-03-29 04:00:00,24\n"
    keys = {"maximum-gap": "2 h"}
    assert rates(tmp_path, log, 7200, **keys)[1][0] == 3601
    assert rates(tmp_path, log, 7200, zone="Europe/Helsinki", **keys)[1][0] == 1


@given(
    st.lists(st.tuples(st.integers(1, 10**7), st.integers(0, 10**9)), min_size=2, max_size=40),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["s", "ms", "us"]),
)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_what_is_read(tmp_path_factory, rows, separator, unit):
    factor = {"s": 10**6, "ms": 10**3, "us": 1}[unit]
    at = 0
    lines = [separator.join((f"time_{unit}", "rate_kbps"))]
    expected = []
    for step_us, kbps in rows:
        lines.append(separator.join((f"{at / factor:.6f}", str(kbps))))
        expected.append((at * 1000, kbps))
        at += step_us
    table = measured(tmp_path_factory.mktemp("t"), "\n".join(lines))
    found = table.rows(["rate"])
    # Microseconds, and thousandths of Mbit/s, are exact to the rounding of a double.
    assert [t for t, _ in expected] == pytest.approx(found["t"].to_list(), abs=1)
    assert found["rate"].to_list() == pytest.approx([kbps * 1e-3 for _, kbps in expected])


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_no_bytes_give_another_error(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(data)
    try:
        inspect_table(file)
    except MeasuredError as error:
        assert "any.csv" in str(error)


def test_presets_identify_their_logs_by_the_columns(tmp_path: Path):
    for name, preset in presets().items():
        if not preset.header:
            continue
        row = ",".join("2026-03-01 10:00:00" for _ in preset.header)
        table = measured(tmp_path, ",".join([*preset.header, "other"]) + "\n" + row + ",\n")
        assert table.preset is not None
        assert table.preset.name == name


G_NETTRACK = (
    "Timestamp,Longitude,Latitude,Speed,CellID,RSRP,SNR,DL_bitrate,UL_bitrate,PINGAVG\n"
    "2026.03.01_10.16.30,-8.470,51.890,36,4,-95,6,12000,900,-\n"
    "2026.03.01_10.16.30,-8.470,51.890,36,4,-95,8,14000,900,-\n"
    "2026.03.01_10.16.31,-8.470,51.89009,36,4,-96,-,24000,800,60\n"
)


def test_a_log_of_g_nettrack_needs_no_keys(tmp_path: Path):
    assert rates(tmp_path, G_NETTRACK) == [(0, 13), (1, 24)]
    table = measured(tmp_path, G_NETTRACK)
    positions = replay.positions(table, 10**9, None).splitlines()
    # A hundred-thousandth of a degree of latitude is 1.11 m, so the way is 10 m.
    assert positions[:2] == ["time;id;x;y", "0.0;ue;0.0;0.0"]
    assert float(positions[2].split(";")[3]) == pytest.approx(10.0, abs=0.05)


def test_a_preset_of_ones_own(tmp_path: Path, scenario):
    own = (
        'title = "My logger"\ntime = "ms"\n[columns]\ntime = "t"\nrate = "d"\n'
        '[units]\nrate = "kbit/s"\n'
    )
    (tmp_path / "mine.toml").write_text(own)
    more = '[measurement.log]\nfile = "drive.csv"\npreset = "mine.toml"\n'
    plain = fadeout.run(scenario(PLAIN)).fingerprint
    path = scenario("t;d\n0;12000\n5000;24000\n", LOG, more)
    assert fadeout.run(path).fingerprint == plain
    (tmp_path / "mine.toml").write_text(own.replace("title", "tittle"))
    assert "mine.toml: unknown key 'tittle'" in refused(path)


def test_a_trace_of_mahimahi_is_a_measurement_too(scenario):
    trace = "".join(f"{ms}\n" for ms in range(1, 1001))
    named = fadeout.run(scenario(trace, '{ trace = "drive.csv" }')).fingerprint
    more = '[measurement.log]\nfile = "drive.csv"\npreset = "mahimahi"\n'
    assert fadeout.run(scenario(trace, LOG, more)).fingerprint == named


def test_a_table_is_converted_once_for_all_runs_of_a_campaign(scenario, monkeypatch):
    path = scenario("time_s,rate_kbps\n0,12000\n5,24000\n")
    count = 0

    def counting(*arguments, **keys):
        nonlocal count
        count += 1
        return steps(*arguments, **keys)

    steps = replay.steps
    monkeypatch.setattr(replay, "steps", counting)
    rates = [fadeout.run(path, seed=seed).flows["goodput_mbps"][0] for seed in (1, 2, 3)]
    assert count == 1
    assert rates[0] == rates[1] == rates[2]
    (path.parent / "drive.csv").write_text("time_s,rate_kbps\n0,24000\n5,24000\n")
    assert fadeout.run(path).flows["goodput_mbps"][0] > 1.2 * rates[0]
    assert count == 2


def test_rates_of_an_idle_sender_are_zero(tmp_path: Path):
    log = "time_s,rate_kbps\n0,0.5\n1,1\n2,3\n"
    assert rates(tmp_path, log) == [(0, 0), (1, 0.001), (2, 0.003)]


def test_half_of_a_round_trip_is_the_delay(tmp_path: Path):
    table = measured(tmp_path, "time_s,rtt_ms\n0,60\n1,80\n")
    found = replay.steps(table, "round-trip", 10**9, ("delay_ms", 0.5))
    assert found.text == "time_s,delay_ms\n0.0,30.0\n1.0,40.0\n"


LOSSES = """
duration = "10 s"
[measurement.log]
file = "drive.csv"
[link.access]
from = "server"
to = "phone"
rate = "20 Mbit/s"
delay = "5 ms"
loss = { measurement = "log" }
[flow.stream]
from = "server"
to = "phone"
application = { kind = "packet-stream", rate = "8 Mbit/s", size = "1000 B" }
"""


@pytest.mark.parametrize(
    "table", ["time_s,loss_percent\n0,0\n4,25\n8,0\n", "time_s;PLR (share)\n0;0\n4;0,25\n8;0\n"]
)
def test_the_loss_of_a_log_loses_that_share_of_packets(tmp_path: Path, table):
    (tmp_path / "drive.csv").write_text(table)
    path = tmp_path / "drive.toml"
    path.write_text(LOSSES)
    drops = fadeout.run(path).tables["drops"]
    assert set(drops["cause"]) == {"random"}
    assert drops["time_s"].is_between(4.0, 8.0).all()
    sent = 4000
    # Five standard deviations of a binomial number.
    assert abs(len(drops) - 0.25 * sent) < 5 * math.sqrt(sent * 0.25 * 0.75)


def test_a_scenario_without_measured_tables_needs_no_numpy(tmp_path: Path):
    # The comment has the word for which the text is searched.
    path = tmp_path / "plain.toml"
    text = LOSSES.replace('[measurement.log]\nfile = "drive.csv"\n', "# no measurement\n")
    path.write_text(text.replace('{ measurement = "log" }', "{ probability = 0.1 }"))
    code = "import sys; sys.modules['numpy'] = None; import fadeout; fadeout.run(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_value_outside_of_its_range_has_the_unit_of_its_column(tmp_path: Path):
    (tmp_path / "drive.csv").write_text("time_s,loss_percent\n0,0\n4,150\n")
    (tmp_path / "drive.toml").write_text(LOSSES)
    with pytest.raises(fadeout.ScenarioError, match="line 3: the loss is 150; expected 0 to 100 %"):
        fadeout.check(tmp_path / "drive.toml")


def test_a_loss_without_unit_is_refused(tmp_path: Path):
    (tmp_path / "drive.csv").write_text("time_s,loss\n0,0\n4,25\n8,0\n")
    path = tmp_path / "drive.toml"
    path.write_text(LOSSES)
    with pytest.raises(fadeout.ScenarioError, match="unit"):
        fadeout.run(path)


RADIO = """
duration = "2 s"
[link.core]
from = "server"
to = "macro"
rate = "1 Gbit/s"
delay = "10 ms"
[cell.macro]
radio = "lte"
carrier = "2.1 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[measurement.log]
file = "drive.csv"
%s
[channel-file.drive]
measurement = "log"
ue = "phone"
cell = "macro"
[ue.phone]
[flow.download]
from = "server"
to = "phone"
"""


def test_a_sinr_of_a_log_is_that_of_a_channel_file(tmp_path: Path):
    (tmp_path / "drive.csv").write_text("t_s;SNR\n0;10,5\n1;12,5\n2;9,0\n")
    (tmp_path / "plain.csv").write_text(
        "time_s,ue,cell,sinr_db\n0,phone,macro,10.5\n1,phone,macro,12.5\n2,phone,macro,9\n"
    )
    path = tmp_path / "radio.toml"
    path.write_text(RADIO % "")
    text = RADIO.replace('measurement = "log"\nue = "phone"\ncell = "macro"', 'file = "plain.csv"')
    (tmp_path / "plain.toml").write_text(text % "")
    plain = fadeout.run(tmp_path / "plain.toml", set={"channel-file.drive.maximum-gap": "60 s"})
    assert fadeout.run(path).fingerprint == plain.fingerprint


def test_a_received_power_is_a_gain_with_the_power_of_the_reference_signal(tmp_path: Path):
    (tmp_path / "drive.csv").write_text("time_s,rsrp_dbm\n0,-90\n2,-95\n")
    path = tmp_path / "radio.toml"
    path.write_text(RADIO % "")
    assert "`reference-power" in refused(path)
    path.write_text(RADIO % 'reference-power = "15 dBm"')
    table = open_measurement(tmp_path / "drive.csv", table={"reference-power": "15 dBm"})
    names = {"ue": "phone", "cell": "macro"}
    text = replay.channels(table, 2 * 10**9, names, is_plain=False)
    assert text.splitlines()[1] == "0.0,phone,macro,-105.0"
    assert fadeout.run(path).flows["goodput_mbps"][0] > 1


def test_inspect_says_what_it_understood(tmp_path: Path):
    file = tmp_path / "log.csv"
    file.write_text(G_NETTRACK)
    report = inspect_table(file)
    assert report.preset is not None
    assert report.preset.startswith("g-nettrack")
    found = {one.quantity: one for one in report.found}
    assert found["rate"].unit == "Mbit/s (from kbit/s)"
    assert found["rate"].values.startswith("12 to 24")
    assert 'duplicates` is "mean"' in " ".join(report.notes)
    assert report.span == "2026-03-01 10:16:30 to 2026-03-01 10:16:31, 1 s"


def test_the_scenario_of_inspect_runs(tmp_path: Path):
    file = tmp_path / "log.csv"
    file.write_text("time_s,rate_mbps,rtt_ms\n" + "".join(f"{n},{10 + n},60\n" for n in range(5)))
    report = inspect_table(file)
    path = tmp_path / "made.toml"
    path.write_text(
        f'duration = "3 s"\n{report.scenario}\n[flow.f]\nfrom = "server"\nto = "phone"\n'
    )
    assert fadeout.run(path).flows["goodput_mbps"][0] > 1


def test_inspect_lists_gaps_jumps_and_speeds_that_contradict_positions(tmp_path: Path):
    rows = [f"{n},{10 * n},0,36" for n in range(20)] + ["60,190,0,36", "61,5000,0,36"]
    file = tmp_path / "log.csv"
    file.write_text("time_s,x_m,y_m,Speed [km/h]\n" + "\n".join(rows) + "\n")
    report = inspect_table(file)
    assert report.gaps == ["41 s before 60 s"]
    contradictions = " ".join(report.contradictions)
    assert "1 steps are faster than 300 km/h, such as 4810 m in 1 s at 61 s" in contradictions
    assert "the reported speeds give a way of 610 m, the positions 5000 m" in contradictions
