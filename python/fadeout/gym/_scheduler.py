"""Environment in which an agent decides the weights of the UEs in the MAC schedulers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from fadeout._run import Source
from fadeout.gym._radio import RadioEnv
from fadeout.gym._worlds import Distribution

PER_UE = ("delivered_bytes", "cqi", "n_prb", "harq_retransmissions")
"""Values of each UE in the observation."""


class CellSchedulerEnv(RadioEnv):
    """A run in which an agent decides the weights of the UEs in the MAC schedulers.

    An action has a number a from -1 to 1 for each UE, in the order of the scenario. The schedulers
    multiply the UE's rate by 10^a before they compare UEs. The reward is the mean of log(0.001 +
    downlink rate in Mbit/s) over the UEs. This is the utility of proportional fairness (F. Kelly,
    European Transactions on Telecommunications 8, 1997). An episode is truncated at the end of the
    run.

    `info` has `time_s`, and `rates_mbps` of the UEs.
    """

    def __init__(
        self,
        scenario: Source,
        *,
        interval: str | float = "100 ms",
        observation: Sequence[str] | None = None,
        randomise: Mapping[str, Distribution] | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of `fadeout.run`
        render_mode: str | None = None,
    ) -> None:
        """Reads the scenario, whose cells have the scheduler `proportional-fair` or `max-ci`.

        Args:
            scenario: the path of a scenario file, its TOML text, or the scenario as a dict.
            interval: the time between two decisions.
            observation: names of values as in `Simulation.observe`. Default: for each UE the
                delivered bytes, the CQI and the resource blocks of its latest transport block, and
                the number of HARQ retransmissions. A value that does not exist yet is 0.
            randomise: distributions of values by their dotted key. They are drawn at each reset.
            set: values in place of the scenario's, by their dotted key.
            render_mode: None.

        Raises:
            ScenarioError: the scenario or a distribution is wrong.
            SettingError: the scheduler compares no rates.
            ValueError: a name is unknown.
            OSError: the scenario cannot be read.
        """
        super().__init__(scenario, interval=interval, randomise=randomise, replace=dict(set or {}))
        self.render_mode = render_mode
        names = [f"ue.{ue}.{value}" for ue in self._ues for value in PER_UE]
        counters = [f"ue.{ue}.delivered_bytes" for ue in self._ues]
        weights = [f"ue.{ue}.weight" for ue in self._ues]
        self._watch(names if observation is None else observation, counters, weights)
        self._simulation.set(self._settings[0], 1.0)
        self.action_space = spaces.Box(-1.0, 1.0, (len(self._ues),), np.float32)

    def step(
        self,
        action: Any,  # noqa: ANN401 - an array or a list
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Sets the weights and simulates one interval.

        Raises:
            ValueError: the action is outside of its space, or not a number.
            RuntimeError: the environment was not reset.
        """
        self._require_reset()
        given = np.asarray(action, np.float64)
        if given.shape != self.action_space.shape or not (np.abs(given) <= 1).all():
            count = len(self._ues)
            raise ValueError(f"the action is {action}; expected {count} numbers from -1 to 1")
        if not self._is_truncated:
            for weight, exponent in zip(self._settings, given.tolist(), strict=True):
                self._simulation.set(weight, 10.0**exponent)
        rates = self._step()
        info = {"time_s": self._simulation.now_s, "rates_mbps": rates}
        reward = float(np.log(rates + 1e-3).mean())
        return self._observation(), reward, False, self._is_truncated, info
