"""The values that a campaign varies: lists, ranges and distributions, and their combination."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

from fadeout import _names
from fadeout.campaign.mistakes import mistake

if TYPE_CHECKING:
    import polars as pl

Value = Any
"""A value of a scenario in Python: a text, a number, a bool, or a list or dict of values."""

Values = Mapping[str, Value]
"""Values by the dotted key that they replace."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?\s*([^\d\s.][^\s,]*)?")
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\d\s.].*?)?\s*")

SEARCHED = "KEY=A..B UNIT, KEY=A..B UNIT:log, or values separated by commas"
"""The form of the values of a search."""

LARGEST_RANGE = 10**9
"""Largest number of values of a range."""


def parse_values(text: str) -> Sequence[Value]:
    """Returns the values of the command line's form: `cubic,bbr3`, `5 ms,20 ms`, `10..100:10
    Mbit/s`.

    A comma inside quotes, brackets or braces separates nothing. `A..B` counts by one, `A..B:STEP`
    by STEP. B is included if a step meets it. A unit at the end belongs to every value.
    """
    parts = [_part(part.strip()) for part in _split(text)]
    # A single range stays a range, as its list may exceed the memory.
    if len(parts) == 1:
        return parts[0]
    if (count := sum(map(len, parts))) > LARGEST_RANGE:
        raise mistake(f"{count:,} values are too many", expected="a larger step")
    return [value for part in parts for value in part]


def _part(text: str) -> Sequence[Value]:
    found = _RANGE.fullmatch(text)
    return _range(*found.groups()) if found else [parse_value(text)]


def parse_value(text: str) -> Value:
    """Returns one value: TOML if possible, else a text."""
    try:
        document = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text


def _range(first: str, last: str, step: str | None, unit: str | None) -> Sequence[Value]:
    low, high, by = Decimal(first), Decimal(last), Decimal(step or "1")
    if by <= 0 or high < low:
        raise mistake(
            f"the range {first}..{last}{':' + step if step else ''} is empty",
            expected="a first value, a last one that is not smaller, and a step above zero",
        )
    count = int((high - low) / by) + 1
    if count > LARGEST_RANGE:
        raise mistake(f"the range {first}..{last} has {count:,} values", expected="a larger step")
    return _Range(low, by, count, unit)


class _Range(Sequence[Value]):
    """The values of a range, made when needed, as the range may be larger than memory."""

    def __init__(self, low: Decimal, by: Decimal, count: int, unit: str | None) -> None:
        self._low, self._by, self._count, self._unit = low, by, count, unit

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an index or a slice
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        number = self._low + (index % self._count) * self._by
        if self._unit:
            return f"{number.normalize():f} {self._unit}"
        return int(number) if number == number.to_integral_value() else float(number)


def _split(text: str) -> list[str]:
    """Splits `text` at its commas outside quotes, brackets and braces."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in ")}]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def quantity(value: Value) -> tuple[float, str] | None:
    """Returns a value's number and unit: (5.0, "ms") of "5 ms", (3.0, "") of 3. None for other
    values.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else (float(found[1]), found[2] or "")


@dataclass(frozen=True)
class Sample:
    """Points drawn from distributions, spread over their whole space."""

    points: int
    method: str = "sobol"
    """`sobol`, `latin-hypercube` or `random`."""
    seed: int = 1
    distributions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Distributions by key: `{"uniform": [a, b]}`, `{"log-uniform": [a, b]}`, `{"normal": [mean,
    deviation]}`, `{"integers": [a, b]}` or `{"choice": [...]}`.
    """

    def draw(self) -> list[dict[str, Value]]:
        """Returns the points, which are the same on every machine."""
        from scipy.stats import qmc

        dimensions = len(self.distributions)
        if self.method == "sobol":
            # Sobol's sequence is balanced for powers of two, so the first points of the next power
            # are used.
            power = max(0, math.ceil(math.log2(self.points)))
            unit = qmc.Sobol(dimensions, rng=self.seed).random_base2(power)[: self.points]
        elif self.method == "latin-hypercube":
            unit = qmc.LatinHypercube(dimensions, rng=self.seed).random(self.points)
        else:
            import numpy as np

            unit = np.random.default_rng(self.seed).random((self.points, dimensions))
        keys = list(self.distributions)
        return [
            {
                key: at_share(self.distributions[key], float(at))
                for key, at in zip(keys, row, strict=True)
            }
            for row in unit
        ]


METHODS = ("sobol", "latin-hypercube", "random")
DISTRIBUTIONS = ("uniform", "log-uniform", "normal", "integers", "choice")

WHOLE = ("packets", "packet", "segments", "segment", "B")
"""Units of which only whole numbers exist."""


def check_distribution(key: str, given: Any) -> None:  # noqa: ANN401 - whatever the file has
    """Raises unless `given` is a valid distribution."""
    form = 'a distribution, such as { uniform = ["1 ms", "20 ms"] }'
    if not isinstance(given, Mapping) or len(given) != 1:
        raise mistake(f"`{key}` of the sample is not a distribution", expected=form)
    name, values = next(iter(given.items()))
    if name not in DISTRIBUTIONS:
        raise mistake(_names.unknown("distribution", name, DISTRIBUTIONS), expected=form)
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise mistake(f"`{name}` of `{key}` must have a list of values", expected=form)
    if name == "choice":
        return
    numbers = [quantity(value) for value in values]
    if len(numbers) != 2 or None in numbers or numbers[0][1] != numbers[1][1]:  # pyright: ignore[reportOptionalSubscript]
        raise mistake(f"`{name}` of `{key}` must have two quantities of one unit", expected=form)
    low, high = (each[0] for each in numbers if each is not None)
    if name == "normal":
        if high < 0:
            raise mistake(f"the deviation of `{key}` is below zero", expected="zero or more")
    elif not low <= high or (name == "log-uniform" and low <= 0):
        raise mistake(f"`{name}` of `{key}`: {values[0]} to {values[1]} is not an interval")


def at_share(distribution: Mapping[str, Any], share: float) -> Value:
    """Returns the quantile of a distribution at a share of its probability."""
    name, values = next(iter(distribution.items()))
    if name == "choice":
        return values[min(int(share * len(values)), len(values) - 1)]
    (low, unit), (high, _) = (quantity(value) or (0.0, "") for value in values)
    if name == "integers":
        number: float = min(math.floor(low + share * (high - low + 1)), int(high))
    elif name == "log-uniform":
        number = low * (high / low) ** share
    elif name == "normal":
        from scipy.stats import norm

        number = float(norm.ppf(share, loc=low, scale=high)) if high > 0 else low
    else:
        number = low + share * (high - low)
    if unit in WHOLE:
        number = round(number)
    # Nine digits, as mathematical libraries of different machines differ in the later ones.
    number = number if isinstance(number, int) else float(f"{number:.9g}")
    return f"{number:g} {unit}" if unit and number == float(f"{number:g}") else _text(number, unit)


def _text(number: float, unit: str) -> Value:
    return f"{number!r} {unit}" if unit else number


@dataclass(frozen=True)
class Axes:
    """The points of a campaign."""

    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """Values by key. Every value is combined with every value of the other keys."""
    zip: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """Values by key. The n-th point has the n-th value of each key."""
    points: Sequence[Values] = ()
    """Single points, each combined with the whole grid."""
    sample: Sample | None = None
    exclude: Sequence[str | Values] = ()
    """Points that are left out: their values, or an SQL expression."""

    def count(self) -> int:
        """Returns the number of points before any is excluded."""
        rows = len(next(iter(self.zip.values()))) if self.zip else 1
        sampled = self.sample.points if self.sample else 1
        return (
            math.prod(len(values) for values in self.grid.values())
            * rows
            * max(1, len(self.points))
            * sampled
        )

    def all(self) -> list[dict[str, Value]]:
        """Returns the points in order. The first key of the grid changes slowest."""
        points = list(self._product())
        for rule in self.exclude:
            points = _without(points, rule)
        return points

    def _product(self) -> Iterator[dict[str, Value]]:
        grid = [[{key: value} for value in values] for key, values in self.grid.items()]
        zipped = [
            dict(zip(self.zip, row, strict=True)) for row in zip(*self.zip.values(), strict=True)
        ]
        sampled = self.sample.draw() if self.sample else [{}]
        listed = [dict(point) for point in self.points]
        for parts in product(*grid, zipped or [{}], listed or [{}], sampled):
            yield {key: value for part in parts for key, value in part.items()}


def _without(points: list[dict[str, Value]], rule: str | Values) -> list[dict[str, Value]]:
    if not points:
        return points
    if isinstance(rule, str):
        return _without_matching(points, rule)
    known = {key for point in points for key in point}
    for key in rule:
        if key not in known:
            raise mistake(f"exclude: {_names.unknown('key', key, known)}")
    return [point for point in points if not all(_has(point.get(key), rule[key]) for key in rule)]


def _has(value: Value, wanted: Value) -> bool:
    return value in wanted if isinstance(wanted, list) else value == wanted


def _without_matching(points: list[dict[str, Value]], expression: str) -> list[dict[str, Value]]:
    """Returns the points for which the SQL expression is not true."""
    import polars as pl

    frame = values_frame(points)
    # An expression may use the last part of a key, such as `rate`, if only one key ends with it.
    short: dict[str, list[str]] = {}
    for column in frame.columns:
        short.setdefault(short_name(column), []).append(column)
    for name, columns in short.items():
        if len(columns) == 1 and name not in frame.columns:
            frame = frame.with_columns(numbers_of(frame[columns[0]]).alias(name))
    try:
        is_out = frame.select(pl.sql_expr(expression).alias("out"))["out"]
    except pl.exceptions.PolarsError as error:
        first = str(error).splitlines()[0]
        raise mistake(
            f"exclude: {expression!r} cannot be evaluated: {first}",
            expected=f"an SQL expression of {', '.join(sorted(short))}",
        ) from None
    if is_out.dtype != pl.Boolean:
        raise mistake(f"exclude: {expression!r} is neither true nor false")
    return [point for point, out in zip(points, is_out, strict=True) if not out]


def short_name(key: str) -> str:
    """Returns the name of a key in expressions: its last part, with underscores."""
    return key.rsplit(".", 1)[-1].replace("-", "_")


def values_frame(points: Sequence[Values]) -> "pl.DataFrame":
    """Returns the values of points, with a row for each point and a column for each key."""
    import polars as pl

    keys = list(dict.fromkeys(key for point in points for key in point))
    return pl.DataFrame([_column(key, [point.get(key) for point in points]) for key in keys])


def _column(key: str, values: list[Value]) -> "pl.Series":
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return pl.Series(key, values, dtype=pl.Boolean)
    if kinds <= {int} and all(abs(value or 0) < 2**63 for value in values):
        return pl.Series(key, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(key, values, dtype=pl.Float64)
    texts = [
        value if isinstance(value, str) or value is None else toml_text(key, value)
        for value in values
    ]
    return pl.Series(key, texts, dtype=pl.String)


def toml_text(key: str, value: Value) -> str:
    """Returns the value of `key` in the form of a scenario."""
    from fadeout import _toml

    try:
        return _toml.value(value)
    except TypeError as error:
        raise mistake(f"`{key}`: {error}") from None


def numbers_of(column: "pl.Series") -> "pl.Series":
    """Returns the numbers of quantities with a common unit. Other columns are unchanged."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    found = [quantity(value) for value in column]
    units = {each[1] for each in found if each is not None}
    if len(units) != 1 or None in found:
        return column
    return pl.Series(column.name, [each[0] for each in found if each is not None])
