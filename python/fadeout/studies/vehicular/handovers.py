"""Site structure, handover, and readings of RTW-TCP, varied one at a time.

The paper describes many timeouts and frequent handovers. Three properties are open: the number of
base stations, the fate of data at a handover, and the interruption. Its text has three descriptions
of RTW-TCP. The sender holds its window. The node that manages mobility informs the sender. RTW-TCP
performs "a fast retransmission on the wireless link".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout.results import Results
from fadeout.studies.vehicular.claims import gain, values
from fadeout.studies.vehicular.runs import MOTORWAY, SCENARIO, Effort, Numbers, measure, rates
from fadeout.studies.vehicular.setups import (
    COMPOUND,
    CONTROL,
    CUBIC,
    LOADS,
    OUTAGE,
    RTW,
    TIMEOUT,
    X_TCP,
    Scheme,
)
from fadeout.study import (
    QUIET_CELL,
    Change,
    Claim,
    Estimate,
    Job,
    Outcome,
    Runs,
    Section,
    Table,
    estimate,
    overrides,
)

SITES = Path(__file__).parent / "sites.toml"
MOTORWAY_SITES = Path(__file__).parent / "motorway-sites.toml"

HIGH = LOADS[-1]
"""Load of the paper's claim on urban-random."""

DATA = "mobility-management.data"
INTERRUPTION = "mobility-management.interruption"
RLC = "ue.car.rlc.mode"
DROPPED = {DATA: '"none"'}

ANNOUNCED = {"flow.download.link-info.prediction": '"1 s"'}
"""Override with which the source cell announces a handover to the sender."""


@dataclass(frozen=True)
class Network(Change):
    """A network: its site structure, and overrides."""

    has_sites: bool = True
    """True if each road-side unit is a base station of its own."""


SHARED = Network("one base station", "", has_sites=False)
FORWARDED = Network("a base station a unit", "data is forwarded")
LOSSY = Network("a base station a unit", "data is dropped", DROPPED)


def _lossy(assumption: str, value: str, key: str, given: str) -> Network:
    return Network(assumption, value, {**DROPPED, key: given})


def _shared(assumption: str, value: str, key: str, given: str) -> Network:
    return Network(f"one base station, {assumption}", value, {key: given}, has_sites=False)


NETWORKS = (
    SHARED,
    FORWARDED,
    LOSSY,
    _lossy("dropped, interruption", "none", INTERRUPTION, '"0 s"'),
    _lossy("dropped, interruption", "50 ms", INTERRUPTION, '"50 ms"'),
    _lossy("dropped, interruption", "100 ms", INTERRUPTION, '"100 ms"'),
    _lossy("dropped, timeout", "at least 0.2 s", TIMEOUT, '"200 ms"'),
    _lossy("dropped, link", "RLC UM", RLC, '"um"'),
)
"""Networks of the square. The last rows change one assumption of the third."""

READINGS = (
    RTW,
    Scheme("handovers announced", "", {**RTW.values, **ANNOUNCED}),
    Scheme("waits for the link", "", {CONTROL: '{ name = "rtw-tcp", low-speed = 1000 }'}),
    Scheme("stops, then continues", "", {**RTW.values, **ANNOUNCED, OUTAGE: '"feedback"'}),
    Scheme("link repeats for it alone", "", {**RTW.values, DATA: '"forwarding"', RLC: '"am"'}),
)
"""Readings of RTW-TCP. The first is that of the other tables: blockages are announced."""

LINUX = Scheme("CUBIC, Linux's stack", "", {"flow.download.profile": '"linux"'})
SENDERS = (CUBIC, COMPOUND, LINUX, *READINGS)

MOTORWAY_NETWORKS = (
    SHARED,
    FORWARDED,
    LOSSY,
    _lossy("dropped, interruption", "100 ms", INTERRUPTION, '"100 ms"'),
    _lossy("dropped, link", "RLC UM", RLC, '"um"'),
    _shared("buffer", "0.5 MB", "ue.car.rlc.buffer", '"500 kB"'),
    Network(
        "one base station, core",
        "20 ms",
        {"link.core.delay": '"20 ms"', "link.core.queue.limit": '"100 MB"'},
        has_sites=False,
    ),
    _shared("ON rate", "200 Mbit/s", "flow.download.application.rate", '"200 Mbit/s"'),
)
"""Networks of the motorway. A core of 20 ms contradicts the paper's 1 ms."""

MOTORWAY_SENDERS = (RTW, COMPOUND, CUBIC, X_TCP, READINGS[1], READINGS[3], READINGS[4])

Point = tuple[Network, Scheme]
POINTS = [(network, sender) for network in NETWORKS for sender in SENDERS]
MOTORWAY_POINTS = [
    (network, sender) for network in MOTORWAY_NETWORKS for sender in MOTORWAY_SENDERS
]


def measure_handovers(results: Results) -> Numbers:
    """Returns the numbers of a run, with its handovers and the packets that they lost."""
    handovers = results.handovers
    return {
        **measure(results),
        "handovers": float(len(handovers)),
        "lost_packets": float(handovers["lost_packets"].sum()),
    }


def of_square(effort: Effort, capacity: float, point: Point, seed: int) -> Job:
    """Returns the run of a network and a sender at urban-random."""
    network, sender = point
    given = {**QUIET_CELL, **effort.duration, **rates(HIGH * capacity)}
    given |= {**network.values, **sender.values}
    scenario = SITES if network.has_sites else SCENARIO
    return Job(scenario, overrides(given), seed=seed, with_tables=True)


def of_motorway(effort: Effort, point: Point, seed: int) -> Job:
    """Returns the run of a network and a sender on the motorway."""
    network, sender = point
    given = {**QUIET_CELL, **effort.duration, **network.values, **sender.values}
    scenario = MOTORWAY_SITES if network.has_sites else MOTORWAY
    return Job(scenario, overrides(given), seed=seed, with_tables=True)


def seeds(effort: Effort) -> int:
    """Returns the number of seeds of both sections."""
    return min(effort.seeds, effort.handover_seeds)


def count(effort: Effort) -> int:
    """Returns the number of runs of both sections."""
    return (len(POINTS) + len(MOTORWAY_POINTS)) * seeds(effort)


def records_of(
    found: Mapping[Point, Sequence[Numbers]],
    networks: Sequence[Network],
    senders: Sequence[Scheme],
    claim: Claim,
) -> list[dict[str, Any]]:
    """Returns a record for each network and sender, with the check of the paper's gain."""
    records = []
    for network in networks:
        cubic = found[network, CUBIC]
        for sender in senders:
            numbers = found[network, sender]
            over = {
                "over_cubic_pct": gain(numbers, cubic, "goodput_mbps"),
                "over_compound_pct": gain(numbers, found[network, COMPOUND], "goodput_mbps"),
            }
            records.append(
                {"network": network.name, "sender": sender.name}
                | {
                    name: estimate(values(numbers, name))
                    for name in ("handovers", "lost_packets", "goodput_mbps", "timeouts", "rtt_ms")
                }
                | over
                | {"verdict": str(claim.check("over CUBIC").outcome(over["over_cubic_pct"]))}
                | {"seeds": len(numbers)}
            )
    return records


def section(runs: Runs[Effort], capacity: float, claims: Mapping[str, Claim]) -> Section:
    """Returns the section on site structure and handover at urban-random."""
    job = partial(of_square, runs.effort, capacity)
    found = runs.over_seeds(POINTS, job, measure_handovers, seeds(runs.effort))
    records = records_of(found, NETWORKS, SENDERS, claims["urban_random"])
    shown = (LINUX, *READINGS)
    return Section(
        name="handovers",
        title="Handover between base stations, and readings of RTW-TCP",
        text=(
            f"Urban-random at load {HIGH:g}. The last five columns are the throughput of readings "
            "of RTW-TCP over CUBIC's in the same network, in percent. The paper has 7.5 %. "
            "*RTW-TCP*: blockages are announced. *Handovers announced*: handovers as well. *Waits "
            "for the link*: a loss waits a round-trip time, as in a slow vehicle. *Stops, then "
            "continues*: the sender freezes window and timer during an announced interruption "
            "(TCP-Feedback). *Link repeats for it alone*: RLC AM and forwarding for RTW-TCP, but "
            "not for CUBIC. *Lost*: packets dropped at handovers of CUBIC's runs."
        ),
        table=Table(
            columns=["network", "handovers", "lost", "CUBIC Mbit/s", "timeouts"]
            + [sender.name for sender in shown],
            rows=[
                [
                    network.name,
                    *(
                        f"{fmean(values(found[network, CUBIC], name)):{spec}}"
                        for name, spec in (("handovers", ".1f"), ("lost_packets", ".0f"))
                    ),
                    *(
                        f"{estimate(values(found[network, CUBIC], name)):{spec}}"
                        for name, spec in (("goodput_mbps", ".0f"), ("timeouts", ".1f"))
                    ),
                    *(_gain(found, network, sender) for sender in shown),
                ]
                for network in NETWORKS
            ],
            data=Table.of(records, {}).data,
        ),
        conclusion=appears(records, "the paper's 7.5 %"),
        is_headline=True,
    )


def motorway_section(
    runs: Runs[Effort], claims: Mapping[str, Claim], published_ms: Mapping[str, float]
) -> Section:
    """Returns the section on Table 3 and Figure 12 with other networks."""
    job = partial(of_motorway, runs.effort)
    found = runs.over_seeds(MOTORWAY_POINTS, job, measure_handovers, seeds(runs.effort))
    records = records_of(found, MOTORWAY_NETWORKS, MOTORWAY_SENDERS, claims["realistic"])
    timed = MOTORWAY_SENDERS[:4]
    readings = (RTW, *MOTORWAY_SENDERS[4:])
    names = dict(zip((each.name for each in timed), published_ms.values(), strict=True))
    return Section(
        name="motorway-handovers",
        title="The motorway with other networks",
        text=(
            "The paper's Table 3 (round-trip times in ms) and Figure 12 (RTW-TCP has 11 % more "
            "throughput). The last columns are the throughput of readings of RTW-TCP over CUBIC's, "
            "in percent. Each row changes one assumption."
        ),
        table=Table(
            columns=["network", "handovers", "CUBIC Mbit/s", "timeouts"]
            + [f"RTT {name}" for name in names]
            + [sender.name for sender in readings],
            rows=[
                ["paper", "", "", "", *(f"{value:g}" for value in names.values()), "+11"]
                + [""] * (len(readings) - 1),
                *(
                    [
                        network.name,
                        f"{fmean(values(found[network, CUBIC], 'handovers')):.1f}",
                        f"{estimate(values(found[network, CUBIC], 'goodput_mbps')):.0f}",
                        f"{estimate(values(found[network, CUBIC], 'timeouts')):.1f}",
                        *(f"{_rtt(found[network, sender]):.1f}" for sender in timed),
                        *(_gain(found, network, sender) for sender in readings),
                    ]
                    for network in MOTORWAY_NETWORKS
                ),
            ],
            data=Table.of(records, {}).data,
        ),
        conclusion=appears(records, "the paper's 11 %"),
        is_headline=True,
    )


def appears(records: Sequence[Mapping[str, Any]], what: str) -> str:
    """Returns a list of the readings and networks in which the paper's gain appears."""
    found: dict[str, dict[str, list[str]]] = {}
    for record in records:
        verdict = record["verdict"]
        if verdict in (Outcome.HOLDS, Outcome.OPEN) and record["sender"] != CUBIC.name:
            found.setdefault(record["sender"], {}).setdefault(verdict, []).append(record["network"])
    lines = [
        f"- {sender}: " + "; ".join(f"{word} with {', '.join(names)}" for word, names in of.items())
        for sender, of in found.items()
    ]
    head = f"Senders whose gain over CUBIC is {what}, by the check of `published.toml`"
    return f"{head}:\n\n" + "\n".join(f"{line}." for line in lines) if lines else f"{head}: none."


def _rtt(numbers: Sequence[Numbers]) -> Estimate:
    return estimate(values(numbers, "rtt_ms"))


def _gain(found: Mapping[Point, Sequence[Numbers]], network: Network, sender: Scheme) -> str:
    return f"{gain(found[network, sender], found[network, CUBIC], 'goodput_mbps'):+.1f}"
