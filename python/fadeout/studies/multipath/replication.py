"""Uplink of 400 MHz beside an independent replication of the author's public script."""

from functools import partial

from fadeout import study
from fadeout.studies.multipath.claims import mean
from fadeout.studies.multipath.runs import Effort, Found, Point, measure
from fadeout.studies.multipath.setups import (
    BASE,
    DATA,
    LTE_ALONE,
    NARROW,
    PAGE,
    PUBLISHED,
    SINGLE,
    Change,
    Setup,
    job,
)
from fadeout.study import (
    OTHER_LAWS,
    SIGHTS,
    Job,
    Law,
    Runs,
    Section,
    share_in_sight,
)

THEIRS = PUBLISHED["replication"]
DISTANCES_M: tuple[int, ...] = tuple(THEIRS["distances_m"])

COUPLED = tuple(Setup("LTE", one) for one in ("uncoupled", "lia", "olia", "balia"))
SETUPS = (SINGLE, LTE_ALONE, *COUPLED)
NUMBERS = {
    SINGLE: "single_mbps",
    **{setup: f"{setup.coupling}_mbps" for setup in COUPLED},
}
"""Names of the replication's numbers."""


CHANGES = DATA.all("replication-change", study.Change)
"""Changes of the single path, one at a time."""


def uplink(change: study.Change) -> Change:
    """Returns the change together with the setting of the replication."""
    return Change(change.assumption, change.value, {**NARROW, **change.values}, is_uplink=True)


POINTS = [
    *((BASE, (distance, setup)) for distance in DISTANCES_M for setup in SETUPS),
    *((change, (distance, SINGLE)) for change in CHANGES for distance in DISTANCES_M),
]


def of_place(effort: Effort, at: tuple[study.Change, Point], sight: str, seed: int) -> Job:
    """Returns the run of a point in a place."""
    change, (distance_m, setup) = at
    return job(setup, (distance_m, sight), effort.duration, seed, uplink(change))


def found_in(runs: Runs[Effort]) -> dict[study.Change, Found]:
    """Returns the numbers of each place by change and point."""
    found = runs.places(POINTS, partial(of_place, runs.effort), measure, runs.effort.swept)
    return {
        change: {point: places for (other, point), places in found.items() if other == change}
        for change in (BASE, *CHANGES)
    }


def section(runs: Runs[Effort]) -> Section:
    """Returns the section that compares the uplink with the replication."""
    found = found_in(runs)
    laws: list[tuple[str, study.Change, Law]] = [("", BASE, share_in_sight)]
    laws += [(name, BASE, law) for name, law in OTHER_LAWS.items()]
    laws += [(change.name, change, share_in_sight) for change in CHANGES]
    records = []
    for setup in SETUPS:
        name = NUMBERS.get(setup)
        theirs = THEIRS[name] if name else [THEIRS["lte_mbps"]] * len(DISTANCES_M)
        for label, change, law in laws if setup is SINGLE else laws[:1]:
            ours = [mean(found[change], (d, setup), law=law) for d in DISTANCES_M]
            records.append(
                {"paths": setup.name, "coupling": setup.coupling, "assumption": label or "none"}
                | {"_coupling": None if setup.is_single else setup.coupling}
                | {
                    f"{whose}_{distance}_m_mbps": value
                    for whose, values in (("replication", theirs), ("goodput", ours))
                    for distance, value in zip(DISTANCES_M, values, strict=True)
                }
                | {"places": len(SIGHTS) * runs.effort.swept}
            )
    return PAGE.section("replication", records, distances=DISTANCES_M, seeds=runs.effort.swept)
