"""Quantities in the form of a scenario."""

import re
from collections.abc import Mapping

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]+)\s*")


def seconds(span: str | float) -> float:
    """Returns the seconds of `span`: a number of seconds, or text such as "100 ms"."""
    if not isinstance(span, str):
        number = float(span)
    else:
        match = _SPAN.fullmatch(span)
        if match is None or match[2] not in _UNITS:
            raise ValueError(f"expected a time such as '100 ms', not {span!r}")
        number = float(match[1]) * _UNITS[match[2]]
    if not 0 < number < float("inf"):
        raise ValueError(f"expected a time above zero, not {span!r}")
    return number


_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]+)\s*")


def byte_count(size: str) -> int:
    """Returns the number of bytes of text such as "2 GB"."""
    match = _SIZE.fullmatch(size)
    if match is None or match[2] not in _BYTES:
        raise ValueError(f"expected a size such as '2 GB', not {size!r}")
    return int(float(match[1]) * _BYTES[match[2]])


_METERS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3}
_LENGTH = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([a-z]+)\s*")


def meters(length: str) -> float:
    """Returns the metres of text such as "1.5 km" or "-20 m"."""
    match = _LENGTH.fullmatch(length)
    if match is None or match[2] not in _METERS:
        raise ValueError(f"expected a length such as '100 m', not {length!r}")
    return float(match[1]) * _METERS[match[2]]


_PREFIXES = {
    "bytes": {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTP", 1)}
    | {f"{prefix}B": 1000**power for power, prefix in enumerate(("M", "G", "T", "P"), 2)},
    "bit/s": {f"{prefix}bit/s": 1000**power for power, prefix in enumerate("kMGT", 1)},
}
"""Larger units by their base unit. Powers of two come before powers of ten."""


def amount(number: float, unit: str) -> tuple[str, str]:
    """Returns a number as digits, and its unit. A multiple of a larger unit has that unit."""
    fitting = {
        size: name for name, size in _PREFIXES.get(unit, {}).items() if number and not number % size
    }
    if fitting:
        # The largest unit that divides the number gives the smallest count.
        size = max(fitting)
        return f"{number / size:,.0f}", fitting[size]
    whole = abs(number) < 1e18 and number == int(number)
    return (f"{int(number):,}" if whole else f"{number:,.12g}"), unit


def range_text(low: float, high: float, unit: str) -> str:
    """Returns a range for people, such as "64 to 4,096 packets" or "1 byte to 1 PiB"."""
    (first, first_unit), (last, last_unit) = amount(low, unit), amount(high, unit)
    if first_unit == last_unit:
        return f"{first} to {last} {last_unit}".rstrip()
    one = {"1 bytes": "1 byte"}
    lower = f"{first} {first_unit}"
    return f"{one.get(lower, lower)} to {last} {last_unit}"


_RATE = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([kMGT]?)bit/s\s*")


def bits_per_second(rate: str) -> float | None:
    """Returns the bits per second of text such as "20 Mbit/s". None for other text."""
    match = _RATE.fullmatch(rate)
    return None if match is None else float(match[1]) * _DECIMAL[match[2]]


_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_BASES: Mapping[str, Mapping[str, float]] = {
    "s": _UNITS,
    "B": _BYTES,
    "m": _METERS,
    "bit/s": {f"{prefix}bit/s": factor for prefix, factor in _DECIMAL.items()},
    "Hz": {f"{prefix}Hz": factor for prefix, factor in _DECIMAL.items()},
}
"""Units of a quantity by their base unit."""


def in_base_unit(number: float, unit: str) -> tuple[float, str]:
    """Returns a number in the base unit: (0.01, "s") for 10 and "ms". Other units stay."""
    for base, units in _BASES.items():
        if unit in units:
            return float(f"{number * units[unit]:.12g}"), base
    return number, unit
