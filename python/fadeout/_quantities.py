"""Quantities in the form of a scenario."""

import re

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
