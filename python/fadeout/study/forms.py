"""Forms: texts with fields, such as `{loss:.1f %}`, that a study's values fill in."""

import math
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from fadeout import _names
from fadeout.statistics import Estimate, Spread, number_text
from fadeout.study.claims import judged

MISSING = "-"
"""Text of a missing value: None or NaN."""

ELSE = " or "
"""Words between the format of a value and the text for a missing value."""

JUDGED = "?"
"""End of a format of a margin whose sign is a verdict."""


_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]+)\]")
"""A name of a field, after a dot or in brackets."""


class FormError(Exception):
    """A field that cannot be filled in."""


class _Formatter(string.Formatter):
    """Formatter whose fields find keys of mappings after a dot, and whose formats have a unit."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401, ARG002
        value: Any = kwargs
        for plain, bracketed in _STEP.findall(field_name):
            value = self._step(value, plain or bracketed, field_name)
        return value, field_name

    @staticmethod
    def _step(value: Any, key: str, field: str) -> Any:  # noqa: ANN401
        if isinstance(value, Mapping):
            by_text = {str(each): each for each in value}
            if key not in by_text:
                raise FormError(f"`{field}`: {_names.unknown('value', key, by_text)}")
            return value[by_text[key]]
        if isinstance(value, Sequence) and key.isdigit():
            return value[int(key)]
        if not hasattr(value, key):
            raise FormError(f"`{field}`: there is no value `{key}`")
        return getattr(value, key)

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401
        spec, _, missing = format_spec.partition(ELSE)
        if is_missing(value):
            return missing or MISSING
        if isinstance(value, bool) and "/" in spec:
            yes, no = spec.split("/")
            return yes if value else no
        spec, space, unit = spec.partition(" ")
        unit = space + unit
        if isinstance(value, Estimate) and spec.endswith(JUDGED):
            return judged(value, spec.removesuffix(JUDGED))
        if isinstance(value, Estimate | Spread):
            return value.text(spec, unit)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return number_text(value, spec) + unit
        return format(value, spec) + unit


def is_missing(value: Any) -> bool:  # noqa: ANN401 - any value of a record
    """Returns True for None, NaN, and an estimate of no values."""
    if isinstance(value, Estimate):
        return value.count == 0
    return value is None or (isinstance(value, float) and math.isnan(value))


_FORMATTER = _Formatter()


def fill(form: str, values: Mapping[str, Any]) -> str:
    """Returns the form with its fields filled in.

    A field is `{name:format unit or text}`. The name may have further names after dots, and a key
    in brackets. The unit follows the value, and the text replaces a missing value. The format of a
    bool is the text of both values, such as `yes/no`. Raises `FormError` for an unknown name.
    """
    try:
        return _FORMATTER.vformat(form, (), values)
    except (ValueError, IndexError) as error:
        raise FormError(f"{error} in {form!r}") from None
