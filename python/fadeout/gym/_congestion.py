"""Environment in which an agent decides the window or the rate of a flow."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fadeout import _native
from fadeout._run import Source
from fadeout.gym._agents import MEASURED, Agents, agents_of
from fadeout.gym._worlds import Distribution, Worlds

LINK = """
title = "A link with one flow"
duration = "60 s"
[link.path]
from = "sender"
to = "receiver"
rate = "3 Mbit/s"
delay = "50 ms"
queue = { limit = "50 packets" }
[flow.agent]
from = "sender"
to = "receiver"
congestion-control = "cubic"
"""
"""The scenario without another one."""

LINK_RANGES: Mapping[str, Distribution] = {
    # Jay et al., ICML 2019, section 5. Rates are 100 to 500 packets of 1500 bytes per second, and
    # round trips 50 to 500 ms. Queues have 2 to 2981 packets, and the loss is up to 5 %.
    "link.path.rate": {"uniform": ["1.2 Mbit/s", "6 Mbit/s"]},
    "link.path.delay": {"uniform": ["25 ms", "250 ms"]},
    "link.path.queue.limit": {"log-uniform": ["2 packets", "2981 packets"]},
    "link.path.loss.probability": {"uniform": [0, 0.05]},
}
"""The distributions of the scenario without another one."""


class Setup:
    """Scenario and agents of an environment."""

    def __init__(self, flows: Sequence[str] | None, given: Mapping[str, Any]) -> None:
        scenario, randomise = given["scenario"], given["randomise"]
        if scenario is None:
            scenario = LINK
            randomise = LINK_RANGES if randomise is None else randomise
            flows = ["agent"] if flows is None else flows
        if not flows:
            raise ValueError("flow is missing; expected the name of a flow of the scenario")
        self.agents: Agents = agents_of(
            flows,
            preset=given["preset"],
            observation=given["observation"],
            history=given["history"],
            action=given["action"],
            step_size=given["step_size"],
            reward=given["reward"],
            interval=given["interval"],
            steps=given["steps"],
        )
        self.worlds = Worlds(scenario, randomise=randomise, replace=given["set"])
        # A mistake of the scenario or of a name is an error of the constructor, not of a reset.
        drawn = self.worlds.draw(np.random.default_rng(0))
        self.agents.episodes(1).check(self.worlds.build(drawn, 0))

    def begin(
        self,
        episodes: _native.Episodes,
        place: int,
        random: np.random.Generator,
        options: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Begins an episode with the next random numbers. Returns the drawn values.

        Raises:
            ScenarioError: the scenario is wrong with the drawn values.
            ValueError: an option is unknown, or has the wrong type.
        """
        drawn, seed = self.worlds.reset(random, options)
        episodes.begin(place, self.worlds.build(drawn, seed))
        return drawn


class Arrays:
    """Arrays that the native episodes fill."""

    def __init__(self, agents: Agents, count: int) -> None:
        many = len(agents.flows)
        self.observations = np.zeros((count, many, agents.values), np.float32)
        self.rewards = np.zeros((count, many))
        self.terminated = np.zeros(count, np.uint8)
        self.truncated = np.zeros(count, np.uint8)
        self.measured = np.zeros((count, many, len(MEASURED)))
        self.stepped = np.ones(count, np.uint8)

    def read(self, episodes: _native.Episodes) -> None:
        """Reads the results of the latest step of all episodes."""
        episodes.read(
            self.observations, self.rewards, self.terminated, self.truncated, self.measured
        )

    def info(self, place: int, agent: int = 0) -> dict[str, Any]:
        """Returns the measurements of an agent."""
        return dict(zip(MEASURED, self.measured[place, agent].tolist(), strict=True))


class CongestionControlEnv(gymnasium.Env):
    """A run in which an agent decides the window or the rate of a flow, interval by interval.

    An episode is truncated at the end of the run, or after `steps` decisions. It is terminated if
    the flow completes. The same seed and actions give the same rewards, bit for bit.

    `info` has `time_s`, `interval_s`, `throughput_mbps`, `rtt_s` and `loss_ratio` of the latest
    interval. After a reset, it also has the drawn values as `drawn`.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it like this

    def __init__(
        self,
        scenario: Source | None = None,
        flow: str | None = None,
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
        """Reads the scenario.

        Args:
            scenario: the path of a scenario file, its TOML text, or the scenario as a dict.
                Default: the links of the preset "aurora", which are drawn anew for each episode.
            flow: the name of the agent's flow, which is TCP with one path.
            preset: "aurora", "orca" or "raw". The next arguments replace its values.
            observation: names of features (`fadeout.gym.features`), and of values as in
                `Simulation.observe`, such as "ue.phone.sinr_db". A value that does not exist yet
                is 0.
            history: the number of intervals in an observation, the latest last.
            interval: the time between two decisions: "1 rtt" for round-trip times, or "20 ms".
            action: "rate-factor", "window-power" or "window".
            step_size: the largest relative change of the rate for "rate-factor".
            reward: "aurora", "orca" or "power".
            steps: the number of decisions of an episode. Default: until the end of the run.
            randomise: distributions of values by their dotted key. They are drawn at each reset.
            set: values in place of the scenario's, by their dotted key.
            render_mode: None.

        Raises:
            ScenarioError: the scenario or a distribution is wrong.
            ValueError: a name is unknown, or a number is out of its range.
            OSError: the scenario cannot be read.
        """
        self.render_mode = render_mode
        given = {key: value for key, value in locals().items() if key not in ("self", "flow")}
        self._setup = Setup(None if flow is None else [flow], given)
        agents = self._setup.agents
        self.observation_space = agents.observation_space
        self.action_space = agents.action_space
        self._episodes = agents.episodes(1)
        self._arrays = Arrays(agents, 1)
        self._has_begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode.

        The run goes on until the flow has its first round-trip time.

        Args:
            seed: the seed of the drawn values and of the run. Default: the next random numbers.
            options: `{"set": {...}}` has values in place of the drawn ones, by dotted key.

        Returns:
            The observation, and the drawn values.
        """
        super().reset(seed=seed)
        drawn = self._setup.begin(self._episodes, 0, self.np_random, options)
        self._has_begun = True
        self._arrays.read(self._episodes)
        return self._arrays.observations[0, 0].copy(), self._arrays.info(0) | {"drawn": drawn}

    def step(
        self,
        action: Any,  # noqa: ANN401 - an array or a list
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Carries out a decision and simulates one interval.

        Raises:
            ValueError: the action is outside of its space, or not a number.
            RuntimeError: the environment was not reset.
        """
        if not self._has_begun:
            raise RuntimeError("step before reset; expected a call of reset first")
        arrays = self._arrays
        checked = self._setup.agents.check_actions(action, (1,))
        self._episodes.step(checked, arrays.stepped)
        arrays.read(self._episodes)
        return (
            arrays.observations[0, 0].copy(),
            float(arrays.rewards[0, 0]),
            bool(arrays.terminated[0]),
            bool(arrays.truncated[0]),
            arrays.info(0),
        )


class CongestionControlVectorEnv(VectorEnv):
    """Many runs of `CongestionControlEnv`, which threads of the compiled module step.

    Environment i has the rewards of a single environment with its seed, bit for bit. With a seed as
    a number, environment i has the seed plus i. The info of a step has an array for each
    value of a single environment's info.
    """

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Source | None = None,
        flow: str | None = None,
        *,
        threads: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
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
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Reads the scenario. Other arguments are those of `CongestionControlEnv`.

        Args:
            num_envs: the number of runs.
            scenario: as for `CongestionControlEnv`.
            flow: as for `CongestionControlEnv`.
            threads: the number of threads. Default: one for each processor.
            autoreset_mode: `NEXT_STEP`, `SAME_STEP` or `DISABLED` of Gymnasium, or its name.
            copy: False returns views of arrays that the next step overwrites.
            max_episode_steps: another name of `steps`, which `gymnasium.make_vec` uses.

        Raises:
            ScenarioError: the scenario or a distribution is wrong.
            ValueError: a name is unknown, or a number is out of its range.
            OSError: the scenario cannot be read.
        """
        super().__init__()
        steps = max_episode_steps if steps is None else steps
        given = {key: value for key, value in locals().items() if key not in ("self", "flow")}
        self._setup = Setup(None if flow is None else [flow], given)
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}; expected at least 1")
        agents = self._setup.agents
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.copy = copy
        self.autoreset_mode = AutoresetMode(
            autoreset_mode
            if isinstance(autoreset_mode, AutoresetMode)
            else AutoresetMode[autoreset_mode.replace("-", "_").upper()]
        )
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = agents.observation_space
        self.single_action_space = agents.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        count = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()  # pyright: ignore[reportAttributeAccessIssue]
        self._episodes = agents.episodes(num_envs, threads or count or 1)
        self._arrays = Arrays(agents, num_envs)
        self._randoms = [np.random.default_rng() for _ in range(num_envs)]
        self._is_over = np.zeros(num_envs, np.bool_)
        self._has_begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode in each run, or in those of a mask.

        Args:
            seed: a seed for each run, or one to which the number of the run is added. Default: the
                next random numbers.
            options: `"reset_mask"` is an array of bools, and only runs with True begin. `"set"` is
                that of `CongestionControlEnv.reset`.

        Returns:
            The observations, and the drawn values of each run as `drawn`.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"reset_mask is {mask}; expected {self.num_envs} bools")
        if not self._has_begun and not mask.all():
            raise ValueError("the first reset has a reset_mask; expected a reset of all runs")
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed has {len(seeds)} values; expected {self.num_envs}")
        infos: dict[str, Any] = {}
        for place in np.flatnonzero(mask).tolist():
            if seeds[place] is not None:
                self._randoms[place], _ = np_random(seeds[place])
            drawn = self._begin(place, options)
            infos = self._add_info(infos, {"drawn": drawn}, place)
        self._has_begun = True
        self._is_over[mask] = False
        self._arrays.read(self._episodes)
        return self._observations(), infos | self._infos()

    def step(
        self,
        actions: Any,  # noqa: ANN401 - an array
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carries out one decision in each run.

        Raises:
            ValueError: an action is outside of its space, or not a number.
            RuntimeError: the runs were not reset, or a run is over and is not reset automatically.
        """
        if not self._has_begun:
            raise RuntimeError("step before reset; expected a call of reset first")
        arrays = self._arrays
        checked = self._setup.agents.check_actions(actions, (self.num_envs, 1))
        mode = self.autoreset_mode
        if mode == AutoresetMode.DISABLED and self._is_over.any():
            raise RuntimeError("a run is over; expected a reset with its reset_mask")
        begun = np.flatnonzero(self._is_over).tolist() if mode == AutoresetMode.NEXT_STEP else []
        np.logical_not(self._is_over, out=arrays.stepped, casting="unsafe")
        self._episodes.step(checked, arrays.stepped)
        infos: dict[str, Any] = {}
        for place in begun:
            infos = self._add_info(infos, {"drawn": self._begin(place, None)}, place)
        arrays.read(self._episodes)
        rewards = arrays.rewards[:, 0].copy()
        terminated, truncated = (
            flags.astype(np.bool_) for flags in (arrays.terminated, arrays.truncated)
        )
        self._is_over = terminated | truncated
        if mode == AutoresetMode.SAME_STEP and self._is_over.any():
            for place in np.flatnonzero(self._is_over).tolist():
                final = {
                    "final_obs": arrays.observations[place, 0].copy(),
                    "final_info": arrays.info(place),
                }
                final["drawn"] = self._begin(place, None)
                infos = self._add_info(infos, final, place)
            arrays.read(self._episodes)
            self._is_over = np.zeros(self.num_envs, np.bool_)
        return self._observations(), rewards, terminated, truncated, infos | self._infos()

    def _begin(self, place: int, options: Mapping[str, Any] | None) -> dict[str, Any]:
        return self._setup.begin(self._episodes, place, self._randoms[place], options)

    def _observations(self) -> np.ndarray:
        observations = self._arrays.observations[:, 0]
        return observations.copy() if self.copy else observations

    def _infos(self) -> dict[str, Any]:
        measured = self._arrays.measured[:, 0]
        measured = measured.copy() if self.copy else measured
        return {name: measured[:, number] for number, name in enumerate(MEASURED)}
