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


def each(names: str, key: str, value: str) -> dict[str, str]:
    """Returns `key` for each of the interfaces in `names`, which replace `{}`."""
    return {key.format(name): value for name in names.split()}


NO_HYSTART = {CONGESTION: '{ name = "cubic", hystart = "off" }'}
MMWAVES = "28 73"


def _narrow(names: str) -> dict[str, str]:
    """Returns overrides for cells of 400 MHz."""
    return each(names, "cell.cell-{}.bandwidth", "400 MHz") | each(
        names, "cell.cell-{}.radio.resource-blocks", "264"
    )


def _close_in(exponent: float) -> dict[str, str]:
    """Returns overrides for a path loss with this exponent in NLOS, at 28 and 73 GHz."""
    model = f'{{ model = "close-in", nlos-exponent = {exponent:g} }}'
    return each(MMWAVES, "cell.cell-{}.channel.path-loss", model)


NARROW = _narrow(MMWAVES)
RLC_UM = each(MMWAVES, "ue.ue-{}.rlc.mode", "um")
ONE_TRANSMISSION = each(MMWAVES, "cell.cell-{}.radio.harq-transmissions", "1")
APERTURE = each(MMWAVES, "cell.cell-{}.antenna.element", "aperture") | each(
    MMWAVES, "cell.cell-{}.channel.ue-antenna.element", "aperture"
)
CLUSTERS = {"cell.cell-*.channel.fading": "clusters", "cell.cell-*.channel.k-factor": "drawn"}

SIGHT_73, SIGHT_LTE = (f"cell.cell-{name}.channel.line-of-sight" for name in ("73", "lte"))

SECOND_PATH = (
    Change("73 GHz", "400 MHz", _narrow("73")),
    Change("73 GHz", "20 dBm", {"cell.cell-73.tx-power": "20 dBm"}),
    Change("73 GHz", "never in sight", {SIGHT_73: "obstructed"}),
    Change("LTE", "always in sight", {SIGHT_LTE: "clear"}),
    Change("LTE", "46 dBm", {"cell.cell-lte.tx-power": "46 dBm"}),
    Change("LTE", "two layers", {"cell.cell-lte.radio": '{ kind = "lte", layers = 2 }'}),
)
"""Changes of the second path alone. 28 GHz stays as it is in the scenario."""

LINK = (
    Change("28 and 73 GHz", "RLC UM", RLC_UM),
    Change("28 and 73 GHz", "no retransmissions", RLC_UM | ONE_TRANSMISSION),
    Change("28 and 73 GHz", "UMi",
           each(MMWAVES, "cell.cell-{}.channel.path-loss", "umi")),
    Change("28 and 73 GHz", "UMa",
           each(MMWAVES, "cell.cell-{}.channel.path-loss", "uma")),
    Change("28 and 73 GHz", "NLOS exponent 3.19 (close-in)", _close_in(3.19)),
    Change("28 and 73 GHz", "NLOS exponent 3.7 (close-in)", _close_in(3.7)),
    Change("28 and 73 GHz", "20 dBm", each(MMWAVES, "cell.cell-{}.tx-power", "20 dBm")),
    Change("28 and 73 GHz", "400 MHz each", NARROW),
    Change("28 and 73 GHz", "elements of 5 dBi, as large as their cells", APERTURE),
    Change("noise figure of the UE", "5 dB", {"ue.ue-*.noise-figure": "5 dB"}),
    Change("noise figure of the UE", "13 dB", {"ue.ue-*.noise-figure": "13 dB"}),
    Change("body loss", "10 dB", {"ue.ue-*.penetration": "10 dB"}),
    Change("power of the UE", "13 dBm", {"ue.ue-*.tx-power": "13 dBm"}),
    Change("fading", "TDL-A, 100 ns", {"cell.cell-*.channel.fading": "tdl-a",
                                       "cell.cell-*.channel.delay-spread": "100 ns"}),
    Change("fading and beams", "through clusters", CLUSTERS),
    Change("channel", "as fadeout has it by default", APERTURE | CLUSTERS),
    Change("direction", "uplink", is_uplink=True),
)  # fmt: skip
"""Changes of all links of a kind."""

STACK = (
    Change("scheduler", "lowest-rtt", {SCHEDULER: "lowest-rtt"}),
    Change("send buffer", "4 MiB a path (Linux's default)", {SEND_BUFFER: "4 MiB"}),
    Change("receive window", "6 MiB (Linux's default)", {RECEIVE_WINDOW: "6291456"}),
    Change("timeout", "at least 1 s", {"flow.download.tcp.minimum-rto": "1 s"}),
    Change("RLC buffers", "2 MB", {"ue.ue-*.rlc.buffer": "2 MB"}),
)
"""Changes of TCP and of the buffers."""

CHANGES = (*SECOND_PATH, *LINK, *STACK)
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
