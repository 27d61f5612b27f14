"""Reports: one HTML file, opened in a browser."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import fadeout
from browser import Browser
from conftest import ROOT, SCENARIO, needs_tool
from fadeout import report
from fadeout._thinning import broken, thin
from fadeout.cli.app import app
from fadeout.plot.cells import cell_colors
from fadeout.plot.style import PALETTE
from fadeout.report.page import static
from fadeout.report.scenario import settings
from fadeout.report.series import cell_numbers
from fadeout.statistics import interval_text

HOSTILE = "</script><img src=x onerror=alert(1)>"

RADIO = f"""
title = "{HOSTILE}"
duration = "2 s"
seed = 1

[link.core]
from = "server"
to = "cell"
rate = "1 Gbit/s"
delay = "10 ms"

[cell.cell]
radio = {{ kind = "nr", numerology = 1 }}
carrier = "3.5 GHz"
bandwidth = "20 MHz"
tx-power = "30 dBm"
height = "10 m"
channel = {{ path-loss = "umi", line-of-sight = "geometry" }}

[building.shop]
corner = ["-5 m", "60 m"]
opposite = ["5 m", "80 m"]
height = "12 m"

[ue.phone]
position = ["-15 m", "120 m"]
mobility = {{ model = "line", x-speed = 15 }}

[flow.download]
from = "server"
to = "phone"

[probe]
transport-blocks = true
"""


@pytest.fixture(scope="module")
def radio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("radio") / "run"
    fadeout.run(RADIO, out=folder)
    report.write(folder)
    return folder


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wired") / "run"
    fadeout.run(SCENARIO, set={"probe.queue": False}, out=folder)
    report.write(folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


def shown(browser: Browser) -> dict[str, str]:
    """Returns the value of each panel and ribbon at the cursor."""
    text = browser.value(
        "JSON.stringify(Object.fromEntries([...document.querySelectorAll('.panel, .lane')].map("
        "box => [box.dataset.panel || box.dataset.lane, box.querySelector('.value').textContent])))"
    )
    return json.loads(text)


@needs_tool("Chromium")
def test_a_report_opens_without_an_error_and_without_a_request(radio: Path, browser: Browser):
    page = radio / "report.html"
    browser.open(page)
    assert browser.errors == []
    assert browser.requests == [page.resolve().as_uri()]
    assert page.stat().st_size <= report.DEFAULT_SIZE
    panels = browser.value("[...document.querySelectorAll('.panel')].map(p => p.dataset.panel)")
    assert panels == ["sinr", "mcs", "harq", "rate", "cwnd", "rtt", "buffer"]
    lanes = browser.value("[...document.querySelectorAll('.lane')].map(p => p.dataset.lane)")
    assert lanes == ["Serving cell", "Path", "TCP state"]


@needs_tool("Chromium")
def test_hostile_names_are_inert(radio: Path, browser: Browser):
    browser.open(radio / "report.html")
    assert browser.value("document.querySelector('h1').textContent") == HOSTILE
    assert browser.value("document.title") == HOSTILE
    assert browser.value("document.querySelectorAll('img').length") == 0
    assert browser.value("document.querySelectorAll('script').length") == 3
    # A handler that got into the page would not run either.
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.bad=1>')"
    )
    assert browser.value("window.bad === undefined")


@needs_tool("Chromium")
def test_the_cursor_moves_all_panels_and_shows_recorded_values(radio: Path, browser: Browser):
    browser.open(radio / "report.html", hash="#t=0.7")
    first = shown(browser)
    left = browser.value("[...document.querySelectorAll('.cursor')].map(c => c.style.left)")
    results = fadeout.Results.open(radio)

    def at(table: pl.DataFrame, column: str) -> float:
        return float(table.filter(pl.col("time_s") <= 0.7)[column][-1])

    assert float(first["cwnd"]) == pytest.approx(at(results.congestion, "cwnd_segments"), rel=1e-5)
    assert float(first["rtt"]) == pytest.approx(at(results.congestion, "srtt_s") * 1e3, rel=1e-5)
    rates = results.throughput.filter(pl.col("time_s") >= 0.7)
    assert float(first["rate"]) == pytest.approx(rates["rate_mbps"][0], rel=1e-5)
    assert first["TCP state"] == results.congestion.filter(pl.col("time_s") <= 0.7)["state"][-1]
    assert first["Serving cell"] == "cell"
    assert first["Path"] == "building"

    # The mouse over one panel moves the cursor of every other one.
    browser.press("Escape")
    box = browser.value(
        "(() => { const o = document.querySelector('[data-panel=rate] .u-over'); "
        "o.scrollIntoView({block: 'center'}); const b = o.getBoundingClientRect(); "
        "return [b.left, b.top, b.width, b.height]; })()"
    )
    browser.page.mouse.move(box[0] + 0.75 * box[2], box[1] + box[3] / 2)
    browser.wait("Report.state.t > 1.45 && Report.state.t < 1.55")
    moved = browser.value("[...document.querySelectorAll('.cursor')].map(c => c.style.left)")
    assert len(left) == len(moved) == 10
    assert all(one != other for one, other in zip(left, moved, strict=True))
    assert shown(browser)["buffer"] != first["buffer"]


@needs_tool("Chromium")
def test_the_numbers_of_the_tables_are_those_of_the_files(radio: Path, browser: Browser):
    browser.open(radio / "report.html")
    for name in ("flows", "interfaces", "links"):
        cells = browser.value(
            f"[...document.querySelectorAll('[data-table={name}] tbody tr')].map("
            "r => [...r.cells].map(c => c.dataset.value === undefined ? null : +c.dataset.value))"
        )
        frame = pl.read_parquet(radio / f"{name}.parquet")
        assert len(cells) == len(frame)
        for row, found in zip(frame.iter_rows(), cells, strict=True):
            for value, number in zip(row, found, strict=True):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    assert number == value


@needs_tool("Chromium")
def test_each_point_of_a_line_is_a_row_of_its_table(radio: Path, browser: Browser):
    browser.open(radio / "report.html")
    lines = browser.value(
        "Object.fromEntries(Report.charts.panels.map(p => [p.id, "
        "p.series.map(s => [[...s.x], [...s.y]])]))"
    )
    results = fadeout.Results.open(radio)
    down = results.transport_blocks.filter(pl.col("direction").cast(pl.String) == "downlink")
    waiting = pl.col("rlc_new_bytes") + pl.col("rlc_retransmission_bytes")
    for panel, line, rows, value in (
        ("cwnd", 0, results.congestion, pl.col("cwnd_segments")),
        ("cwnd", 1, results.congestion, pl.col("ssthresh_segments")),
        ("rtt", 0, results.congestion, pl.col("srtt_s") * 1e3),
        ("rate", 0, results.throughput, pl.col("rate_mbps")),
        ("sinr", 0, down, pl.col("sinr_db")),
        ("mcs", 0, down, pl.col("mcs")),
        ("buffer", 0, results.bearers, waiting / 1000),
    ):
        known = set(rows.select("time_s", value.cast(pl.Float64)).rows())
        points = list(zip(*lines[panel][line], strict=True))
        # A gap is a point without a value.
        shown = [point for point in points if point[1] is not None]
        assert len(shown) > 10
        assert set(shown) <= known, panel


def test_names_in_tables_are_inert_too(wired: Path, tmp_path: Path):
    folder = shutil.copytree(wired, tmp_path / "hostile")
    written = json.dumps(HOSTILE)[1:-1]
    for path in folder.glob("*.json"):
        text = path.read_text("utf-8")
        path.write_text(text.replace('"download', f'"{written}'), "utf-8")
    names = pl.selectors.string() | pl.selectors.categorical() | pl.selectors.enum()
    for path in folder.glob("*.parquet"):
        frame = pl.read_parquet(path).with_columns(
            names.cast(pl.String).str.replace("^download", HOSTILE, literal=False)
        )
        frame.write_parquet(path)
    text = report.write(folder).read_text("utf-8")
    assert text.count(HOSTILE.replace("<", "&lt;").replace(">", "&gt;")) > 3
    assert "<img" not in text
    assert text.count("</script>") == text.count("<script") == 3


MANY = """
duration = "2 s"
seed = 1

[link.core]
from = "server"
to = "site"
rate = "1 Gbit/s"
delay = "10 ms"

[cell.site]
height = "25 m"
radio = { kind = "lte" }
carrier = "2.1 GHz"
bandwidth = "20 MHz"
tx-power = "46 dBm"
channel = { path-loss = "uma" }

[ue.phone]
count = 1000
drop = { radius = "500 m" }
speed = "50 km/h"

[flow.download]
from = "server"
to = "phone-7"
"""


@needs_tool("Chromium")
def test_a_thousand_ues_play_at_thirty_frames_a_second(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # The frames of the map do not change the time for one of them.
    monkeypatch.setattr("fadeout.report.scene.MOST_LOOKS", 20_000)
    fadeout.run(MANY, out=tmp_path / "run")
    browser.open(report.write(tmp_path / "run"))
    assert browser.value("Report.data.map.objects.length") == 1000
    browser.value("window.frames = 0; Report.on('time', () => window.frames++)")
    before, picture = (
        browser.cpu_seconds(),
        browser.value("document.getElementById('map').toDataURL()"),
    )
    browser.press("Space")
    # A run of 2 s plays for 20 s.
    browser.wait("window.frames >= 60 || !Report.state.playing")
    frames = browser.value("window.frames")
    spent = browser.cpu_seconds() - before
    assert browser.value("document.getElementById('map').toDataURL()") != picture
    # A browser draws a frame when its main thread is free, so this thread sets the rate. Its
    # processor time is compared, as the time of a clock would include other programs.
    assert frames >= 10
    assert spent / frames <= 1 / 30, f"{frames / spent:.0f} frames in a second of the processor"


@needs_tool("Chromium")
def test_the_keyboard_is_enough(radio: Path, browser: Browser):
    browser.open(radio / "report.html")
    time = "Report.state.t"
    browser.press("ArrowRight")
    assert browser.value(time) == pytest.approx(2 / 500)
    browser.press("Shift+ArrowRight")
    assert browser.value(time) == pytest.approx(11 * 2 / 500)
    browser.press("End")
    assert browser.value(time) == 2
    browser.press("Home")
    browser.press("]")
    assert 0 < browser.value(time) < 0.1
    browser.press("+")
    assert browser.value("Report.state.high - Report.state.low") == pytest.approx(1.0)
    browser.press("0")
    assert browser.value("Report.state.high") == 2
    browser.press("l")
    assert float(browser.value("location.hash").removeprefix("#t=")) == pytest.approx(
        browser.value(time)
    )
    browser.press("d")
    assert browser.value("document.documentElement.dataset.theme") == "dark"
    assert browser.value("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    # Tab reaches the first control, and its focus can be seen.
    browser.press("Tab")
    browser.wait("document.activeElement !== document.body")
    browser.press("Escape")
    browser.value("document.activeElement.blur()")
    browser.press("Space")
    browser.wait("Report.state.t > 0.2")
    browser.press("Space")
    assert browser.value("Report.state.playing") is False
    assert browser.errors == []


@needs_tool("Chromium")
def test_tab_reaches_all_controls_and_shows_where_it_is(radio: Path, browser: Browser):
    browser.open(radio / "report.html")
    focused = (
        "(e => [e.id || e.textContent, getComputedStyle(e).outlineStyle])(document.activeElement)"
    )
    found: list[str] = []
    for _ in range(200):
        browser.press("Tab")
        name, outline = browser.value(focused)
        if browser.value("document.activeElement === document.body"):
            break
        found.append(name)
        assert outline != "none", f"the focus on {name} cannot be seen"
    controls = browser.value("[...document.querySelectorAll('#controls [id]')].map(e => e.id)")
    assert set(controls) - {"clock"} <= set(found)
    assert {"map", "map-in", "map-out", "map-fit", "follow"} <= set(found)
    # The entries of the legends switch lines off and on.
    entry = browser.value("document.querySelector('[data-panel=cwnd] .legend button').textContent")
    assert entry in found
    browser.value("document.querySelector('[data-panel=cwnd] .legend button').focus()")
    browser.press("Enter")
    assert browser.value("Report.charts.panels.find(p => p.id === 'cwnd').series[0].shown") is False
    # A list changes with the arrow keys, and the time stands.
    browser.value("document.getElementById('speed').focus()")
    before = browser.value("[Report.state.t, document.getElementById('speed').value]")
    browser.press("ArrowDown")
    after = browser.value("[Report.state.t, document.getElementById('speed').value]")
    assert (after[0], after[1] != before[1]) == (before[0], True)
    # Alt and an arrow move the map.
    browser.value("document.getElementById('map').focus()")
    picture = browser.value("document.getElementById('map').toDataURL()")
    browser.press("Alt+ArrowUp")
    assert browser.value("document.getElementById('map').toDataURL()") != picture


@needs_tool("Chromium")
def test_names_on_the_map_do_not_cover_each_other(tmp_path: Path, browser: Browser):
    near = MANY.replace("count = 1000", "count = 4").replace("500 m", "20 m")
    fadeout.run(near.replace("phone-7", "phone-3"), out=tmp_path / "run")
    browser.open(report.write(tmp_path / "run"), width=420)
    names = browser.value("Report.map.names()")
    # Four UEs, the site and the scale.
    assert len(names) == 6
    for one, other in combinations(names, 2):
        is_above = abs(one["top"] - other["top"]) >= 11
        assert is_above or one["right"] < other["left"] or other["right"] < one["left"]


@needs_tool("Chromium")
def test_the_map_plays_on_the_same_cursor(radio: Path, browser: Browser):
    browser.open(radio / "report.html", hash="#t=0")
    picture = "document.getElementById('map').toDataURL()"
    text = "document.getElementById('map-state').textContent"
    first = browser.value(picture)
    assert browser.value(text) == "phone: cell, path clear"
    browser.value("Report.setTime(0.9)")
    assert browser.value(text) == "phone: cell, building in the way"
    second = browser.value(picture)
    assert first != second
    # A UE can be followed.
    browser.value(
        "(f => { f.value = f.options[1].value; f.dispatchEvent(new Event('change')); })"
        "(document.getElementById('follow'))"
    )
    assert browser.value(picture) != second
    assert browser.errors == []


@needs_tool("Chromium")
def test_the_map_has_the_path_to_a_secondary_cell(tmp_path: Path, browser: Browser):
    # The secondary node is added at 0.3 s.
    fadeout.run(ROOT / "scenarios/en-dc.toml", set={"duration": "0.6 s"}, out=tmp_path / "run")
    browser.open(report.write(tmp_path / "run"))
    text = "document.getElementById('map-state').textContent"
    for time, paths in ((0.1, "macro, path clear"), (0.5, "macro, path clear; small, path clear")):
        browser.value(f"Report.setTime({time})")
        assert browser.value(text) == f"phone: {paths}"
    assert browser.errors == []


@needs_tool("Chromium")
def test_dark_mode_and_reduced_motion_follow_the_system(radio: Path, browser: Browser):
    browser.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    browser.open(radio / "report.html")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    browser.value("window.moves = 0; Report.on('time', () => window.moves++)")
    browser.press("Space")
    browser.wait("Report.state.t >= 0.1")
    # Pictures are half a second apart: at a tenth of the speed, 0.05 s of the run.
    assert browser.value("window.moves <= Report.state.t / 0.049")
    browser.press("Escape")
    browser.page.emulate_media(color_scheme="null", reduced_motion="null")


@needs_tool("Chromium")
def test_print_is_light_and_without_controls(radio: Path, browser: Browser, tmp_path: Path):
    browser.open(radio / "report.html")
    browser.press("d")
    # On paper, ribbons and panels have one time axis, at any width of the window.
    browser.page.set_viewport_size({"width": 420, "height": 900})
    browser.value("void window.dispatchEvent(new Event('beforeprint'))")
    width = "document.querySelector('{}').clientWidth"
    assert browser.value(width.format(".lane-canvas")) == pytest.approx(
        browser.value(width.format(".u-over")), abs=2
    )
    browser.value("void window.dispatchEvent(new Event('afterprint'))")
    browser.page.pdf(path=tmp_path / "report.pdf", print_background=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert browser.errors == []
    assert browser.value("document.documentElement.dataset.theme") == "dark"


def test_a_table_that_was_not_recorded_names_the_line_that_records_it(wired: Path):
    text = (wired / "report.html").read_text("utf-8")
    assert "fadeout run scenario.toml --set probe.queue=&#x27;10 ms&#x27; --report" in text
    # A wired run misses no table of the radio.
    assert "probe.transport-blocks" not in text.split('id="again"')[0]


def test_the_scenario_in_the_page_gives_the_same_run(wired: Path):
    results = fadeout.Results.open(wired)
    text = (wired / "report.html").read_text("utf-8")
    found = re.search(r'<pre id="toml" tabindex="0">(.*?)</pre>', text, re.S)
    assert found is not None
    from html import unescape

    assert fadeout.run(unescape(found[1])).fingerprint == results.fingerprint


def test_the_page_opens_at_the_times_with_traffic(wired: Path, tmp_path: Path):
    late = tmp_path / "late"
    transfer = {"application": {"kind": "transfer", "size": "100 kB"}, "start": "1 s"}
    settings = {f"flow.download.{key}": value for key, value in transfer.items()}
    results = fadeout.run(SCENARIO, set={**settings, "duration": "6 s"}, out=late)
    low, high = page_data(report.write(late))["view"]
    assert 0.5 < low < 1 < results.flows["completed_at_s"][0] < high < 2
    assert page_data(wired / "report.html")["view"] == [0, 2]


def page_data(page: Path) -> dict[str, Any]:
    """Returns the data of a page."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert found is not None
    return json.loads(found[1])


def test_a_run_at_one_place_has_no_map(tmp_path: Path):
    still = RADIO.replace('"-15 m", "120 m"', '"0 m", "0 m"').replace("x-speed = 15", "x-speed = 0")
    fadeout.run(still, set={"duration": "0.2 s"}, out=tmp_path / "still")
    text = report.write(tmp_path / "still").read_text("utf-8")
    assert page_data(tmp_path / "still/report.html")["map"] is None
    assert "cannot be drawn" not in text


def test_entries_that_differ_by_their_number_share_a_row():
    nodes = {f"phone-{number}": {"node": f"phone-{number}"} for number in range(3)}
    flows = {f"post-{number}": {"from": f"phone-{number}", "to": "a-2"} for number in range(3)}
    found = {one.shown: one for one in settings({"ue": nodes, "flow": flows})}
    assert found["ue.NAME.node (3 entries)"].is_default
    assert found["flow.NAME.from (3 entries)"].value == "phone-N"
    assert not found["flow.NAME.from (3 entries)"].is_default


def test_cells_have_one_colour_in_report_and_figures(radio: Path):
    results = fadeout.Results.open(radio)
    numbers = cell_numbers(results)
    assert {cell: PALETTE[number] for cell, number in numbers.items()} == cell_colors(results)
    assert page_data(radio / "report.html")["cells"] == numbers


def test_values_are_compared_with_their_defaults(wired: Path):
    found = {one.shown: one for one in settings(fadeout.Results.open(wired).manifest["scenario"])}
    assert not found["link.access.queue.limit"].is_default
    assert found["link.access.queue.limit"].default == "1000 packets"
    assert found["link.access.jitter"].is_default
    assert not found["probe.queue"].is_default
    assert found["probe.throughput"].is_default


def test_a_stopped_run_and_one_of_another_version_say_so(wired: Path, tmp_path: Path):
    folder = tmp_path / "old"
    shutil.copytree(wired, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"complete": False, "version": "0.0.1"}
    manifest["scenario"]["link"]["access"]["bandwith"] = "1 Mbit/s"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "congestion.parquet").write_bytes(b"PAR1")
    pl.DataFrame({"time_s": [0.1]}).write_parquet(folder / "throughput.parquet")
    text = report.write(folder).read_text("utf-8")
    assert "the run was stopped at 2 s" in text
    assert "the run is from fadeout 0.0.1" in text
    assert "the scenario cannot be read again: " in text
    assert "has no column flow, rate_mbps" in text
    assert "<b>Congestion window, Round trip, smoothed</b>: congestion: " in text


def test_a_folder_without_a_run_is_an_error(cli: CliRunner, tmp_path: Path):
    for arguments, reason in (
        (["nowhere"], "nowhere: expected the folder of a run or of a campaign"),
        ([str(tmp_path)], "is not the folder of a run"),
        ([str(tmp_path), "--size", "6MB"], "expected 200,000 to 5,000,000 bytes"),
        ([str(tmp_path), "--size", "big"], "expected a size such as '2 GB'"),
    ):
        done = cli.invoke(app, ["report", *arguments])
        assert done.exit_code in (1, 2)
        assert reason in " ".join(done.stderr.replace("│", "").split())


def test_the_command_run_writes_a_report(
    cli: CliRunner, scenario: Path, monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or True)
    done = cli.invoke(app, ["run", str(scenario), "--no-figures", "--report", "--out", "run"])
    assert done.exit_code == 0, done.stderr
    assert "report: run/report.html" in done.stdout
    done = cli.invoke(app, ["report", "run", "--out", "page.html", "--open"])
    assert done.exit_code == 0
    assert opened == [Path("page.html").resolve().as_uri()]
    assert Path("page.html").read_text("utf-8") == Path("run/report.html").read_text("utf-8")


@needs_tool("Chromium")
def test_a_campaign_has_a_report(lossy: Path, browser: Browser, tmp_path: Path):
    grid = {"flow.congestion-control": ["cubic", "newreno"]}
    campaign = fadeout.sweep(lossy, grid, seeds=5, out=tmp_path / "c")
    page = report.write(campaign.folder)
    browser.open(page)
    assert browser.errors == []
    assert browser.value("document.querySelectorAll('svg.chart').length") >= 2
    means = campaign.means("goodput_mbps")["goodput_mbps_mean"].to_list()
    cells = browser.value(
        "[...document.querySelectorAll('[data-table=\"means of the points\"] tbody tr')].map("
        "r => +r.querySelector('[data-value]').dataset.value)"
    )
    assert cells == means
    low, high = (
        campaign.means("goodput_mbps").select("goodput_mbps_low", "goodput_mbps_high").row(0)
    )
    assert interval_text(means[0], (high - low) / 2) in page.read_text("utf-8")
    # The folder's seal holds with the page in it.
    assert len(fadeout.Campaign.open(campaign.folder).frame()) == 10


def test_files_of_a_scenario_are_found_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("scenario").mkdir()
    for name in ("drive-test.toml", "drive-test.csv"):
        shutil.copy(ROOT / "python/fadeout/scenarios" / name, "scenario")
    fadeout.run("scenario/drive-test.toml", out="run", set={"duration": "0.5 s"})
    text = report.write("run").read_text("utf-8")
    assert "write the report from the folder of the scenario" in text
    text = report.write("run", base="scenario").read_text("utf-8")
    assert "write the report from the folder of the scenario" not in text


def test_thinned_series_keep_recorded_rows_with_peaks_and_troughs():
    count = 1_000_000
    rows = pl.DataFrame({"time_s": pl.arange(0, count, eager=True) * 1e-5})
    rows = rows.with_columns((pl.col("time_s") * 10).sin().alias("value"))
    rows = rows.with_columns(
        pl.when(pl.int_range(pl.len()) == 123_456).then(9.0).otherwise("value").alias("value")
    )
    short = thin(rows, "value", 3000)
    assert len(short) <= 3001
    assert short["value"].max() == 9.0
    assert short["value"].min() == rows["value"].min()
    assert short.row(0) == rows.row(0)
    assert short.row(-1) == rows.row(-1)
    assert len(short.join(rows, on=["time_s", "value"])) == len(short)


def test_a_long_time_without_a_row_is_a_gap():
    rows = pl.DataFrame({"time_s": [0.0, 0.5, 9.0], "value": [1.0, 2.0, 3.0]})
    assert broken(rows, "value", 1.0)["value"].is_nan().to_list() == [False, False, True, False]
    # The line also stops if nothing follows its last row until the end of the run.
    assert broken(rows, "value", 1.0, 20.0)["value"].is_nan().to_list()[-2:] == [False, True]
    assert broken(rows, "value", 1.0, 9.5).height == 4


def test_the_chart_library_is_the_published_one():
    source = json.loads(static("uPlot.source.json"))
    for name, digest in source["sha256"].items():
        assert hashlib.sha256(static(name).encode("utf-8")).hexdigest() == digest
    assert "Leon Sorokin" in static("uPlot.LICENSE")
