"""Comparison with alternatives of today: other senders and stacks, handover, LTE."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fadeout.studies.vehicular.claims import gain, values
from fadeout.studies.vehicular.runs import Effort, Numbers, measure, rates
from fadeout.studies.vehicular.setups import AT_LOAD, CONTROL
from fadeout.study import QUIET_CELL, Job, Runs, Section, Table, Values, estimate, overrides

SCENARIO = Path(__file__).parent / "with-lte.toml"
WITHOUT_LTE = ("cell", "link.core-of-lte")

PROFILE = "flow.download.profile"
EVENTS = "mobility-management.events"
UNITS = "deployment.square.layout.units"

LINUX = {PROFILE: '"linux"'}

QUICK = {
    EVENTS: '[{ kind = "a3", offset = "1 dB", time-to-trigger = "0 s" }]',
    "mobility-management.interruption": '"0 s"',
}
"""Overrides for handover without delay: on the first measurement, and without interruption."""

FALLBACK = {
    EVENTS: (
        '[{ kind = "a3", time-to-trigger = "40 ms" }, '
        '{ kind = "b2", serving-threshold = "-104 dBm", threshold = "-110 dBm", '
        'time-to-trigger = "40 ms" }, '
        '{ kind = "b2", serving-threshold = "-60 dBm", threshold = "-97 dBm", '
        'time-to-trigger = "40 ms" }]'
    )
}
"""Overrides for handover to LTE when 28 GHz is blocked, and back when it is not."""


@dataclass(frozen=True)
class Choice:
    """A choice of sender, stack and network."""

    name: str
    pairs: tuple[tuple[str, str], ...] = ()
    has_lte: bool = False


def _choice(name: str, values: Values, *, has_lte: bool = False) -> Choice:
    return Choice(name, tuple(values.items()), has_lte)


RTW = {CONTROL: '"rtw-tcp"'}
BBR = {CONTROL: '"bbr3"'}
BASE = Choice("CUBIC, standards' stack")
CHOICES = (
    BASE,
    _choice("RTW-TCP, standards' stack", RTW),
    _choice("CUBIC, Linux's stack (RACK-TLP, F-RTO, 0.2 s)", LINUX),
    _choice("RTW-TCP, Linux's stack", {**LINUX, **RTW}),
    _choice("BBRv3, Linux's stack", {**LINUX, **BBR}),
    _choice("CUBIC, Linux's, handover at once", {**LINUX, **QUICK}),
    _choice("CUBIC, Linux's, fallback to LTE", {**LINUX, **FALLBACK}, has_lte=True),
    _choice("BBRv3, Linux's, fallback to LTE", {**LINUX, **BBR, **FALLBACK}, has_lte=True),
)

DENSITIES: Mapping[str, Values] = {
    "5 units, RLC AM": {},
    "1 unit, RLC AM": {UNITS: "1"},
    "1 unit, RLC UM": {UNITS: "1", "ue.car.rlc.mode": '"um"'},
}
"""Numbers of units and modes of RLC. With one unit, a car cannot change to another."""

Point = tuple[str, Choice]
POINTS = [(density, choice) for density in DENSITIES for choice in CHOICES]


def today(runs: Runs[Effort], capacity: float) -> dict[Point, list[Numbers]]:
    """Returns the numbers of each choice at urban-random and load 1, by seed."""

    def job(point: Point, seed: int) -> Job:
        density, choice = point
        given = {
            **QUIET_CELL,
            **runs.effort.duration,
            **rates(AT_LOAD * capacity),
            **DENSITIES[density],
            **dict(choice.pairs),
        }
        without = () if choice.has_lte else WITHOUT_LTE
        return Job(SCENARIO, overrides(given), without, seed)

    return runs.over_seeds(POINTS, job, measure)


def section(found: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Returns the section on throughput, delay and timeouts of each choice."""
    records = [
        {
            "units": density,
            "choice": choice.name,
            "goodput": estimate(values(numbers, "goodput_mbps")),
            "gain": gain(numbers, found[density, BASE], "goodput_mbps"),
            "rtt": estimate(values(numbers, "rtt_ms")),
            "timeouts": estimate(values(numbers, "timeouts")),
        }
        for (density, choice), numbers in found.items()
    ]
    return Section(
        name="today",
        title="What a designer has today",
        text=(
            "The scenario is urban-random at load 1. *Gain*: gain of throughput over CUBIC with "
            "the stack of the standards and the same units. LTE is one macro cell of 20 MHz that "
            "all cars share. With fallback, a car can use the LTE cell in addition to the units."
        ),
        table=Table.of(
            records,
            {
                "units and link": "{units}",
                "choice": "{choice}",
                "Mbit/s": "{goodput:.1f}",
                "gain %": "{gain:+.2f}",
                "RTT ms": "{rtt:.1f}",
                "timeouts": "{timeouts:.2f}",
            },
        ),
        is_headline=True,
    )
