"""Uplink of 400 MHz beside an independent replication of the author's public script."""

from functools import partial

from fadeout import study
from fadeout.studies.multipath.claims import mean
from fadeout.studies.multipath.runs import (
    BASE,
    DATA,
    LTE_ALONE,
    NARROW,
    PAGE,
    PUBLISHED,
    SINGLE,
    Change,
    Effort,
    Setup,
    job,
    measure,
)
from fadeout.study import SIGHTS, Job, Runs, Section

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
    *((BASE, distance, setup) for distance in DISTANCES_M for setup in SETUPS),
    *((change, distance, SINGLE) for change in CHANGES for distance in DISTANCES_M),
]


def of_place(effort: Effort, at: tuple[study.Change, int, Setup], sight: str, seed: int) -> Job:
    """Returns the run of a point in a place."""
    change, distance_m, setup = at
    return job(setup, (distance_m, sight), effort.duration, seed, uplink(change))


def section(runs: Runs[Effort]) -> Section:
    """Returns the section that compares the uplink with the replication."""
    job_of = partial(of_place, runs.effort)
    found = runs.in_places("change distance_m setup", POINTS, job_of, measure, runs.effort.swept)
    by_change = found.by_change()
    # The laws come before the other assumptions.
    laws = [change for change in by_change if change not in (BASE, *CHANGES)]
    records = []
    for setup in SETUPS:
        name = NUMBERS.get(setup)
        theirs = THEIRS[name] if name else [THEIRS["lte_mbps"]] * len(DISTANCES_M)
        for change in (BASE, *laws, *CHANGES) if setup is SINGLE else (BASE,):
            label = change.value if change in laws else change.name
            ours = [mean(by_change[change], (d, setup)) for d in DISTANCES_M]
            records.append(
                {**setup.data(), "assumption": "none" if change is BASE else label}
                | {"_coupling": None if setup.is_single else setup.coupling}
                | {
                    f"{whose}_{distance}_m_mbps": value
                    for whose, values in (("replication", theirs), ("goodput", ours))
                    for distance, value in zip(DISTANCES_M, values, strict=True)
                }
                | {"places": len(SIGHTS) * runs.effort.swept}
            )
    return PAGE.section("replication", records, distances=DISTANCES_M, seeds=runs.effort.swept)
