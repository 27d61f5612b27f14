"""Setups of the study, its runs, and the numbers read from them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    QUIET_CELL,
    At,
    Choice,
    Data,
    Job,
    Numbers,
    Page,
    claims_of,
    published,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

DISTANCES_M = (50, 75, 100, 150)
NEAR, FAR = DISTANCES_M[0], DISTANCES_M[-1]
COUPLINGS = ("uncoupled", "lia", "olia", "balia", "coupled-cubic")
INTERFACES = ("28", "73", "lte")
SECOND = {"LTE": "lte", "73 GHz": "73"}
"""Names of second paths, and their interfaces."""

MULTIPATH = "flow.download.multipath"


SPEED_MPS = 2
LENGTH_S = 20
"""Length of a run in seconds. The walk passes the point at the distance half-way."""


@dataclass(frozen=True)
class Setup:
    """A single path, or 28 GHz and a second path."""

    second: str | None = None
    coupling: str = "uncoupled"
    has_28: bool = True

    def data(self) -> dict[str, Any]:
        """Returns the columns of a data file that identify the setup."""
        return {"paths": self.name, "coupling": self.coupling}

    @property
    def name(self) -> str:
        """Name of the setup in tables."""
        if self.second is None:
            return "28 GHz alone"
        return f"28 GHz + {self.second}" if self.has_28 else f"{self.second} alone"

    @property
    def added(self) -> str:
        """The second path and its coupling in figures and lists."""
        return f"+ {self.second}" + (" by BALIA" if self.coupling == "balia" else "")

    @property
    def used(self) -> tuple[str, ...]:
        """Interfaces of the setup."""
        first = ("28",) if self.has_28 else ()
        return first if self.second is None else (*first, SECOND[self.second])

    @property
    def is_single(self) -> bool:
        """True if the setup has one path."""
        return len(self.used) == 1


SINGLE = Setup()
LTE, MMWAVE, BALIA = Setup("LTE"), Setup("73 GHz"), Setup("LTE", "balia")
SETUPS = (SINGLE, *(Setup(second, coupling) for second in SECOND for coupling in COUPLINGS))
CLAIMED = (SINGLE, LTE, BALIA, MMWAVE)
"""Setups of the paper's claims."""


def download(at: At) -> Job:
    """Returns a run without the interfaces that its setup does not use.

    A variant has 28 GHz and LTE. With the sender at the phone, the paths begin there.
    """
    setup: Setup = at.get("setup", LTE)
    place = f'["{at["distance_m"]} m", "{-SPEED_MPS * LENGTH_S / 2:g} m"]'
    values = dict(QUIET_CELL)
    values |= {f"ue.ue-{name}.position": place for name in setup.used}
    # All cells are on one mast, so an obstacle blocks all or none.
    values |= {f"cell.cell-{name}.channel.line-of-sight": at.sight for name in setup.used}
    unused = [
        part
        for name in INTERFACES
        if name not in setup.used
        for part in (f"link.core-{name}", f"cell.cell-{name}", f"ue.ue-{name}")
    ]
    if setup.is_single:
        unused.append(MULTIPATH)
    else:
        paths = [[f"core-{name}", f"ue-{name}"] for name in setup.used]
        if any(
            "flow.download.from" in each
            for each in (at.values, *(one.values for one in at.choices))
        ):
            paths = [path[::-1] for path in paths]
        values[f"{MULTIPATH}.paths"] = json.dumps(paths)
        if setup.coupling != "uncoupled":
            values[f"{MULTIPATH}.coupling"] = setup.coupling
    return at.job(FOLDER / "scenario.toml", values, Choice("unused", without=tuple(unused)))


COUPLED = tuple(Setup("LTE", coupling) for coupling in ("uncoupled", "lia", "olia", "balia"))
"""Two paths of the replication."""

LISTS: Mapping[str, Sequence[Any]] = {
    "claimed": CLAIMED,
    "other": [setup for setup in SETUPS if setup not in CLAIMED],
    "single": [SINGLE],
    "replicated": (SINGLE, Setup("LTE", has_28=False), *COUPLED),
}
"""Lists of the sets of runs that are not tables of `study.toml`."""

Point = tuple[int, Setup]
"""A distance in metres and the setup there."""

STATED: Mapping[Point, Mapping[str, Any]] = {
    (row["distance_m"], Setup(row.get("second"), row.get("coupling", "uncoupled"))): row
    for row in PUBLISHED["point"]
}
"""Points in the paper's text."""

RANGES: Mapping[Point, Sequence[float]] = {
    point: row["range"] for point, row in STATED.items() if "range" in row
}
"""Ranges of the paper's gains over 28 GHz alone."""

SWEPT_M = (NEAR, FAR)
"""Distances in the paper's text, at which assumptions are changed, metres."""

FULL_WINDOW = 0.9
"""Share of the window in flight from which a path counts as sending all it may."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs. `seeds` is the number of places of each stratum."""

    other_seeds: int
    """Places of each stratum at other distances and with other couplings."""
    kernel_s: float
    """Simulated time of a run with a kernel in seconds. 0 leaves the kernel out."""


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run. Those of a missing second path are zero."""
    flow = results.flows.row(0, named=True)
    second = results.paths.row(1, named=True) if len(results.paths) else {}
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": 1e3 * (flow["mean_rtt_s"] or 0.0),
        "second_mbps": second.get("goodput_mbps", 0.0),
        "second_rtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
    }


def measure_paths(results: Results) -> Numbers:
    """Returns the traffic of both paths, and the data that wait at the receiver at the end."""
    first, second = results.paths.to_dicts()
    rows = results.congestion.filter(pl.col("flow").cast(pl.String) == first["path"])
    is_idle = rows["in_flight_segments"] < FULL_WINDOW * rows["cwnd_segments"]
    arrived_mb = (first["arrived_bytes"] + second["arrived_bytes"]) / 1e6
    numbers = measure(results)
    return {
        **numbers,
        "first_mbps": first["goodput_mbps"],
        "first_idle_pct": 100 * int(is_idle.sum()) / max(1, len(is_idle)),
        "waiting_mb": arrived_mb - numbers["goodput_mbps"] * results.duration_s / 8,
    }
