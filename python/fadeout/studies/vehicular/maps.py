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
        text=(
            "The maps correspond to the paper's Figures 6 and 7, with the obstacles of seed 1. "
            "The paper's text says little about its own maps."
        ),
        figures={
            f"The four scenarios with the paths of the cars in {SHOWN_S:g} s. Thick line: the "
            "serving unit is behind a building.": figures.maps(of)
        },
    )
