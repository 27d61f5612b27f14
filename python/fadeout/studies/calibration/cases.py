"""The deployments of the calibration, and the values found in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fadeout import geometry
from fadeout.study import Data, Page, Values, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
PAGE = Page.read(FOLDER, PUBLISHED)
PERCENTILES: Sequence[float] = PUBLISHED["percentiles"]["at"]


@dataclass(frozen=True)
class Case:
    """A network, and 3GPP's published values for it."""

    name: str
    title: str
    source: str
    changes: tuple[tuple[str, Any], ...]
    """Overrides of the scenario."""
    published: tuple[tuple[str, tuple[float, ...]], ...]
    """Published percentiles of each measure. Empty if none were found."""
    spread: tuple[tuple[str, tuple[Sequence[float], Sequence[float]]], ...] = ()
    """Least and largest value of any company for each measure, if they are known."""


MEASURES = {
    "coupling_gain_db": "coupling loss, as a gain",
    "geometry_db": "geometry without noise",
    "geometry_with_noise_db": "geometry with noise",
}
"""The measures by name."""


def calibrated() -> list[Case]:
    """Returns the cases with published percentiles."""
    return [
        Case(
            name=one["name"],
            title=one["title"],
            source=one["source"],
            changes=_changes(one["set"]),
            published=tuple(
                (measure, tuple(one[measure])) for measure in MEASURES if measure in one
            ),
            spread=tuple(
                (measure, (one[f"{name}_least_db"], one[f"{name}_most_db"]))
                for measure in MEASURES
                if f"{(name := measure.removesuffix('_db'))}_least_db" in one
            ),
        )
        for one in PUBLISHED["case"]
    ]


def _changes(changes: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    # A case must be hashable, so its changes are a tuple.
    return tuple(changes.items())


@dataclass(frozen=True)
class Titled:
    """A case of `study.toml`."""

    name: str
    title: str
    layout: str = "macro-500"
    """Layout of the network, for cases under full buffer."""
    values: Values = field(default_factory=dict, hash=False)


def unpublished() -> list[Case]:
    """Returns the cases of TR 36.814, for which no published curve was found."""
    changes = DATA["values"]["tr36814"]
    return [
        Case(
            name=one.name,
            title=one.title,
            source="",
            changes=_changes({"deployment.network.layout": one.name, **changes}),
            published=(),
        )
        for one in DATA.all("unpublished", Titled)
    ]


def drop(changes: Mapping[str, Any], seed: int) -> pl.DataFrame:
    """Returns the places and levels of the UEs of one drop."""
    found = geometry(FOLDER / "scenario.toml", seed=seed, set=changes)
    return found.with_columns(
        (-pl.col("coupling_loss_db")).alias("coupling_gain_db"),
        pl.col("sir_db").alias("geometry_db"),
        pl.col("sinr_db").alias("geometry_with_noise_db"),
    )


@dataclass(frozen=True)
class Found:
    """The drops of a case."""

    drops: Sequence[pl.DataFrame]

    def values(self, measure: str) -> np.ndarray:
        """Returns all values of a measure, in ascending order."""
        return np.sort(pl.concat(self.drops)[measure].to_numpy())

    def by_drop(self, measure: str, percentile: float) -> list[float]:
        """Returns a percentile of a measure in each drop."""
        return [float(np.percentile(drop[measure].to_numpy(), percentile)) for drop in self.drops]


@cache
def _found(name: str, seeds: int) -> Found:
    case = next(one for one in [*calibrated(), *unpublished()] if one.name == name)
    return Found([drop(dict(case.changes), seed) for seed in range(1, seeds + 1)])


def found(case: Case, seeds: int) -> Found:
    """Returns the drops of a case with the seeds from 1 to `seeds`."""
    return _found(case.name, seeds)
