"""The seeds of a campaign's points, and the condition for enough seeds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fadeout import _names
from fadeout.campaign.axes import LARGEST_RANGE, parse_values
from fadeout.campaign.mistakes import mistake
from fadeout.statistics import FEWEST, estimate

LONGEST_LIST = 10_000_000
"""Largest number of seeds in a list, as a campaign has no more runs."""

FORM = 'a number of seeds, a list, "1..20", or { min, max, metric, half-width, confidence }'


@dataclass(frozen=True)
class Seeds:
    """The seeds of each point: fixed ones, or as many as an interval needs.

    With `metric`, the mean of that metric is examined after `min` seeds, then after twice and four
    times as many, up to `max`. The seeds are always 1, 2, 3, ... in order. A point is finished at
    the first examination with an interval that is narrow enough.

    A single examination may stop too early. So each uses a confidence level at which all of them
    together keep `confidence` (Bonferroni). The final interval of a point holds its mean at least
    that often.
    """

    fixed: Sequence[int] = (1,)
    metric: str | None = None
    min: int = FEWEST
    max: int = 100
    half_width: float = 0.0
    is_relative: bool = False
    """True if `half_width` is relative to the mean."""
    confidence: float = 0.95

    @property
    def stages(self) -> list[int]:
        """Numbers of seeds after which a point is examined."""
        if self.metric is None:
            return [len(self.fixed)]
        stages = [self.min]
        while stages[-1] < self.max:
            stages.append(min(2 * stages[-1], self.max))
        return stages

    @property
    def confidence_of_a_look(self) -> float:
        """Confidence level of each examination, so that all of them together keep `confidence`."""
        return 1 - (1 - self.confidence) / len(self.stages)

    @property
    def most(self) -> int:
        """Largest number of seeds of a point."""
        return self.stages[-1]

    def of(self, count: int) -> Sequence[int]:
        """Returns the first `count` seeds."""
        return self.fixed[:count] if self.metric is None else range(1, count + 1)

    def first(self) -> int:
        """Returns the number of seeds with which a point starts."""
        return self.stages[0]

    def next(self, count: int, values: Sequence[float]) -> int:
        """Returns the number of seeds that a point with `count` seeds and these `values` needs.

        `values` are in the order of the seeds, without failed runs.
        """
        if self.metric is None or self.is_narrow(values):
            return count
        return next((stage for stage in self.stages if stage > count), count)

    def is_narrow(self, values: Sequence[float]) -> bool:
        """Returns True if the interval of the mean of `values` is as narrow as requested."""
        found = estimate(values, self.confidence_of_a_look)
        limit = self.half_width * abs(found.mean) if self.is_relative else self.half_width
        return found.half_width <= limit

    def describe(self) -> str:
        """Returns a description in words."""
        if self.metric is None:
            return f"{len(self.fixed)} seed{'s' * (len(self.fixed) != 1)} a point"
        share = f"{100 * self.half_width:g} %" if self.is_relative else f"{self.half_width:g}"
        return (
            f"{self.min} to {self.max} seeds a point, until the mean of {self.metric} is known to "
            f"± {share} with {100 * self.confidence:g} % confidence"
        )

    def data(self) -> dict[str, Any] | list[int]:
        """Returns the seeds in the form of a campaign's file."""
        if self.metric is None:
            return list(self.fixed)
        width = f"{100 * self.half_width!r} %" if self.is_relative else self.half_width
        return {
            "min": self.min,
            "max": self.max,
            "metric": self.metric,
            "half-width": width,
            "confidence": self.confidence,
        }


def read_seeds(given: Any) -> Seeds:  # noqa: ANN401 - whatever the file has
    """Returns the seeds that a campaign's file, the command line or a program gives."""
    if isinstance(given, Seeds):
        return given
    if isinstance(given, bool) or given is None:
        raise mistake(f"cannot read `seeds` = {given}", expected=FORM)
    if isinstance(given, str) and given.strip().isdigit():
        given = int(given)
    if isinstance(given, int):
        if given < 1:
            raise mistake(f"`seeds` is {given}; expected at least 1", expected=FORM)
        if given > LARGEST_RANGE:
            raise mistake(f"{given:,} seeds are too many", expected=f"at most {LARGEST_RANGE:,}")
        return Seeds(fixed=range(1, given + 1))
    if isinstance(given, Mapping):
        return _until_narrow(given)
    values = parse_values(given) if isinstance(given, str) else given
    if not isinstance(values, Sequence):
        try:
            # For example an array of numpy.
            values = list(values)
        except TypeError:
            raise mistake(f"cannot read `seeds` = {given!r}", expected=FORM) from None
    if len(values) > LONGEST_LIST:
        raise mistake(f"{len(values):,} seeds are too many", expected=f"at most {LONGEST_LIST:,}")
    if not values or any(type(seed) is not int or seed < 0 for seed in values):
        raise mistake(f"cannot read {given!r} as `seeds`", expected=FORM)
    if len(set(values)) < len(values):
        raise mistake("a seed occurs twice in `seeds`", expected="each seed once")
    return Seeds(fixed=tuple(values))


_WIDTH = re.compile(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*(%?)\s*")


def _until_narrow(given: Mapping[str, Any]) -> Seeds:
    keys = ("min", "max", "metric", "half-width", "confidence")
    for key in given:
        if key not in keys:
            raise mistake(f"seeds: {_names.unknown('key', key, keys)}")
    for key in ("metric", "half-width"):
        if key not in given:
            raise mistake(f"seeds: `{key}` is missing", expected=FORM)
    least, most = given.get("min", FEWEST), given.get("max", 100)
    if type(least) is not int or type(most) is not int or not FEWEST <= least <= most:
        raise mistake(
            f"seeds: min is {least} and max is {most}",
            expected=f"whole numbers, {FEWEST} or more, the larger one last",
        )
    confidence = given.get("confidence", 0.95)
    if not isinstance(confidence, float) or not 0.5 <= confidence < 1:
        raise mistake(
            f"seeds: cannot read confidence = {confidence!r}", expected="a number such as 0.95"
        )
    half_width, is_relative = parse_width(given["half-width"])
    return Seeds(
        fixed=(),
        metric=str(given["metric"]),
        min=least,
        max=most,
        half_width=half_width,
        is_relative=is_relative,
        confidence=confidence,
    )


def parse_width(given: Any) -> tuple[float, bool]:  # noqa: ANN401 - whatever the file has
    """Returns a half-width, and whether it is relative to the mean: 0.5, or "2 %"."""
    found = _WIDTH.fullmatch(str(given))
    width = float(found[1]) if found and found[1].count(".") <= 1 and found[1] != "." else 0.0
    if found is None or isinstance(given, bool) or not 0 < width < float("inf"):
        raise mistake(
            f"seeds: cannot read half-width = {given!r}",
            expected='a number in the unit of the metric, or "2 %"',
        )
    return (width / 100, True) if found[2] else (width, False)
