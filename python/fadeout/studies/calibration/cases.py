"""The deployments of the calibration, and the values found in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fadeout import geometry
from fadeout.study import Choice, Data, Estimate, Page, estimate, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
PAGE = Page.read(FOLDER, PUBLISHED)
PERCENTILES: Sequence[float] = PUBLISHED["percentiles"]["at"]

MEASURES = {
    "coupling_gain_db": "coupling loss, as a gain",
    "geometry_db": "geometry without noise",
    "geometry_with_noise_db": "geometry with noise",
}
"""The measures by name."""


@dataclass(frozen=True, kw_only=True)
class Titled(Choice):
    """A case of `study.toml`."""

    title: str
    layout: str = "macro-500"
    """Layout of the network, for cases under full buffer."""


@dataclass(frozen=True, eq=False)
class Case:
    """A network, and 3GPP's published values for it."""

    name: str
    title: str
    changes: Mapping[str, Any]
    """Overrides of the scenario."""
    published: Mapping[str, Any] = field(default_factory=dict)
    """Entry of `published.toml`, with percentiles of some measures. Empty if none were found."""

    def limits(self, measure: str) -> tuple[Sequence[float], Sequence[float]] | None:
        """Returns the least and the largest percentiles of any company. None if not known."""
        stem = measure.removesuffix("_db")
        least = self.published.get(f"{stem}_least_db")
        return None if least is None else (least, self.published[f"{stem}_most_db"])


CALIBRATED = [
    Case(one["name"], one["title"], one["set"], published=one) for one in PUBLISHED["case"]
]
"""The cases with published percentiles."""

UNPUBLISHED = [
    Case(
        one.name,
        one.title,
        {"deployment.network.layout": one.name, **DATA["values"]["tr36814"]},
    )
    for one in DATA.all("unpublished", Titled)
]
"""The cases of TR 36.814, for which no published curve was found."""


def drop(changes: Mapping[str, Any], seed: int) -> pl.DataFrame:
    """Returns the places and levels of the UEs of one drop."""
    found = geometry(FOLDER / "scenario.toml", seed=seed, set=changes)
    return found.with_columns(
        (-pl.col("coupling_loss_db")).alias("coupling_gain_db"),
        pl.col("sir_db").alias("geometry_db"),
        pl.col("sinr_db").alias("geometry_with_noise_db"),
    )


@cache
def drops(case: Case, seeds: int) -> list[pl.DataFrame]:
    """Returns the drops of a case with the seeds from 1 to `seeds`."""
    return [drop(case.changes, seed) for seed in range(1, seeds + 1)]


def mean_percentile(found: Sequence[pl.DataFrame], measure: str, percentile: float) -> Estimate:
    """Returns the mean over the drops of a percentile of a measure."""
    return estimate([float(np.percentile(one[measure].to_numpy(), percentile)) for one in found])
