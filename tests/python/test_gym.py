"""Environments for reinforcement learning."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

import fadeout

gymnasium = pytest.importorskip("gymnasium", reason="fadeout[gym] is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import fadeout.gym  # noqa: E402

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
CELL = """
duration = "3 s"
[link.core]
from = "server"
to = "mast"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.mast]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[ue.phone]
position = ["200 m", "0 m"]
[ue.tablet]
position = ["250 m", "30 m"]
[flow.download]
from = "server"
to = "phone"
[flow.other]
from = "server"
to = "tablet"
"""
STREET = """
duration = "8 s"
[link.core]
from = "server"
to = "core"
rate = "1 Gbit/s"
delay = "4 ms"
[link.s1-west]
from = "core"
to = "west"
rate = "1 Gbit/s"
delay = "1 ms"
[link.s1-east]
from = "core"
to = "east"
rate = "1 Gbit/s"
delay = "1 ms"
[link.x2]
from = "west"
to = "east"
rate = "1 Gbit/s"
delay = "2 ms"
[cell.west]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[cell.east]
position = ["600 m", "0 m"]
carrier = "2 GHz"
bandwidth = "10 MHz"
radio = "lte"
channel = { path-loss = "uma" }
[ue.phone]
position = ["60 m", "30 m"]
mobility = { model = "line", x-speed = 60 }
[mobility-management]
signalling = "given"
core = "core"
events = [{ kind = "a3", offset = "2 dB", hysteresis = "1 dB", time-to-trigger = "80 ms" }]
[flow.download]
from = "server"
to = "phone"
"""
CONGESTION = "fadeout/CongestionControl-v0"
RANGES = {
    "link.path.rate": "uniform(5 Mbit/s, 20 Mbit/s)",
    "link.path.delay": {"uniform": ["5 ms", "40 ms"]},
}


def link_env(**more: Any) -> fadeout.gym.CongestionControlEnv:
    return fadeout.gym.CongestionControlEnv(LINK, "download", **more)


def play(env: Any, seed: int, actions: Any) -> list[tuple[Any, ...]]:
    """Returns observation, reward and flags of each step, as bytes and numbers."""
    observation, _ = env.reset(seed=seed)
    found: list[tuple[Any, ...]] = [(observation.tobytes(),)]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(np.atleast_1d(action))
        found.append((observation.tobytes(), reward, terminated, truncated))
        if terminated or truncated:
            break
    return found


MADE: list[tuple[str, dict[str, Any]]] = [
    (CONGESTION, {}),
    *[
        (CONGESTION, {"scenario": LINK, "flow": "download", "preset": preset, "randomise": RANGES})
        for preset in fadeout.gym.PRESETS
    ],
    (
        CONGESTION,
        {
            "scenario": CELL,
            "flow": "download",
            "observation": ["rtt_s", "ue.phone.sinr_db", "bearer.phone.packets"],
        },
    ),
    ("fadeout/Handover-v0", {"scenario": STREET}),
    ("fadeout/CellScheduler-v0", {"scenario": CELL}),
]


@pytest.mark.parametrize(("name", "given"), MADE)
def test_gymnasium_makes_and_checks_every_environment_and_preset_without_a_warning(name, given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, **given)
        check_env(env.unwrapped)
        # The wrappers of Gymnasium check each observation.
        env.reset(seed=1)
        for _ in range(5):
            env.step(env.action_space.sample())
        env.close()


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_gymnasium_makes_vectors_without_a_warning(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(CONGESTION, num_envs=2, vectorization_mode=mode)
        envs.reset(seed=1)
        for _ in range(3):
            envs.step(envs.action_space.sample())
        envs.close()


@pytest.mark.parametrize(("name", "given"), MADE)
def test_stable_baselines_checks_every_environment_without_a_warning(name, given):
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from stable_baselines3.common.env_checker import check_env as check  # pyright: ignore

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(gymnasium.make(name, **given).unwrapped)


def test_the_number_of_steps_ends_an_episode():
    env = gymnasium.make(CONGESTION, scenario=LINK, flow="download", steps=5)
    env.reset(seed=1)
    ends = [env.step(env.action_space.sample())[3] for _ in range(5)]
    assert ends == [False] * 4 + [True]


@pytest.mark.parametrize("scenario", [LINK, "dict", "path"])
def test_a_scenario_is_text_a_dict_or_a_path(scenario, tmp_path):
    import tomllib

    path = tmp_path / "link.toml"
    path.write_text(LINK, encoding="utf-8")
    given = {"dict": tomllib.loads(LINK), "path": path}.get(scenario, scenario)
    assert play(fadeout.gym.CongestionControlEnv(given, "download"), 3, [0.5] * 5) == play(
        link_env(), 3, [0.5] * 5
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda text: fadeout.gym.CongestionControlEnv(text, "download"),
        fadeout.gym.HandoverEnv,
        fadeout.gym.CellSchedulerEnv,
        lambda text: fadeout.gym.evaluate(fadeout.CongestionControl, text),
    ],
    ids=["congestion", "handover", "scheduler", "evaluate"],
)
def test_a_text_that_is_not_toml_is_an_error_of_the_scenario(make):
    with pytest.raises(fadeout.ScenarioError):
        make("[flow\n")


def test_the_same_seed_and_actions_give_the_same_bits_and_another_seed_others():
    actions = np.random.default_rng(1).uniform(-1, 1, 60)
    env = link_env(randomise=RANGES, step_size=0.3)
    first = play(env, 5, actions)
    assert play(env, 5, actions) == first
    assert play(link_env(randomise=RANGES, step_size=0.3), 5, actions) == first
    assert play(env, 6, actions) != first


def test_values_are_drawn_from_their_distributions_and_options_replace_them():
    env = link_env(randomise=RANGES)
    rates = []
    for seed in range(30):
        _, info = env.reset(seed=seed)
        number, unit = info["drawn"]["link.path.rate"].split()
        assert unit == "Mbit/s"
        rates.append(float(number))
    assert 5 <= min(rates) < 7 < 18 < max(rates) <= 20
    _, info = env.reset(seed=1, options={"set": {"link.path.rate": "1 Mbit/s"}})
    assert info["drawn"]["link.path.rate"] == "1 Mbit/s"
    for _ in range(60):
        info = env.step([1.0])[4]
    # 1448 of 1500 bytes are payload.
    assert info["throughput_mbps"] <= 1 * 1448 / 1500 * 1.1


def test_a_rate_below_the_links_is_the_throughput_and_the_queue_stays_empty():
    env = link_env(step_size=0.1)
    env.reset(seed=1)
    info: dict[str, Any] = {}
    # Ten segments in a round trip are about 5 Mbit/s, and 1.1 to the power -5 of it.
    found = []
    for action in [-1.0] * 5 + [0.0] * 100:
        info = env.step([action])[4]
        found.append(info["throughput_mbps"] * info["interval_s"])
    # The first smoothed round-trip time is that of the handshake: 20 ms and the transmission of two
    # small packets.
    start_mbps = 10 * 1448 * 8e-6 / 0.02
    mean_mbps = sum(found[-80:]) / (80 * info["interval_s"])
    assert mean_mbps == pytest.approx(start_mbps / 1.1**5, rel=0.03)
    # One or two segments of 1.2 ms wait for each other, and nothing else is in the queue.
    assert 0.0212 <= info["rtt_s"] < 0.0230
    assert info["loss_ratio"] == 0


def test_auroras_reward_is_that_of_the_publication():
    env = link_env(preset="aurora")
    env.reset(seed=1)
    for _ in range(30):
        _, reward, _, _, info = env.step([1.0])
        segments_per_s = info["throughput_mbps"] * 1e6 / (8 * 1448)
        expected = 10 * segments_per_s - 1e3 * info["rtt_s"] - 2e3 * info["loss_ratio"]
        assert reward == pytest.approx(1e-3 * expected, rel=1e-9)


def test_orca_multiplies_the_window_of_cubic():
    env = link_env(preset="orca", observation=["cwnd_segments"], interval="40 ms")
    first = env.reset(seed=1)[0][0]
    up = env.step([0.5])[0][0]
    assert up > 1.9 * first
    # CUBIC continues from the window: without a change, the window grows further.
    assert env.step([0.0])[0][0] >= up


def test_an_episode_is_truncated_at_the_end_of_the_run_and_terminated_at_the_end_of_the_flow():
    env = link_env(interval="100 ms")
    env.reset(seed=1)
    steps = 0
    info: dict[str, Any] = {}
    truncated = terminated = False
    while not truncated:
        *_, terminated, truncated, info = env.step([0.0])
        steps += 1
    assert (terminated, info["time_s"]) == (False, 4.0)
    assert 38 <= steps <= 40
    small = LINK + 'application = { kind = "transfer", size = "100 kB" }\n'
    env = fadeout.gym.CongestionControlEnv(small, "download", interval="100 ms")
    env.reset(seed=1)
    ends = [env.step([0.0])[2:4] for _ in range(10)]
    assert (True, False) in ends
    assert not any(truncated for _, truncated in ends)


def test_values_of_the_radio_are_those_of_the_run():
    names = ["ue.phone.sinr_db", "ue.phone.mcs", "bearer.phone.rlc_new_bytes"]
    env = fadeout.gym.CongestionControlEnv(
        CELL, "download", observation=names, history=2, interval="50 ms"
    )
    before, _ = env.reset(seed=1)
    assert before.shape == (6,)
    after, *_ = env.step([0.0])
    # The latest interval is last, and the one before moves to the front.
    assert after[:3].tolist() == before[3:].tolist()
    assert -20 < after[3] < 30
    assert 0 <= after[4] <= 28


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"observation": ["rtt"]}, ValueError, 'no feature "rtt".*rtt_s, min_rtt_s'),
        ({"observation": ["ue.phone.sinr_db"]}, ValueError, "expected a scenario with a ue"),
        ({"observation": ["flow.download.srt_s"]}, ValueError, 'expected "srtt_s"'),
        ({"observation": "rtt_s"}, ValueError, "expected a list"),
        ({"flow": "downlod"}, ValueError, 'expected "download"'),
        ({"flow": None}, ValueError, "expected the name of a flow"),
        ({"preset": "auror"}, ValueError, "did you mean 'aurora'"),
        ({"action": "rate"}, ValueError, "rate-factor"),
        ({"reward": "auror"}, ValueError, "aurora"),
        ({"interval": "1 lightyear"}, ValueError, "expected a time such as '20 ms', or '1 rtt'"),
        ({"interval": "0 rtt"}, ValueError, "0.1 to 100 round trips"),
        ({"history": 0}, ValueError, "1 to 1000"),
        ({"step_size": math.nan}, ValueError, "above 0"),
        ({"steps": 0}, ValueError, "at least 1"),
        ({"randomise": {"link.path.rate": "unform(1, 2)"}}, fadeout.ScenarioError, "uniform"),
        ({"randomise": {"link.path.rat": "uniform(1, 2)"}}, fadeout.ScenarioError, "rate"),
        ({"set": {"link.path.dela": "1 ms"}}, fadeout.ScenarioError, "delay"),
        ({"scenario": "missing.toml"}, OSError, "missing.toml"),
    ],
)
def test_a_mistake_in_the_arguments_is_an_error_that_names_it(more, error, message):
    given = {"scenario": LINK, "flow": "download"} | more
    with pytest.raises(error, match=message):
        fadeout.gym.CongestionControlEnv(**given)
    with pytest.raises(error, match=message):
        fadeout.gym.CongestionControlVectorEnv(2, **given)


@pytest.mark.parametrize("action", [[1.5], [math.nan], [0.1, 0.2], 0.5, [-math.inf], [None]])
def test_an_action_outside_of_its_space_is_refused_and_the_episode_goes_on(action):
    env = link_env()
    with pytest.raises(RuntimeError, match="expected a call of reset"):
        env.step([0.0])
    env.reset(seed=1)
    with pytest.raises((ValueError, TypeError), match=r"the action|float"):
        env.step(action)
    assert env.step([0.0])[1] == play(link_env(), 1, [0.0])[1][1]


def test_unknown_options_of_reset_are_refused():
    env = link_env()
    with pytest.raises(ValueError, match='expected "set"'):
        env.reset(options={"sett": {}})
    with pytest.raises(fadeout.ScenarioError, match="rate"):
        env.reset(options={"set": {"link.path.rat": "1 Mbit/s"}})


def test_a_handover_moves_the_ue_to_the_cell_of_the_action():
    env = fadeout.gym.HandoverEnv(STREET)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (3,)
    assert observation[0] > observation[1] > -200
    assert [env.step(0)[4]["cell"] for _ in range(10)] == [0] * 10
    for _ in range(9):
        env.step(1)
    observation, reward, *_, info = env.step(1)
    assert info["cell"] == observation[2] == 1
    assert reward == info["rate_mbps"] > 0
    for wrong in (2, -1, 0.5, math.nan):
        with pytest.raises(ValueError, match="an integer from 0 to 1"):
            env.step(wrong)
    # The agent's policy ignores reports, so only actions move the UE.
    env.reset(seed=1)
    cells = set()
    truncated = False
    while not truncated:
        *_, truncated, info = env.step(0)
        cells.add(info["cell"])
    assert cells <= {0, -1}


def test_a_handover_has_its_cost_and_needs_management():
    cheap, dear = (fadeout.gym.HandoverEnv(STREET, handover_cost=cost) for cost in (0, 7))
    rewards = []
    for env in (cheap, dear):
        env.reset(seed=1)
        rewards.append(env.step(1)[1])
    assert rewards[0] - rewards[1] == pytest.approx(7)
    with pytest.raises(ValueError, match=r"no \[mobility-management\]"):
        fadeout.gym.HandoverEnv(CELL)
    with pytest.raises(ValueError, match="did you mean 'phone'"):
        fadeout.gym.HandoverEnv(STREET, "phon")
    with pytest.raises(ValueError, match="the scenario has no radio"):
        fadeout.gym.CellSchedulerEnv(LINK)


def test_weights_move_rates_between_ues():
    env = fadeout.gym.CellSchedulerEnv(CELL)
    shares = {}
    for sign in (1.0, -1.0):
        env.reset(seed=1)
        rates = np.zeros(2)
        for _ in range(20):
            *_, info = env.step([sign, -sign])
            rates += info["rates_mbps"]
        shares[sign] = rates[0] / rates.sum()
    assert shares[1.0] > 0.7
    assert shares[-1.0] < 0.3
    with pytest.raises(ValueError, match="2 numbers from -1 to 1"):
        env.step([0.0])
    with pytest.raises(fadeout.SettingError, match="compares no rates"):
        fadeout.gym.CellSchedulerEnv(
            CELL,
            set={
                "cell.mast.mac-scheduler": "round-robin",
                "cell.mast.uplink-mac-scheduler": "round-robin",
            },
        )


def test_features_are_listed_with_their_meaning():
    names = [feature.name for feature in fadeout.gym.features()]
    assert len(set(names)) == len(names) > 15
    for preset in fadeout.gym.PRESETS.values():
        assert set(preset.observation) <= set(names)
    with pytest.raises(ValueError, match='no feature "rtt"'):
        fadeout.gym.controller(lambda _: [0.0], observation=["rtt"])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_a_vector_has_the_rewards_of_single_environments_to_the_bit(threads, mode):
    count, steps = 5, 90
    actions = np.random.default_rng(2).uniform(-1, 1, (steps, count, 1)).astype(np.float32)
    vector = fadeout.gym.CongestionControlVectorEnv(
        count,
        LINK,
        "download",
        threads=threads,
        autoreset_mode=mode,
        randomise=RANGES,
        steps=40,
        step_size=0.2,
    )
    singles = [link_env(randomise=RANGES, steps=40, step_size=0.2) for _ in range(count)]
    observations, infos = vector.reset(seed=10)
    firsts = [env.reset(seed=10 + number) for number, env in enumerate(singles)]
    assert observations.tobytes() == b"".join(first[0].tobytes() for first in firsts)
    assert infos["time_s"].tolist() == [first[1]["time_s"] for first in firsts]
    is_over = [False] * count
    for action in actions:
        observations, rewards, terminated, truncated, infos = vector.step(action)
        for number, env in enumerate(singles):
            if is_over[number] and mode == "NEXT_STEP":
                single = (env.reset()[0], 0.0, False, False)
            else:
                single = env.step(action[number])[:4]
            is_over[number] = single[2] or single[3]
            found = (rewards[number], terminated[number], truncated[number])
            assert found == single[1:4]
            if is_over[number] and mode == "SAME_STEP":
                assert infos["final_obs"][number].tobytes() == single[0].tobytes()
                single = env.reset()
            assert observations[number].tobytes() == single[0].tobytes()
    assert sum(is_over) == 0 or mode == "NEXT_STEP"


def test_gymnasium_makes_the_vector_and_a_mask_resets_single_runs():
    vector = gymnasium.make_vec(
        CONGESTION,
        num_envs=3,
        vectorization_mode="vector_entry_point",
        scenario=LINK,
        flow="download",
        max_episode_steps=7,
        autoreset_mode=AutoresetMode.DISABLED,
    )
    assert vector.metadata["autoreset_mode"] == AutoresetMode.DISABLED
    with pytest.raises(RuntimeError, match="expected a call of reset"):
        vector.step(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="a reset of all runs"):
        vector.reset(options={"reset_mask": np.array([True, False, False])})
    first, _ = vector.reset(seed=4)
    observations = first
    for step in range(7):
        observations, *_, truncated, _ = vector.step(np.zeros((3, 1), np.float32))
        assert truncated.tolist() == [step == 6] * 3
    with pytest.raises(RuntimeError, match="expected a reset with its reset_mask"):
        vector.step(np.zeros((3, 1)))
    again, _ = vector.reset(seed=4, options={"reset_mask": np.array([True, False, True])})
    assert again[[0, 2]].tobytes() == first[[0, 2]].tobytes()
    assert again[1].tobytes() == observations[1].tobytes()
    vector.reset(seed=4)
    for wrong, message in [
        (np.zeros(3), r"expected \(3, 1\)"),
        (np.zeros((3, 2)), r"expected \(3, 1\)"),
        (np.full((3, 1), 2.0), "the action of run 0 is 2.0; expected a number from -1 to 1"),
        (np.array([[0.0], [math.nan], [1.0]]), "the action of run 1 is nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            vector.step(wrong)


def test_views_are_overwritten_and_copies_are_not():
    vector = fadeout.gym.CongestionControlVectorEnv(2, LINK, "download", copy=False)
    first, _ = vector.reset(seed=1)
    second = vector.step(np.ones((2, 1)))[0]
    assert np.shares_memory(first, second)


def test_several_agents_in_one_run_pass_pettingzoos_test():
    pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="fadeout[gym] is not installed")
    env = fadeout.gym.parallel_env(CELL, ["download", "other"], interval="20 ms", steps=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pettingzoo_test.parallel_api_test(env, num_cycles=100)
    observations, _ = env.reset(seed=3)
    assert list(observations) == env.possible_agents == ["download", "other"]
    zeros = {agent: np.zeros(1, np.float32) for agent in env.agents}
    first = env.step(zeros)
    env.reset(seed=3)
    second = env.step(zeros)
    assert first[1] == second[1]
    with pytest.raises(ValueError, match="no action of the agent 'other'"):
        env.step({"download": np.zeros(1)})
    with pytest.raises(ValueError, match="did you mean 'other'"):
        env.step(zeros | {"othr": np.zeros(1)})
    with pytest.raises(ValueError, match="a list of different names"):
        fadeout.gym.parallel_env(CELL, ["download", "download"])
    with pytest.raises(ValueError, match='expected "other"'):
        fadeout.gym.parallel_env(CELL, ["download", "othr"])
