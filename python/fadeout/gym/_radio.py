"""Environments in which an agent decides about cells and UEs, at fixed intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from fadeout import _native
from fadeout._quantities import seconds
from fadeout._run import Source
from fadeout.gym._agents import LARGEST
from fadeout.gym._worlds import Distribution, Worlds

NO_SIGNAL_DBM = -200.0
"""Level of a cell that the UE has not measured."""


class RadioEnv(gymnasium.Env):
    """Base of environments with a fixed interval that observe a run by names."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it like this

    def __init__(
        self,
        scenario: Source,
        *,
        interval: str | float,
        randomise: Mapping[str, Distribution] | None,
        replace: Mapping[str, Any],
        policies: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            self._interval_s = seconds(interval)
        except ValueError as error:
            raise ValueError(f"interval: {error}") from None
        self._worlds = Worlds(scenario, randomise=randomise, replace=replace)
        self._policies = policies
        self._simulation = self._build(self._worlds.draw(np.random.default_rng(0)), 0)
        self._ues, self._cells = self._simulation.radio_names()
        if not self._ues or not self._cells:
            raise ValueError("the scenario has no radio; expected one with cells and UEs")
        self._has_begun = False

    def _watch(
        self, names: Sequence[str], counters: Sequence[str], settings: Sequence[str]
    ) -> None:
        """Sets the names of the observed values, of the counters for rewards, and of the values
        that actions set.

        Raises:
            ValueError: a name is unknown.
        """
        if isinstance(names, str) or not names:
            raise ValueError(f"observation is {names!r}; expected a list of names")
        self._names, self._counters = list(names), list(counters)
        self._setting_names = list(settings)
        self._is_level = np.array([name.endswith("_dbm") for name in self._names])
        self._values = np.empty(len(self._names))
        self._counts = np.zeros(len(self._counters))
        self._look_up()
        shape = (len(self._names),)
        self.observation_space = spaces.Box(-LARGEST, LARGEST, shape, np.float32)

    def _look_up(self) -> None:
        self._observed = self._simulation.observations(self._names)
        self._counted = self._simulation.observations(self._counters)
        self._settings = [self._simulation.setting(name) for name in self._setting_names]

    def _build(self, drawn: Mapping[str, Any], seed: int) -> _native.Simulation:
        return self._worlds.build(drawn, seed, self._policies)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode, and simulates its first interval.

        Args:
            seed: the seed of the drawn values and of the run. Default: the next random numbers.
            options: `{"set": {...}}` has values in place of the drawn ones, by dotted key.

        Returns:
            The observation, and the drawn values.
        """
        super().reset(seed=seed)
        drawn, run_seed = self._worlds.reset(self.np_random, options)
        self._simulation = self._build(drawn, run_seed)
        self._look_up()
        self._has_begun = True
        self._counts = self._advance()
        return self._observation(), {"time_s": self._simulation.now_s, "drawn": drawn}

    def _advance(self) -> np.ndarray:
        """Simulates an interval. Returns the counters at its end."""
        simulation = self._simulation
        until_s = min(simulation.now_s + self._interval_s, simulation.duration_s)
        simulation.advance(until_s)
        counts = np.empty(len(self._counters))
        simulation.observe(self._counted, counts)
        return counts

    def _step(self) -> np.ndarray:
        """Simulates an interval.

        Returns:
            The increase of each counter of bytes as a rate in Mbit/s. Zero after the end of the
            run.
        """
        before_s, before = self._simulation.now_s, self._counts
        self._counts = self._advance()
        length_s = self._simulation.now_s - before_s
        if length_s <= 0:
            return np.zeros(len(before))
        return (self._counts - before) * 8e-6 / length_s

    def _observation(self) -> np.ndarray:
        self._simulation.observe(self._observed, self._values)
        missing = np.where(self._is_level, NO_SIGNAL_DBM, 0.0)
        values = np.where(np.isnan(self._values), missing, self._values)
        return np.clip(values, -LARGEST, LARGEST).astype(np.float32)

    def _require_reset(self) -> None:
        if not self._has_begun:
            raise RuntimeError("step before reset; expected a call of reset first")

    @property
    def _is_truncated(self) -> bool:
        return self._simulation.now_s >= self._simulation.duration_s
