"""Setups of the study: distances, second paths, couplings, and open assumptions."""

import json
from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.study import (
    QUIET_CELL,
    Choice,
    Data,
    Job,
    Page,
    Values,
    claims_of,
    overrides,
    published,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)
SCENARIO = FOLDER / "scenario.toml"

DISTANCES_M = (50, 75, 100, 150)
NEAR, FAR = DISTANCES_M[0], DISTANCES_M[-1]
COUPLINGS = ("uncoupled", "lia", "olia", "balia", "coupled-cubic")
INTERFACES = ("28", "73", "lte")
SECOND = {"LTE": "lte", "73 GHz": "73"}
"""Names of second paths, and their interfaces."""

MULTIPATH = "flow.download.multipath"
RECEIVE_WINDOW = "flow.download.tcp.receive-window"
SEND_BUFFER = f"{MULTIPATH}.maximum-send-buffer"
CONGESTION = "flow.download.congestion-control"


SPEED_MPS = 2
LENGTH_S = 20
"""Length of a run in seconds. The walk passes the point at the distance half-way."""

Place = tuple[int, str]
"""A distance in metres, and the stratum: with or without line of sight."""


@dataclass(frozen=True)
class Setup:
    """A single path, or 28 GHz and a second path."""

    second: str | None = None
    coupling: str = "uncoupled"
    has_28: bool = True

    @property
    def name(self) -> str:
        """Name of the setup in tables."""
        if self.second is None:
            return "28 GHz alone"
        return f"28 GHz + {self.second}" if self.has_28 else f"{self.second} alone"

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
LTE_ALONE = Setup("LTE", has_28=False)
LTE, MMWAVE, BALIA = Setup("LTE"), Setup("73 GHz"), Setup("LTE", "balia")
SETUPS = (SINGLE, *(Setup(second, coupling) for second in SECOND for coupling in COUPLINGS))
CLAIMED = (SINGLE, LTE, BALIA, MMWAVE)
"""Setups of the paper's claims."""


@dataclass(frozen=True)
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario.

    A `*` in a key stands for each interface in use. Keys of unused interfaces, and keys of several
    paths for a single path, are left out.
    """

    is_uplink: bool = False
    starts_second: bool = False
    """True if the second path opens the connection."""


BASE = Change.nothing()


def job(
    setup: Setup,
    at: Place,
    duration: Values,
    seed: int,
    change: Change = BASE,
    probes: Values | None = None,
) -> Job:
    """Returns a run without the interfaces that its setup does not use."""
    used = setup.used
    distance_m, sight = at
    values = {**QUIET_CELL, **duration, **(probes or {})}
    start_m = -SPEED_MPS * LENGTH_S / 2
    values |= {f"ue.ue-{name}.position": f'["{distance_m} m", "{start_m:g} m"]' for name in used}
    # All cells are on one mast, so an obstacle blocks all or none.
    values |= {f"cell.cell-{name}.channel.line-of-sight": sight for name in used}
    without = [
        part
        for name in INTERFACES
        if name not in used
        for part in (f"link.core-{name}", f"cell.cell-{name}", f"ue.ue-{name}")
    ]
    if setup.is_single:
        without.append(MULTIPATH)
    else:
        order = used[::-1] if change.starts_second else used
        paths = [[f"core-{name}", f"ue-{name}"] for name in order]
        if change.is_uplink:
            paths = [path[::-1] for path in paths]
        values[f"{MULTIPATH}.paths"] = json.dumps(paths)
        if setup.coupling != "uncoupled":
            values[f"{MULTIPATH}.coupling"] = setup.coupling
    if change.is_uplink:
        values |= {"flow.download.from": "phone", "flow.download.to": "server"}
    values |= concerning(setup, change.values)
    return Job(SCENARIO, overrides(values), tuple(without), seed, with_tables=probes is not None)


def concerning(setup: Setup, values: Values) -> dict[str, str]:
    """Returns those of `values` that concern the setup."""
    found: dict[str, str] = {}
    for key, value in values.items():
        interface = key.split(".")[1].rpartition("-")[2]
        if key == CONGESTION:
            # A coupling is itself a congestion control.
            if setup.coupling == "uncoupled":
                found[key] = value
        elif key.startswith("flow."):
            if not (setup.is_single and key.startswith(MULTIPATH)):
                found[key] = value
        elif interface == "*":
            found |= {key.replace("*", name): value for name in setup.used}
        elif interface in setup.used:
            found[key] = value
    return found


CHANGES = DATA.all("change", Change)
NARROW = DATA.values["narrow"]


@dataclass(frozen=True)
class Variant(Choice):
    """A way to send over 28 GHz and LTE, which helps to find the limit of coupled algorithms."""

    coupling: str = "uncoupled"
    is_drawn: bool = False
    """True if the figure has the variant."""

    @property
    def setup(self) -> Setup:
        """The paths and the coupling."""
        return Setup("LTE", self.coupling)

    @property
    def change(self) -> Change:
        """The difference from the scenario."""
        return Change(self.name, "", self.values)


VARIANTS = DATA.all("variant", Variant)
SHOWN = tuple(variant for variant in VARIANTS if variant.is_drawn)
