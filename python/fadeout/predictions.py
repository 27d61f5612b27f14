"""Prediction of the start and length of blockages, from reports of cars.

A run with `[blockage-prediction]` makes predictions and sends them to flows. This module has the
same predictor, for the reports of a finished run or for any other reports.

Each unit (base station) has a map of regions: squares of the ground, or its beams. For a region the
map has the share of reports in which the unit was blocked. A car reports its place and speed. The
unit follows the straight path ahead through its map. It predicts a blockage from the beginning of
the first region that was mostly blocked to the end of the last one. It uses past reports alone.
Moving vehicles are in no map, so their blockages are predicted by chance only.

Source: the map of channel quality of Na et al., TCP behavior in mmWave connected vehicular
networks, section 3.2.5, which gives it in words.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import polars as pl

from fadeout import _geometry, _native
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
    """A report of a car about a unit."""

    time_s: float
    ue: str
    cell: str
    x_m: float
    y_m: float
    x_speed: float
    y_speed: float
    is_cut: bool
    """True if the car measured less power of the unit than it can receive."""
    serves: bool = True
    """True if the unit serves the car. A gap of its reports then counts as blocked."""


class Prediction(NamedTuple):
    """A prediction of a unit for a car."""

    made_s: float
    told_s: float
    """The time at which the sender receives the prediction."""
    ue: str
    cell: str
    starts_s: float
    lasts_s: float


@dataclass(frozen=True)
class Settings:
    """The settings of the prediction."""

    resolution_m: float = 5.0
    """Side of a square region. The path ahead is examined in steps of half of it."""
    beam_width_deg: float | None = None
    """Width of a region that is a beam of a unit, in degrees. Default: regions are squares."""
    sites: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]], hash=False
    )
    """Positions of the units, metres east and north, where their beams begin."""
    learning: int = 2
    """Number of reports after which a region is known."""
    report_period_s: float = 0.04
    """Time between two reports of a car."""
    horizon_s: float = 5.0
    """Time for which a unit predicts ahead."""
    delay_s: float = 0.02
    """Time from a report to the sender's receipt of the prediction."""
    place_error_m: float = 0.0
    """Standard deviation of the error of a car's place, constant over the run."""
    speed_error: float = 0.0
    """Standard deviation of the error of a car's speed as a share of it, constant over the run."""
    missed: float = 0.0
    """Share of predictions that are lost."""
    false: float = 0.0
    """Share of reports without a prediction to which a false one is added."""
    seed: int = 1
    """Seed of the errors."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "sites" or (one.name == "beam_width_deg" and value is None):
                continue
            if not (isinstance(value, int | float) and value >= 0 and math.isfinite(value)):
                raise ValueError(
                    f"{one.name} is {value!r}; expected a finite number of at least zero"
                )
        for name in ("resolution_m", "report_period_s", "horizon_s", "learning", "beam_width_deg"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} is 0; expected a number above zero")
        for name in ("missed", "false"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a share from 0 to 1")


class Predictor:
    """The maps of all units, with the predictions from them."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings = settings or Settings()
        self._ues = _Numbers()
        self._cells = _Numbers()
        self._own = _native.Predictor(
            beam_width_deg=settings.beam_width_deg,
            resolution_m=settings.resolution_m,
            learning=settings.learning,
            report_period_s=settings.report_period_s,
            horizon_s=settings.horizon_s,
            place_error_m=settings.place_error_m,
            speed_error=settings.speed_error,
            missed=settings.missed,
            false_alarms=settings.false,
            seed=settings.seed,
        )
        for cell, site in settings.sites.items():
            self._own.stand(self._cells.of(cell), site)

    def report(self, report: Report) -> Prediction | None:
        """Learns from a report, and returns the prediction. Reports must be in order of time.

        Raises:
            ValueError: regions are beams, and `sites` does not have the position of the unit.
        """
        if self.settings.beam_width_deg is not None and report.cell not in self.settings.sites:
            raise ValueError(
                f"the beams of {report.cell!r} have no origin; expected its position in `sites`"
            )
        said = self._own.report(
            (report.time_s, self._ues.of(report.ue), self._cells.of(report.cell)),
            (report.x_m, report.y_m),
            (report.x_speed, report.y_speed),
            report.is_cut,
            report.serves,
        )
        if said is None:
            return None
        made, _, _, starts, lasts = said
        told = made + self.settings.delay_s
        return Prediction(made, told, report.ue, report.cell, starts, lasts)


class _Numbers:
    """Assigns numbers to names, in the order of their first use."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self._known.setdefault(name, len(self._known))


def predict(reports: Iterable[Report], settings: Settings | None = None) -> list[Prediction]:
    """Returns the predictions that follow from reports in order of time."""
    predictor = Predictor(settings)
    found = (predictor.report(one) for one in reports)
    return [one for one in found if one is not None]


Intervals = Mapping[tuple[str, str], Sequence[tuple[float, float]]]
"""Blockages by UE and cell: start and end of each in seconds."""


def score(predictions: Sequence[Prediction], truth: Intervals) -> dict[str, float | int | None]:
    """Returns measures of the quality of predictions.

    A prediction is right if its time overlaps a blockage that had not begun when the sender
    received it. `precision` is the share of predictions that are right. `recall` is the share of
    blockages that were predicted. `lead_s` is the mean time from the receipt to the beginning.
    `onset_error_s` and `length_error_s` are the root mean square errors, and `length_bias_s` is the
    mean error of the length.
    """
    ues, cells = _Numbers(), _Numbers()
    said = [
        (one.told_s, (one.made_s, ues.of(one.ue), cells.of(one.cell), one.starts_s, one.lasts_s))
        for one in predictions
    ]
    cut = [
        (ues.of(ue), cells.of(cell), start, stop)
        for (ue, cell), times in truth.items()
        for start, stop in times
    ]
    names = (
        "predictions",
        "events",
        "precision",
        "recall",
        "lead_s",
        "onset_error_s",
        "length_error_s",
        "length_bias_s",
    )
    return dict(zip(names, _native.score_predictions(said, cut), strict=True))


def reports_of(
    results: Results, settings: Settings | None = None, *, cut_db: float = -6.0
) -> list[Report]:
    """Returns the reports of the cars of a run about all units, serving or not.

    A unit is blocked for a car that receives it with an SNR below `cut_db`.

    Raises:
        ResultError: the run has no radio access with places.
    """
    settings = settings or Settings()
    scenario = dict(results.manifest["scenario"])
    if not scenario.get("ue") or not scenario.get("cell"):
        raise ResultError("this run has no radio access, so there are no reports")
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
    """Returns the blockages of each cell for each UE, from report to report. Blockages that had
    begun before the first report are left out.
    """
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
