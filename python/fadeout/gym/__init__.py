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
from fadeout.gym._scheduler import CellSchedulerEnv
from fadeout.gym._search import LinearPolicy, search

if TYPE_CHECKING:
    from fadeout.gym._parallel import CongestionControlParallelEnv

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
    "search",
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


IDS = {
    "fadeout/CongestionControl-v0": "CongestionControlEnv",
    "fadeout/Handover-v0": "HandoverEnv",
    "fadeout/CellScheduler-v0": "CellSchedulerEnv",
}
"""The registered environments, with their classes."""

LINK_POLICY = Path(__file__).parent / "policies" / "link.onnx"
"""A small trained policy for `controller`, of four features of the latest interval.

`tools/train_policy.py` trained it by `search` in a minute of processor time, on links of 2 to 50
Mbit/s with delays of 5 to 50 ms.
"""

VECTORS = {"fadeout/CongestionControl-v0": "CongestionControlVectorEnv"}
"""The registered environments that have a vector of their own."""

for _name, _class in IDS.items():
    if _name not in gymnasium.registry:
        _vector = f"{__name__}:{VECTORS[_name]}" if _name in VECTORS else None
        gymnasium.register(_name, entry_point=f"{__name__}:{_class}", vector_entry_point=_vector)
