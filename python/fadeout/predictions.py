"""When a path will be cut and for how long, predicted from what cars have reported of places.

Each unit has a map of regions: squares of the ground, each with the share of reports from there
that found the unit cut off. A car announces its place and speed with each report; the unit follows
the straight way ahead through its map, and says when the first region that was mostly cut begins
and where the last one ends. It reads past reports alone. Moving vehicles are in no map: what they
cut is only met by chance.

Source: the map of channel quality of Na et al., TCP behavior in mmWave connected vehicular
networks, section 3.2.5, which gives it in words.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import polars as pl

from fadeout import _geometry
from fadeout._native import ResultError
from fadeout.results import Results

__all__ = [
    "Prediction",
    "Predictor",
    "Report",
    "Settings",
    "cuts",
    "predict",
    "reports_of",
    "score",
]


class Report(NamedTuple):
    """What a car reports of a unit."""

    time_s: float
    ue: str
    cell: str
    x_m: float
    y_m: float
    x_speed: float
    y_speed: float
    is_cut: bool
    """Whether it measured less of the unit than it can receive."""


class Prediction(NamedTuple):
    """What a unit says of a car."""

    made_s: float
    told_s: float
    """When the sender knows."""
    ue: str
    cell: str
    starts_s: float
    lasts_s: float


@dataclass(frozen=True)
class Settings:
    """How a unit predicts."""

    resolution_m: float = 5.0
    """Side of a region."""
    learning: int = 2
    """Reports from a region until it is known."""
    report_period_s: float = 0.04
    """From one report of a car to the next."""
    horizon_s: float = 5.0
    """How far ahead a unit looks."""
    delay_s: float = 0.02
    """From a report to the sender's knowledge of what follows from it."""
    place_error_m: float = 0.0
    """Standard deviation of a car's error of place, the same for the whole run."""
    speed_error: float = 0.0
    """Standard deviation of a car's error of speed, as a share of it, the same for the whole
    run."""
    missed: float = 0.0
    """Share of predictions that are lost."""
    false: float = 0.0
    """Share of reports without a prediction after which there is a wrong one."""
    seed: int = 1
    """Of the errors."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not (isinstance(value, int | float) and value >= 0 and math.isfinite(value)):
                raise ValueError(
                    f"{one.name} is {value!r}; expected a finite number of zero or more"
                )
        for name in ("resolution_m", "report_period_s", "horizon_s", "learning"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} is 0; expected a number above zero")
        for name in ("missed", "false"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a share, 0 to 1")


class Predictor:
    """The maps of all units, and what follows from them."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._regions: dict[tuple[str, int, int], list[int]] = {}
        self._last: dict[tuple[str, str], Report] = {}
        self._until: dict[tuple[str, str], float] = {}
        self._errors: dict[str, tuple[np.random.Generator, tuple[float, float], float]] = {}

    def report(self, report: Report) -> Prediction | None:
        """Learn from a report, and predict what comes; reports are in order of time."""
        settings = self.settings
        key = (report.ue, report.cell)
        before = self._last.get(key)
        self._last[key] = report
        random, (x_error, y_error), speed_error = self._error(report.ue)
        seen = report._replace(
            x_m=report.x_m + x_error,
            y_m=report.y_m + y_error,
            x_speed=report.x_speed * (1 + speed_error),
            y_speed=report.y_speed * (1 + speed_error),
        )
        if before is not None:
            self._fill_gap(before, report, (x_error, y_error))
        self._learn(report.cell, seen.x_m, seen.y_m, is_cut=report.is_cut)
        if report.is_cut or report.time_s < self._until.get(key, -math.inf):
            return None
        found = self._ahead(seen)
        if found is None:
            if settings.false == 0 or random.random() >= settings.false:
                return None
            found = random.random() * settings.horizon_s, random.exponential(1.0)
        elif settings.missed and random.random() < settings.missed:
            self._until[key] = report.time_s + found[0] + found[1]
            return None
        starts, lasts = report.time_s + found[0], found[1]
        # It says so once.
        self._until[key] = starts + lasts
        told = report.time_s + settings.delay_s
        return Prediction(report.time_s, told, *key, starts, lasts)

    def _error(self, ue: str) -> tuple[np.random.Generator, tuple[float, float], float]:
        if ue not in self._errors:
            random = np.random.default_rng([self.settings.seed, *ue.encode()])
            x, y, speed = random.standard_normal(3)
            place = self.settings.place_error_m
            self._errors[ue] = (random, (x * place, y * place), speed * self.settings.speed_error)
        return self._errors[ue]

    def _fill_gap(self, before: Report, now: Report, error: tuple[float, float]) -> None:
        """Who did not report for long was cut off from the last report on to this one."""
        period = self.settings.report_period_s
        steps = round((now.time_s - before.time_s) / period)
        if steps <= 2:
            return
        for number in range(1, steps):
            share = number / steps
            x = before.x_m + (now.x_m - before.x_m) * share + error[0]
            y = before.y_m + (now.y_m - before.y_m) * share + error[1]
            self._learn(now.cell, x, y, is_cut=True)

    def _region(self, cell: str, x: float, y: float) -> tuple[str, int, int]:
        side = self.settings.resolution_m
        return cell, math.floor(x / side), math.floor(y / side)

    def _learn(self, cell: str, x: float, y: float, *, is_cut: bool) -> None:
        counts = self._regions.setdefault(self._region(cell, x, y), [0, 0])
        counts[0] += 1
        counts[1] += is_cut

    def _is_cut(self, cell: str, x: float, y: float) -> bool | None:
        """Whether a region is mostly cut; None when it is not known."""
        count, cut = self._regions.get(self._region(cell, x, y), (0, 0))
        return None if count < self.settings.learning else 2 * cut > count

    def _ahead(self, seen: Report) -> tuple[float, float] | None:
        """From now to the beginning of what is cut on the way ahead, and its length."""
        speed = math.hypot(seen.x_speed, seen.y_speed)
        if speed < 0.1:
            return None
        step = self.settings.resolution_m / 2 / speed
        begins: float | None = None
        time = step
        while time <= self.settings.horizon_s:
            x, y = seen.x_m + seen.x_speed * time, seen.y_m + seen.y_speed * time
            is_cut = self._is_cut(seen.cell, x, y)
            if is_cut and begins is None:
                begins = time - step / 2
            elif begins is not None and not is_cut:
                return begins, time - step / 2 - begins
            time += step
        return None if begins is None else (begins, self.settings.horizon_s - begins)


def predict(reports: Iterable[Report], settings: Settings | None = None) -> list[Prediction]:
    """The predictions that follow from reports in order of time."""
    predictor = Predictor(settings)
    found = (predictor.report(one) for one in reports)
    return [one for one in found if one is not None]


Intervals = Mapping[tuple[str, str], Sequence[tuple[float, float]]]
"""When each UE was cut off from each cell: from, until."""


def score(predictions: Sequence[Prediction], truth: Intervals) -> dict[str, float | int | None]:
    """How good predictions were.

    A prediction is right when what it says overlaps with a time in which the path was cut and that
    had not begun when it was told. `precision` is the share of those that are right, `recall` the
    share of times that were predicted, `lead_s` the mean from the telling to the beginning,
    `onset_error_s` and `length_error_s` the root mean squares of the errors, and `length_bias_s`
    the mean of the latter.
    """
    right, leads, onsets, lengths = 0, [], [], []
    met: set[tuple[str, str, int]] = set()
    for one in predictions:
        for number, (start, stop) in enumerate(truth.get((one.ue, one.cell), ())):
            overlaps = start < one.starts_s + one.lasts_s and one.starts_s < stop
            if not overlaps or one.told_s >= start:
                continue
            right += 1
            if (one.ue, one.cell, number) not in met:
                met.add((one.ue, one.cell, number))
                leads.append(start - one.told_s)
                onsets.append(one.starts_s - start)
                lengths.append(one.lasts_s - (stop - start))
            break
    events = sum(len(one) for one in truth.values())

    def rms(values: Sequence[float]) -> float | None:
        return math.sqrt(sum(value**2 for value in values) / len(values)) if values else None

    def mean(values: Sequence[float]) -> float | None:
        return math.fsum(values) / len(values) if values else None

    return {
        "predictions": len(predictions),
        "events": events,
        "precision": right / len(predictions) if predictions else None,
        "recall": len(met) / events if events else None,
        "lead_s": mean(leads),
        "onset_error_s": rms(onsets),
        "length_error_s": rms(lengths),
        "length_bias_s": mean(lengths),
    }


def reports_of(
    results: Results, settings: Settings | None = None, *, cut_db: float = 0.0
) -> list[Report]:
    """What the cars of a run report of all units, those that do not serve them too.

    A unit of which a car receives less than `cut_db` over noise is cut.

    Raises:
        ResultError: the run has no radio access with places.
    """
    settings = settings or Settings()
    scenario = dict(results.manifest["scenario"])
    if not scenario.get("ue") or not scenario.get("cell"):
        raise ResultError("this run has no radio access, so nobody reports")
    sights = _geometry.sights(scenario, every=settings.report_period_s)
    tracks = _geometry.tracks(scenario, every=settings.report_period_s)
    own = tracks.filter(pl.col("ue").is_not_null()).select(
        "time_s", "ue", "x_m", "y_m", "heading_deg", "speed_mps"
    )
    joined = sights.join(own, on=["time_s", "ue"]).filter(pl.col("snr_db").is_not_null())
    heading = pl.col("heading_deg").radians()
    rows = joined.sort("time_s", "ue", "cell").select(
        "time_s",
        "ue",
        "cell",
        "x_m",
        "y_m",
        (pl.col("speed_mps") * heading.cos()).alias("x_speed"),
        (pl.col("speed_mps") * heading.sin()).alias("y_speed"),
        (pl.col("snr_db") < cut_db).alias("is_cut"),
    )
    return [Report(*row) for row in rows.rows()]


def cuts(reports: Iterable[Report]) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """When each UE was cut off from each cell, from report to report; not what had begun before the
    first."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    begun: dict[tuple[str, str], float | None] = {}
    for one in reports:
        key = (one.ue, one.cell)
        found.setdefault(key, [])
        if key not in begun:
            begun[key] = math.nan if one.is_cut else None
        start = begun[key]
        if one.is_cut and start is None:
            begun[key] = one.time_s
        elif not one.is_cut and start is not None:
            if not math.isnan(start):
                found[key].append((start, one.time_s))
            begun[key] = None
    return found
