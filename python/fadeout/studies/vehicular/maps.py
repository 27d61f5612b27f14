"""Figures 6 and 7: maps of the four places, with the tracks of the cars."""

from fadeout.studies.vehicular import figures
from fadeout.studies.vehicular.runs import SCENARIO, Effort, rates
from fadeout.studies.vehicular.setups import PLACES
from fadeout.study import Job, Runs, Section, overrides

SHOWN_S = 3.0
"""Length of the tracks in seconds, in which a car at 30 m/s crosses the square."""


def section(runs: Runs[Effort]) -> Section:
    """Returns the section with the maps."""
    jobs = [
        Job(SCENARIO, overrides({"duration": f"{SHOWN_S:g} s", **place.values, **rates(100.0)}))
        for place in PLACES
    ]
    of = {place.name: results for place, results in zip(PLACES, runs.whole(jobs), strict=True)}
    return Section(
        name="maps",
        title="Maps",
        text="The paper's Figures 6 and 7, as dropped with seed 1: its own say little in words.",
        figures={
            f"The four places, and where the cars go in {SHOWN_S:g} s. Thick: the unit that serves "
            "is behind a building.": figures.maps(of)
        },
    )
