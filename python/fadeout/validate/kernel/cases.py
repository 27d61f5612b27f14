"""The cases of the matrix, from the list in `matrix.toml`."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fadeout.validate.kernel.runs import SEEDS
from fadeout.validate.kernel.scenario import Document

PACKET_BYTES = 1500
CHAOTIC_SEEDS = 20
"""Runs a side of a chaotic case."""
START_S = 0.1
"""When flows start, before the shift of the seed."""
SECOND_STARTS_S = 1.0
"""How long the second flow of a pair starts after the first."""
BURST_PACKETS = 10
LOST_IN_BURST = 0.5

FILES = {"28-ghz-walk": "walk_28_ghz.toml", "lte-cell": "lte_cell.toml"}

Group = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A scenario of the matrix."""

    name: str
    group: str
    document: Document
    is_chaotic: bool
    is_quick: bool

    @property
    def seeds(self) -> range:
        """Those of each side."""
        return range(1, (CHAOTIC_SEEDS if self.is_chaotic else SEEDS) + 1)


AXES = (
    "controls",
    "rates",
    "rtts-ms",
    "buffers",
    "losses",
    "bursts",
    "blockages",
    "effects",
    "rate-steps",
    "delay-steps-ms",
    "cells",
)
"""The lists that a group may have."""


@cache
def cases() -> tuple[Case, ...]:
    """Every case, in the order of the list."""
    text = (resources.files("fadeout.validate.kernel") / "matrix.toml").read_text(encoding="utf-8")
    return tuple(case for group in tomllib.loads(text)["group"] for case in _of_group(group))


def _of_group(group: Group) -> Iterator[Case]:
    axes = [axis for axis in AXES if axis in group]
    quick = group.get("quick", {})
    for values in itertools.product(*(group[axis] for axis in axes)):
        chosen = dict(zip(axes, values, strict=True))
        is_quick = bool(quick) and all(
            value in quick.get(axis, group[axis]) for axis, value in chosen.items()
        )
        made = _from_file(chosen) if "cells" in chosen else _link(chosen)
        yield Case(
            " ".join([group["name"], *_words(chosen)]),
            group["name"],
            made,
            group.get("is-chaotic", False),
            is_quick,
        )


def _words(chosen: Group) -> Iterator[str]:
    form = {
        "rates": lambda v: f"{v[0]}M",
        "rtts-ms": lambda v: f"{v}ms",
        "buffers": lambda v: f"{v}bdp",
        "losses": lambda v: f"{v * 100:g}%",
        "bursts": lambda v: f"{v * 100:g}%",
        "blockages": lambda v: f"{v}s",
        "rate-steps": lambda v: f"{v[0]}to{v[1]}M",
        "delay-steps-ms": lambda v: f"{v[0]}to{v[1]}ms",
        "cells": lambda v: v[0],
        "controls": lambda v: v.replace(" ", "+"),
    }
    varied = "rate-steps" if "rate-steps" in chosen else "rates"
    hidden = {"rates", "rate-steps"} - {varied}
    if "delay-steps-ms" in chosen:
        hidden.add("rtts-ms")
    for axis, value in chosen.items():
        if axis not in hidden:
            yield form.get(axis, str)(value)


def _from_file(chosen: Group) -> Document:
    name, duration_s = chosen["cells"]
    text = resources.files("fadeout.validate.kernel") / FILES[name]
    made = tomllib.loads(text.read_text(encoding="utf-8"))
    made["duration"] = f"{duration_s} s"
    made["flow"]["download"] |= {
        "start": f"{START_S} s",
        "congestion-control": chosen["controls"],
    }
    return made


def _link(chosen: Group) -> Document:
    rate, duration_s = chosen["rates"]
    rtt_ms = chosen["rtts-ms"]
    made: Document = {
        "duration": f"{duration_s + START_S} s",
        "link": {"path": _path(chosen, rate, rtt_ms, duration_s)},
        "flow": {},
    }
    for number, control in enumerate(chosen["controls"].split()):
        made["flow"][("first", "second")[number]] = {
            "from": "server",
            "to": "client",
            "start": f"{START_S + number * SECOND_STARTS_S} s",
            "application": "bulk",
            "congestion-control": control,
        }
    if "blockages" in chosen:
        length_s = chosen["blockages"]
        made["blockage"] = {
            "bus": {
                "link": "path",
                "direction": "both" if chosen["effects"] == "held" else "forward",
                "schedule": {"period": "3 s", "duration": f"{length_s} s", "phase": "2 s"},
                "effect": chosen["effects"],
            }
        }
    return made


def _path(chosen: Group, rate: float, rtt_ms: float, duration_s: float) -> Document:
    halfway = f"{START_S + duration_s / 2} s"
    path: Document = {"from": "server", "to": "client"}
    most = rate
    if "rate-steps" in chosen:
        before, after = chosen["rate-steps"]
        most = max(before, after)
        path["rate"] = {"steps": [["0 s", f"{before} Mbit/s"], [halfway, f"{after} Mbit/s"]]}
    else:
        path["rate"] = f"{rate} Mbit/s"
    if "delay-steps-ms" in chosen:
        before, after = chosen["delay-steps-ms"]
        rtt_ms = max(before, after)
        path["delay"] = {"steps": [["0 s", f"{before / 2} ms"], [halfway, f"{after / 2} ms"]]}
    else:
        path["delay"] = f"{rtt_ms / 2} ms"
    product = most * 1e6 * rtt_ms * 1e-3 / 8 / PACKET_BYTES
    path["queue"] = {"limit": f"{max(4, round(chosen['buffers'] * product))} packets"}
    if "losses" in chosen:
        path["loss"] = {"probability": chosen["losses"]}
    if "bursts" in chosen:
        is_bad = chosen["bursts"] / LOST_IN_BURST
        to_good = 1 / BURST_PACKETS
        path["loss"] = {
            "gilbert-elliott": {
                "to-bad": round(to_good * is_bad / (1 - is_bad), 6),
                "to-good": to_good,
                "loss-good": 0.0,
                "loss-bad": LOST_IN_BURST,
            }
        }
    return path
