"""The setups and runs of the study, and the numbers read from the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from fadeout import drives, study
from fadeout.results import Results
from fadeout.studies.vehicular.between_cars import paths
from fadeout.study import (
    QUIET,
    QUIET_CELL,
    At,
    Choice,
    Data,
    Grid,
    Job,
    Page,
    Runs,
    Values,
    claims_of,
    published,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

AT_LOAD = 1.0
"""Load of the round-trip times, the assumptions and most claims."""

STEP_S = 0.001
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


CARS, STANDING_CARS = 8, 20
"""Numbers of cars in the square: those that move, and those at rest."""

RTW, CUBIC = "RTW-TCP", "CUBIC"
CONVENTIONAL = ("Compound", CUBIC)
"""Names of senders that claims compare."""

PLACES, MAIN, CLASSES, STANDING = (
    DATA.all(key, Choice) for key in ("place", "sender", "class", "standing")
)
FLOWS = {"HSPA+": tuple(f"download-{unit}" for unit in range(5)), "28 GHz": ("download",)}
"""Flows of the cars at rest. HSPA+ has one of each unit."""

CASES = [
    (failure, link, sender)
    for failure, link, sender in product(
        *(DATA.all(key, Choice) for key in ("failure", "mode", "car-sender"))
    )
    if failure.kind in link.tags
]
"""Failures of one car's path, with the mode of the link, and the sender."""


def rates(mbps: float, cars: int = CARS, flows: Sequence[str] = ("download",)) -> Values:
    """Returns the values of a load of all cars."""
    return {f"flow.{flow}.application.rate": f"{1e6 * mbps / cars:.0f} bit/s" for flow in flows}


def at_load(load: float, capacity_mbps: float) -> Choice:
    """Returns the choice of a load, relative to the capacity of one car's link."""
    return Choice(f"{load:g}", rates(load * capacity_mbps))


def of_standing_cars(at: At) -> Job:
    """Returns the run of cars at rest. Those of HSPA+ do not have a cell."""
    kind, load_mbps = at["standing"].kind, float(at["load_mbps"])
    probes = QUIET_CELL if kind == "28 GHz" else QUIET
    values = {**probes, **rates(load_mbps, STANDING_CARS, FLOWS[kind])}
    return at.job(FOLDER / "scenario.toml", values)


class Plan(Grid):
    """The runs of the study. Loads are relative to the capacity of one car's link."""

    def __init__(self, runs: Runs[Effort]) -> None:
        alone = Grid(DATA, runs, [measure]).found("alone")
        self.capacity_mbps = fmean(alone.mean(point, "goodput_mbps").mean for point in alone)
        loads, class_loads, one = (
            [at_load(load, self.capacity_mbps) for load in of]
            for of in (runs.effort.loads, runs.effort.class_loads, [AT_LOAD])
        )
        lists: Mapping[str, Sequence[Any]] = {
            "loads": loads,
            "class-loads": class_loads,
            "highest": loads[-1:],
            "one": one,
            "static-loads": [f"{load:g}" for load in runs.effort.static_loads],
        }
        readers = [measure, measure_handovers, measure_standing, measure_failure, measure_city]
        super().__init__(DATA, runs, [*readers, paths], lists, [of_standing_cars])


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


def of_city(_point: object, numbers: Mapping[str, Any]) -> Mapping[str, float]:
    """Returns the goodput of all vehicles of the city, and the mean of the worst tenth."""
    rates = numbers["goodputs_mbps"]
    worst = rates[: max(1, len(rates) // 10)]
    return {"goodput_mbps": sum(rates), "worst_mbps": fmean(worst)}


def measure_city(results: Results) -> dict[str, Any]:
    """Returns the goodput of each car from the lowest on, and numbers over all cars."""
    return {
        "goodputs_mbps": sorted(results.flows["goodput_mbps"]),
        "rtt_ms": _rtt_ms(results),
        "timeouts": float(results.flows["timeouts"].sum()),
        "handovers": float(len(results.table("handovers"))),
    }


def cuts(run: Results, ue: str = "car", step_s: float = STEP_S) -> list[tuple[float, float]]:
    """Returns the interruptions of a UE's path over the air, or over a relay's link.

    An interruption that is shorter than `step_s` may be missed.
    """
    if len(run.blockages):
        spans = run.blockages.filter(pl.col("start_s") < run.duration_s)
        spans = spans.select("start_s", pl.col("end_s").clip(0, run.duration_s)).unique()
        return spans.sort("start_s").rows()
    is_cut = pl.col("cause").is_in(["deafness", "blockage", "misalignment"]).fill_null(False)
    steps = drives.way(run, step_s).steps.filter(pl.col("ue") == ue)
    steps = steps.select("time_s", is_cut.alias("cut"))
    spans = steps.with_columns(pl.col("cut").rle_id().alias("span")).filter(pl.col("cut"))
    ends = spans.group_by("span", maintain_order=True).agg(
        pl.col("time_s").min().alias("start"), pl.col("time_s").max() + step_s
    )
    return ends.select("start", "time_s").rows()
