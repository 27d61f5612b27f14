"""Training on vectors of environments, and networks as ONNX files."""

import math
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fadeout

pytest.importorskip("gymnasium", reason="fadeout[gym] is not installed")

from gymnasium.vector import AutoresetMode

import fadeout.gym
from fadeout.gym._network import save_network

LINK = """
duration = "4 s"
[link.path]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "10 ms"
queue = { limit = "40 packets" }
[flow.download]
from = "server"
to = "phone"
"""
RANGES = {"link.path.rate": "uniform(5 Mbit/s, 20 Mbit/s)"}


def vector(**more: Any) -> fadeout.gym.CongestionControlVectorEnv:
    given = {"autoreset_mode": "SAME_STEP", "randomise": RANGES, "steps": 12, "threads": 1}
    return fadeout.gym.CongestionControlVectorEnv(3, LINK, "download", **(given | more))


def random_layers(*widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(5)
    pairs = pairwise(widths)
    return [(random.normal(size=pair), random.normal(size=pair[1])) for pair in pairs]


@pytest.mark.parametrize("widths", [(4, 1), (4, 8, 1), (4, 16, 8, 1)])
def test_a_file_computes_what_its_layers_say(widths, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="fadeout[gym] is not installed")
    layers = random_layers(*widths)
    path = tmp_path / "policy.onnx"
    save_network(path, layers, {"history": 1}, limit=3.0)
    first = path.read_bytes()
    save_network(path, layers, {"history": 1}, limit=3.0)
    assert path.read_bytes() == first
    session = runtime.InferenceSession(first, providers=["CPUExecutionProvider"])
    observations = np.random.default_rng(6).normal(scale=4, size=(50, 4)).astype(np.float32)
    (found,) = session.run(None, {"observation": observations})
    values = np.clip(observations, -3, 3)
    for number, (weights, biases) in enumerate(layers, 1):
        values = values @ weights + biases
        values = np.tanh(values) if number < len(layers) else np.clip(values, -1, 1)
    assert found.shape == (50, 1)
    # 32-bit floats have seven digits.
    assert found == pytest.approx(values, abs=1e-5)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "expected at least one"),
        ([(np.zeros((3, 2)), np.zeros(3))], r"expected \(3, n\)"),
        ([(np.zeros((3, 2)), np.zeros(2)), (np.zeros((3, 1)), np.zeros(1))], "layer 2"),
        ([(np.zeros(3), np.zeros(1))], "layer 1"),
        ([(np.full((3, 1), math.nan), np.zeros(1))], "NaN"),
    ],
)
def test_layers_that_do_not_fit_are_refused(layers, message, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(ValueError, match=message):
        save_network(tmp_path / "policy.onnx", layers)
    assert not (tmp_path / "policy.onnx").exists()


def test_a_vector_serves_stable_baselines_with_the_same_values(tmp_path):
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    envs, same = fadeout.gym.stable_baselines(vector()), vector()
    envs.seed(7)
    first, infos = same.reset(seed=7)
    assert np.array_equal(envs.reset(), first)
    rates = [info["drawn"]["link.path.rate"] for info in envs.reset_infos]
    assert rates == list(infos["drawn"]["link.path.rate"])
    random = np.random.default_rng(1)
    ended = 0
    for _ in range(30):
        actions = random.uniform(-1, 1, (3, 1)).astype(np.float32)
        observations, rewards, is_over, infos = envs.step(actions)
        expected = same.step(actions)
        assert np.array_equal(observations, expected[0])
        assert np.array_equal(rewards, expected[1].astype(np.float32))
        assert np.array_equal(is_over, expected[2] | expected[3])
        for place in np.flatnonzero(is_over):
            ended += 1
            last = expected[4]["final_obs"][place]
            assert np.array_equal(infos[place]["terminal_observation"], last)
            assert infos[place]["TimeLimit.truncated"]
            assert infos[place]["final_info"]["rtt_s"] > 0.02
    assert ended == 6
    with pytest.raises(NotImplementedError, match="no method"):
        envs.env_method("render")
    assert envs.env_is_wrapped(object) == [False] * 3


def test_another_reset_mode_is_refused():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    with pytest.raises(ValueError, match=r"NEXT_STEP.*SAME_STEP"):
        fadeout.gym.stable_baselines(vector(autoreset_mode=AutoresetMode.NEXT_STEP))


def test_ppo_learns_on_a_vector_and_the_same_seed_gives_the_same_weights():
    baselines = pytest.importorskip(
        "stable_baselines3", reason="stable-baselines3 is not installed"
    )

    def weights() -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            envs = fadeout.gym.stable_baselines(vector())
            model = baselines.PPO("MlpPolicy", envs, n_steps=16, batch_size=24, seed=3)
            model.learn(96)
        return [value.detach().numpy() for value in model.policy.parameters()]

    for one, other in zip(weights(), weights(), strict=True):
        assert np.array_equal(one, other)


def test_without_stable_baselines_the_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "fadeout.gym._stable_baselines", raising=False)
    with pytest.raises(ImportError, match="pip install stable-baselines3"):
        fadeout.gym.stable_baselines(vector())


def test_the_trained_policy_has_nine_tenths_of_cubics_goodput_with_a_short_queue_on_unseen_links():
    pytest.importorskip("onnxruntime", reason="fadeout[gym] is not installed")
    import train_policy

    found = list(train_policy.on_unseen_links(fadeout.gym.LINK_POLICY, 8))
    assert np.mean([one.share for one in found]) >= 0.9
    assert np.mean([one.ratio for one in found]) <= 1.3


def test_the_trained_policy_has_the_settings_of_its_script():
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    import json

    import train_policy

    model = onnx.load(Path(fadeout.gym.LINK_POLICY))
    (stored,) = [it.value for it in model.metadata_props if it.key == "fadeout"]
    assert json.loads(stored) == train_policy.SETTINGS
