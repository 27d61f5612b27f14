"""When a path will be cut and for how long, predicted from what cars have reported of places.

A run with `[blockage-prediction]` predicts as it goes and tells its senders; this is the same
predictor fed with the reports of a finished run, or with any others.

Each unit has a map of regions: squares of the ground, or its beams, each with the share of reports
from there that found the unit cut off. A car announces its place and speed with each report; the
unit follows the straight way ahead through its map, and says when the first region that was mostly
cut begins and where the last one ends. It reads past reports alone. Moving vehicles are in no map:
what they cut is only met by chance.

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
    serves: bool = True
    """Whether the unit serves it: a gap of reports then counts as cut."""


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
    """Side of a region that is a square; the way ahead is looked at in steps of half of it."""
    beam_width_deg: float | None = None
    """Width of a region that is a beam of a unit, in degrees; squares without it."""
    sites: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]], hash=False
    )
    """Where units stand, metres east and north: beams begin there."""
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
            if one.name == "sites" or (one.name == "beam_width_deg" and value is None):
                continue
            if not (isinstance(value, int | float) and value >= 0 and math.isfinite(value)):
                raise ValueError(
                    f"{one.name} is {value!r}; expected a finite number of zero or more"
                )
        for name in ("resolution_m", "report_period_s", "horizon_s", "learning", "beam_width_deg"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} is 0; expected a number above zero")
        for name in ("missed", "false"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a share, 0 to 1")


class Predictor:
    """The maps of all units, and what follows from them."""

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
        """Learn from a report, and predict what comes; reports are in order of time.

        Raises:
            ValueError: regions are beams, and `sites` does not say where the unit stands.
        """
        if self.settings.beam_width_deg is not None and report.cell not in self.settings.sites:
            raise ValueError(
                f"the beams of {report.cell!r} begin nowhere; expected its place in `sites`"
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
    """Numbers for names, in the order in which they come."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self._known.setdefault(name, len(self._known))


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
