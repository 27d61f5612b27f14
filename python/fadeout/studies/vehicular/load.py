"""Figure 2: rate and loss by load for cars at rest, with HSPA+ and at 28 GHz."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fadeout.results import Results
from fadeout.studies.vehicular import figures
from fadeout.studies.vehicular.claims import values
from fadeout.studies.vehicular.runs import Effort, Numbers
from fadeout.study import (
    QUIET,
    QUIET_CELL,
    Claim,
    Job,
    Runs,
    Section,
    Table,
    Values,
    Verdict,
    estimate,
    overrides,
    paired_difference,
)

CARS = 20
UNITS = 5
HIGHEST_MBPS = 2000.0
"""Largest load of the paper over all cars, Mbit/s."""


@dataclass(frozen=True)
class Network:
    """A radio with a buffer at each base station, or for each car."""

    radio: str
    buffer: str

    @property
    def name(self) -> str:
        """Name of the network in figures."""
        return f"{self.radio}, {self.buffer}"

    @property
    def scenario(self) -> Path:
        """The scenario's file."""
        file = "static-hspa.toml" if self.radio == HSPA else "static-mmwave.toml"
        return Path(__file__).parent / file

    def values(self, load_mbps: float) -> Values:
        """Returns overrides for the network's buffer and for each car's part of a load."""
        rate = f"{1e6 * load_mbps / CARS:.0f} bit/s"
        if self.radio != HSPA:
            return {
                **QUIET_CELL,
                "ue.car.rlc.buffer": self.buffer,
                "flow.download.application.rate": rate,
            }
        found = dict(QUIET)
        for unit in range(UNITS):
            found[f"rab.unit-{unit}.downlink.queue.limit"] = self.buffer
            found[f"flow.download-{unit}.application.rate"] = rate
        return found


HSPA = "HSPA+"
MMWAVE = "28 GHz"
STATED = "50 MB"
SMALL = "500 kB"
NETWORKS = tuple(Network(radio, buffer) for radio in (HSPA, MMWAVE) for buffer in (STATED, SMALL))
Load = tuple[Network, float]


def measure(results: Results) -> Numbers:
    """Returns the rate and losses of all cars."""
    flows = results.flows
    by_units = int(results.links["dropped_queue_full"].sum())
    if len(results.interfaces):
        by_units += int(results.interfaces["dropped_packets"].sum())
    sent = max(1, int(flows["sent_segments"].sum()))
    rtts = flows["mean_rtt_s"].drop_nulls()
    return {
        "rate_mbps": float(flows["goodput_mbps"].sum()),
        "loss_pct": 100 * by_units / sent,
        "timeouts": float(flows["timeouts"].sum()),
        "rtt_ms": 1e3 * float(rtts.mean()) if len(rtts) else None,  # pyright: ignore[reportArgumentType]
    }


def points(effort: Effort) -> list[Load]:
    """Returns the networks at all loads."""
    return [(network, load) for network in NETWORKS for load in effort.static_loads]


def static(runs: Runs[Effort]) -> dict[Load, list[Numbers]]:
    """Returns the numbers of each network at each load, by seed."""

    def job(point: Load, seed: int) -> Job:
        network, load = point
        values = {**network.values(load), **runs.effort.duration}
        return Job(network.scenario, overrides(values), seed=seed)

    return runs.over_seeds(points(runs.effort), job, measure)


def verdict(
    found: Mapping[Load, Sequence[Numbers]], effort: Effort, claims: Mapping[str, Claim]
) -> Verdict:
    """Returns the verdict that 28 GHz carries the paper's largest load, and HSPA+ loses more."""
    at = max(load for load in effort.static_loads if load <= HIGHEST_MBPS)
    hspa, mmwave = (found[Network(radio, STATED), at] for radio in (HSPA, MMWAVE))
    carried = [100 * rate / at for rate in values(mmwave, "rate_mbps")]
    lost = paired_difference(values(hspa, "loss_pct"), values(mmwave, "loss_pct"))
    small = {radio: found[Network(radio, SMALL), at] for radio in (HSPA, MMWAVE)}
    shown = ", ".join(
        f"{radio} loses {estimate(values(numbers, 'loss_pct')).text('.2f', ' %')}"
        for radio, numbers in small.items()
    )
    return Verdict(
        claims["no_congestion_mmwave"],
        {"share that 28 GHz carries": estimate(carried), "HSPA+ less 28 GHz, lost": lost},
        f"The load is {at:g} Mbit/s. With buffers of {SMALL} {shown}",
    )


def section(found: Mapping[Load, Sequence[Numbers]], effort: Effort) -> Section:
    """Returns the section on figure 2."""
    names = ("rate_mbps", "loss_pct", "rtt_ms", "timeouts")
    records = [
        {"network": network.radio, "buffer": network.buffer, "load_mbps": load}
        | {name: estimate(values(found[network, load], name)) for name in names}
        for network, load in points(effort)
    ]
    of = {
        network.name: [
            {
                name: estimate(values(found[network, load], name))
                for name in ("rate_mbps", "loss_pct")
            }
            for load in effort.static_loads
        ]
        for network in NETWORKS
    }
    return Section(
        name="load",
        title="Rate and loss of cars that stand",
        text=(
            "The paper's Figure 2 has 20 cars and 5 units. It compares 1 GHz of bandwidth at 28 "
            "GHz with HSPA+ of 168 Mbit/s a unit. The buffer has the paper's size, or a "
            "hundredth of it. The load is the total load of all cars. If the paper means the "
            "load of each car, its 500 and 2,000 Mbit/s are our 10,000 and 40,000 Mbit/s. "
            "*Loss*: share of the sent packets that a unit's full buffer dropped."
        ),
        table=Table.of(
            records,
            {
                "network": "{network}",
                "buffer": "{buffer}",
                "load Mbit/s": "{load_mbps:g}",
                "rate Mbit/s": "{rate_mbps:.1f}",
                "loss %": "{loss_pct:.3f}",
                "RTT ms": "{rtt_ms:.1f}",
                "timeouts": "{timeouts:.1f}",
            },
        ),
        figures={
            "Throughput and loss by the total load of all cars.": figures.rate_and_loss(
                of, effort.static_loads
            )
        },
        is_headline=True,
    )
