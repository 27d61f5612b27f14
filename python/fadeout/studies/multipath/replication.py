"""Uplink of 400 MHz beside an independent replication of the author's public script."""

from fadeout.studies.multipath.claims import GOODPUT
from fadeout.studies.multipath.runs import COUPLED, LISTS, PAGE, PUBLISHED, SINGLE
from fadeout.study import FoundInPlaces, Section

THEIRS = PUBLISHED["replication"]

NUMBERS = {
    SINGLE: "single_mbps",
    **{setup: f"{setup.coupling}_mbps" for setup in COUPLED},
}
"""Names of the replication's numbers."""


def section(found: FoundInPlaces) -> Section:
    """Returns the section that compares the uplink with the replication."""
    distances: list[int] = THEIRS["distances_m"]
    by_change = found.by_change()
    base, *changes = found.parts("change")
    # The laws come before the other assumptions.
    laws = [change for change in by_change if change not in (base, *changes)]
    places = found.count(next(iter(found)))
    records = []
    for setup in LISTS["replicated"]:
        name = NUMBERS.get(setup)
        theirs = THEIRS[name] if name else [THEIRS["lte_mbps"]] * len(distances)
        for change in (base, *laws, *changes) if setup is SINGLE else (base,):
            label = change.value if change in laws else change.name
            ours = [by_change[change].plain_mean((d, setup), GOODPUT) for d in distances]
            records.append(
                {**setup.data(), "assumption": "none" if change is base else label}
                | {"_coupling": None if setup.is_single else setup.coupling}
                | {
                    f"{whose}_{distance}_m_mbps": value
                    for whose, values in (("replication", theirs), ("goodput", ours))
                    for distance, value in zip(distances, values, strict=True)
                }
                | {"places": places}
            )
    return PAGE.section("replication", records, distances=distances, seeds=places // 2)
