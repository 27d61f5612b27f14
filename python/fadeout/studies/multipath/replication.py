"""Uplink of 400 MHz beside an independent replication of the author's public script."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from fadeout import study
from fadeout.studies.multipath.claims import mean
from fadeout.studies.multipath.runs import Effort, Found, Point, measure
from fadeout.studies.multipath.setups import (
    APERTURE,
    BASE,
    CLUSTERS,
    LTE_ALONE,
    NARROW,
    SINGLE,
    Change,
    Setup,
    each,
    job,
)
from fadeout.study import (
    OTHER_LAWS,
    SIGHTS,
    Job,
    Law,
    Runs,
    Section,
    Table,
    published,
    share_in_sight,
)

PUBLISHED = published(Path(__file__).parent)["replication"]
DISTANCES_M: tuple[int, ...] = tuple(PUBLISHED["distances_m"])

COUPLED = tuple(Setup("LTE", one) for one in ("uncoupled", "lia", "olia", "balia"))
SETUPS = (SINGLE, LTE_ALONE, *COUPLED)
NUMBERS = {
    SINGLE: "single_mbps",
    **{setup: f"{setup.coupling}_mbps" for setup in COUPLED},
}
"""Names of the replication's numbers."""


def _loss(model: str) -> Mapping[str, str]:
    return {"cell.cell-28.channel.path-loss": model}


CHANGES = (
    study.Change("path loss", "UMi", _loss("umi")),
    study.Change("path loss", "UMa", _loss("uma")),
    study.Change("path loss", "NLOS exponent 3.7", _loss(
        '{ model = "close-in", nlos-exponent = 3.7 }')),
    study.Change("power of the UE", "13 dBm", {"ue.ue-*.tx-power": "13 dBm"}),
    study.Change("noise figure of the cell", "10 dB", {"cell.cell-*.noise-figure": "10 dB"}),
    study.Change("body loss", "10 dB", {"ue.ue-*.penetration": "10 dB"}),
    study.Change("antennas of the UE", "isotropic",
                 {"cell.cell-28.channel.ue-antenna": "isotropic"}),
    study.Change("elements", "5 dBi, as large as their cells", APERTURE),
    study.Change("fading and beams", "through clusters", CLUSTERS),
    study.Change("retransmissions", "RLC UM", each("28", "ue.ue-{}.rlc.mode", "um")),
)  # fmt: skip
"""Changes of the single path, one at a time."""


def uplink(change: study.Change) -> Change:
    """Returns the change together with the setting of the replication."""
    return Change(change.assumption, change.value, {**NARROW, **change.values}, is_uplink=True)


POINTS = [
    *((BASE, (distance, setup)) for distance in DISTANCES_M for setup in SETUPS),
    *((change, (distance, SINGLE)) for change in CHANGES for distance in DISTANCES_M),
]


def count(effort: Effort) -> int:
    """Returns the number of runs of the section."""
    return len(POINTS) * len(SIGHTS) * effort.swept


def of_place(effort: Effort, at: tuple[study.Change, str, Point], seed: int) -> Job:
    """Returns the run of a point in a place."""
    change, sight, (distance_m, setup) = at
    return job(setup, (distance_m, sight), effort.duration, seed, uplink(change))


def found_in(runs: Runs[Effort]) -> dict[study.Change, Found]:
    """Returns the numbers of each place by change and point."""
    found = runs.over_seeds(
        [(change, sight, point) for change, point in POINTS for sight in SIGHTS],
        partial(of_place, runs.effort),
        measure,
        runs.effort.swept,
    )
    return {
        change: {
            point: {sight: found[change, sight, point] for sight in SIGHTS}
            for other, point in POINTS
            if other == change
        }
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
        theirs = PUBLISHED[name] if name else [PUBLISHED["lte_mbps"]] * len(DISTANCES_M)
        for label, change, law in laws if setup is SINGLE else laws[:1]:
            ours = [mean(found[change], (d, setup), law=law) for d in DISTANCES_M]
            records.append(
                {"paths": setup.name, "coupling": setup.coupling, "assumption": label or "none"}
                | {
                    f"{whose}_{distance}_m_mbps": value
                    for whose, values in (("replication", theirs), ("goodput", ours))
                    for distance, value in zip(DISTANCES_M, values, strict=True)
                }
                | {"places": len(SIGHTS) * runs.effort.swept}
            )
    return Section(
        name="replication",
        title="Uplink beside an independent replication",
        text=(
            "Others ran the public script of the paper's first author again, on another "
            "simulator. The script simulates an uplink of 400 MHz. The cells show the "
            f"replication's goodput and ours in Mbit/s, at {runs.effort.swept} positions in LOS "
            f"and {runs.effort.swept} in NLOS. In the rows of the single path, each row changes "
            "one assumption. No number is fitted."
        ),
        table=Table.of(
            records,
            {
                "paths": "{paths}",
                "coupling": lambda record: record["coupling"] if "+" in record["paths"] else "-",
                "changed": "{assumption}",
            }
            | {
                f"{d} m": f"{{replication_{d}_m_mbps:g}} / {{goodput_{d}_m_mbps:.0f}}"
                for d in DISTANCES_M
            },
        ),
    )
