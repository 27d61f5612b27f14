"""The study: which runs, which tables."""

from fadeout.studies.slow_start.checks import checks, claims
from fadeout.studies.slow_start.runs import FULL, QUICK, Rates, Runner
from fadeout.studies.slow_start.setups import CHANGES, SATURATION_MBPS, UNCHANGED
from fadeout.studies.slow_start.table1 import assumptions, readings, table1
from fadeout.studies.slow_start.table2 import table2
from fadeout.study import Batch, Options, Report, Section, Table

INTRODUCTION = f"""\
A contribution to 3GPP RAN2 on latency reduction, beside the same experiment here. One phone
downloads over LTE at {SATURATION_MBPS:g} Mbit/s, with transmission time intervals (TTI) of 1, 0.5
and 0.1 ms and an opportunity for a scheduling request (SR) every 5 TTI or every TTI. All that
happens to a packet is simulated, from TCP to HARQ; what had to be chosen is listed in the study's
README.md."""


def run(batch: Batch, options: Options) -> Report:
    """Run the study."""
    effort = QUICK if options.quick else FULL
    seeds = options.seeds or effort.seeds
    runner = Runner(batch, effort, seeds)
    delays = runner.delays()
    rates = runner.rates()
    found = runner.numbers((UNCHANGED, *CHANGES), rates)
    limited = runner.limited(rates)
    downloads = runner.downloads(UNCHANGED, rates)
    return Report(
        title="TCP slow start over LTE with short intervals",
        introduction=INTRODUCTION,
        sections=[
            table2(delays),
            table1(found, downloads, seeds),
            readings(found),
            assumptions(found),
            checks(found, delays),
            claims(found),
            saturation(rates, limited),
        ],
        facts={
            "seeds": seeds,
            "packets_a_cell_of_table_2": f"{effort.packets} without errors, "
            f"{effort.packets_with_errors} with",
            "scenario": "fadeout/studies/slow_start/scenario.toml",
        },
    )


def saturation(rates: Rates, limited: dict[tuple[float, float], float]) -> Section:
    """What the radio carries so that 21 Mbit/s arrive."""
    rows = [(*key, *value, limited[key]) for key, value in rates.items()]
    return Section(
        name="saturation",
        title="The rate of the radio",
        text=(
            "Set so that 21 Mbit/s arrive above TCP, as the paper sets its scheme by what arrives: "
            "the smaller the blocks, the greater the share of headers. The last column has LTE's "
            "usual 60 ms between RLC status reports: at 0.1 ms the window of 512 PDUs, one an "
            "interval, is empty before the next report."
        ),
        table=Table(
            columns=["TTI", "errors", "radio Mbit/s", "above TCP Mbit/s", "reports 60 ms apart"],
            rows=[
                [f"{tti:g} ms", f"{100 * bler:g} %", *(f"{rate:.2f}" for rate in found)]
                for tti, bler, *found in rows
            ],
            data=[
                {
                    "tti_ms": tti,
                    "bler": bler,
                    "radio_mbps": radio,
                    "reached_mbps": reached,
                    "reached_with_rare_reports_mbps": rare,
                }
                for tti, bler, radio, reached, rare in rows
            ],
        ),
    )
