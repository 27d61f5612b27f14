"""The setups and runs of the study, and the numbers read from the runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from fadeout import drives, study
from fadeout.results import Results
from fadeout.study import Change, Data, OfSeeds, Page, Runs, claims_of, mean, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

SQUARE, MOTORWAY = FOLDER / "scenario.toml", FOLDER / "motorway.toml"
ONE_CAR, WITH_LTE = FOLDER / "one-car.toml", FOLDER / "with-lte.toml"
CITY = FOLDER / "city" / "city.toml"

AT_LOAD = 1.0
"""Load of the round-trip times, the assumptions and most claims."""

CARS = 8
STANDING_CARS = 20

LOOK_S = 0.001
"""Time step in which interruptions are detected: half of the mean of the shortest deafness."""
SETTLED_S = 1.5
"""Time from which windows count, as the first slow start is over, seconds."""
RECOVERED_MS = 10
"""Longest deafness or misalignment that a MAC recovers from, according to the paper, ms."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs."""

    loads: tuple[float, ...]
    class_loads: tuple[float, ...]
    """Loads at which the other classes of senders are run."""
    static_loads: tuple[int, ...]
    """Loads of all cars at rest, Mbit/s."""
    handover_seeds: int
    """Maximum number of seeds of the tables on handover."""
    city_seeds: int
    """Maximum number of seeds of the city. Seeds change shadowing and scheduling, but not the
    traffic.
    """
    city_s: float
    """Simulated time of the city of SUMO in seconds. 0 leaves the city out."""
    failure_s: float
    """Simulated time of one car's passage, seconds."""


@dataclass(frozen=True)
class Choice(study.Choice):
    """A place, a sender, or a choice of sender, stack and network."""

    kind: str = ""
    """Class of a sender in the paper's Table 2."""
    on_motorway: bool = False
    """True for a reading of RTW-TCP that is also run on the motorway."""


@dataclass(frozen=True, kw_only=True)
class Standing(study.Choice):
    """A radio of cars at rest with the buffer of a base station, or of each car at 28 GHz."""

    name: str = ""
    radio: str
    buffer: str
    flows: tuple[str, ...] = ("download",)


@dataclass(frozen=True, kw_only=True)
class Failure(study.Choice):
    """A cause that interrupts the path of one car."""

    cause: str
    is_short: bool = False
    """True if it is over within 10 ms by the paper's claim."""
    is_drawn: bool = False
    """True if the figure shows this failure for its cause."""

    @property
    def modes(self) -> tuple[Choice, ...]:
        """The modes of RLC, or of a relay while its hop fails."""
        return RELAY_MODES if self.cause == "relay" else MODES


PLACES = DATA.all("place", Choice)
RURAL_MANHATTAN, RURAL_RANDOM, URBAN_MANHATTAN, URBAN_RANDOM = PLACES
MAIN = DATA.all("sender", Choice)
"""The senders of the paper's figures."""
RTW, COMPOUND, CUBIC, X_TCP = MAIN
CONVENTIONAL = (COMPOUND, CUBIC)
CLASSES = DATA.all("class", Choice)
SCHEMES = (*MAIN, *CLASSES)
CHANGES = (Change.nothing(), *DATA.all("change", Change))
NETWORKS, MOTORWAY_NETWORKS = (DATA.all(f"{road}network", Change) for road in ("", "motorway-"))
READINGS = (RTW, *DATA.all("reading", Choice))
STACKS = DATA.all("stack", Choice)
SENDERS = (CUBIC, COMPOUND, *STACKS, *READINGS)
"""Senders of the table on handover."""
MOTORWAY_READINGS = (RTW, *(one for one in READINGS if one.on_motorway))
MOTORWAY_SENDERS = (*MAIN, *MOTORWAY_READINGS[1:])
STANDING = DATA.all("standing", Standing)
FAILURES = DATA.all("failure", Failure)
MODES, RELAY_MODES = (DATA.all(f"{where}mode", Choice) for where in ("", "relay-"))
CAR_SENDERS = DATA.all("car-sender", Choice)
DENSITIES = DATA.all("density", Choice)
CHOICES, CITY_CHOICES = (DATA.all(f"{where}choice", Choice) for where in ("", "city-"))
ALONE = Choice("one car", {"ue.car.count": "1", "flow.download.application": "bulk"})

Case = tuple[Failure, Choice, Choice]
"""A failure, the mode of the link, and the sender."""

CASES: list[Case] = [
    (failure, mode, sender)
    for failure in FAILURES
    for mode in failure.modes
    for sender in CAR_SENDERS
]
Found = Mapping[tuple[Choice, Choice, float], OfSeeds]
"""Numbers by place, sender and load, for each seed."""


def at_load(mbps: float, cars: int = CARS, flows: Iterable[str] = ("download",)) -> Choice:
    """Returns the choice of a load of all cars."""
    rate = f"{1e6 * mbps / cars:.0f} bit/s"
    return Choice(f"{mbps:g}", {f"flow.{flow}.application.rate": rate for flow in flows})


def grid(runs: Runs[Effort], capacity: float) -> Found:
    """Returns the numbers of Figure 8, with the other classes of senders."""
    effort = runs.effort
    points = {
        (place, sender, load): (place, at_load(load * capacity), sender)
        for senders, loads in ((MAIN, effort.loads), (CLASSES, effort.class_loads))
        for place in PLACES
        for sender in senders
        for load in loads
    }
    found = runs.combinations(points.values(), SQUARE, measure)
    return {key: found[point] for key, point in points.items()}


def capacity_mbps(runs: Runs[Effort]) -> float:
    """Returns the mean goodput of a single car over the places."""
    found = runs.combinations([(place, ALONE) for place in PLACES], SQUARE, measure)
    return fmean(mean(numbers, "goodput_mbps").mean for numbers in found.values())


def measure(results: Results) -> dict[str, float | None]:
    """Returns the numbers of a run over all cars, and the score of the serving units."""
    flows, scores = results.flows, results.prediction_scores.row(0, named=True)
    names = ("cuts", "predictions", "precision", "recall", "lead_s", "length_error_s")
    return {
        "goodput_mbps": float(flows["goodput_mbps"].sum()),
        "rtt_ms": _rtt_ms(results),
        "timeouts": float(flows["timeouts"].sum()),
        **{name: None if scores[name] is None else float(scores[name]) for name in names},
    }


def _rtt_ms(results: Results) -> float | None:
    """Returns the mean round-trip time over the cars. None without an acknowledgment."""
    mean_s = results.flows["mean_rtt_s"].mean()
    return 1e3 * mean_s if isinstance(mean_s, float) else None


def measure_handovers(results: Results) -> dict[str, float | None]:
    """Returns the numbers of a run, with its handovers and the packets that they lost."""
    handovers = results.handovers
    lost = float(handovers["lost_packets"].sum())
    return {**measure(results), "handovers": float(len(handovers)), "lost_packets": lost}


def measure_standing(results: Results) -> dict[str, float | None]:
    """Returns the rate and losses of all cars at rest."""
    flows = results.flows
    by_units = int(results.links["dropped_queue_full"].sum())
    if len(results.interfaces):
        by_units += int(results.interfaces["dropped_packets"].sum())
    return {
        "rate_mbps": float(flows["goodput_mbps"].sum()),
        "loss_pct": 100 * by_units / max(1, int(flows["sent_segments"].sum())),
        "timeouts": float(flows["timeouts"].sum()),
        "rtt_ms": _rtt_ms(results),
    }


def measure_failure(results: Results) -> dict[str, float | None]:
    """Returns the numbers of one car's sender, and the interruptions of its path."""
    flow = results.flows.row(0, named=True)
    lengths = [1e3 * (end - start) for start, end in cuts(results)]
    windows = results.congestion.filter(pl.col("time_s") > SETTLED_S)["cwnd_segments"]
    is_over = [length <= RECOVERED_MS for length in lengths]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "timeouts": float(flow["timeouts"]),
        "recoveries": float(flow["recoveries"]),
        "cuts": float(len(lengths)),
        "longest_ms": max(lengths, default=0.0),
        "within_pct": 100 * fmean(is_over) if is_over else 100.0,
        "least_segments": float(min(windows)) if len(windows) else None,
    }


def measure_city(results: Results) -> dict[str, Any]:
    """Returns the goodput of each car from the lowest on, and numbers over all cars."""
    return {
        "goodputs_mbps": sorted(results.flows["goodput_mbps"]),
        "rtt_ms": _rtt_ms(results),
        "timeouts": float(results.flows["timeouts"].sum()),
        "handovers": float(len(results.table("handovers"))),
    }


def cuts(run: Results) -> list[tuple[float, float]]:
    """Returns the interruptions of the path over the air, or over a relay's link."""
    if len(run.blockages):
        spans = run.blockages.filter(pl.col("start_s") < run.duration_s)
        spans = spans.select("start_s", pl.col("end_s").clip(0, run.duration_s)).unique()
        return spans.sort("start_s").rows()
    is_cut = pl.col("cause").is_in(["deafness", "blockage", "misalignment"]).fill_null(False)
    steps = drives.way(run, LOOK_S).steps.select("time_s", is_cut.alias("cut"))
    spans = steps.with_columns(pl.col("cut").rle_id().alias("span")).filter(pl.col("cut"))
    ends = spans.group_by("span", maintain_order=True).agg(
        pl.col("time_s").min().alias("start"), pl.col("time_s").max() + LOOK_S
    )
    return ends.select("start", "time_s").rows()
