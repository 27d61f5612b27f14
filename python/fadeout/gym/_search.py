"""Search for a small policy, without a library for learning."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from fadeout.gym._congestion import CongestionControlVectorEnv
from fadeout.gym._network import LIMIT, save_network


class LinearPolicy:
    """A policy whose action is a weighted sum of limited features, limited to -1 to 1.

    A feature is limited to the range from -`limit` to `limit` before the sum.
    """

    def __init__(self, weights: Sequence[float], bias: float = 0.0, limit: float = LIMIT) -> None:
        """Makes a policy.

        Args:
            weights: a weight for each value of an observation.
            bias: the action without features.
            limit: the largest absolute value of a feature in the sum.
        """
        self.weights = np.asarray(weights, np.float32)
        self.bias, self.limit = float(bias), float(limit)

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """Returns the action for an observation, or the actions for several."""
        limited = np.clip(observation, -self.limit, self.limit)
        free = limited @ self.weights + np.float32(self.bias)
        return np.clip(free, -1, 1)[..., None]

    def save(self, path: str | PathLike[str], settings: Mapping[str, Any] | None = None) -> None:
        """Writes the policy as an ONNX file, for `fadeout.gym.controller`.

        Args:
            path: the file.
            settings: arguments of `controller`, which are written as metadata.

        Raises:
            ImportError: the package onnx is missing.
            OSError: the file cannot be written.
        """
        layer = (self.weights[:, None], [self.bias])
        save_network(path, [layer], settings, limit=self.limit)


def search(
    envs: CongestionControlVectorEnv,
    *,
    rounds: int = 20,
    kept: float = 0.2,
    spread: float | Sequence[float] = 1.0,
    limit: float = LIMIT,
    seed: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> LinearPolicy:
    """Returns a linear policy for a vector of environments, by the cross-entropy method.

    Each round draws a policy for each environment from a normal distribution. All policies of a
    round play episodes with the same values. The distribution then moves to the best policies
    (Mannor et al., ICML 2003). The vector has the reset mode `DISABLED` and one action a run. The
    same seed gives the same policy.

    Args:
        envs: the environments. Their number is the number of policies of a round.
        rounds: the number of rounds.
        kept: the share of the policies that determine the next distribution.
        spread: the standard deviation of the first weights: one number, or one for each value of an
            observation. The larger the values of a feature are, the smaller its weights should be.
        limit: the largest absolute value of a feature in the sum. A level in dB needs about 50.
        seed: the seed of the policies and of the episodes.
        progress: a function that is called after each round, with its number and the mean
            reward of its best policies.

    Returns:
        The policy with the mean weights of the last round.

    Raises:
        ValueError: a number is out of its range.
    """
    count = envs.num_envs
    best = round(kept * count)
    shape = envs.single_observation_space.shape
    assert shape is not None, "observations are arrays"
    spreads = np.asarray(spread, np.float64)
    if spreads.shape not in ((), shape):
        raise ValueError(
            f"spread has the shape {spreads.shape}; expected one number, or one for each of the "
            f"{shape[0]} values of an observation"
        )
    if best < 2 or rounds < 1 or not (spreads > 0).all() or not limit > 0:
        raise ValueError(
            "search: expected rounds, spread and limit above 0, and two policies to keep"
        )
    # The bias has the spread of the feature with the smallest values.
    widths = np.append(np.broadcast_to(spreads, shape), spreads.max())
    random = np.random.default_rng(seed)
    mean, deviation = np.zeros(len(widths)), widths
    for number in range(rounds):
        drawn = mean + deviation * random.standard_normal((count, len(mean)))
        rewards = _play(envs, drawn, limit, seed=int(random.integers(2**31)))
        order = np.argsort(-rewards, kind="stable")[:best]
        mean = drawn[order].mean(axis=0)
        # The deviation does not vanish early, or the search ends at the first good policy.
        deviation = drawn[order].std(axis=0) + widths * 0.3 / (number + 1)
        if progress is not None:
            progress(number, float(rewards[order].mean()))
    return LinearPolicy(mean[:-1].tolist(), float(mean[-1]), limit)


def _play(
    envs: CongestionControlVectorEnv, policies: np.ndarray, limit: float, seed: int
) -> np.ndarray:
    """Returns the sum of rewards of each policy in an episode with the same seed."""
    observations, _ = envs.reset(seed=[seed] * envs.num_envs)
    total = np.zeros(envs.num_envs)
    is_over = np.zeros(envs.num_envs, np.bool_)
    while not is_over.all():
        limited = np.clip(observations, -limit, limit)
        actions = np.einsum("ij,ij->i", limited, policies[:, :-1]) + policies[:, -1]
        stepped = envs.step(np.clip(actions, -1, 1)[:, None].astype(np.float32))
        observations, rewards, terminated, truncated, _ = stepped
        total += np.where(is_over, 0.0, rewards)
        is_over |= terminated | truncated
        if is_over.any() and not is_over.all():
            # A run that is over begins again, because all runs are stepped together.
            envs.reset(options={"reset_mask": np.asarray(terminated | truncated)})
    return total
