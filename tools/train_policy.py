"""Trains the policy that ships with `fadeout.gym` by PPO, and writes it as an ONNX file.

    python tools/train_policy.py python/fadeout/gym/policies/link.onnx
    python tools/train_policy.py --evaluate python/fadeout/gym/policies/link.onnx

The second command prints goodput and round-trip time beside CUBIC's, on links that were not in the
training. Needs `fadeout[gym]`, onnx and stable-baselines3. The training takes a few minutes of one
processor. The simulations of the training are the same on every machine. The network's sums of
32-bit floats depend on the processor and on the version of PyTorch. So the same machine and
versions give the same file, and others may give another policy.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import VectorWrapper

import fadeout
import fadeout.gym
from fadeout._quantities import seconds
from fadeout.gym._worlds import Worlds
from fadeout.statistics import estimate

SETTINGS = {
    "observation": [
        "latency_gradient",
        "latency_ratio",
        "send_ratio",
        "loss_ratio",
        "acked_segments",
    ],
    "history": 3,
    "interval": "1 rtt",
    "action": "rate-factor",
    "step_size": 0.5,
}
"""Arguments of the environment and of `fadeout.gym.controller`."""

LINK = """
duration = "60 s"
[link.path]
from = "server"
to = "phone"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { limit = "200 packets" }
[flow.agent]
from = "server"
to = "phone"
"""

RANGES = {
    "link.path.rate": "log-uniform(2 Mbit/s, 50 Mbit/s)",
    "link.path.delay": "uniform(5 ms, 50 ms)",
    "link.path.queue.limit": "log-uniform(20 packets, 500 packets)",
}
"""The links of the training and of the comparison, which draw them from different seeds."""

RUNS, STEPS, DECISIONS, SEED = 64, 150, 240_000, 1
"""Runs side by side, decisions of an episode, decisions of the training, and its seed."""
UNSEEN_SEED = 10_001
"""First seed of the links of the comparison. The training draws from other seeds."""
FULL_BYTES, ACK_BYTES, PAYLOAD_BYTES = 1500, 52, 1448
"""Sizes of a full segment and of an ACK on the links, and the payload of the segment."""
LIMIT = 10.0
"""Largest absolute value of a feature at the input of the network."""


class Power(VectorWrapper):
    """Rewards for the share of the link that is used, divided by the relative round-trip time.

    A reward of 1 is a full link with an empty queue. The relative time is the mean divided by
    that of a full segment on the empty link. The lost share is subtracted. The agent does not see
    the rate and the delay of its link.
    """

    def __init__(self, env: Any) -> None:  # noqa: ANN401 - any vector
        super().__init__(env)
        self._mbps = np.ones(self.num_envs)
        self._empty_s = np.ones(self.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:  # noqa: ANN401 - Gymnasium's
        """Begins an episode in each run."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._read_links(infos)
        return np.clip(observations, -LIMIT, LIMIT), infos

    def step(self, actions: Any) -> Any:  # noqa: ANN401 - Gymnasium's
        """Steps, and computes the rewards."""
        observations, _, terminated, truncated, infos = self.env.step(actions)
        mbps, rtt_s, lost = (
            np.array(infos[name]) for name in ("throughput_mbps", "rtt_s", "loss_ratio")
        )
        # A run that has begun again has the measurements of its last interval in `final_info`.
        is_over = terminated | truncated
        if is_over.any():
            last = infos["final_info"]
            mbps[is_over] = last["throughput_mbps"][is_over]
            rtt_s[is_over] = last["rtt_s"][is_over]
            lost[is_over] = last["loss_ratio"][is_over]
        rewards = mbps / self._mbps * self._empty_s / rtt_s - lost
        self._read_links(infos)
        return np.clip(observations, -LIMIT, LIMIT), rewards, terminated, truncated, infos

    def _read_links(self, infos: dict[str, Any]) -> None:
        """Reads the links of the runs that have begun."""
        for place in np.flatnonzero(infos.get("_drawn", ())).tolist():
            drawn = infos["drawn"]
            mbps = float(drawn["link.path.rate"][place].removesuffix(" Mbit/s"))
            delay_s = seconds(drawn["link.path.delay"][place])
            self._mbps[place] = mbps * PAYLOAD_BYTES / FULL_BYTES
            self._empty_s[place] = 2 * delay_s + (FULL_BYTES + ACK_BYTES) * 8e-6 / mbps


def train() -> Any:  # noqa: ANN401 - a model of Stable-Baselines3
    """Returns the trained model."""
    import torch  # pyright: ignore[reportMissingImports]
    from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    envs = fadeout.gym.CongestionControlVectorEnv(
        RUNS,
        LINK,
        "agent",
        threads=1,
        autoreset_mode="SAME_STEP",
        steps=STEPS,
        randomise=RANGES,
        **SETTINGS,
    )
    model = PPO(
        "MlpPolicy",
        fadeout.gym.stable_baselines(Power(envs)),
        n_steps=STEPS // 2,
        batch_size=1200,
        n_epochs=6,
        learning_rate=lambda left: 1e-3 * left + 1e-5,
        gamma=0.95,
        seed=SEED,
        device="cpu",
        policy_kwargs={"net_arch": [32, 32], "log_std_init": -1.0},
    )
    return model.learn(DECISIONS)


def layers(model: Any) -> list[tuple[np.ndarray, np.ndarray]]:  # noqa: ANN401
    """Returns the layers from the observation to the mean action."""
    policy = model.policy
    hidden = [layer for layer in policy.mlp_extractor.policy_net if hasattr(layer, "weight")]
    return [
        (layer.weight.detach().numpy().T, layer.bias.detach().numpy())
        for layer in (*hidden, policy.action_net)
    ]


def unseen_links(count: int) -> list[dict[str, Any]]:
    """Returns links that were not in the training, as values by dotted key."""
    worlds = Worlds(LINK, randomise=RANGES)
    seeds = range(UNSEEN_SEED, UNSEEN_SEED + count)
    return [worlds.draw(np.random.default_rng(seed)) for seed in seeds]


@dataclass(frozen=True)
class OnLink:
    """Results of a policy on an unseen link."""

    drawn: dict[str, Any]
    """Values of the link, by dotted key."""
    share: float
    """Goodput, divided by that of CUBIC."""
    ratio: float
    """Mean round-trip time, divided by the smallest one."""
    cubic_ratio: float
    """Mean round-trip time of CUBIC, divided by the smallest one."""


def on_unseen_links(path: Path, count: int) -> Iterator[OnLink]:
    """Yields the results of a policy on unseen links in the first 12 s."""
    learned = fadeout.gym.controller(path)
    for drawn in unseen_links(count):
        found = fadeout.gym.evaluate(learned, LINK, seeds=[1], set={**drawn, "duration": "12 s"})
        policy, cubic = found.rows
        share = policy.goodput_mbps.mean / cubic.goodput_mbps.mean
        yield OnLink(drawn, share, policy.rtt_ratio.mean, cubic.rtt_ratio.mean)


def compare(path: Path) -> None:
    """Prints the policy's results on unseen links, beside those of CUBIC."""
    print("link, goodput / CUBIC's, round trip / smallest, CUBIC's round trip / smallest")
    found = []
    for one in on_unseen_links(path, 20):
        found.append(one)
        link = ", ".join(str(value) for value in one.drawn.values())
        print(f"{link}: {one.share:.3f}, {one.ratio:.3f}, {one.cubic_ratio:.3f}")
    share = estimate([one.share for one in found]).text(".3f")
    ratio = estimate([one.ratio for one in found]).text(".3f")
    print(
        f"{len(found)} links: goodput {share} of CUBIC's at {ratio} times the smallest round trip"
    )


def main() -> None:
    """Trains and writes the policy, or compares it."""
    parser = argparse.ArgumentParser(description="Trains or compares a policy.")
    parser.add_argument("path", type=Path, help="the ONNX file")
    parser.add_argument("--evaluate", action="store_true", help="compare the policy of the file")
    given = parser.parse_args()
    if given.evaluate:
        compare(given.path)
        return
    start = time.process_time()
    model = train()
    fadeout.gym.save_network(given.path, layers(model), SETTINGS, limit=LIMIT)
    print(f"{DECISIONS} decisions in {time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
