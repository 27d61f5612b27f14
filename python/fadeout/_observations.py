"""The values that a simulation can observe and set."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from fadeout import _native
from fadeout._quantities import range_text


@dataclass(frozen=True)
class Value:
    """A value of a kind of parts, such as the smoothed round-trip time of a flow."""

    kind: str
    """The kind of the part: "flow", "link", "bearer", "ue", "cell" or "measurement"."""
    name: str
    """The name of the value, with its unit as a suffix."""
    unit: str
    """The unit, or an empty text."""
    doc: str
    """The meaning."""
    table: str
    """The table of results with the value. Empty if there is none."""


@dataclass(frozen=True)
class Settable(Value):
    """A value that can be set."""

    low: float
    """The smallest value."""
    high: float
    """The largest finite value."""
    may_be_infinite: bool
    """True if the value may be infinite."""

    @property
    def values(self) -> str:
        """The valid values as text, such as "1 to 10,000,000 segments"."""
        if (self.kind, self.name) == ("ue", "cell"):
            return "a cell"
        text = range_text(self.low, self.high, self.unit)
        return f"{text}, or infinity" if self.may_be_infinite else text


FORMS = {
    "flow": 'flow.NAME.VALUE, where a path of a multipath flow is "NAME/NUMBER"',
    "link": 'link.NAME.VALUE, where the reverse direction is "NAME/reverse"',
    "bearer": 'bearer.NAME.VALUE, where the uplink is "NAME/uplink"',
    "ue": 'ue.NAME.VALUE, where the uplink is "NAME/uplink"',
    "cell": 'cell.NAME.VALUE, where the uplink is "NAME/uplink"',
    "measurement": "measurement.UE/CELL.VALUE, for UEs under mobility management",
}
"""The form of the names of each kind."""

ABOUT = {
    "flow": "Values of a flow now. Zero before the flow starts",
    "link": "Values of a direction of a link now",
    "bearer": "Values of a direction of a bearer now",
    "ue": (
        "The latest transport block of a UE in one direction, and counters. NaN before the first "
        "block"
    ),
    "cell": "Transport blocks of a cell in one direction",
    "measurement": "The latest measurement of a cell by a UE. NaN before the first",
}
"""The meaning of the values of each kind."""


@cache
def _listed() -> dict[str, Any]:
    return json.loads(_native.observation_list())


@cache
def observations() -> list[Value]:
    """Returns the values that can be observed."""
    return [Value(**entry) for entry in _listed()["observations"]]


@cache
def settings() -> list[Settable]:
    """Returns the values that can be set."""
    return [
        Settable(
            kind=entry["kind"],
            name=entry["name"],
            unit=entry["unit"],
            doc=entry["doc"],
            table="",
            low=entry["range"][0],
            high=entry["range"][1],
            may_be_infinite=entry["may_be_infinite"],
        )
        for entry in _listed()["settings"]
    ]
