"""The study on inter-RAT handovers: its runs and tables."""

from collections.abc import Iterator
from pathlib import Path

from fadeout.studies.inter_rat_handover import (
    behaviours,
    claims,
    questions,
    radio,
    tables,
    today,
)
from fadeout.studies.inter_rat_handover.runs import Effort, found
from fadeout.studies.inter_rat_handover.setups import (
    CELLS,
    CHANGES,
    ROWS,
    STACKS,
    STATED_STARTS_MS,
)
from fadeout.study import Runs, Section, Study


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    yield from tables.handovers(runs)
    settings = [row.setting(*cell) for row in ROWS for cell in CELLS]
    yield radio.section(runs, found(runs, settings))
    yield claims.claims(runs)
    yield claims.figures_section(runs)
    yield behaviours.section(runs)
    yield tables.stacks(runs)
    yield tables.arithmetic()
    yield questions.assumptions(runs)
    yield radio.assumptions(runs)
    yield tables.bicast_times(runs)
    yield questions.source_limit(runs)
    yield questions.axes(runs)
    yield questions.forward_handover(runs)
    yield today.section(runs)
    yield tables.quoted(runs)
    yield tables.appendix_b(runs)


def count(effort: Effort) -> int:
    """Returns the maximum number of simulations of the study."""
    points = (
        len(ROWS) * len(CELLS)
        + 2 * len(tables.BICAST_STARTS_MS)
        + len(STATED_STARTS_MS) * len(STACKS)
        + questions.POINTS
        + (1 + len(CHANGES)) * len(CELLS)
        + today.POINTS
        + radio.POINTS
    )
    return points * effort.seeds + behaviours.count() + 4


STUDY = Study(
    name="inter-rat-handover",
    folder=Path(__file__).parent,
    title="TCP and data at a handover from LTE to 3G",
    introduction="""\
This study repeats an experiment of a contribution to 3GPP RAN2 from 2006. A phone is handed over
from LTE to 3G during a download. Either the source base station forwards the waiting data, or an
anchor sends the data to both cells (bicasting). The study's README.md lists the assumptions.
""",
    full=Effort(seeds=12),
    quick=Effort(seeds=3),
    count=count,
    sections=sections,
    other_scenarios={"scenario_with_a_radio": "radio.toml"},
)
