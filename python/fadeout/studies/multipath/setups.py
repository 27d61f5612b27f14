"""Setups of the study: distances, second paths, couplings, and open assumptions."""

import json
from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.study import QUIET_CELL, Job, Values, overrides

SCENARIO = Path(__file__).parent / "scenario.toml"

DISTANCES_M = (50, 75, 100, 150)
NEAR, FAR = DISTANCES_M[0], DISTANCES_M[-1]
COUPLINGS = ("uncoupled", "lia", "olia", "balia", "coupled-cubic")
INTERFACES = ("28", "73", "lte")
SECOND = {"LTE": "lte", "73 GHz": "73"}
"""Names of second paths, and their interfaces."""

MULTIPATH = "flow.download.multipath"
RECEIVE_WINDOW = "flow.download.tcp.receive-window"
SEND_BUFFER = f"{MULTIPATH}.maximum-send-buffer"
SCHEDULER = f"{MULTIPATH}.path-scheduler"
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

    @property
    def name(self) -> str:
        """Name of the setup in tables."""
        return "28 GHz alone" if self.second is None else f"28 GHz + {self.second}"

    @property
    def used(self) -> tuple[str, ...]:
        """Interfaces of the setup."""
        return ("28",) if self.second is None else ("28", SECOND[self.second])


SINGLE = Setup()
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

    duration_s: float | None = None
    """Length of the run in seconds, if the change concerns it. None for the scenario's own."""
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
    if change.duration_s is not None:
        values["duration"] = f"{change.duration_s:g} s"
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
    if setup.second is None:
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
            if setup.second is not None or not key.startswith(MULTIPATH):
                found[key] = value
        elif interface == "*":
            found |= {key.replace("*", name): value for name in setup.used}
        elif interface in setup.used:
            found[key] = value
    return found


def each(names: str, key: str, value: str) -> dict[str, str]:
    """Returns `key` for each of the interfaces in `names`, which replace `{}`."""
    return {key.format(name): value for name in names.split()}


NO_HYSTART = {CONGESTION: '{ name = "cubic", hystart = "off" }'}

APERTURE = each("28 73", "cell.cell-{}.antenna.element", "aperture") | each(
    "28 73", "cell.cell-{}.channel.ue-antenna.element", "aperture"
)
CLUSTERS = {"cell.cell-*.channel.fading": "clusters", "cell.cell-*.channel.k-factor": "drawn"}

CHANGES = (
    Change("scheduler", "lowest-rtt", {SCHEDULER: "lowest-rtt"}),
    Change("send buffer", "4 MiB a path (Linux's default)", {SEND_BUFFER: "4 MiB"}),
    Change("RLC buffers", "2 MB", {"ue.ue-*.rlc.buffer": "2 MB"}),
    Change("path loss of 28 and 73 GHz", "UMi",
           each("28 73", "cell.cell-{}.channel.path-loss", "umi")),
    Change("fading", "TDL-A, 100 ns", {"cell.cell-*.channel.fading": "tdl-a",
                                       "cell.cell-*.channel.delay-spread": "100 ns"}),
    Change("elements of 28 and 73 GHz", "5 dBi, as large as their cells", APERTURE),
    Change("fading and beams", "through clusters", CLUSTERS),
    Change("channel", "as fadeout has it by default", APERTURE | CLUSTERS),
    Change("power of 28 and 73 GHz", "20 dBm", each("28 73", "cell.cell-{}.tx-power", "20 dBm")),
    Change("28 and 73 GHz", "400 MHz",
           each("28 73", "cell.cell-{}.bandwidth", "400 MHz")
           | each("28 73", "cell.cell-{}.radio.resource-blocks", "264")),
    Change("direction", "uplink", is_uplink=True),
)  # fmt: skip
"""Changes in the table that varies one assumption at a time."""


@dataclass(frozen=True)
class Variant:
    """A way to send over 28 GHz and LTE, which helps to find the limit of coupled algorithms."""

    name: str
    setup: Setup
    change: Change = BASE


def variant(name: str, coupling: str, **values: str) -> Variant:
    """Returns a variant with some overrides, given by short names."""
    keys = {"receive": RECEIVE_WINDOW, "send": SEND_BUFFER, "scheduler": SCHEDULER,
            "congestion": CONGESTION, "lte_buffer": "ue.ue-lte.rlc.buffer"}  # fmt: skip
    change = Change(name, "", {keys[key]: value for key, value in values.items()})
    return Variant(name, Setup("LTE", coupling), change if values else BASE)


WITH_HYSTART = '{ name = "coupled-cubic", hystart = true }'
ONE_GIB = "1073741824"

VARIANTS = (
    variant("uncoupled CUBIC", "uncoupled"),
    variant("uncoupled CUBIC, no HyStart", "uncoupled", congestion=NO_HYSTART[CONGESTION]),
    variant("uncoupled NewReno", "uncoupled", congestion="newreno"),
    variant("BALIA", "balia"),
    variant("BALIA, LTE buffer 1 MB", "balia", lte_buffer="1 MB"),
    variant("BALIA, LTE buffer 200 kB", "balia", lte_buffer="200 kB"),
    variant("BALIA, receive window 1 GiB", "balia", receive=ONE_GIB),
    variant("BALIA, and send buffers 1 GB", "balia", receive=ONE_GIB, send="1 GB"),
    variant("BALIA, scheduler BLEST", "balia", scheduler="blest"),
    variant("BALIA, scheduler redundant", "balia", scheduler="redundant"),
    variant("coupled CUBIC", "coupled-cubic"),
    variant("coupled CUBIC, HyStart", WITH_HYSTART),
)
"""Variants in the section on coupled algorithms."""

SHOWN = (VARIANTS[0], VARIANTS[3], VARIANTS[4])
"""Variants in that section's figure."""
