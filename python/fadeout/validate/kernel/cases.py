"""The cases of the matrix, from the list in `matrix.toml`."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fadeout._run import Overrides, Source
from fadeout.validate.kernel.runs import SEEDS, check_sides
from fadeout.validate.kernel.scenario import Document, Sides, sides

PACKET_BYTES = 1500
CHAOTIC_SEEDS = 20
"""Number of runs for each side of a chaotic case."""
START_S = 0.1
"""Time at which flows start, before the shift of the seed, seconds."""
SECOND_STARTS_S = 1.0
"""Delay of the second flow of a pair after the first, seconds."""
BURST_PACKETS = 10
LOST_IN_BURST = 0.5

FILES = {"28-ghz-walk": "walk_28_ghz.toml", "lte-cell": "lte_cell.toml"}

Group = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A scenario of the matrix, or one that the user gives."""

    name: str
    group: str
    document: Source
    is_chaotic: bool
    is_quick: bool
    overrides: Overrides | None = None
    count: int | None = None
    """Number of runs for each side. None for 5 runs, and for 20 runs of a chaotic case."""

    @property
    def seeds(self) -> range:
        """Seeds of the runs of each side."""
        usual = CHAOTIC_SEEDS if self.is_chaotic else SEEDS
        return range(1, (self.count or usual) + 1)

    @property
    def file_name(self) -> str:
        """Name of the case as a file name."""
        return self.name.replace("/", "-").replace(" ", "-")

    def sides(self, kernel: str) -> Sides:
        """Returns both sides of the case."""
        return sides(self.document, kernel=kernel, set=self.overrides)


def given(
    scenarios: Sequence[Path],
    *,
    kernel: str = "6.12",
    set: Overrides | None = None,  # noqa: A002
    is_chaotic: bool = False,
) -> list[Case]:
    """Returns cases for scenario files, named by the files.

    Raises:
        ScenarioError: a scenario is wrong, or has something that one side does not support.
        FadeoutError: a scenario has nothing to compare.
    """
    paths = list(dict.fromkeys(scenarios))
    stems = [path.stem for path in paths]
    found = [
        Case(
            str(path) if stems.count(path.stem) > 1 else path.stem,
            "given",
            path,
            is_chaotic,
            is_quick=False,
            overrides=set,
        )
        for path in paths
    ]
    for case in found:
        check_sides(case.sides(kernel))
    return found


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
    "paths",
)
"""The lists that a group may have."""


@cache
def cases() -> tuple[Case, ...]:
    """Returns all cases, in the order of the list."""
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
        made = _made(chosen)
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
        "paths": lambda v: v["name"],
        "controls": lambda v: v.replace(" ", "+"),
    }
    varied = "rate-steps" if "rate-steps" in chosen else "rates"
    hidden = {"rates", "rate-steps"} - {varied}
    if "delay-steps-ms" in chosen:
        hidden.add("rtts-ms")
    for axis, value in chosen.items():
        if axis not in hidden:
            yield form.get(axis, str)(value)


def _made(chosen: Group) -> Document:
    if "cells" in chosen:
        return _from_file(chosen)
    return _two_paths(chosen) if "paths" in chosen else _link(chosen)


def _two_paths(chosen: Group) -> Document:
    """Returns a connection over two links, whose differences `paths` gives."""
    paths = chosen["paths"]
    _, duration_s = chosen["rates"]
    flow = _flow(START_S, chosen["controls"])
    flow["multipath"] = {"paths": [["first"], ["second"]], "path-scheduler": "linux"}
    made: Document = {"duration": f"{duration_s + START_S} s", "link": {}, "flow": {"both": flow}}
    each = zip(
        flow["multipath"]["paths"],
        paths["rates"],
        paths["rtts-ms"],
        paths.get("losses", [0, 0]),
        strict=True,
    )
    for (link,), rate, rtt_ms, loss in each:
        of_link = {**chosen, "losses": loss} if loss else chosen
        made["link"][link] = _path(of_link, rate, rtt_ms, duration_s)
    if "blockages" in chosen:
        made["blockage"] = _blockage("first", chosen)
    return made


def _flow(start_s: float, control: str) -> Document:
    return {
        "from": "server",
        "to": "client",
        "start": f"{start_s} s",
        "application": "bulk",
        "congestion-control": control,
    }


def _blockage(link: str, chosen: Group) -> Document:
    return {
        "bus": {
            "link": link,
            "direction": "both" if chosen["effects"] == "held" else "forward",
            "schedule": {
                "period": "3 s",
                "duration": f"{chosen['blockages']} s",
                "phase": "2 s",
            },
            "effect": chosen["effects"],
        }
    }


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
        start_s = START_S + number * SECOND_STARTS_S
        made["flow"][("first", "second")[number]] = _flow(start_s, control)
    if "blockages" in chosen:
        made["blockage"] = _blockage("path", chosen)
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
