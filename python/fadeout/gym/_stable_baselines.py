"""Vectors of environments in the interface of Stable-Baselines3."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]


class StableBaselinesVecEnv(VecEnv):
    """A vector of Gymnasium for the algorithms of Stable-Baselines3.

    The info of a run that is over has `terminal_observation` and `TimeLimit.truncated`.
    """

    def __init__(self, envs: VectorEnv) -> None:
        """Takes over a vector, which may have wrappers.

        Raises:
            ValueError: the reset mode is another one than `SAME_STEP`.
        """
        mode = envs.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            name = getattr(mode, "name", mode)
            raise ValueError(
                f"the reset mode is {name}; Stable-Baselines3 expects autoreset_mode='SAME_STEP'"
            )
        self.envs = envs
        self._actions = np.zeros(0)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Begins an episode in each run, with the seeds of `seed`. Returns the observations."""
        options: dict[str, Any] = self._options[0]
        observations, infos = self.envs.reset(seed=self._seeds, options=options)
        self.reset_infos = self._listed(infos)
        self._reset_seeds()
        self._reset_options()
        return np.array(observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Stores the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carries out the stored actions."""
        stepped = self.envs.step(self._actions)
        observations, rewards, terminated, truncated, infos = stepped
        is_over = terminated | truncated
        listed = self._listed(infos)
        for place in np.flatnonzero(is_over).tolist():
            info = listed[place]
            info["terminal_observation"] = info.pop("final_obs")
            info["TimeLimit.truncated"] = bool(truncated[place] and not terminated[place])
        return np.array(observations), rewards.astype(np.float32), is_over, listed

    def _listed(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns the info of each run. A key with a mask belongs to the runs of the mask only."""
        listed: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for key, values in infos.items():
            if key.startswith("_"):
                continue
            mask = infos.get(f"_{key}")
            if isinstance(values, dict):
                values = self._listed(values)
            for place, info in enumerate(listed):
                if mask is None or mask[place]:
                    info[key] = values[place]
        return listed

    def close(self) -> None:
        """Closes the vector."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401
        """Returns an attribute of the vector once for each run."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> NoReturn:  # noqa: ANN401
        """Raises, because the runs have no attributes of their own."""
        raise NotImplementedError(f"{attr_name} of single runs cannot be set to {value!r}")

    def env_method(self, method_name: str, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ANN401
        """Raises, because the runs have no methods of their own."""
        raise NotImplementedError(f"single runs have no method {method_name}")

    def env_is_wrapped(
        self,
        wrapper_class: type,  # noqa: ARG002
        indices: Any = None,  # noqa: ANN401
    ) -> Sequence[bool]:
        """Returns False for each run, because wrappers are around the whole vector."""
        return [False] * len(list(self._get_indices(indices)))
