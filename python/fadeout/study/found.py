"""Numbers of a set of runs by point, with the statistics that tables and verdicts show of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Self

from fadeout import _names
from fadeout.campaign.mistakes import mistake
from fadeout.statistics import Estimate, Spread, paired_ratio
from fadeout.study import numbers as of_seeds
from fadeout.study.changes import Change, Choice
from fadeout.study.places import (
    OTHER_LAWS,
    Law,
    mean_over_places,
    mixed,
    ratio_over_places,
    share_in_sight,
    side_by_side,
)

Point = tuple[Any, ...]
"""The part of a point on each axis: a choice, a change, or a value."""


def name_of(part: Any) -> Any:  # noqa: ANN401 - whatever is on an axis
    """Returns the name of a choice or of a change. Any other part is its own name."""
    return getattr(part, "name", part)


@dataclass(frozen=True)
class Found:
    """Numbers of each point over the seeds, as `OfSeeds`."""

    axes: tuple[str, ...]
    numbers: Mapping[Any, Any]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.numbers)

    def __getitem__(self, point: Point) -> Any:  # noqa: ANN401 - over seeds or places
        return self.numbers[point]

    def __or__(self, other: "Found") -> Self:
        return replace(self, numbers={**self.numbers, **other.numbers})

    def at(self, **names: Any) -> Any:  # noqa: ANN401 - over seeds or places
        """Returns the numbers of the point with these names on all axes."""
        return self[self._by_name[tuple(names[axis] for axis in self.axes)]]

    def along(self, axis: str) -> dict[Any, Self]:
        """Returns the points of each part on an axis, without this axis."""
        index = self._index(axis)
        axes = tuple(each for each in self.axes if each != axis)
        return {
            part: replace(
                self,
                axes=axes,
                numbers={
                    point[:index] + point[index + 1 :]: numbers
                    for point, numbers in self.numbers.items()
                    if point[index] == part
                },
            )
            for part in self.parts(axis)
        }

    def parts(self, axis: str) -> list[Any]:
        """Returns the parts on an axis, in the order of the points."""
        index = self._index(axis)
        return list(dict.fromkeys(point[index] for point in self))

    def only(self, kept: Mapping[str, Any]) -> Self:
        """Returns the points that have, on each of the axes, one of the given names.

        Raises `ScenarioError` if an axis or a name is unknown.
        """
        chosen = self.numbers
        for axis, names in kept.items():
            index = self._index(axis)
            wanted = names if isinstance(names, list | tuple) else [names]
            known = [name_of(part) for part in self.parts(axis)]
            for name in wanted:
                if name not in known:
                    raise mistake(_names.unknown(f"name on axis `{axis}`", name, map(str, known)))
            chosen = {
                point: each for point, each in chosen.items() if name_of(point[index]) in wanted
            }
        return replace(self, numbers=chosen)

    def picked(self, points: Iterable[Point]) -> Self:
        """Returns the given points, in their order."""
        return replace(self, numbers={point: self[point] for point in points})

    def with_numbers(self, of_run: Callable[[Point, Mapping[str, Any]], Mapping[str, Any]]) -> Self:
        """Returns the points with further numbers of each run, which may replace others."""
        numbers = {
            point: [{**each, **of_run(point, each)} for each in of_seeds]
            for point, of_seeds in self.numbers.items()
        }
        return replace(self, numbers=numbers)

    def moved(self, point: Point, at: Mapping[str, Any]) -> Point:
        """Returns the point with the parts of these names on some of the axes."""
        names = [name_of(part) for part in point]
        for axis, name in at.items():
            names[self._index(axis)] = name
        if tuple(names) not in self._by_name:
            raise mistake(f"no run has {', '.join(map(str, names))}")
        return self._by_name[tuple(names)]

    def labels(self, point: Point, *, without: str = "") -> dict[str, Any]:
        """Returns the columns that identify a point, without those of an axis.

        A choice with a kind has it as `AXIS_kind`. A part with its own `data`, such as a change,
        has those columns, and its name as `_AXIS`.
        """
        labels: dict[str, Any] = {}
        for axis, part in zip(self.axes, point, strict=True):
            if axis == without:
                continue
            if hasattr(part, "data"):
                labels |= {f"_{axis}": name_of(part), **part.data()}
                continue
            labels[axis] = name_of(part)
            if isinstance(part, Choice) and part.kind:
                labels[f"{axis}_kind"] = part.kind
        return labels

    def mean(self, point: Point, name: str) -> Estimate:
        """Returns the mean of a number, with its interval."""
        return of_seeds.mean(self[point], name)

    def median(self, point: Point, name: str) -> Spread:
        """Returns the median of a number, with its least and its largest value."""
        return Spread.of([each[name] for each in self[point]])

    def gain_pct(self, point: Point, base: Point, name: str) -> Estimate:
        """Returns the difference of two means in percent of the base, seed by seed."""
        return of_seeds.gain_pct(self[point], self[base], name)

    def less(self, point: Point, base: Point, name: str) -> Estimate:
        """Returns the difference of a number from that of the base, seed by seed."""
        return of_seeds.difference(self[point], self[base], name)

    def share_pct(self, point: Point, of: Sequence[str], among: Sequence[str]) -> Estimate:
        """Returns the ratio of two sums of counts in percent, with the interval of a ratio.

        The estimate is of no values if all counts in `among` are zero.
        """
        tops, bottoms = (
            [sum(each[name] for name in names) for each in self[point]] for names in (of, among)
        )
        if not any(bottoms):
            return Estimate(0.0, math.nan, 0)
        return paired_ratio(tops, bottoms).scaled(100)

    def _index(self, axis: str) -> int:
        if axis not in self.axes:
            raise mistake(_names.unknown("axis", axis, self.axes))
        return self.axes.index(axis)

    @cached_property
    def _by_name(self) -> dict[Point, Point]:
        return {tuple(name_of(part) for part in point): point for point in self.numbers}


@dataclass(frozen=True)
class FoundInPlaces(Found):
    """Numbers of each point in places with and without line of sight, as `Places`.

    Means weigh the places by the probability of sight at the part on the axis `distance_m`.
    """

    law: Law = share_in_sight

    def mean(self, point: Point, name: str) -> Estimate:
        """Returns the weighted mean of a number, with its interval."""
        return mean_over_places(self[point], self._at_m(point), lambda each: each[name], self.law)

    def plain_mean(self, point: Point, name: str) -> float:
        """Returns the weighted mean of a number without its interval."""
        return mixed(self[point], self._at_m(point), lambda each: each[name], self.law)

    def of_sight(self, point: Point, name: str, sight: str) -> float:
        """Returns the mean of a number in the places with or without line of sight."""
        return fmean(each[name] or 0.0 for each in self[point][sight])

    def count(self, point: Point) -> int:
        """Returns the number of places."""
        return sum(map(len, self[point].values()))

    def ratio(self, point: Point, base: Point, name: str) -> Estimate:
        """Returns the ratio of two weighted means, in the places that both points have."""
        both = side_by_side({"ours": self[point], "base": self[base]})
        ours, other = (lambda each, of=of: each[of][name] for of in ("ours", "base"))
        return ratio_over_places(both, self._at_m(point), ours, other, self.law)

    def gain_pct(self, point: Point, base: Point, name: str) -> Estimate:
        """Returns the difference of two weighted means in percent of the base."""
        return self.ratio(point, base, name).scaled(100, -1)

    def less(self, point: Point, base: Point, name: str) -> Estimate:
        """Returns the weighted mean of the difference of a number, in places that have both."""

        def difference(ours: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
            one, two = ours[name], other[name]
            return None if one is None or two is None else one - two

        return self.mean_of_pairs(point, base, difference)

    def mean_of_pairs(
        self,
        point: Point,
        base: Point,
        read: Callable[[Mapping[str, Any], Mapping[str, Any]], float | None],
    ) -> Estimate:
        """Returns the weighted mean of a value of both points' numbers, in each place."""
        both = side_by_side({"ours": self[point], "base": self[base]})
        at_m = self._at_m(point)
        return mean_over_places(both, at_m, lambda each: read(each["ours"], each["base"]), self.law)

    def by_change(self) -> dict[Change, "FoundInPlaces"]:
        """Returns the points of each change, and those of the first one with each other law.

        A law weighs the same places in another way, so it needs no runs.
        """
        found: dict[Change, FoundInPlaces] = dict(self.along("change"))
        first = next(iter(found.values()))
        laws = {
            Change("line of sight", name): replace(first, law=law)
            for name, law in OTHER_LAWS.items()
        }
        return found | laws

    def _at_m(self, point: Point) -> float:
        return point[self._index("distance_m")]
