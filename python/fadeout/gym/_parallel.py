"""Several agents in one run, in the interface of PettingZoo."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from pettingzoo import ParallelEnv

from fadeout import _names
from fadeout._run import Source
from fadeout.gym._congestion import Arrays, Setup
from fadeout.gym._worlds import Distribution


class CongestionControlParallelEnv(ParallelEnv[str, np.ndarray, np.ndarray]):
    """A run in which several agents decide the windows or rates of their flows at the same times.

    The agents have the names of their flows. An interval in round-trip times is that of the agent
    with the longest one. All agents end together: at the end of the run, after `steps` decisions,
    or when all flows have completed. The info of an agent is that of `CongestionControlEnv`.
    """

    metadata = {"name": "fadeout_congestion_control_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Source,
        flows: Sequence[str],
        *,
        preset: str = "aurora",
        observation: Sequence[str] | None = None,
        history: int | None = None,
        interval: str | float | None = None,
        action: str | None = None,
        step_size: float = 0.025,
        reward: str | None = None,
        steps: int | None = None,
        randomise: Mapping[str, Distribution] | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of `fadeout.run`
        render_mode: str | None = None,
    ) -> None:
        """Reads the scenario. Other arguments are those of `CongestionControlEnv`.

        Args:
            scenario: the path of a scenario file, its TOML text, or the scenario as a dict.
            flows: the names of the agents' flows.

        Raises:
            ScenarioError: the scenario or a distribution is wrong.
            ValueError: a name is unknown or given twice, or a number is out of its range.
            OSError: the scenario cannot be read.
        """
        self.render_mode = render_mode
        given = {key: value for key, value in locals().items() if key not in ("self", "flows")}
        if isinstance(flows, str) or len({*flows}) != len(flows):
            raise ValueError(f"flows is {flows!r}; expected a list of different names")
        self._setup = Setup(flows, given)
        self.possible_agents = list(flows)
        self.agents: list[str] = []
        self._episodes = self._setup.agents.episodes(1)
        self._arrays = Arrays(self._setup.agents, 1)
        self._random, _ = np_random()
        agents = self._setup.agents
        self._spaces = dict.fromkeys(flows, (agents.observation_space, agents.action_space))

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Returns the space of an agent's observations."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> gymnasium.Space:
        """Returns the space of an agent's actions."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
        """Begins an episode, as `CongestionControlEnv.reset` does.

        Args:
            seed: the seed of the drawn values and of the run. Default: the next random numbers.
            options: `"set"` has values in place of the drawn ones. Other options are ignored, as
                PettingZoo requires.

        Returns:
            The observations, and the infos with the drawn values.
        """
        if seed is not None:
            self._random, _ = np_random(seed)
        known = {key: value for key, value in (options or {}).items() if key == "set"}
        drawn = self._setup.begin(self._episodes, 0, self._random, known)
        self.agents = list(self.possible_agents)
        self._arrays.read(self._episodes)
        infos = {name: info | {"drawn": drawn} for name, info in self._infos().items()}
        return self._observations(), infos

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, np.ndarray],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Carries out a decision of each agent and simulates one interval.

        Raises:
            ValueError: an action is missing, outside of its space, or not a number.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        for name in actions:
            if name not in self.agents:
                raise ValueError(_names.unknown("agent", name, self.agents))
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise ValueError(f"no action of the agent {missing[0]!r}; expected one of each agent")
        given = [np.asarray(actions[name], np.float64).reshape(-1) for name in self.agents]
        arrays = self._arrays
        shape = (len(self.agents), 1)
        checked = self._setup.agents.check_actions(given, shape)
        self._episodes.step(checked, arrays.stepped)
        arrays.read(self._episodes)
        terminated, truncated = bool(arrays.terminated[0]), bool(arrays.truncated[0])
        names = list(self.agents)
        observations, infos = self._observations(), self._infos()
        if terminated or truncated:
            self.agents = []
        return (
            observations,
            dict(zip(names, arrays.rewards[0].tolist(), strict=True)),
            dict.fromkeys(names, terminated),
            dict.fromkeys(names, truncated),
            infos,
        )

    def _observations(self) -> dict[str, np.ndarray]:
        rows = self._arrays.observations[0]
        return {name: row.copy() for name, row in zip(self.possible_agents, rows, strict=True)}

    def _infos(self) -> dict[str, dict[str, Any]]:
        names = enumerate(self.possible_agents)
        return {name: self._arrays.info(0, number) for number, name in names}
