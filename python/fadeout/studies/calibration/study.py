"""The study on calibration: its drops and tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.style import PALETTE, new_grid
from fadeout.studies.calibration.cases import (
    CALIBRATED,
    DATA,
    MEASURES,
    PAGE,
    PERCENTILES,
    UNPUBLISHED,
    Case,
    drop,
    drops,
    mean_percentile,
)
from fadeout.studies.calibration.efficiency import assumptions, beside_winner, full_buffer
from fadeout.study import Effort, Runs, Section, Study


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    seeds = runs.effort.seeds
    runs.facts["drops_a_case"] = seeds
    for source in ("tr38901", "tr36873"):
        cases = [case for case in CALIBRATED if case.published["source"].startswith(source)]
        yield beside_published(source, cases, seeds)
    yield alone(seeds)
    yield closed_form(seeds)
    yield beside_winner(runs)
    # A quick study does not change assumptions.
    if seeds >= 5:
        yield assumptions(runs)
    yield full_buffer(runs)


def beside_published(name: str, cases: Sequence[Case], seeds: int) -> Section:
    """Returns the section that compares percentiles with those of 3GPP."""
    records = []
    for case in cases:
        for measure in [each for each in MEASURES if each in case.published]:
            record: dict[str, Any] = {"case": case.name, "_title": case.title, "measure": measure}
            record["_measure"] = MEASURES[measure]
            for percentile, value in zip(PERCENTILES, case.published[measure], strict=True):
                ours = mean_percentile(drops(case, seeds), measure, percentile)
                record |= {
                    f"published_{percentile}_db": value,
                    f"found_{percentile}_db": ours,
                    f"difference_{percentile}_db": ours.mean - value,
                }
            record |= among(case, measure, record)
            records.append(record)
    worst = max(
        abs(record[f"difference_{percentile}_db"])
        for record in records
        for percentile in PERCENTILES
    )
    return PAGE.section(
        name,
        records,
        figures={"curves": curves(cases, seeds)},
        percentiles=PERCENTILES,
        seeds=seeds,
        worst=worst,
    )


def among(case: Case, measure: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the companies' limits of each percentile, and the number of percentiles
    within them.
    """
    limits = case.limits(measure)
    if limits is None:
        return {"_within": ""}
    known: dict[str, Any] = {}
    inside = 0
    for percentile, least, most in zip(PERCENTILES, *limits, strict=True):
        known |= {f"least_{percentile}_db": least, f"most_{percentile}_db": most}
        inside += least <= record[f"found_{percentile}_db"].mean <= most
    return known | {"_within": f"{inside} of {len(PERCENTILES)}"}


def curves(cases: Sequence[Case], seeds: int) -> Figure:
    """Draws the distributions, with the published percentiles on them."""
    with new_grid(1, 2, size=(7.0, 3.2), share_y=True) as (figure, axes):
        for ax, measure in zip(axes, ("coupling_gain_db", "geometry_db"), strict=True):
            for number, case in enumerate(cases):
                values = np.sort(pl.concat(drops(case, seeds))[measure].to_numpy())
                share = 100.0 * (np.arange(len(values)) + 0.5) / len(values)
                color = PALETTE[number % len(PALETTE)]
                dashes = "-" if number < len(PALETTE) else "--"
                ax.plot(values, share, dashes, color=color, linewidth=0.9, label=case.title)
                theirs = case.published[measure]
                ax.plot(theirs, PERCENTILES, "o", color=color, markersize=3, fillstyle="none")
            ax.set_xlabel(f"{MEASURES[measure]} (dB)")
        axes[0].set_ylabel("UEs below (%)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=4)
    return figure


def alone(seeds: int) -> Section:
    """Returns the section on the cases without a published curve."""
    records = [
        {"case": case.name, "_title": case.title, "measure": measure, "_measure": text}
        | {
            f"found_{percentile}_db": mean_percentile(drops(case, seeds), measure, percentile)
            for percentile in PERCENTILES
        }
        for case in UNPUBLISHED
        for measure, text in MEASURES.items()
    ]
    return PAGE.section("tr36814", records, percentiles=PERCENTILES)


SITE_DISTANCE_M = 500.0
UP_M = 32.0 - 1.5
"""Height of the site's antenna above the UE's, metres."""
DROPS_OF_ONE_CELL = 10
"""Factor by which one cell has more drops than a network, as its drops are small."""


def distance_share(distance_m: float) -> float:
    """Returns the share of a site's hexagon within this distance of the site.

    Up to the inscribed circle it is the circle's share. Beyond, six caps of the circle are outside.
    """
    apothem = SITE_DISTANCE_M / 2.0
    area = 2.0 * math.sqrt(3.0) * apothem**2
    if distance_m >= apothem * 2.0 / math.sqrt(3.0):
        return 1.0
    inside = math.pi * distance_m**2
    if distance_m > apothem:
        half = math.acos(apothem / distance_m)
        inside -= 6.0 * (distance_m**2 * half - apothem * math.sqrt(distance_m**2 - apothem**2))
    return inside / area


def distance_at(share: float) -> float:
    """Returns the distance within which this share of the hexagon lies, metres."""
    low, high = 0.0, SITE_DISTANCE_M
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distance_share(middle) < share else (low, middle)
    return high


def closed_form(seeds: int) -> Section:
    """Returns the section that compares one site without shadowing with a closed form."""
    changes = DATA["values"]["one-site"]
    found = [drop(changes, seed) for seed in range(1, DROPS_OF_ONE_CELL * seeds + 1)]
    records = []
    for percentile in PERCENTILES:
        distance = distance_at(1.0 - percentile / 100.0)
        expected = -(128.1 + 37.6 * math.log10(math.hypot(distance, UP_M) / 1000.0))
        ours = mean_percentile(found, "coupling_gain_db", percentile)
        records.append(
            {
                "percentile": percentile,
                "closed_form_db": expected,
                "found_db": ours,
                "difference_db": ours.mean - expected,
            }
        )
    return PAGE.section("closed-form", records)


STUDY = Study.of(DATA, PAGE, Effort, sections)
