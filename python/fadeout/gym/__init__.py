"""Environments for reinforcement learning, in the interface of Gymnasium.

    import gymnasium
    import fadeout.gym

    env = gymnasium.make("fadeout/CongestionControl-v0", scenario="walk.toml", flow="download")
    envs = gymnasium.make_vec(
        "fadeout/CongestionControl-v0", num_envs=64, vectorization_mode="vector_entry_point"
    )

The import registers the environments. It needs `pip install "fadeout[gym]"`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        'fadeout.gym needs Gymnasium; install it with pip install "fadeout[gym]"'
    ) from error

from fadeout.gym._agents import PRESETS, features
from fadeout.gym._congestion import CongestionControlEnv, CongestionControlVectorEnv
from fadeout.gym._controller import controller
from fadeout.gym._evaluate import Evaluation, evaluate
from fadeout.gym._handover import HandoverEnv
from fadeout.gym._network import save_network
from fadeout.gym._scheduler import CellSchedulerEnv
from fadeout.gym._search import LinearPolicy, search

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from fadeout.gym._parallel import CongestionControlParallelEnv
    from fadeout.gym._stable_baselines import StableBaselinesVecEnv

__all__ = [
    "LINK_POLICY",
    "PRESETS",
    "CellSchedulerEnv",
    "CongestionControlEnv",
    "CongestionControlVectorEnv",
    "Evaluation",
    "HandoverEnv",
    "LinearPolicy",
    "controller",
    "evaluate",
    "features",
    "parallel_env",
    "save_network",
    "search",
    "stable_baselines",
]


def parallel_env(*args: Any, **keywords: Any) -> "CongestionControlParallelEnv":  # noqa: ANN401
    """Returns an environment of several agents, in the interface of PettingZoo.

    The arguments are those of `fadeout.gym._parallel.CongestionControlParallelEnv`.

    Raises:
        ImportError: PettingZoo is missing.
    """
    try:
        from fadeout.gym._parallel import CongestionControlParallelEnv
    except ImportError as error:
        raise ImportError(
            'parallel_env needs PettingZoo; install it with pip install "fadeout[gym]"'
        ) from error
    return CongestionControlParallelEnv(*args, **keywords)


def stable_baselines(envs: "VectorEnv") -> "StableBaselinesVecEnv":
    """Returns a vector in the interface of Stable-Baselines3::

        envs = fadeout.gym.CongestionControlVectorEnv(64, autoreset_mode="SAME_STEP")
        model = stable_baselines3.PPO("MlpPolicy", fadeout.gym.stable_baselines(envs))

    Args:
        envs: a vector with the reset mode `SAME_STEP`. It may have wrappers of Gymnasium.

    Raises:
        ImportError: Stable-Baselines3 is missing.
        ValueError: the vector has another reset mode.
    """
    try:
        from fadeout.gym._stable_baselines import StableBaselinesVecEnv
    except ImportError as error:
        raise ImportError(
            "stable_baselines needs Stable-Baselines3; pip install stable-baselines3"
        ) from error
    return StableBaselinesVecEnv(envs)


IDS = {
    "fadeout/CongestionControl-v0": "CongestionControlEnv",
    "fadeout/Handover-v0": "HandoverEnv",
    "fadeout/CellScheduler-v0": "CellSchedulerEnv",
}
"""The registered environments, with their classes."""

LINK_POLICY = Path(__file__).parent / "policies" / "link.onnx"
"""A small trained policy for `controller`, of five features of the latest three intervals.

`tools/train_policy.py` trained it by PPO. The links had 2 to 50 Mbit/s, delays of 5 to 50 ms and
queues of 20 to 500 packets.
"""

VECTORS = {"fadeout/CongestionControl-v0": "CongestionControlVectorEnv"}
"""The registered environments that have a vector of their own."""

for _name, _class in IDS.items():
    if _name not in gymnasium.registry:
        _vector = f"{__name__}:{VECTORS[_name]}" if _name in VECTORS else None
        gymnasium.register(_name, entry_point=f"{__name__}:{_class}", vector_entry_point=_vector)
