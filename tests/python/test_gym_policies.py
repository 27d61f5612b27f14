"""Policies as congestion controls, and the environment compared with a model of a link."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fadeout

pytest.importorskip("gymnasium", reason="fadeout[gym] is not installed")

import fadeout.gym

LINK = """
duration = "6 s"
[link.path]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { limit = "60 ms" }
[flow.download]
from = "server"
to = "phone"
"""


def cautious(observation: np.ndarray) -> np.ndarray:
    """Raises the rate while the round-trip time is near its smallest value."""
    return np.array([0.3 if observation[-2] < 1.15 else -0.6])


def linear(path: Path, weights: list[float], settings: dict[str, Any] | None = None) -> Path:
    """Writes a linear policy as an ONNX file."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    matrix = helper.make_tensor("weights", floats, [len(weights), 1], weights)
    node = helper.make_node("MatMul", ["observation", "weights"], ["action"])
    graph = helper.make_graph(
        [node],
        "policy",
        [helper.make_tensor_value_info("observation", floats, [None, len(weights)])],
        [helper.make_tensor_value_info("action", floats, [None, 1])],
        [matrix],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    if settings is not None:
        helper.set_model_props(model, {"fadeout": json.dumps(settings)})
    onnx.save(model, str(path))
    return path


def test_a_policy_is_a_congestion_control_of_an_ordinary_run():
    Mine = fadeout.gym.controller(cautious, preset="aurora", step_size=0.25)  # noqa: N806
    results = fadeout.run(
        LINK,
        seed=1,
        set={"flow.congestion-control": "mine"},
        congestion_controls={"mine": Mine},
    )
    row = results.flows.row(0, named=True)
    # 10 Mbit/s have 9.65 Mbit/s of payload.
    assert 5 < row["goodput_mbps"] < 9.65
    assert row["mean_rtt_s"] < 1.3 * row["min_rtt_s"]
    again = fadeout.run(
        LINK, seed=1, set={"flow.congestion-control": "mine"}, congestion_controls={"mine": Mine}
    )
    assert again.fingerprint == results.fingerprint


def test_a_controller_and_the_environment_lead_to_similar_rates():
    Mine = fadeout.gym.controller(cautious, preset="aurora", step_size=0.25)  # noqa: N806
    results = fadeout.run(
        LINK, set={"flow.congestion-control": "mine"}, congestion_controls={"mine": Mine}
    )
    env = fadeout.gym.CongestionControlEnv(LINK, "download", step_size=0.25)
    observation, info = env.reset(seed=1)
    delivered = 0.0
    truncated = False
    while not truncated:
        observation, _, _, truncated, info = env.step(cautious(observation))
        delivered += info["throughput_mbps"] * info["interval_s"]
    # The controller decides up to one ACK later, which matters while the rate oscillates.
    assert delivered / 6 == pytest.approx(results.flows["goodput_mbps"][0], rel=0.15)


def test_an_onnx_file_is_a_policy_and_its_metadata_has_the_settings(tmp_path):
    pytest.importorskip("onnxruntime", reason="fadeout[gym] is not installed")
    settings = {"observation": ["latency_ratio", "send_ratio"], "history": 1, "step_size": 0.25}
    path = linear(tmp_path / "policy.onnx", [-1.0, 1.1], settings)
    Learned = fadeout.gym.controller(path)  # noqa: N806
    same = fadeout.gym.controller(
        lambda it: it.astype(np.float32) @ np.array([-1.0, 1.1], np.float32), **settings
    )
    rates = [
        fadeout.run(
            LINK, set={"flow.congestion-control": "mine"}, congestion_controls={"mine": cls}
        ).flows["goodput_mbps"][0]
        for cls in (Learned, same)
    ]
    # Sums of 32-bit floats differ in their last digit, which moves single decisions.
    assert rates[0] == pytest.approx(rates[1], rel=0.01)
    with pytest.raises(ValueError, match="does not accept an observation of 3 values"):
        fadeout.gym.controller(path, history=1, observation=["rtt_s", "srtt_s", "interval_s"])
    wrong = linear(tmp_path / "wrong.onnx", [1.0], {"histroy": 2})
    with pytest.raises(ValueError, match="unknown key 'histroy'"):
        fadeout.gym.controller(wrong)
    text = tmp_path / "text.onnx"
    text.write_text("no policy", encoding="utf-8")
    with pytest.raises(ValueError, match="is no ONNX file"):
        fadeout.gym.controller(text)
    with pytest.raises(OSError, match="missing"):
        fadeout.gym.controller(tmp_path / "missing.onnx")


@pytest.mark.parametrize(
    ("policy", "more", "message"),
    [
        (lambda _: np.zeros(2), {}, "returns 2 values; expected one action"),
        (lambda _: 1 / 0, {}, "does not accept an observation of 30 values"),
        (cautious, {"preset": "orca"}, "another congestion control"),
        (cautious, {"observation": ["ue.phone.sinr_db"]}, "sees features only"),
        (cautious, {"preset": "auror"}, "did you mean 'aurora'"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_before_a_run(policy, more, message):
    with pytest.raises(ValueError, match=message):
        fadeout.gym.controller(policy, **more)


def test_nan_from_a_policy_ends_the_run_with_its_results():
    calls = []

    def failing(observation: np.ndarray) -> np.ndarray:
        calls.append(observation)
        return np.array([math.nan if len(calls) > 20 else 0.0])

    Mine = fadeout.gym.controller(failing)  # noqa: N806
    with pytest.raises(
        fadeout.CongestionControlError, match="the policy's action is NaN"
    ) as raised:
        fadeout.run(
            LINK, set={"flow.congestion-control": "mine"}, congestion_controls={"mine": Mine}
        )
    assert 0 < raised.value.results.duration_s < 6


def test_an_evaluation_has_a_row_for_each_scheme_and_a_figure():
    Mine = fadeout.gym.controller(cautious, step_size=0.25)  # noqa: N806
    slow = LINK.replace("10 Mbit/s", "3 Mbit/s")
    found = fadeout.gym.evaluate(
        Mine,
        {"fast": LINK, "slow": slow},
        baselines=["cubic"],
        seeds=[1, 2],
        set={"duration": "3 s"},
    )
    assert [(row.scenario, row.scheme) for row in found.rows] == [
        ("fast", "policy"),
        ("fast", "cubic"),
        ("slow", "policy"),
        ("slow", "cubic"),
    ]
    alone = fadeout.run(LINK, seed=1, set={"duration": "3 s", "flow.congestion-control": "cubic"})
    cubic = found.rows[1]
    assert cubic.goodput_mbps.mean == alone.flows["goodput_mbps"][0]
    assert cubic.p95_rtt_ms.mean > found.rows[0].p95_rtt_ms.mean > 40
    assert found.table.shape == (4, 10)
    assert "policy" in str(found)
    figure = found.plot("slow")
    assert len(figure.axes[0].containers) == 2
    with pytest.raises(ValueError, match="did you mean 'slow'"):
        found.plot("slw")
    for bad, message in [
        ({"seeds": []}, "at least one seed"),
        ({"baselines": ["policy"]}, "the name of the policy"),
        ({"flow": "downlod"}, "downlod"),
    ]:
        with pytest.raises((ValueError, fadeout.ScenarioError), match=message):
            fadeout.gym.evaluate(Mine, LINK, **bad)
    with pytest.raises(fadeout.ScenarioError, match="cubic"):
        fadeout.gym.evaluate(Mine, LINK, baselines=["cubik"], seeds=[1])


def test_rates_lead_to_the_latency_and_throughput_of_an_independent_queue():
    """The model of PCC-RL: packets leave at the sender's rate, wait in one queue without a limit,
    and take the delay of the link. The waiting times follow Lindley's recursion.
    """
    mbps, delay_s, packet = 10.0, 0.02, 1500 * 8e-6
    text = LINK.replace('{ limit = "60 ms" }', '{ limit = "10000 packets" }')
    env = fadeout.gym.CongestionControlEnv(
        text,
        "download",
        observation=["pacing_rate_mbps"],
        history=1,
        interval="60 ms",
        step_size=0.3,
    )
    _, info = env.reset(seed=1)
    random = np.random.default_rng(4)
    starts, rates, latencies, throughputs = [], [], [], []
    # The rate grows beyond the link's, and shrinks again.
    for action in [*[0.6] * 8, *random.uniform(-0.5, 0.5, 30), *[-0.5] * 20]:
        starts.append(info["time_s"])
        observation, _, _, _, info = env.step([action])
        rates.append(float(observation[0]))
        latencies.append(info["rtt_s"])
        throughputs.append(info["throughput_mbps"])
    ends = [*starts[1:], info["time_s"]]
    # Packet by packet: times of departure from the sender, by the rate of the payload.
    sent = []
    now = starts[0]
    for end, rate in zip(ends, rates, strict=True):
        while now < end:
            sent.append(now)
            now += 1448 * 8e-6 / rate
    acked, free = [], 0.0
    for at in sent:
        free = max(at, free) + packet / mbps
        # The ACK of 52 bytes takes its own transmission.
        acked.append((free + 2 * delay_s + 52 * 8e-6 / mbps, free - at + 2 * delay_s))
    times, trips = (np.array(values) for values in zip(*acked, strict=True))
    for number in range(6, len(rates)):
        inside = (times > starts[number]) & (times <= ends[number])
        # The limit of 3 %, and one packet at the ends of an interval of 60 ms.
        assert latencies[number] == pytest.approx(trips[inside].mean(), rel=0.03)
        carried = inside.sum() * 1448 * 8e-6 / 0.06
        assert throughputs[number] == pytest.approx(carried, rel=0.03, abs=1448 * 8e-6 / 0.06)


def test_a_search_finds_a_policy_that_is_better_than_none_and_repeats(tmp_path):
    settings: dict[str, Any] = {
        "observation": ["latency_ratio", "send_ratio"],
        "history": 1,
        "step_size": 0.25,
    }

    def find() -> fadeout.gym.LinearPolicy:
        envs = fadeout.gym.CongestionControlVectorEnv(
            16, LINK, "download", autoreset_mode="DISABLED", reward="power", steps=60, **settings
        )
        return fadeout.gym.search(envs, rounds=4, seed=2)

    found = find()
    assert found.weights.tolist() == find().weights.tolist()

    def reward(policy: Any) -> float:
        env = fadeout.gym.CongestionControlEnv(
            LINK, "download", reward="power", steps=60, **settings
        )
        observation, _ = env.reset(seed=99)
        total = 0.0
        for _ in range(60):
            observation, gained, *_ = env.step(policy(observation))
            total += gained
        return total

    assert reward(found) > 1.2 * reward(lambda _: np.zeros(1))
    pytest.importorskip("onnx", reason="onnx is not installed")
    found.save(tmp_path / "found.onnx", settings)
    Found = fadeout.gym.controller(tmp_path / "found.onnx")  # noqa: N806
    results = fadeout.run(
        LINK, set={"flow.congestion-control": "mine"}, congestion_controls={"mine": Found}
    )
    assert results.flows["goodput_mbps"][0] > 3
    few = fadeout.gym.CongestionControlVectorEnv(4, LINK, "download")
    with pytest.raises(ValueError, match="two policies to keep"):
        fadeout.gym.search(few)
    with pytest.raises(ValueError, match="one for each of the 30 values"):
        fadeout.gym.search(few, spread=[0.5, 0.5])
