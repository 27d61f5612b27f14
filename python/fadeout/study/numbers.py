"""Numbers of runs by name: means over seeds, gains seed by seed, and their order in tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from fadeout.statistics import Estimate, estimate, paired_difference, paired_ratio
from fadeout.study.report import Record

OfSeeds = Sequence[Mapping[str, float | None]]
"""Numbers of a point, one mapping for each seed. None or NaN if a run has no value."""


def values(numbers: OfSeeds, name: str) -> list[float]:
    """Returns a number of each run that has it, in the order of the seeds."""
    return [value for each in numbers if _is_known(value := each[name])]


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)


def mean(numbers: OfSeeds, name: str) -> Estimate:
    """Returns the mean of a number over the seeds."""
    return estimate(values(numbers, name))


def means(numbers: OfSeeds, *names: str) -> dict[str, Estimate]:
    """Returns the means of several numbers over the seeds, by name."""
    return {name: mean(numbers, name) for name in names}


def difference(ours: OfSeeds, base: OfSeeds, name: str) -> Estimate:
    """Returns the mean difference of a number, computed seed by seed."""
    return paired_difference(*_pairs(ours, base, name))


def gain_pct(ours: OfSeeds, base: OfSeeds, name: str) -> Estimate:
    """Returns the difference of two means in percent of the base, computed seed by seed.

    The difference from a base of zero is zero.
    """
    one, other = _pairs(ours, base, name)
    if not any(other):
        return Estimate(0.0, 0.0, len(other))
    return paired_ratio(one, other).scaled(100, -1)


def _pairs(ours: OfSeeds, base: OfSeeds, name: str) -> tuple[list[float], list[float]]:
    """Returns a number of both points, of the seeds with which both have it."""
    found = [
        (mine, its)
        for one, other in zip(ours, base, strict=True)
        if _is_known(mine := one[name]) and _is_known(its := other[name])
    ]
    return [mine for mine, _ in found], [its for _, its in found]


def pivot(records: Sequence[Record], column: str, *rows: str) -> list[dict[str, Any]]:
    """Returns records with equal `rows` as one, for a page that repeats columns.

    All other names have a mapping from the values of `column`.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in records:
        key = tuple(record[name] for name in rows)
        wide = found.setdefault(key, dict(zip(rows, key, strict=True)))
        for name in record.keys() - {column, *rows}:
            wide.setdefault(name, {})[record[column]] = record[name]
    return list(found.values())


def series(records: Sequence[Record], *keys: str, value: str) -> dict[str, Any]:
    """Returns lists of a value in the order of the records, in nested mappings by `keys`.

    The keys of a figure are the panel and the line.
    """
    found: dict[str, Any] = {}
    *outer, last = keys
    for record in records:
        at = found
        for key in outer:
            at = at.setdefault(record[key], {})
        at.setdefault(record[last], []).append(record[value])
    return found
