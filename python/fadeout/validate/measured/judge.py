"""Runs of the entries, and the comparison of our values with the measured ones."""

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fadeout._run import run
from fadeout.results import Results
from fadeout.statistics import Estimate, estimate
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.job import MayGoOn
from fadeout.validate.measured import MEDIAN_TOLERANCE, P90_TOLERANCE, model
from fadeout.validate.measured.artefacts import derive, quantile
from fadeout.validate.measured.model import (
    CHOSEN,
    HELD_OUT,
    PUBLISHED,
    Entry,
    Point,
    Reference,
)
from fadeout.validate.measured.readings import READINGS

SEEDS = 5
"""Number of seeds. An interval of a mean needs at least five values."""

SINR_KEY = "ue.phone.downlink-sinr"
"""Key that is varied for a comparison second by second."""

QUANTITIES = (("median", 0.5, MEDIAN_TOLERANCE), ("p90", 0.9, P90_TOLERANCE))
"""Compared quantities: name, share of the values, and tolerance."""

COLUMNS = ("entry", "point", "half", "n", "quantity", "measured", "ours", "error", "verdict")

WITHIN = "within"
OUTSIDE = "outside"
NOT_JUDGED = "chosen from"
"""Verdict of the half from which parameters were chosen."""

Values = dict[float, list[float]]
"""Values of one run of a point by SINR in dB. The SINR is NaN if the scenario sets it."""


@dataclass(frozen=True)
class Row:
    """A measured quantile of a point beside ours."""

    entry: Entry
    point: Point
    reference: Reference
    quantity: str
    measured: float
    ours: Estimate
    tolerance: float

    @property
    def error(self) -> float:
        """Relative difference of our mean from the measured value."""
        return self.ours.mean / self.measured - 1 if self.measured else math.nan

    @property
    def verdict(self) -> str:
        """`within` or `outside` the tolerance, or `chosen from`, which is no judgement."""
        if self.reference.half == CHOSEN:
            return NOT_JUDGED
        return WITHIN if abs(self.error) <= self.tolerance else OUTSIDE

    def cells(self) -> list[str]:
        """Returns the row of the table."""
        count = self.reference.count
        return [
            self.entry.name,
            self.point.name,
            self.reference.half,
            "" if count is None else str(count),
            f"{self.quantity}, {self.entry.unit}",
            f"{self.measured:.4g}",
            _text(self.ours),
            f"{self.error:+.1%}",
            self.verdict,
        ]

    def record(self) -> dict[str, Any]:
        """Returns the row for JSON. Values that are not known are null."""
        ours = self.ours
        return {
            "entry": self.entry.name,
            "point": self.point.name,
            "source": self.entry.source.title,
            "repository": self.entry.source.address,
            "licence": self.entry.source.licence,
            "half": self.reference.half,
            "count": self.reference.count,
            "quantity": self.quantity,
            "unit": self.entry.unit,
            "measured": self.measured,
            "ours": ours.mean,
            "low": ours.low if ours.is_known else None,
            "high": ours.high if ours.is_known else None,
            "seeds": ours.count,
            "error": None if math.isnan(self.error) else self.error,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "missing": self.entry.why(self.point.name) if self.verdict == OUTSIDE else "",
        }


@dataclass(frozen=True)
class Ratios:
    """Ratios of the measured to the predicted rate, second by second."""

    entry: Entry
    half: str
    p10: float
    median: float
    p90: float

    def text(self) -> str:
        """Returns the ratios as a sentence."""
        return (
            f"{self.entry.name}, {self.half}: measured rate divided by the rate predicted for the "
            f"same second: 10 % of the seconds are below {self.p10:.2f}, half are below "
            f"{self.median:.2f}, and 90 % are below {self.p90:.2f}"
        )


@dataclass(frozen=True)
class Comparison:
    """All rows, and the entries that could not be compared."""

    rows: tuple[Row, ...]
    ratios: tuple[Ratios, ...]
    unknown: tuple[Entry, ...]
    """Entries without measured values: their licence forbids to store any."""

    def outside(self) -> list[Row]:
        """Returns the rows outside their tolerance."""
        return [row for row in self.rows if row.verdict == OUTSIDE]

    def outside_by_point(self) -> dict[tuple[str, str], list[Row]]:
        """Returns the rows outside their tolerance by the names of entry and point."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.outside():
            found.setdefault((row.entry.name, row.point.name), []).append(row)
        return found

    def headline(self) -> str:
        """Returns the number of rows within the tolerances, by half."""
        parts = []
        for half in (HELD_OUT, PUBLISHED):
            rows = [row for row in self.rows if row.reference.half == half]
            within = sum(row.verdict == WITHIN for row in rows)
            if rows:
                parts.append(f"{within} of {len(rows)} rows with {half} values")
        return " and ".join(parts) + " are within the tolerances" if parts else "nothing is judged"

    def json(self) -> str:
        """Returns rows, ratios and missing entries as JSON."""
        ratios = [
            {"entry": r.entry.name, "half": r.half, "p10": r.p10, "median": r.median, "p90": r.p90}
            for r in self.ratios
        ]
        missing = [
            {"entry": entry.name, "repository": entry.source.address, "why": needs_copy(entry)}
            for entry in self.unknown
        ]
        document = {
            "rows": [row.record() for row in self.rows],
            "ratios": ratios,
            "not-compared": missing,
        }
        return json.dumps(document, indent=2, ensure_ascii=False)


def _text(ours: Estimate) -> str:
    """Returns our mean with its interval. An interval of rounding errors has no length."""
    is_exact = ours.is_known and ours.half_width < 1e-9 * abs(ours.mean)
    return (replace(ours, half_width=0.0) if is_exact else ours).text(".4g")


def needs_copy(entry: Entry) -> str:
    """Returns the reason why an entry cannot be compared without a copy of its data set."""
    source = entry.source
    return (
        f"{entry.name}: the licence ({source.licence}) lets this package store no values; give a "
        f"copy of {source.address} with --data"
    )


def entries(only: Sequence[str], data: Path | None) -> list[Entry]:
    """Returns the entries with one of the words `only` in their name, with measured values.

    Args:
        only: words. None of them means all entries.
        data: folder with copies of data sets as `OWNER/NAME`. An entry whose copy is missing has
            the values stored in this package.

    Raises:
        FadeoutError: no entry has a word of `only` in its name, or a copy is not as expected.
    """
    stored = model.stored_references()
    found = []
    for name in model.chosen_names(only):
        entry = model.load(name, stored)
        if data is not None and (data / entry.source.repository).is_dir():
            derived = derive(entry, data)
            entry = model.load(name, {(name, point): refs for point, refs in derived.items()})
        found.append(entry)
    return found


def compare(
    chosen: Sequence[Entry],
    *,
    seeds: int = SEEDS,
    jobs: int | None = None,
    progress: CountCallback | None = None,
) -> Comparison:
    """Runs the scenarios of the entries and returns our values beside the measured ones."""
    known = [entry for entry in chosen if any(point.references for point in entry.points)]
    groups = [group for entry in known for group in _groups(entry)]
    calls: list[Callable[[MayGoOn], list[list[float]]]] = []
    places: list[tuple[int, int, float]] = []
    for at, (entry, points) in enumerate(groups):
        for seed in range(1, seeds + 1):
            for sinr_db in entry.sinr_db or (math.nan,):
                calls.append(partial(_read, entry=entry, points=points, seed=seed, sinr_db=sinr_db))
                places.append((at, seed, sinr_db))
    found = run_all(calls, workers=jobs, progress=progress)
    values: dict[tuple[str, str], list[Values]] = {}
    for (at, seed, sinr_db), read in zip(places, found, strict=True):
        entry, points = groups[at]
        for point, samples in zip(points, read, strict=True):
            runs = values.setdefault((entry.name, point.name), [{} for _ in range(seeds)])
            runs[seed - 1][sinr_db] = samples
    rows, ratios = [], []
    for entry in known:
        for point in entry.points:
            for reference in point.references:
                runs = values[entry.name, point.name]
                rows += _rows(entry, point, reference, runs)
                ratios += _ratios(entry, reference, runs)
    unknown = tuple(entry for entry in chosen if entry not in known)
    return Comparison(tuple(rows), tuple(ratios), unknown)


def _groups(entry: Entry) -> list[tuple[Entry, list[Point]]]:
    """Returns the points of an entry that share a run."""
    found: dict[str, list[Point]] = {}
    for point in entry.points:
        if point.references:
            found.setdefault(json.dumps(point.settings, sort_keys=True), []).append(point)
    return [(entry, points) for points in found.values()]


def _read(
    may_go_on: MayGoOn, entry: Entry, points: list[Point], seed: int, sinr_db: float
) -> list[list[float]]:
    """Returns the values of each point in a run."""
    settings = dict(points[0].settings)
    if not math.isnan(sinr_db):
        settings[SINR_KEY] = f"{sinr_db:g} dB"
    results: Results = run(entry.scenario, seed=seed, set=settings or None, progress=may_go_on)
    return [READINGS[point.reading](results, point) for point in points]


def _rows(entry: Entry, point: Point, reference: Reference, runs: list[Values]) -> list[Row]:
    rows = []
    for name, share, tolerance in QUANTITIES:
        measured = getattr(reference, name)
        if measured is None:
            continue
        ours = estimate([quantile(_predicted(reference, run), share) for run in runs])
        rows.append(Row(entry, point, reference, name, measured, ours, tolerance))
    return rows


def _predicted(reference: Reference, run: Values) -> list[float]:
    """Returns the values of a run, or the rates that it predicts for the measured SINR."""
    if not reference.pairs:
        return [value for values in run.values() for value in values]
    return [_rate_at(run, sinr_db) for sinr_db, _ in reference.pairs]


def _rate_at(run: Values, sinr_db: float) -> float:
    """Returns the rate at a SINR, between two simulated SINR values linearly."""
    steps = sorted(run)
    medians = [quantile(run[step], 0.5) if run[step] else 0.0 for step in steps]
    at = bisect_left(steps, sinr_db)
    if at == 0:
        return medians[0]
    if at == len(steps):
        return medians[-1]
    share = (sinr_db - steps[at - 1]) / (steps[at] - steps[at - 1])
    return medians[at - 1] + share * (medians[at] - medians[at - 1])


def _ratios(entry: Entry, reference: Reference, runs: list[Values]) -> list[Ratios]:
    if not reference.pairs or reference.half != HELD_OUT:
        return []
    found = []
    for sinr_db, rate in reference.pairs:
        predicted = math.fsum(_rate_at(run, sinr_db) for run in runs) / len(runs)
        if predicted > 0:
            found.append(rate / predicted)
    p10, median, p90 = (quantile(found, share) for share in (0.1, 0.5, 0.9))
    return [Ratios(entry, reference.half, p10, median, p90)]
