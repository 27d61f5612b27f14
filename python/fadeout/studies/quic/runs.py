"""The networks, transports and congestion controls, and the numbers that the study reads."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from fadeout.campaign.axes import toml_text
from fadeout.results import Results
from fadeout.study import QUIET_CELL, At, Choice, Data, Grid, Job, Numbers, Page, Runs

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)

BIN_S = 0.02
"""Length of the bins in which silences are measured, seconds."""


@dataclass(frozen=True, kw_only=True)
class Network(Choice):
    """A network, as a scenario with the links of a route and of two paths."""

    route: tuple[str, ...]
    """Links of a transport with one path."""
    paths: tuple[tuple[str, ...], ...]
    """Links of each path of a transport with several."""
    scenario_of_several: str = ""
    """Scenario for transports with several paths. Empty if it is that of a single path."""


NETWORKS = DATA.all("network", Network)
TRANSPORTS = DATA.all("transport", Choice)
CONTROLS = DATA.all("control", Choice)


class Plan(Grid):
    """The runs of the study."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(DATA, runs, [measure, ended], {"networks": NETWORKS}, [over_network])


def over_network(at: At) -> Job:
    """Returns the run of a transport, on the paths that it has in a network."""
    network: Network = at["network"]
    if "several paths" in at["transport"].tags:
        paths = toml_text("multipath", {"paths": [list(path) for path in network.paths]})
        taken = {"flow.download.multipath": paths}
        last = Choice("several paths", taken, network.scenario_of_several)
    else:
        route = toml_text("route", list(network.route))
        last = Choice("one path", {"flow.download.route": route})
    return at.job(FOLDER / "scenario.toml", QUIET_CELL, last)


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run, so that its tables need not be kept."""
    flow = results.flows.row(0, named=True)
    delivered = results.throughput.filter((pl.col("flow") == flow["flow"]) & (pl.col("bytes") > 0))
    # A silence may last until the end of the run.
    times = [*delivered["time_s"].to_list(), results.duration_s]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    rtt_s = results.congestion["rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        # Two bins with data that follow each other are a bin apart.
        "silence_ms": 1e3 * max(0.0, max(gaps, default=0.0) - BIN_S),
        "rtt_p95_ms": 1e3 * (rtt_s.filter(rtt_s > 0).quantile(0.95, "nearest") or 0.0),
    }


def ended(results: Results) -> Numbers:
    """Returns the delivered data of a run, and 1 if an end gave up the connection."""
    failures = results.quic_ends["failure"].drop_nulls()
    delivered = results.flows["delivered_bytes"].item()
    return {"ended": float(len(failures) > 0), "delivered_mb": delivered / 1e6}
