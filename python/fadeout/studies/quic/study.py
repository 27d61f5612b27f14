"""The study on QUIC: its runs, and the rows of its tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fadeout.studies.quic import figures
from fadeout.studies.quic.runs import BIN_S, ended, measure
from fadeout.studies.quic.setups import (
    CONTROLS,
    CUBIC,
    DATA,
    FLOW,
    FOLDER,
    MULTIPATH_QUIC,
    MULTIPATH_TCP,
    NETWORKS,
    PAGE,
    QUIC,
    TCP,
    TRANSPORTS,
    WALK,
    WINDOWS,
    Network,
    Transport,
)
from fadeout.study import (
    QUIET_CELL,
    Choice,
    Effort,
    Estimate,
    Job,
    Numbers,
    Runs,
    Section,
    Study,
    estimate,
    gain_pct,
    overrides,
)

COMPARISONS = {
    "quic": (QUIC, TCP),
    "mptcp": (MULTIPATH_TCP, TCP),
    "mpquic": (MULTIPATH_QUIC, QUIC),
    "both": (MULTIPATH_QUIC, MULTIPATH_TCP),
}
"""Pairs of transports whose gains a table has, the changed one first."""


@dataclass(frozen=True)
class Point:
    """A transport with a congestion control in a network."""

    network: Network
    transport: Transport
    control: Choice

    def job(self, seed: int, effort: Effort) -> Job:
        """Returns the run of the point with a seed."""
        values = {
            **QUIET_CELL,
            **self.network.values,
            **self.transport.job_values(self.network),
            f"{FLOW}.congestion-control": f'"{self.control.name}"',
            "probe.throughput": f"{BIN_S * 1e3:g} ms",
            "probe.congestion": "10 ms",
            **effort.duration,
        }
        scenario = FOLDER / self.transport.scenario_in(self.network)
        return Job(scenario, overrides(values), seed=seed, with_tables=True)


Found = Mapping[Point, list[Numbers]]
"""The numbers of each seed."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    points = [
        Point(network, transport, control)
        for network in NETWORKS
        for transport in TRANSPORTS
        for control in CONTROLS
    ]
    found = runs.over_seeds(points, lambda point, seed: point.job(seed, runs.effort), measure)
    yield PAGE.section(
        "gains",
        [
            {"network": network.title}
            | {name: gain(found, network, *pair) for name, pair in COMPARISONS.items()}
            for network in NETWORKS
        ],
        figures={"goodput": figures.goodput(found), "silence": figures.silence(found)},
        seeds=runs.effort.seeds,
    )
    for network in NETWORKS:
        yield PAGE.section(
            network.name,
            [row(found, network, control) for control in CONTROLS],
            transports=[transport.name for transport in TRANSPORTS],
        )
    yield PAGE.section("windows", window_rows(runs), seeds=runs.effort.seeds)


def gain(found: Found, network: Network, changed: Transport, base: Transport) -> Estimate:
    """Returns the gain of a transport's goodput over another's with CUBIC, percent."""
    ours, its = (found[Point(network, transport, CUBIC)] for transport in (changed, base))
    return gain_pct(ours, its, "goodput_mbps")


def row(found: Found, network: Network, control: Choice) -> dict[str, object]:
    """Returns the row of a congestion control in the table of a network."""
    of = {transport.name: found[Point(network, transport, control)] for transport in TRANSPORTS}
    return {
        "control": control.name,
        **{
            key: {name: estimate([each[key] for each in values]) for name, values in of.items()}
            for key in ("goodput_mbps", "silence_ms")
        },
    }


def window_rows(runs: Runs[Effort]) -> list[dict[str, object]]:
    """Returns the rows of QUIC's receive windows in a cell with a deep buffer."""

    def job(window: Choice, seed: int) -> Job:
        values = {**QUIET_CELL, **DATA.values["deep"], **window.values, **runs.effort.duration}
        values[f"{FLOW}.route"] = QUIC.job_values(WALK)[f"{FLOW}.route"]
        return Job(FOLDER / WALK.scenario, overrides(values), seed=seed)

    found = runs.over_seeds(WINDOWS, job, ended)
    return [
        {
            "window": window.name,
            "ended": sum(int(each["ended"]) for each in values),
            "delivered_mb": estimate([each["delivered_mb"] for each in values]),
        }
        for window, values in found.items()
    ]


STUDY = Study.of(DATA, PAGE, Effort, sections)
