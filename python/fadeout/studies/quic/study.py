"""The study on QUIC: the rows of its tables."""

from collections.abc import Iterator

from fadeout.studies.quic import figures
from fadeout.studies.quic.runs import CONTROLS, DATA, NETWORKS, PAGE, TRANSPORTS, Network, Plan
from fadeout.study import Choice, Effort, Found, Runs, Section, Study

TCP, QUIC, MULTIPATH_TCP, MULTIPATH_QUIC = TRANSPORTS

COMPARISONS = {
    "quic": (QUIC, TCP),
    "mptcp": (MULTIPATH_TCP, TCP),
    "mpquic": (MULTIPATH_QUIC, QUIC),
    "both": (MULTIPATH_QUIC, MULTIPATH_TCP),
}
"""Pairs of transports whose gains a table has, the changed one first."""


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    plan = Plan(runs)
    found = plan["transports"]
    yield PAGE.section(
        "gains",
        [gains(found, network) for network in NETWORKS],
        figures={
            "goodput": figures.bars(found, "goodput_mbps", "Goodput (Mbit/s)"),
            "silence": figures.bars(found, "silence_ms", "Longest silence (ms)"),
        },
        seeds=runs.effort.seeds,
    )
    for network in NETWORKS:
        yield PAGE.section(
            network.name,
            [row(found, network, control) for control in CONTROLS],
            transports=[transport.name for transport in TRANSPORTS],
        )
    yield PAGE.section("windows", windows(plan["windows"]), seeds=runs.effort.seeds)


def gains(found: Found, network: Network) -> dict[str, object]:
    """Returns the gains of transports' goodput over others' with CUBIC in a network, percent."""
    (cubic,) = (control for control in CONTROLS if control.name == "cubic")
    gains = {
        name: found.gain_pct((network, changed, cubic), (network, base, cubic), "goodput_mbps")
        for name, (changed, base) in COMPARISONS.items()
    }
    return {"network": PAGE.titles[network.name], **gains}


def row(found: Found, network: Network, control: Choice) -> dict[str, object]:
    """Returns the row of a congestion control in the table of a network."""
    points = {transport.name: (network, transport, control) for transport in TRANSPORTS}
    means = {
        key: {name: found.mean(point, key) for name, point in points.items()}
        for key in ("goodput_mbps", "silence_ms")
    }
    return {"control": control.name, **means}


def windows(found: Found) -> list[dict[str, object]]:
    """Returns the rows of QUIC's receive windows in a cell with a deep buffer."""
    return [
        {
            "window": point[0].name,
            "ended": sum(int(each["ended"]) for each in found[point]),
            "delivered_mb": found.mean(point, "delivered_mb"),
        }
        for point in found
    ]


STUDY = Study.of(DATA, PAGE, Effort, sections)
