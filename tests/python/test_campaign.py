"""Campaigns: runs named by their content, each done once, however the process ends."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest

import fadeout
from conftest import CONTROLS, LOSSY
from fadeout import Campaign, ResultError, ScenarioError, _native, sweep
from fadeout.campaign.axes import parse_value
from fadeout.campaign.engine import Engine
from fadeout.campaign.jobs import Planner, Point
from fadeout.campaign.parts import KEPT, Parts
from fadeout.campaign.spec import read, read_file
from fadeout.campaign.work import Context


def names(document: dict[str, Any]) -> list[str]:
    spec = read(document)
    planner = Planner(spec)
    return [job.run for p in planner.points for job in planner.jobs(p, spec.seeds.of(1))]


def run_names(text: str, **more: Any) -> list[str]:
    return names({"scenario": text, **more})


# --- names ----------------------------------------------------------------------------------


def test_a_run_is_named_by_its_content_not_by_how_it_is_written():
    (plain,) = run_names(LOSSY)
    assert run_names("# a comment\n" + LOSSY) == [plain]
    assert run_names(LOSSY.replace("two seconds", "2 s")) == [plain]
    assert run_names(LOSSY.replace('"10 ms"', '"0.01 s"')) == [plain]
    assert run_names(LOSSY + 'profile = "linux"\n') == [plain]
    assert run_names(LOSSY, set={"link.access.delay": "10 ms"}) == [plain]


def test_a_default_that_is_written_out_is_no_other_run():
    unset = LOSSY.replace('congestion-control = "cubic"\n', "")
    (plain,) = run_names(unset)
    assert run_names(LOSSY) == [plain]
    table = 'congestion-control = { name = "cubic", fast-convergence = true, c = 0.4 }\n'
    assert run_names(unset + table) == [plain]
    assert run_names(unset + 'tcp = { minimum-rto = "200 ms", timestamps = true }\n') == [plain]
    # The default of `beta` depends on the variant. Here it is 0.8.
    paper = 'congestion-control = { name = "cubic", variant = "2008" }\n'
    (of_paper,) = run_names(unset + paper)
    assert run_names(unset + paper.replace(" }", ", beta = 0.7 }")) != [of_paper]


CATALOG = {kind["name"]: kind["entries"] for kind in json.loads(_native.catalog())["kinds"]}

DEPENDING = {("cubic", "beta"), ("cubic", "beta-ecn"), ("full-buffer", "backlog")}
"""Parameters for which omission may differ from their default.

A full buffer without `backlog` has no fixed backlog: it grows.
"""


@pytest.mark.parametrize(
    ("key", "kind", "entry"),
    [
        (key, kind, entry["name"])
        for key, kind in (
            ("flow.congestion-control", "congestion-control"),
            ("link.access.queue.discipline", "queue-discipline"),
            ("flow.application", "application"),
        )
        for entry in CATALOG[kind]
    ],
)
def test_no_parameter_that_is_written_out_at_its_default_is_another_run(
    key: str, kind: str, entry: str
):
    (found,) = (each for each in CATALOG[kind] if each["name"] == entry)
    tag = "kind" if kind == "application" else "name"
    # UDP has no congestion control.
    is_udp = kind == "application" and entry in ("packet-stream", "echo", "full-buffer")
    scenario = re.sub(r"congestion-control = .*\n", "", LOSSY) if is_udp else LOSSY
    plain = run_names(scenario, set={key: {tag: entry}})
    for parameter in found["parameters"]:
        if (entry, parameter["name"]) not in DEPENDING:
            value = parse_value(parameter["default"])
            given = {key: {tag: entry, parameter["name"]: value}}
            assert run_names(scenario, set=given) == plain, parameter["name"]


def test_whatever_changes_the_results_changes_the_name():
    (plain,) = run_names(LOSSY)
    assert run_names(LOSSY, set={"link.access.delay": "11 ms"}) != [plain]
    assert run_names(LOSSY, seeds=[2]) != [plain]
    assert run_names(LOSSY, set={"duration": "3 s"}) != [plain]


def test_a_file_that_the_scenario_reads_is_part_of_the_name(tmp_path: Path):
    trace = tmp_path / "rate.trace"
    trace.write_text("1\n2\n3\n")
    path = tmp_path / "traced.toml"
    path.write_text(LOSSY.replace('"10 Mbit/s"', '{ trace = "rate.trace" }'))
    before = names({"scenario": str(path)})
    trace.write_text("1\n2\n4\n5\n")
    assert names({"scenario": str(path)}) != before


def test_a_channel_from_a_file_is_part_of_a_runs_name(tmp_path: Path):
    table = tmp_path / "gain.csv"
    table.write_text("time_s,ue,cell,gain_db\n0,phone,macro,-90\n")
    path = tmp_path / "drive.toml"
    cell = 'carrier = "2 GHz"\nbandwidth = "20 MHz"\nchannel = { path-loss = "umi" }'
    path.write_text(
        f'duration = "1 s"\n[cell.macro]\n{cell}\n[ue.phone]\n'
        '[channel-file.drive]\nfile = "gain.csv"\n[flow.up]\nfrom = "phone"\nto = "macro"\n'
    )
    (first,) = names({"scenario": str(path)})
    assert names({"scenario": str(path)}) == [first]
    table.write_text("time_s,ue,cell,gain_db\n0,phone,macro,-91.5\n")
    assert names({"scenario": str(path)}) != [first]


def test_the_source_of_a_congestion_control_is_part_of_the_name(tmp_path: Path):
    control = tmp_path / "mine.py"
    body = (
        "class Mine:\n"
        "    def on_ack(self, window, ack):\n        window.cwnd += STEP\n"
        "    def on_congestion(self, window, event):\n        window.ssthresh = 2\n"
    )
    found = []
    for step in (1, 2):
        control.write_text(f"STEP = {step}\n{body}")
        spec = read(
            {
                "scenario": LOSSY,
                "set": {"flow.congestion-control": "mine"},
                "congestion-controls": {"mine": f"{control}:Mine"},
            }
        )
        planner = Planner(spec)
        found.append(planner.job(planner.points[0], 1).run)
        other = read({"scenario": LOSSY, "congestion-controls": {"mine": f"{control}:Mine"}})
        # A class that no flow uses does not change the name of a run.
        with pytest.warns(UserWarning, match="mine"):
            planner = Planner(other)
            assert planner.job(planner.points[0], 1).run == run_names(LOSSY)[0]
    assert found[0] != found[1]


def test_a_class_whose_file_changed_is_loaded_anew(lossy: Path, tmp_path: Path):
    control = tmp_path / "mine.py"
    found = []
    for step in (0.01, 1.0):
        control.write_text(
            "class Mine:\n"
            f"    def on_ack(self, window, ack):\n        window.cwnd += {step}\n"
            "    def on_congestion(self, window, event):\n        window.ssthresh = 2\n"
        )
        campaign = sweep(
            lossy,
            out=tmp_path / "c",
            set={"flow.congestion-control": "mine"},
            congestion_controls={"mine": f"{control}:Mine"},
        )
        found.append(campaign.frame()["fingerprint"][0])
    assert found[0] != found[1]


# --- points ---------------------------------------------------------------------------------


def test_a_grid_has_every_value_with_every_other(lossy: Path, tmp_path: Path):
    grid = {**CONTROLS, "link.access.delay": "5 ms,20 ms"}
    campaign = sweep(lossy, grid, seeds=2, out=tmp_path / "c")
    frame = campaign.frame()
    assert frame.height == 2 * 2 * 2
    assert frame["link.access.delay (ms)"].unique().sort().to_list() == [5.0, 20.0]
    assert frame.columns[:3] == ["point", "flow.congestion-control", "link.access.delay"]


def test_a_run_of_a_campaign_is_the_run_of_that_scenario(lossy: Path, tmp_path: Path):
    frame = sweep(lossy, CONTROLS, seeds=[4], out=tmp_path / "c").frame()
    alone = fadeout.run(lossy, seed=4, set={"flow.congestion-control": "newreno"})
    row = frame.filter(pl.col("flow.congestion-control") == "newreno").row(0, named=True)
    assert row["fingerprint"] == alone.fingerprint
    assert row["goodput_mbps"] == alone.flows["goodput_mbps"][0]


def test_zips_points_samples_and_exclusions_combine():
    document: dict[str, Any] = {
        "scenario": LOSSY,
        "grid": CONTROLS,
        "zip": {
            "link.access.rate": ["5 Mbit/s", "50 Mbit/s"],
            "link.access.delay": ["5 ms", "1 ms"],
        },
    }
    assert len(Planner(read(document)).points) == 4
    document["exclude"] = "rate > 10 and congestion_control = 'newreno'"
    assert len(Planner(read(document)).points) == 3
    document["exclude"] = [{"link.access.rate": ["5 Mbit/s"]}]
    assert len(Planner(read(document)).points) == 2
    document["point"] = [{"flow.profile": "linux"}, {"flow.profile": "rfc"}]
    assert len(Planner(read(document)).points) == 4


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube", "random"])
def test_a_sample_is_the_same_each_time_and_spread_over_its_space(method: str):
    sample = {
        "points": 16,
        "method": method,
        "link.access.rate": {"log-uniform": ["1 Mbit/s", "100 Mbit/s"]},
        "link.access.queue.limit": {"choice": ["50 packets", "100 packets"]},
    }
    found = [read({"scenario": LOSSY, "sample": sample}).axes.all() for _ in range(2)]
    assert found[0] == found[1]
    rates = sorted(float(point["link.access.rate"].split()[0]) for point in found[0])
    assert rates[0] >= 1 and rates[-1] <= 100
    if method != "random":
        # Each sixteenth of the logarithmic range has one point.
        assert [math.floor(math.log10(rate) / 2 * 16) for rate in rates] == list(range(16))


# --- what is on disk is what is done --------------------------------------------------------


def test_a_campaign_that_is_run_again_does_only_what_is_new(lossy: Path, tmp_path: Path):
    out = tmp_path / "c"
    first = sweep(lossy, CONTROLS, seeds=3, out=out).frame()
    assert Campaign.open(out).run().done_now == 0
    document = {"scenario": str(lossy), "seeds": 4}
    more = Campaign({**document, "grid": {"flow.congestion-control": ["cubic", "vegas"]}}, out=out)
    finished = more.run()
    # One seed of cubic and all four of vegas are new. The runs of newreno stay in the folder.
    assert (finished.done_before, finished.done_now) == (3, 5)
    assert finished.status.other == 3
    back = Campaign({**document, "seeds": 3, "grid": CONTROLS}, out=out)
    assert back.run().done_now == 0
    assert back.frame().equals(first)


def test_a_metric_that_runs_do_not_have_is_read_from_new_ones(lossy: Path, tmp_path: Path):
    out = tmp_path / "c"
    sweep(lossy, CONTROLS, seeds=2, out=out, metrics=["goodput_mbps"])
    assert (
        Campaign({"scenario": str(lossy), "grid": CONTROLS, "seeds": 2}, out=out).run().done_now
        == 0
    )
    document = {
        "scenario": str(lossy),
        "grid": CONTROLS,
        "seeds": 2,
        "metrics": ["dropped_packets:sum", "throughput.rate_mbps:p90"],
    }
    campaign = Campaign(document, out=out)
    assert campaign.run().done_now == 4
    frame = campaign.frame()
    assert frame.height == 4
    alone = fadeout.run(lossy, seed=1)
    row = frame.filter(pl.col("seed") == 1).row(0, named=True)
    assert row["dropped_packets:sum"] == alone.links["dropped_packets"].sum()
    p90 = alone.throughput["rate_mbps"].quantile(0.9, interpolation="linear")
    assert row["throughput.rate_mbps:p90"] == p90


def test_a_function_of_the_users_is_a_metric(lossy: Path, tmp_path: Path):
    def ratio(results: fadeout.Results) -> float:
        flow = results.flows.row(0, named=True)
        return flow["retransmitted_segments"] / flow["sent_segments"]

    campaign = sweep(lossy, CONTROLS, seeds=2, out=tmp_path / "c", metrics={"ratio": ratio})
    assert campaign.frame()["ratio"].min() > 0  # pyright: ignore[reportOperatorIssue]
    file = tmp_path / "own.py"
    file.write_text("def half(results):\n    return results.flows['goodput_mbps'][0] / 2\n")
    frame = sweep(lossy, seeds=2, out=tmp_path / "d", metrics=[f"half={file}:half"]).frame()
    assert (frame["half"] * 2).equals(frame["goodput_mbps"], check_names=False)


def test_a_run_that_fails_is_recorded_and_does_not_stop_the_others(lossy: Path, tmp_path: Path):
    def odd(results: fadeout.Results) -> float:
        if results.manifest["seed"] % 2:
            raise ZeroDivisionError("seven")
        return 1.0

    campaign = sweep(lossy, seeds=4, out=tmp_path / "c", metrics={"odd": odd})
    assert campaign.frame()["seed"].to_list() == [2, 4]
    failures = campaign.failures
    assert failures["seed"].to_list() == [1, 3]
    assert failures["reason"].to_list() == ["odd: ZeroDivisionError: seven"] * 2
    # Failed runs are repeated only on request.
    assert campaign.run().done_now == 0
    assert campaign.run(retry=True).done_now == 2
    assert campaign.status().failed == 2


def test_a_run_that_takes_too_long_fails(lossy: Path, tmp_path: Path):
    campaign = sweep(lossy, out=tmp_path / "c", set={"duration": "5000 s"}, run_timeout="0.2 s")
    assert campaign.failures["kind"].to_list() == ["timeout"]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_table_is_the_same_for_any_number_of_workers(lossy: Path, tmp_path: Path, workers: int):
    grid = {**CONTROLS, "link.access.delay": ["5 ms", "20 ms"]}
    one = sweep(lossy, grid, seeds=4, out=tmp_path / "one", jobs=1)
    other = sweep(lossy, grid, seeds=4, out=tmp_path / "other", jobs=workers)
    files = [c.export(tmp_path / f"{n}.parquet") for n, c in (("a", one), ("b", other))]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_ctrl_c_keeps_the_finished_runs(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("fadeout.campaign.engine.TICK_S", 0.0)
    spec = read({"scenario": str(lossy), "seeds": 400})
    campaign = Campaign(spec, tmp_path / "c")

    def interrupt(done: int, total: int) -> None:
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign.run(jobs=1, progress=interrupt)
    kept = campaign.status().done
    assert kept > 0
    finished = campaign.run()
    assert (finished.done_before, finished.done_now) == (kept, 400 - kept)


def test_many_parts_become_one(lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fadeout.campaign.engine.FLUSH_S", 0.0)
    monkeypatch.setattr("fadeout.campaign.engine.TICK_S", 0.0)
    monkeypatch.setattr("fadeout.campaign.campaign.MERGED_ABOVE", 1)
    campaign = sweep(lossy, CONTROLS, seeds=5, out=tmp_path / "c")
    assert len(list((tmp_path / "c/runs").iterdir())) == 1
    assert campaign.frame().height == 10


@pytest.mark.parametrize("reads", [Parts.frame, Parts.new])
def test_parts_are_read_while_another_driver_merges_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: Callable[[Parts], Any]
):
    writer, reader = Parts(tmp_path), Parts(tmp_path)
    rows = [{"run": f"{number}", "point": "p", "seed": number} for number in range(40)]
    for row in rows:
        writer.write([row], KEPT)
    unlink, load = Path.unlink, Parts._load
    found: list[str] = []

    def merge(path: Path, **more: Any) -> None:
        # The reader lists the remaining files after each removal.
        if found:
            unlink(path, **more)

    def merge_while_read(self: Parts, name: str) -> pl.DataFrame:
        if self is reader and len(found) == 3:
            writer.merge()
        found.append(name)
        return load(self, name)

    monkeypatch.setattr(Path, "unlink", merge)
    monkeypatch.setattr(Parts, "_load", merge_while_read)
    frames = reads(reader)
    frame = pl.concat(frames) if isinstance(frames, list) else frames
    assert set(frame["run"]) == {row["run"] for row in rows}


def test_a_list_of_parts_is_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    parts = Parts(tmp_path)
    # A merge between two listings: the first shows neither the old part nor the new one.
    lists = iter([[], ["part-new.parquet"], ["part-new.parquet"]])
    monkeypatch.setattr(Parts, "_listed", lambda _self: next(lists))
    assert parts.names() == ["part-new.parquet"]


def test_a_point_that_is_about_to_get_more_seeds_is_not_the_end(lossy: Path, tmp_path: Path):
    seeds = {"min": 5, "max": 10, "metric": "goodput_mbps", "half-width": 1e-9}
    spec = read({"scenario": str(lossy), "seeds": seeds})
    context = Context(spec.scenarios, spec.metrics)
    kept = [Parts(tmp_path / name) for name in ("runs", "failures")]
    engine = Engine(Planner(spec), spec.seeds, context, kept[0], kept[1], tmp_path / "tables")
    engine.begin()
    seen: list[bool] = []
    look = engine._look

    def look_slowly(point: Point) -> None:
        # Another thread reads `is_finished` meanwhile.
        reader = Thread(target=lambda: seen.append(engine.is_finished))
        reader.start()
        reader.join(0.2)
        look(point)
        readers.append(reader)

    readers: list[Thread] = []
    engine._look = look_slowly
    while (job := engine.take()) is not None:
        outcome = context.do(job, lambda: True)
        assert outcome is not None
        engine.give([outcome])
        # The readers must end before the next outcome, as they may be slow on a busy machine.
        for reader in readers:
            reader.join()
    assert engine.total == engine.finished == 10
    assert seen == [False, True]


def test_tables_over_time_are_kept_on_request(lossy: Path, tmp_path: Path):
    campaign = sweep(lossy, CONTROLS, seeds=2, out=tmp_path / "c", tables=["throughput"])
    table = campaign.table("throughput")
    alone = fadeout.run(lossy, seed=2, set={"flow.congestion-control": "newreno"}).throughput
    of_run = table.filter(pl.col("flow.congestion-control") == "newreno", pl.col("seed") == 2)
    assert of_run.select(alone.columns).equals(alone)
    with pytest.raises(ResultError, match="did you mean 'throughput'"):
        campaign.table("throughputs")


# --- bad input ------------------------------------------------------------------------------


def test_a_grid_that_is_too_large_says_its_size_and_cost(lossy: Path, tmp_path: Path):
    huge = {"link.access.delay": "1..1000:1 ms", "link.access.rate": "1..1000:1 Mbit/s"}
    with pytest.raises(ScenarioError, match=r"(?s)1,000,000 points .* 5,000,000 runs.*--yes"):
        sweep(lossy, huge, seeds=5, out=tmp_path / "c")
    huge["flow.start"] = "0..999:1 ms"
    with pytest.raises(ScenarioError, match=r"(?s)1,000,000,000 points.*10,000,000 runs"):
        sweep(lossy, huge, out=tmp_path / "c", may_be_large=True)
    assert not (tmp_path / "c").exists()


def test_an_unknown_parameter_is_found_before_anything_runs(lossy: Path, tmp_path: Path):
    with pytest.raises(ScenarioError) as caught:
        sweep(lossy, {"link.access.dely": ["1 ms", "2 ms"]}, out=tmp_path / "c")
    (error,) = caught.value.errors
    assert error["suggestion"] is not None and "delay" in error["suggestion"]
    with pytest.raises(ScenarioError, match="did you mean"):
        sweep(lossy, {"flow.congestion-control": ["cubic", "cubik"]}, out=tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"metrics": ["goodput_mbp"]}, "did you mean 'goodput_mbps'"),
        ({"metrics": ["goodput_mbps:p999"]}, "unknown aggregate"),
        ({"metrics": ["flow"]}, "text, not a number"),
        ({"tables": ["through"]}, "did you mean 'throughput'"),
        ({"seeds": 0}, "at least 1"),
        ({"seeds": [1, 1]}, "twice"),
        ({"seeds": {"metric": "goodput_mbps", "half-width": "-1"}}, "half-width"),
        ({"seeds": {"metric": "goodput_mbps", "half-width": "2 %", "max": 3}}, "max is 3"),
        ({"grid": {"a": []}}, "no values"),
        ({"grid": {"a": "9..1"}}, "is empty"),
        ({"grid": {"link": {"access": [1]}}}, "dotted keys"),
        ({"grid": {"a": [1]}, "zip": {"a": [2]}}, "varied in two places"),
        ({"zip": {"a": [1], "b": [1, 2]}}, "different lengths: a 1, b 2"),
        ({"sample": {"points": 4, "a": {"unifrm": [1, 2]}}}, "did you mean 'uniform'"),
        ({"sample": {"points": 4, "a": {"uniform": ["1 ms", "2 s"]}}}, "one unit"),
        ({"sample": {"points": 0, "a": {"uniform": [1, 2]}}}, "number of points"),
        ({"congestion-controls": {"mine": "nowhere.py:Mine"}}, "no file"),
        ({"congestion-controls": {"a=b": "own.py:Mine"}}, "equals sign"),
        ({"scenario": []}, "no scenario"),
        ({"metrics": 7}, "`metrics` = 7"),
        ({"tables": 1.5}, "`tables` is not a list"),
        ({"tables": [1.5]}, "`tables` is not a list"),
        ({"exclude": True}, "`exclude` is not a list"),
        ({"exclude": [1]}, "`exclude` is not a list"),
        ({"point": "a"}, "`point` is not a list"),
        ({"seeds": 1.5}, "`seeds` = 1.5"),
        ({"seeds": 10**30}, "too many"),
        ({"seeds": "1..1000000000"}, "1,000,000,000 seeds are too many"),
        ({"grid": {"a": None}}, "`a` = None"),
        ({"run-timeout": [1]}, "`run-timeout` ="),
        ({"run-timeout": "soon"}, "`run-timeout` ="),
        ({"sample": {"points": 4, "method": [{}], "a": {"uniform": [1, 2]}}}, "unknown method"),
    ],
)
def test_a_mistake_is_named(document: dict[str, Any], message: str):
    with pytest.raises(ScenarioError, match=message):
        read({"scenario": LOSSY, **document})


def test_a_value_that_no_scenario_has_is_a_mistake():
    for value in (None, [None]):
        with pytest.raises(ScenarioError, match="cannot hold a NoneType"):
            Planner(read({"scenario": LOSSY, "grid": {"flow.profile": [value]}}))
    with pytest.raises(ScenarioError, match="duration"):
        Planner(read({"scenario": LOSSY, "grid": {"duration": [10**30]}}))


def test_a_long_range_takes_no_memory():
    axes = read({"scenario": LOSSY, "grid": {"a": "1..1000000000"}}).axes
    assert (axes.count(), axes.grid["a"][999_999_999]) == (10**9, 10**9)


def test_a_file_that_is_nested_deeply_is_a_mistake(tmp_path: Path):
    file = tmp_path / "campaign.toml"
    for text in ("a = " + "[" * 100_000, "a = " + "[" * 100 + "]" * 100, "scenario = '\xff'"):
        file.write_text(text, encoding="latin-1")
        with pytest.raises(ScenarioError, match=r"campaign\.toml"):
            read_file(file)


def test_an_unknown_key_of_a_file_is_shown_with_its_line(tmp_path: Path, lossy: Path):
    file = tmp_path / "campaign.toml"
    file.write_text('scenario = "lossy.toml"\nseds = 3\n')
    with pytest.raises(ScenarioError) as caught:
        read_file(file)
    (error,) = caught.value.errors
    assert (error["line"], error["column"], error["suggestion"]) == (2, 1, "seeds")


@pytest.mark.parametrize(
    ("line", "message", "suggestion"),
    [
        ('"link.access.dely" = ["1 ms", "2 ms"]', "unknown key `dely`", "delay"),
        ('"flow.congestion-control" = ["cubic", "cubik"]', "cubik", "cubic"),
        ('"link.access.delay" = []', "has no values", None),
    ],
)
def test_a_mistake_of_a_file_is_shown_with_its_line(
    tmp_path: Path, lossy: Path, line: str, message: str, suggestion: str | None
):
    file = tmp_path / "campaign.toml"
    file.write_text(f'scenario = "lossy.toml"\n\n[grid]\n{line}\n')
    with pytest.raises(ScenarioError) as caught:
        Campaign(file, out=tmp_path / "c").run()
    (error,) = caught.value.errors
    assert (error["file"], error["line"]) == (str(file), 4)
    assert message in error["message"]
    assert suggestion is None or suggestion in str(error["suggestion"])
    assert not (tmp_path / "c").exists()
