"""Agents of flows: their observations, actions and rewards."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from gymnasium import spaces

from fadeout import _names, _native
from fadeout._quantities import seconds

LARGEST = 1e9
"""Largest absolute value of an observation."""

MEASURED = ("time_s", "interval_s", "throughput_mbps", "rtt_s", "loss_ratio")
"""Values of `info`: the time, the length of the interval, and measurements of the flow in it."""


@dataclass(frozen=True)
class Feature:
    """A value of a decision interval that an agent may observe."""

    name: str
    """The name, with its unit as a suffix."""
    unit: str
    """The unit, or an empty text."""
    doc: str
    """The meaning."""


@cache
def features() -> list[Feature]:
    """Returns the features that an observation may name."""
    return [Feature(**entry) for entry in json.loads(_native.feature_list())]


@dataclass(frozen=True)
class Preset:
    """Observation, action, reward and interval of a publication."""

    observation: tuple[str, ...]
    """The names of the observed values."""
    history: int
    """The number of intervals in an observation."""
    action: str
    """The kind of action."""
    reward: str
    """The kind of reward."""
    interval: str
    """The length of a decision interval."""


PRESETS = {
    # Jay et al., A Deep Reinforcement Learning Perspective on Internet Congestion Control,
    # ICML 2019, section 4.
    "aurora": Preset(
        ("latency_gradient", "latency_ratio", "send_ratio"), 10, "rate-factor", "aurora", "1 rtt"
    ),
    # Abbasloo et al., Classic Meets Modern, SIGCOMM 2020, section 4.
    "orca": Preset(
        (
            "throughput_ratio",
            "pacing_ratio",
            "lost_ratio",
            "acked_per_cwnd",
            "interval_s",
            "min_rtt_ratio",
            "delay_factor",
        ),
        1,
        "window-power",
        "orca",
        "20 ms",
    ),
    "raw": Preset(
        (
            "cwnd_segments",
            "in_flight_segments",
            "acked_segments",
            "lost_segments",
            "rtt_s",
            "min_rtt_s",
            "interval_s",
        ),
        1,
        "window",
        "power",
        "1 rtt",
    ),
}
"""The presets by name."""

ACTIONS = ("rate-factor", "window-power", "window")
"""The kinds of actions. An action is a number a from -1 to 1.

- `rate-factor`: the pacing rate is multiplied by 1 + `step_size` · a, or divided by 1 - `step_size`
  · a for a < 0.
- `window-power`: the window of the flow's congestion control is multiplied by 4^a, once.
- `window`: the window is 10^(2 + 2a) segments until the next decision.
"""

REWARDS = ("aurora", "orca", "power")
"""The kinds of rewards.

- `aurora`: 10 · segments per second - 1000 · seconds of round-trip time - 2000 · loss ratio, in
  thousandths.
- `orca`: (throughput - 5 · lost rate) / largest throughput · min(1, 1.25 · smallest round-trip time
  / round-trip time).
- `power`: throughput in Mbit/s · smallest round-trip time / round-trip time.
"""

_ROUND_TRIPS = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(?:rtt|round trips?)\s*")


@dataclass(frozen=True)
class Agents:
    """The agents of a run, one for each of some flows, with equal observations and actions."""

    flows: tuple[str, ...]
    """The names of the flows."""
    observation: tuple[str, ...]
    """The names of features and of values as in `Simulation.observe`."""
    history: int
    """The number of intervals in an observation."""
    action: str
    """The kind of action."""
    step_size: float
    """The largest relative change of `rate-factor`."""
    reward: str
    """The kind of reward."""
    round_trips: float | None
    """The length of an interval in round-trip times. None if it is a fixed time."""
    interval_s: float
    """The length of an interval in seconds, if it is a fixed time."""
    steps: int | None
    """The number of decisions of an episode. None if the episode ends with the run."""

    @property
    def values(self) -> int:
        """The number of values in an observation."""
        return len(self.observation) * self.history

    @property
    def observation_space(self) -> spaces.Box:
        """The space of an agent's observations."""
        return spaces.Box(-LARGEST, LARGEST, (self.values,), np.float32)

    @property
    def action_space(self) -> spaces.Box:
        """The space of an agent's actions."""
        return spaces.Box(-1.0, 1.0, (1,), np.float32)

    def episodes(self, count: int, threads: int = 1) -> _native.Episodes:
        """Returns empty places for `count` episodes, which `threads` threads step."""
        return _native.Episodes(
            count,
            [
                (
                    flow,
                    self.action,
                    self.step_size,
                    self.reward,
                    list(self.observation),
                    self.history,
                )
                for flow in self.flows
            ],
            round_trips=self.round_trips,
            interval_s=self.interval_s,
            steps=self.steps,
            threads=threads,
        )

    def decider(self) -> _native.Decider:
        """Returns the measurements and decisions of an agent that observes features only.

        Raises:
            ValueError: there is no such feature.
        """
        return _native.Decider(
            list(self.observation),
            self.history,
            action=self.action,
            step_size=self.step_size,
            round_trips=self.round_trips,
            interval_s=self.interval_s,
        )

    def check_actions(self, actions: Any, shape: tuple[int, ...]) -> np.ndarray:  # noqa: ANN401
        """Returns actions as float64.

        Raises:
            ValueError: the actions have another shape, are not numbers, or are outside of their
                space.
        """
        given = np.asarray(actions, np.float64)
        if given.shape != shape:
            raise ValueError(f"the action has the shape {given.shape}; expected {shape}")
        # A NaN fails the comparison.
        is_valid = np.abs(given) <= 1
        if not is_valid.all():
            run = np.argwhere(~is_valid)[0][0]
            of = f" of run {run}" if len(given) > 1 else ""
            wrong = given[~is_valid].flat[0]
            raise ValueError(f"the action{of} is {wrong}; expected a number from -1 to 1")
        return given


def agents_of(
    flows: Sequence[str],
    *,
    preset: str,
    observation: Sequence[str] | None,
    history: int | None,
    action: str | None,
    step_size: float,
    reward: str | None,
    interval: str | float | None,
    steps: int | None,
) -> Agents:
    """Returns agents with a preset, and with other values where they are given.

    Raises:
        ValueError: a name is unknown, or a number is out of its range.
    """
    if preset not in PRESETS:
        raise ValueError(_names.unknown("preset", preset, PRESETS))
    base = PRESETS[preset]
    action = base.action if action is None else action
    reward = base.reward if reward is None else reward
    history = base.history if history is None else history
    observed = base.observation if observation is None else tuple(observation)
    if action not in ACTIONS:
        raise ValueError(_names.unknown("action", action, ACTIONS))
    if reward not in REWARDS:
        raise ValueError(_names.unknown("reward", reward, REWARDS))
    if isinstance(observation, str) or not observed:
        raise ValueError(f"observation is {observation!r}; expected a list of names")
    if not 1 <= history <= 1000:
        raise ValueError(f"history is {history}; expected 1 to 1000")
    if not 0 < step_size <= 10:
        raise ValueError(f"step_size is {step_size}; expected a number above 0, at most 10")
    if steps is not None and steps < 1:
        raise ValueError(f"steps is {steps}; expected at least 1, or None")
    given = base.interval if interval is None else interval
    round_trips, interval_s = _interval(given)
    return Agents(
        tuple(flows),
        observed,
        history,
        action,
        step_size,
        reward,
        round_trips,
        interval_s,
        steps,
    )


def _interval(given: str | float) -> tuple[float | None, float]:
    """Returns an interval in round-trip times, or None, and its length in seconds, or 0."""
    found = _ROUND_TRIPS.fullmatch(given) if isinstance(given, str) else None
    if found:
        count = float(found[1])
        if not 0.1 <= count <= 100:
            raise ValueError(f"interval is {given!r}; expected 0.1 to 100 round trips")
        return count, 0.0
    try:
        length = seconds(given)
    except ValueError:
        raise ValueError(
            f"interval is {given!r}; expected a time such as '20 ms', or '1 rtt'"
        ) from None
    # A NaN fails both comparisons.
    if not 1e-6 <= length <= 3600:
        raise ValueError(f"interval is {given!r}; expected 1 us to 1 hour")
    return None, length
