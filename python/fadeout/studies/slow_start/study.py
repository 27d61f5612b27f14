"""The study on slow start: its runs and tables."""

from collections.abc import Iterator
from pathlib import Path

from fadeout.studies.slow_start.checks import checks
from fadeout.studies.slow_start.claims import claims_of_table1
from fadeout.studies.slow_start.misses import misses
from fadeout.studies.slow_start.runs import (
    Effort,
    Load,
    Rates,
    count,
    delays,
    downloads,
    limited,
    ramps,
    rates,
)
from fadeout.studies.slow_start.setups import SATURATION_MBPS
from fadeout.studies.slow_start.table1 import assumptions, readings, table1
from fadeout.studies.slow_start.table2 import table2
from fadeout.study import Runs, Section, Study, Table


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    runs.facts["packets_a_cell_of_table_2"] = (
        f"{effort.packets} without errors, {effort.packets_with_errors} with"
    )
    single = delays(runs)
    radio = rates(runs)
    found = ramps(runs, radio)
    yield table1(found, downloads(runs, radio), effort.seeds)
    yield claims_of_table1(found)
    yield table2(single)
    yield checks(found, single)
    yield misses(found)
    yield assumptions(found)
    yield readings(found)
    yield saturation(radio, limited(runs, radio))


def saturation(rates: Rates, limited: dict[Load, float]) -> Section:
    """Returns the section on the radio's rate at which 21 Mbit/s arrive."""
    return Section(
        name="saturation",
        title="The rate of the radio",
        text=(
            "The radio's rate is set so that the application receives 21 Mbit/s, because the "
            "paper chooses its MCS by the received rate. Smaller transport blocks have a larger "
            "share of headers. The last column shows the rate with LTE's usual 60 ms between RLC "
            "status reports. With a TTI of 0.1 ms and one PDU in each TTI, the window of 512 "
            "PDUs is used up before the next status report."
        ),
        table=Table.of(
            [
                {
                    "_tti": f"{tti:g} ms",
                    "_errors": f"{100 * bler:g} %",
                    "tti_ms": tti,
                    "bler": bler,
                    "segment_bytes": size,
                    "radio_mbps": radio,
                    "reached_mbps": reached,
                    "reached_with_rare_reports_mbps": limited[tti, bler, size],
                }
                for (tti, bler, size), (radio, reached) in rates.items()
            ],
            {
                "TTI": "{_tti}",
                "errors": "{_errors}",
                "segment bytes": "{segment_bytes}",
                "radio Mbit/s": "{radio_mbps:.2f}",
                "above TCP Mbit/s": "{reached_mbps:.2f}",
                "reports 60 ms apart": "{reached_with_rare_reports_mbps:.2f}",
            },
        ),
    )


STUDY = Study(
    name="slow-start",
    folder=Path(__file__).parent,
    title="TCP slow start over LTE with short intervals",
    introduction=f"""\
This study repeats an experiment of a contribution to 3GPP RAN2 on latency reduction. One phone
downloads over LTE at {SATURATION_MBPS:g} Mbit/s, with transmission time intervals (TTI) of 1, 0.5
and 0.1 ms. The phone has an opportunity for a scheduling request (SR) every 5 TTI or every TTI. The
whole stack is simulated, from TCP to HARQ. The study's README.md lists the assumptions.
""",
    full=Effort(seeds=20, packets=5_000, packets_with_errors=100_000),
    quick=Effort(seeds=3, packets=1_000, packets_with_errors=20_000),
    count=count,
    sections=sections,
)
