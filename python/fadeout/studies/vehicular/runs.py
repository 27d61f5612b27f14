"""The runs of the study, and the numbers read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.results import Results
from fadeout.studies.vehicular.setups import (
    AT_LOAD,
    CARS,
    CHANGES,
    CLASSES,
    CUBIC,
    LOADS,
    MAIN,
    MOTORWAY_SCHEMES,
    PLACES,
    RTW,
    SCHEMES,
    URBAN_RANDOM,
    Place,
    Scheme,
)
from fadeout.study import QUIET_CELL, Change, Job, Runs, Values, estimate, overrides

SCENARIO = Path(__file__).parent / "scenario.toml"
MOTORWAY = Path(__file__).parent / "motorway.toml"

Numbers = Mapping[str, float | None]
"""Numbers of a run by name. None if the run has no value."""

Point = tuple[Place, Scheme, float]
"""A place, a sender and a load."""

BASE = Change.nothing()


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs."""

    loads: tuple[float, ...] = LOADS
    class_loads: tuple[float, ...] = LOADS
    """Loads at which the other classes of senders are run."""
    static_loads: tuple[float, ...] = (1, 10, 100, 500, 1000, 2000, 10_000, 40_000)
    """Loads of all cars at rest, Mbit/s."""
    handover_seeds: int = 10
    """Maximum number of seeds of the tables on handover."""
    city_s: float = 20.0
    """Simulated time of the city of SUMO in seconds. 0 leaves the city out."""
    failure_s: float = 7.0
    """Simulated time of one car's passage, seconds."""


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run, over all cars."""
    flows = results.flows
    rtts = flows["mean_rtt_s"].drop_nulls()
    serving = results.prediction_scores.row(0, named=True)
    return {
        "goodput_mbps": float(flows["goodput_mbps"].sum()),
        "rtt_ms": 1e3 * float(rtts.mean()) if len(rtts) else None,  # pyright: ignore[reportArgumentType]
        "timeouts": float(flows["timeouts"].sum()),
        "retransmitted_pct": 100
        * float(flows["retransmitted_segments"].sum())
        / max(1.0, float(flows["sent_segments"].sum())),
        "cuts": float(serving["cuts"]),
        "predictions": float(serving["predictions"]),
        "precision": serving["precision"],
        "recall": serving["recall"],
        "lead_s": serving["lead_s"],
        "length_error_s": serving["length_error_s"],
    }


def rates(mbps: float) -> Values:
    """Returns the override for each car's part of a load."""
    return {"flow.download.application.rate": f'"{1e6 * mbps / CARS:.0f} bit/s"'}


def alone(effort: Effort) -> Values:
    """Returns overrides for one car with a bulk download."""
    return {
        **effort.duration,
        **QUIET_CELL,
        "ue.car.count": "1",
        "flow.download.application": '"bulk"',
    }


def capacity_mbps(runs: Runs[Effort]) -> dict[str, float]:
    """Returns the mean goodput of a single car, by place."""

    def job(place: Place, seed: int) -> Job:
        values = {**place.values, **alone(runs.effort)}
        return Job(SCENARIO, overrides(values), seed=seed)

    found = runs.over_seeds(PLACES, job, measure)
    return {
        place.name: estimate([each["goodput_mbps"] or 0.0 for each in of_seeds]).mean
        for place, of_seeds in found.items()
    }


def job(point: Point, seed: int, effort: Effort, capacity: float, values: Values) -> Job:
    """Returns the run of a point."""
    place, scheme, load = point
    given = {**QUIET_CELL, **effort.duration, **place.values, **rates(load * capacity)}
    return Job(SCENARIO, overrides({**given, **scheme.values, **values}), seed=seed)


def points(effort: Effort) -> list[Point]:
    """Returns the points of Figure 8, with the other classes of senders."""
    main = [(place, one, load) for place in PLACES for one in MAIN for load in effort.loads]
    others = [
        (place, one, load) for place in PLACES for one in CLASSES for load in effort.class_loads
    ]
    return main + others


def grid(runs: Runs[Effort], capacity: float) -> dict[Point, list[Numbers]]:
    """Returns the numbers of each sender by place and load, for each seed."""

    def of_point(point: Point, seed: int) -> Job:
        return job(point, seed, runs.effort, capacity, {})

    return runs.over_seeds(points(runs.effort), of_point, measure)


def sweep(runs: Runs[Effort], capacity: float) -> dict[Change, dict[Scheme, list[Numbers]]]:
    """Returns the numbers of RTW-TCP and CUBIC with one assumption changed at a time.

    Runs are at urban-random and load 1.
    """
    changes = (BASE, *CHANGES)
    both = [(change, scheme) for change in changes for scheme in (RTW, CUBIC)]

    def of_change(point: tuple[Change, Scheme], seed: int) -> Job:
        change, scheme = point
        at = (URBAN_RANDOM, scheme, AT_LOAD)
        return job(at, seed, runs.effort, capacity, change.values)

    found = runs.over_seeds(both, of_change, measure, runs.effort.swept)
    return {
        change: {scheme: found[change, scheme] for scheme in (RTW, CUBIC)} for change in changes
    }


def motorway(runs: Runs[Effort]) -> dict[Scheme, list[Numbers]]:
    """Returns the numbers of the senders on the motorway."""

    def of_scheme(scheme: Scheme, seed: int) -> Job:
        values = {**QUIET_CELL, **runs.effort.duration, **scheme.values}
        return Job(MOTORWAY, overrides(values), seed=seed)

    return runs.over_seeds(MOTORWAY_SCHEMES, of_scheme, measure)


def windows(runs: Runs[Effort], capacity: float, places: Sequence[Place]) -> list[Results]:
    """Returns complete runs of the paper's senders at load 1, for figures of windows."""
    jobs = [
        Job(
            SCENARIO,
            overrides(
                {
                    **runs.effort.duration,
                    **place.values,
                    **rates(AT_LOAD * capacity),
                    **scheme.values,
                }
            ),
            with_tables=True,
        )
        for place in places
        for scheme in MAIN
    ]
    return runs.whole(jobs)


def count(effort: Effort) -> int:
    """Returns the maximum number of simulations of the study."""
    return (
        (len(PLACES) + len(points(effort)) + len(MOTORWAY_SCHEMES)) * effort.seeds
        + 2 * (1 + len(CHANGES)) * effort.swept
        + 2 * len(MAIN)
    )


__all__ = ["SCHEMES", "Effort", "count", "grid", "measure", "motorway", "sweep", "windows"]
