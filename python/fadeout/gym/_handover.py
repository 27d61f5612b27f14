"""Environment in which an agent decides the cell of a UE."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from fadeout import _names, handover_policy
from fadeout._run import Source, read_source
from fadeout.gym._radio import RadioEnv
from fadeout.gym._worlds import Distribution, tables_of


class _Stay(handover_policy.HandoverPolicy):
    """Policy that ignores measurement reports, because the agent decides."""

    def on_report(self, report: handover_policy.MeasurementReport) -> None:
        """Keeps the UE in its cell."""


POLICY = "agent"
"""The name of the policy in the scenario."""


class HandoverEnv(RadioEnv):
    """A run in which an agent decides the cell of a UE, at fixed intervals.

    An action is the number of a cell, in the order of the scenario. The serving cell prepares a
    handover to it, as after a measurement report. The action has no effect if the UE is in the cell
    or changes its cell already. The reward is the rate of the UE's downlink in Mbit/s, less
    `handover_cost` for each handover that the agent began. An episode is truncated at the end of
    the run.

    `info` has `time_s`, `rate_mbps` and `cell`, the number of the serving cell or -1.
    """

    def __init__(
        self,
        scenario: Source,
        ue: str | None = None,
        *,
        interval: str | float = "100 ms",
        observation: Sequence[str] | None = None,
        handover_cost: float = 0.0,
        randomise: Mapping[str, Distribution] | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of `fadeout.run`
        render_mode: str | None = None,
    ) -> None:
        """Reads the scenario, which has [mobility-management].

        Args:
            scenario: the path of a scenario file, its TOML text, or the scenario as a dict.
            ue: the name of the UE. Default: the first UE.
            interval: the time between two decisions.
            observation: names of values as in `Simulation.observe`. Default: the filtered RSRP of
                each cell, and the number of the serving cell. A level that the UE has not measured
                is -200 dBm, and another value that does not exist yet is 0.
            handover_cost: the cost of a handover, in Mbit/s of reward.
            randomise: distributions of values by their dotted key. They are drawn at each reset.
            set: values in place of the scenario's, by their dotted key.
            render_mode: None.

        Raises:
            ScenarioError: the scenario or a distribution is wrong.
            ValueError: there is no such UE or no [mobility-management], or a name is unknown.
            OSError: the scenario cannot be read.
        """
        source = read_source(scenario)
        keys = [*tables_of(source), *(set or {})]
        if not any(key.partition(".")[0] == "mobility-management" for key in keys):
            raise ValueError("the scenario has no [mobility-management]; expected one with it")
        super().__init__(
            source,
            interval=interval,
            randomise=randomise,
            replace={**(set or {}), "mobility-management.policy": POLICY},
            policies=handover_policy.makers({POLICY: _Stay}),
        )
        self.render_mode = render_mode
        self._cost = handover_cost
        self._ue = self._ues[0] if ue is None else ue
        if self._ue not in self._ues:
            raise ValueError(_names.unknown("UE", self._ue, self._ues))
        levels = [f"measurement.{self._ue}/{cell}.filtered_dbm" for cell in self._cells]
        serving = f"ue.{self._ue}.cell"
        given = [*levels, serving] if observation is None else observation
        self._watch(given, [f"ue.{self._ue}.delivered_bytes", serving], [serving])
        self.action_space = spaces.Discrete(len(self._cells))

    def step(
        self,
        action: Any,  # noqa: ANN401 - an integer of Python or numpy
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Carries out a decision and simulates one interval.

        Raises:
            ValueError: the action is not the number of a cell.
            RuntimeError: the environment was not reset.
        """
        self._require_reset()
        if not self.action_space.contains(action):
            last = len(self._cells) - 1
            raise ValueError(f"the action is {action!r}; expected an integer from 0 to {last}")
        serving = self._counts[1]
        is_begun = not self._is_truncated and serving >= 0 and int(action) != serving
        if is_begun:
            self._simulation.set(self._settings[0], float(action))
        rate_mbps, _ = self._step()
        info = {
            "time_s": self._simulation.now_s,
            "rate_mbps": float(rate_mbps),
            "cell": int(self._counts[1]),
        }
        reward = float(rate_mbps - self._cost * is_begun)
        return self._observation(), reward, False, self._is_truncated, info
