"""Choices of features such that each accepted pair of values is in a scenario."""

from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random
from typing import NamedTuple

from generator.features import DEFAULT, FEATURES, Choices


class Value(NamedTuple):
    """A value of a feature."""

    feature: str
    value: str


Pair = frozenset[Value]


def all_pairs() -> list[Pair]:
    """Returns each pair of values of two features, in the order of `FEATURES`."""
    return [
        frozenset({Value(one, left), Value(other, right)})
        for one, other in combinations(FEATURES, 2)
        for left in FEATURES[one]
        for right in FEATURES[other]
    ]


def pairs_in(choices: Choices) -> set[Pair]:
    """Returns the pairs of a choice."""
    return {
        frozenset({Value(*one), Value(*other)}) for one, other in combinations(choices.items(), 2)
    }


class Cover:
    """A greedy cover of all pairs (as in Cohen et al., AETG, 1997) that knows refusals.

    A row starts from the defaults and a pair that is open. The other features follow one by one in
    random order. Each takes the value that closes most open pairs and is still accepted.
    """

    TRIES = 3
    """Number of values of a feature that are tried before the default is used."""

    def __init__(self, random: Random, is_accepted: Callable[[Choices], bool]) -> None:
        self._random = random
        self._is_accepted = is_accepted
        # A dict keeps the order, so that a seed always gives the same rows.
        self.open = dict.fromkeys(all_pairs())
        self.refused: list[Pair] = []
        """Pairs that are refused with all other features at their default."""

    def rows(self, most: int | None = None) -> Iterator[Choices]:
        """Yields choices until each pair is in one or is refused, or until there are `most`."""
        number = 0
        while self.open and (most is None or number < most):
            row = self._row(self._random.choice(list(self.open)))
            if row is not None:
                number += 1
                yield row

    def _row(self, seed: Pair) -> Choices | None:
        row = {**DEFAULT, **dict(sorted(seed))}
        if not self._is_accepted(row):
            self.refused.append(seed)
            del self.open[seed]
            return None
        fixed = [feature for feature, _ in seed]
        others = [name for name in FEATURES if name not in fixed]
        self._random.shuffle(others)
        for name in others:
            self._set(row, name, fixed)
            fixed.append(name)
        for pair in pairs_in(row):
            self.open.pop(pair, None)
        return row

    def _set(self, row: Choices, name: str, fixed: list[str]) -> None:
        def gain(value: str) -> int:
            mine = Value(name, value)
            return sum(frozenset({mine, Value(f, row[f])}) in self.open for f in fixed)

        values = list(FEATURES[name])
        self._random.shuffle(values)
        values.sort(key=gain, reverse=True)
        for value in values[: self.TRIES]:
            if self._is_accepted({**row, name: value}):
                row[name] = value
                return
