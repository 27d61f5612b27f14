"""Trains the policy that ships with `fadeout.gym`, and writes it as an ONNX file.

    python tools/train_policy.py python/fadeout/gym/policies/link.onnx

Needs `fadeout[gym]` and the package onnx. The same versions give the same policy.
"""

import sys
import time

import fadeout.gym

SETTINGS = {
    "observation": ["latency_gradient", "latency_ratio", "send_ratio", "loss_ratio"],
    "history": 1,
    "interval": "1 rtt",
    "action": "rate-factor",
    "step_size": 0.25,
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


def main() -> None:
    """Trains and writes the policy."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    envs = fadeout.gym.CongestionControlVectorEnv(
        64,
        LINK,
        "agent",
        autoreset_mode="DISABLED",
        reward="power",
        steps=150,
        randomise=RANGES,
        **SETTINGS,
    )
    start = time.process_time()

    def show(number: int, reward: float) -> None:
        print(f"round {number + 1}: {reward:.1f}, {time.process_time() - start:.1f} s of CPU")

    policy = fadeout.gym.search(envs, rounds=20, progress=show)
    policy.save(sys.argv[1], SETTINGS)
    print([round(float(weight), 3) for weight in policy.weights], round(float(policy.bias), 3))


if __name__ == "__main__":
    main()
