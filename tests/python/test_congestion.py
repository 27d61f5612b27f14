"""Tests of user-written congestion controls."""

import json
import math
import re
import shlex
import signal
import sys
import textwrap
import threading
import traceback

import pytest

import fadeout
from conftest import ROOT
from fadeout import congestion
from fadeout.cli.app import app
from fadeout.congestion import CongestionControl, CongestionControlError
from fadeout.results import Results

SCENARIO = textwrap.dedent(
    """
    duration = "3 s"
    seed = 3
    [link.access]
    from = "server"
    to = "phone"
    rate = "10 Mbit/s"
    delay = "10 ms"
    queue.limit = "20 packets"
    loss = { probability = 0.001 }
    [flow.own]
    from = "server"
    to = "phone"
    congestion-control = "mine"
    """
)


class NewReno(CongestionControl):
    """A copy of the built-in `newreno`."""

    def __init__(self, beta=0.5, slow_start_limit=1.0):
        self.beta, self.slow_start_limit = beta, slow_start_limit

    def on_ack(self, window, ack):
        if not ack.is_growth_due or ack.acked == 0:
            return
        if window.in_slow_start:
            window.cwnd += min(ack.acked, self.slow_start_limit)
        else:
            window.cwnd += 1 / window.cwnd

    def on_congestion(self, window, event):
        window.ssthresh = max(min(event.flight_size, window.cwnd) * self.beta, 2)


class Silent:
    """A class with only the required methods, without the base class."""

    def on_ack(self, window, ack):
        pass

    def on_congestion(self, window, event):
        window.ssthresh = 2


def run(cls, text=SCENARIO, **more):
    return fadeout.run(text, congestion_controls={"mine": cls}, **more)


def with_parameters(given: str) -> str:
    return SCENARIO.replace('"mine"', f'{{ name = "mine", {given} }}')


def built_in(parameters: str = "") -> Results:
    return fadeout.run(SCENARIO.replace('"mine"', f'{{ name = "newreno" {parameters} }}'))


def test_newreno_in_python_has_the_fingerprint_of_the_built_in_one():
    own = run(NewReno)
    assert own.fingerprint == built_in().fingerprint
    assert own.flows["recoveries"].item() > 0
    assert own.flows["congestion_control"].item() == "mine"


def test_a_run_repeats_bit_for_bit():
    first, again = run(NewReno), run(NewReno)
    assert first.fingerprint == again.fingerprint
    assert first.congestion.equals(again.congestion)


def test_parameters_of_the_scenario_become_keywords():
    own = run(NewReno, with_parameters("beta = 0.8, slow-start-limit = 2"))
    other = built_in(", beta = 0.8, slow-start-limit = 2")
    assert own.fingerprint == other.fingerprint != run(NewReno).fingerprint
    flow = own.manifest["scenario"]["flow"]["own"]
    assert flow["congestion-control"]["beta"] == 0.8


def test_parameters_keep_their_types():
    seen = []

    class Mine(Silent):
        def __init__(self, **given):
            seen.append(given)

    run(Mine, with_parameters('n = 3, x = 0.5, on = true, word = "20 ms"'))
    assert seen[0] == {"n": 3, "x": 0.5, "on": True, "word": "20 ms"}
    assert [type(value) for value in seen[0].values()] == [int, float, bool, str]


def test_each_end_of_each_flow_has_an_instance_of_its_own():
    made = []

    class Mine(NewReno):
        def __init__(self):
            super().__init__()
            made.append(self)
            self.acks = 0

        def on_ack(self, window, ack):
            self.acks += 1
            super().on_ack(window, ack)

    run(Mine, SCENARIO + "count = 3")
    assert len(made) == 6
    assert sum(one.acks > 0 for one in made) == 3


MULTIPATH = """
duration = "2 s"
[link.one]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
queue.limit = "20 packets"
[link.two]
from = "a"
to = "b"
rate = "5 Mbit/s"
delay = "20 ms"
queue.limit = "20 packets"
[flow.own]
from = "a"
to = "b"
congestion-control = "mine"
multipath = { paths = [["one"], ["two"]], coupling = "uncoupled" }
"""


def test_each_path_of_a_multipath_flow_has_an_instance_of_its_own():
    own = run(NewReno, MULTIPATH)
    other = fadeout.run(MULTIPATH.replace("mine", "newreno"))
    assert own.fingerprint == other.fingerprint


def test_optional_methods_are_called_with_what_they_are_about():
    seen = {}

    class Mine(NewReno):
        def on_established(self, window, srtt_s):
            # Only the first call counts, as the receiver's own call follows later.
            seen.setdefault("established", (window.time_s, srtt_s, window.mss_bytes))

        def on_recovered(self, window, time_s):
            seen["recovered"] = time_s == window.time_s

        def on_sent(self, window, sent):
            seen.setdefault("sent", []).append((sent.length_bytes, sent.is_retransmission))

        def on_link_info(self, window, info):
            seen.setdefault("info", []).append((info.kind, info.lasts_s))

        def on_idle_restart(self, window, idle_s):
            seen["idle_s"] = idle_s

        def on_ack(self, window, ack):
            super().on_ack(window, ack)
            seen["ack"] = ack
            assert ack.time_s == window.time_s

    blocked = SCENARIO + textwrap.dedent(
        """
        link-info = { link = "access", prediction = "50 ms" }
        [blockage.bus]
        link = "access"
        schedule = { period = "1 s", duration = "0.1 s", phase = "0.5 s" }
        effect = "lost"
        """
    )
    flow = run(Mine, blocked).flows.row(0, named=True)
    time_s, srtt_s, mss_bytes = seen["established"]
    # Two delays of 10 ms, and two packets of some 60 bytes at 10 Mbit/s: 50 us each.
    assert 0.02 < srtt_s <= time_s < 0.022
    assert mss_bytes == flow["mss_bytes"]
    assert seen["recovered"]
    assert len(seen["sent"]) == flow["sent_segments"]
    assert sum(again for _, again in seen["sent"]) == flow["retransmitted_segments"] > 0
    kinds = [kind for kind, _ in seen["info"]]
    for kind in ("blockage-predicted", "blockage-began", "blockage-ended"):
        assert kinds.count(kind) >= 2, kinds
    predicted = [lasts for kind, lasts in seen["info"] if kind == "blockage-predicted"]
    assert predicted[0] == pytest.approx(0.1)
    ack = seen["ack"]
    assert ack.min_rtt_s <= ack.srtt_s
    assert ack.rate.delivered >= 0
    assert ack.state in {"open", "disorder", "cwr", "recovery", "loss"}


def test_a_pacing_rate_limits_the_sender():
    class Paced(NewReno):
        def on_established(self, window, srtt_s):
            window.pacing_rate_mbps = 2

    goodput = run(Paced).flows["goodput_mbps"].item()
    # The range allows for pacing with or without headers of 52 bytes for a payload of 1448.
    assert 1.8 < goodput < 2.1


def refusal(cls, text=SCENARIO) -> str:
    with pytest.raises(fadeout.ScenarioError) as caught:
        run(cls, text)
    return str(caught.value)


def test_a_class_without_a_method_is_refused_before_the_run():
    class Mine:
        def on_ack(self, window, ack):
            raise AssertionError("the run started")

        def on_congested(self, window, event):
            pass

    message = refusal(Mine)
    assert "Mine has no method on_congestion" in message
    assert "'on_congested'" in message
    assert "on_congestion(self, window, event)" in message
    assert "no method on_ack and no on_congestion" in refusal(CongestionControl)


def test_a_method_that_takes_something_else_is_refused():
    class Mine:
        def on_ack(self, window):
            pass

        def on_congestion(self, window, event):
            pass

    assert "Mine.on_ack cannot be called: too many positional arguments" in refusal(Mine)


def test_what_is_no_class_is_refused():
    assert "expected a class, found int" in refusal(3)
    with pytest.raises(TypeError, match="a dict of classes by name"):
        fadeout.run(SCENARIO, congestion_controls=Silent)  # type: ignore[arg-type]


def test_a_constructor_that_raises_is_refused_with_its_cause():
    class Mine(Silent):
        def __init__(self):
            raise RuntimeError("no luck")

    with pytest.raises(fadeout.ScenarioError, match=r"Mine\(\) raised RuntimeError: no luck") as e:
        run(Mine)
    assert isinstance(e.value.__cause__, RuntimeError)


def test_a_parameter_that_the_class_does_not_take_is_refused():
    message = refusal(NewReno, with_parameters("betta = 0.8"))
    assert "NewReno(betta=0.8)" in message
    assert "NewReno takes beta, slow_start_limit" in message
    assert "expected a number, a text, true or false" in refusal(NewReno, with_parameters("x = []"))


@pytest.mark.parametrize("name", ["cubic", "rfc5681"])
def test_the_name_of_a_built_in_one_is_refused(name):
    with pytest.raises(fadeout.ScenarioError, match="a built-in one has this name"):
        fadeout.run(SCENARIO, congestion_controls={name: Silent})


def test_a_mistyped_name_is_refused_with_the_nearest():
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.run(SCENARIO, congestion_controls={"mien": Silent})
    assert caught.value.errors[0]["suggestion"] == "`mien`"


def test_a_name_that_no_flow_uses_is_warned_of():
    text = SCENARIO.replace("mine", "cubic")
    with pytest.warns(UserWarning, match="no flow uses the congestion control 'mine'") as caught:
        run(Silent, text)
    # The warning names the caller's file.
    assert caught[0].filename == __file__


def test_check_finds_the_same_without_running():
    fadeout.check(SCENARIO, congestion_controls={"mine": NewReno})
    with pytest.raises(fadeout.ScenarioError, match="has no method"):
        fadeout.check(SCENARIO, congestion_controls={"mine": object})


class Failing(NewReno):
    def on_ack(self, window, ack):
        if ack.time_s > 1:
            raise LookupError("lost my notes")
        super().on_ack(window, ack)


def test_an_exception_ends_the_run_and_keeps_what_was_recorded(tmp_path):
    with pytest.raises(CongestionControlError) as caught:
        run(Failing, out=tmp_path / "run")
    error = caught.value
    assert str(error).startswith('flow "own": Failing.on_ack raised LookupError at 1.0')
    assert str(error).endswith("lost my notes")
    cause = error.__cause__
    assert isinstance(cause, LookupError)
    assert "raise LookupError" in "".join(traceback.format_exception(cause))
    kept = Results.open(tmp_path / "run")
    for results in (error.results, kept):
        assert not results.is_complete
        # The run stops at the first ACK after one second. At 10 Mbit/s an ACK comes every 2.4 ms.
        assert 1 < results.duration_s < 1.01
        # One row every 10 ms, and the first after a round trip.
        assert 95 < len(results.congestion) < 100
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["complete"] is False
    with pytest.raises(CongestionControlError) as again:
        run(Failing)
    assert again.value.results.fingerprint == kept.fingerprint


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("cwnd", math.nan),
        ("cwnd", -3),
        ("cwnd", 0),
        ("cwnd", 1e12),
        ("cwnd", math.inf),
        ("cwnd", "ten"),
        ("ssthresh", math.nan),
        ("ssthresh", 0),
        ("ssthresh", 1e9),
        ("ssthresh", 1e18),
        ("pacing_rate_mbps", 0),
        ("pacing_rate_mbps", math.inf),
    ],
)
def test_an_absurd_window_names_class_and_method(attribute, value):
    class Mine(NewReno):
        def on_congestion(self, window, event):
            setattr(window, attribute, value)

    with pytest.raises(CongestionControlError) as caught:
        run(Mine)
    assert "Mine.on_congestion raised" in str(caught.value)
    assert f"{attribute} = " in str(caught.value)
    assert "expected" in str(caught.value)


@pytest.mark.parametrize("profile", ["linux", "newreno", "reno"])
def test_an_infinite_threshold_leaves_the_window(profile):
    class Mine(NewReno):
        def on_congestion(self, window, event):
            window.ssthresh = math.inf

    text = SCENARIO.replace("[flow.own]", f'[flow.own]\nprofile = "{profile}"')
    results = run(Mine, text)
    assert results.flows["recoveries"].item() > 0
    # The window grows by a segment for each ACK, and 3 s at 10 Mbit/s have some 2,500 ACKs.
    assert results.flows["max_cwnd_segments"].item() < 10_000


def test_an_interrupt_inside_a_method_passes_as_it_is(tmp_path):
    class Mine(NewReno):
        def on_ack(self, window, ack):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Mine, out=tmp_path / "run")
    assert not Results.open(tmp_path / "run").is_complete


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_run_of_ones_own():
    endless = SCENARIO.replace('"3 s"', '"100000 s"')
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(NewReno, endless)
    timer.join()


CONTROL = """
from dataclasses import dataclass

from helper import KEPT


@dataclass
class Mine:
    increase: float = 1.0

    def on_ack(self, window, ack):
        if ack.is_growth_due:
            window.cwnd += self.increase / window.cwnd

    def on_congestion(self, window, event):
        window.ssthresh = max(window.cwnd * KEPT, 2)


class Broken(Mine):
    def on_ack(self, window, ack):
        window.cwnd = float("nan")
"""


@pytest.fixture
def control(tmp_path, cli):
    (tmp_path / "control.py").write_text(CONTROL)
    (tmp_path / "helper.py").write_text("KEPT = 0.5")
    (tmp_path / "my.toml").write_text(SCENARIO)

    def command(name, *more, place="control.py"):
        return ["run", "my.toml", "--no-figures", "-o", "x", "-c", f"{name}={place}", *more]

    return command


def test_the_command_takes_a_class_of_a_file(cli, control):
    result = cli.invoke(app, control("mine", place="control.py:Mine"))
    assert result.exit_code == 0, result.output
    assert "mine" in result.output
    checked = cli.invoke(app, ["check", "my.toml", "-c", "mine=control.py:Mine"])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("control.py", "expected NAME=FILE.py:CLASS"),
        ("nowhere.py:Mine", "no file nowhere.py"),
        ("my.toml:Mine", "my.toml is not a Python file"),
        ("control.py:Mien", "unknown class 'Mien', did you mean 'Mine'?"),
        ("wrong.py:Mine", "SyntaxError"),
    ],
)
def test_the_command_refuses_what_is_no_class_of_a_file(cli, control, tmp_path, place, expected):
    (tmp_path / "wrong.py").write_text("class Mine(:\n")
    result = cli.invoke(app, control("mine", place=place))
    assert result.exit_code == 2, result.output
    assert expected in result.stderr
    assert not (tmp_path / "x").exists()


def test_the_command_shows_the_traceback_and_keeps_the_results(cli, control, tmp_path):
    result = cli.invoke(app, control("mine", place="control.py:Broken"))
    assert result.exit_code == 1
    assert 'control.py", line' in result.stderr
    assert 'window.cwnd = float("nan")' in result.stderr
    assert "Broken.on_ack raised ValueError" in result.stderr
    assert not Results.open(tmp_path / "x").is_complete


PAGE = (ROOT / "docs" / "custom-congestion-control.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_example_of_the_docs_runs(cli, tmp_path, monkeypatch, capsys):
    written, used = blocks("python")
    (tmp_path / "aimd.py").write_text(written)
    (tmp_path / "compete.toml").write_text(blocks("toml")[0])
    monkeypatch.syspath_prepend(tmp_path)
    scope = {}
    exec(compile(used, "docs", "exec"), scope)
    assert "aimd" in capsys.readouterr().out
    goodput = scope["results"].flows["goodput_mbps"].to_list()
    # The rate is 20 Mbit/s, and 1448 of each 1500 bytes are goodput.
    assert 17.5 < sum(goodput) < 19.4
    command = shlex.split(blocks("sh")[0])
    result = cli.invoke(app, [*command[1:], "--no-figures", "--out", "run"])
    assert result.exit_code == 0, result.output
    assert Results.open("run").fingerprint == scope["results"].fingerprint


def test_the_docs_name_every_method():
    for method in (*congestion.REQUIRED, *congestion.OPTIONAL):
        assert f"`{method}(window, " in PAGE, method


def test_an_override_can_name_a_class_of_ones_own():
    text = SCENARIO.replace('"mine"', '"cubic"')
    own = run(NewReno, text, set={"flow.congestion-control": "mine"})
    assert own.fingerprint == built_in().fingerprint
