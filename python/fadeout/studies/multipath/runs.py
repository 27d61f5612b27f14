"""Setups of the study, its runs, and the numbers read from them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import (
    IN_SIGHT,
    QUIET_CELL,
    Choice,
    Data,
    FoundInPlaces,
    Job,
    Numbers,
    Page,
    Runs,
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

    @property
    def setup(self) -> Setup:
        """The paths and the coupling."""
        return Setup("LTE", self.coupling)

    @property
    def change(self) -> Change:
        """The difference from the scenario."""
        return Change(self.name, "", self.values)


VARIANTS = DATA.all("variant", Variant)

Point = tuple[int, Setup]
"""A distance in metres and the setup there."""

SWEPT_M = (NEAR, FAR)
"""Distances in the paper's text, at which assumptions are changed, metres."""

PROBES: Values = {"probe.congestion": "20 ms", "probe.throughput": "100 ms"}

FULL_WINDOW = 0.9
"""Share of the window in flight from which a path counts as sending all it may."""

MAIN: list[Point] = [(distance, setup) for distance in SWEPT_M for setup in CLAIMED]
OTHERS: list[Point] = [
    *(
        (distance, setup)
        for distance in DISTANCES_M
        if distance not in SWEPT_M
        for setup in CLAIMED
    ),
    *((distance, setup) for distance in SWEPT_M for setup in SETUPS if setup not in CLAIMED),
]
"""Points at other distances, and with couplings that the paper does not mention."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs. `seeds` is the number of places of each stratum."""

    other_seeds: int
    """Places of each stratum at other distances and with other couplings."""


def main(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the numbers of the claims' points, and those of other points with fewer places."""
    others = replace(runs.effort, seeds=runs.effort.other_seeds)
    of_claims, of_others = (
        changed(runs, [(BASE, *point) for point in points], effort).along("change")[BASE]
        for points, effort in ((MAIN, runs.effort), (OTHERS, others))
    )
    return of_claims | of_others


def sweep(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the numbers of the claims' setups with one assumption changed at a time."""
    points = [(change, *point) for change in (BASE, *CHANGES) for point in MAIN]
    return changed(runs, points, runs.effort.of_sweep())


def changed(
    runs: Runs[Effort], points: Sequence[tuple[Change, int, Setup]], effort: Effort
) -> FoundInPlaces:
    """Returns the numbers of setups at a distance, with a change."""

    def job_of(at: tuple[Change, int, Setup], sight: str, seed: int) -> Job:
        change, distance_m, setup = at
        return job(setup, (distance_m, sight), effort.duration, seed, change)

    return runs.in_places("change distance_m setup", points, job_of, measure, effort.seeds)


def variants(runs: Runs[Effort]) -> FoundInPlaces:
    """Returns the numbers of the variants at the nearest and at the farthest distance."""
    points = [(distance, variant) for distance in SWEPT_M for variant in VARIANTS]

    def job_of(at: tuple[int, Variant], sight: str, seed: int) -> Job:
        return variant_job(runs.effort, at, sight, seed)

    return runs.in_places("distance_m variant", points, job_of, measure_paths, runs.effort.swept)


def variant_job(effort: Effort, at: tuple[int, Variant], sight: str, seed: int) -> Job:
    """Returns the run of a variant with tables of congestion and throughput."""
    distance_m, variant = at
    place = (distance_m, sight)
    return job(variant.setup, place, effort.duration, seed, variant.change, PROBES)


def traces(runs: Runs[Effort]) -> dict[str, Results]:
    """Returns one run of each drawn variant, at the nearest distance with line of sight."""
    drawn = [variant for variant in VARIANTS if "drawn" in variant.tags]
    jobs = [variant_job(runs.effort, (NEAR, variant), IN_SIGHT, 1) for variant in drawn]
    names = (variant.name for variant in drawn)
    return dict(zip(names, runs.whole(jobs), strict=True))


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run. Those of a missing second path are zero."""
    flow = results.flows.row(0, named=True)
    second = paths(results)[1] if len(results.paths) else {}
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": 1e3 * (flow["mean_rtt_s"] or 0.0),
        "second_mbps": second.get("goodput_mbps", 0.0),
        "second_rtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
    }


def paths(results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the rows of the 28 GHz path and of the second path, whichever opened the
    connection.
    """
    opened_by = results.manifest["scenario"]["flow"]["download"]["multipath"]["paths"][0]
    one, other = results.paths.to_dicts()
    return (one, other) if "ue-28" in opened_by["links"] else (other, one)


def measure_paths(results: Results) -> Numbers:
    """Returns the traffic of both paths, and the data that wait at the receiver at the end."""
    first, second = paths(results)
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
