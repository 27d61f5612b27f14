"""Differences: values of one campaign, two campaigns, or two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fadeout import _names
from fadeout._native import ResultError
from fadeout.campaign.campaign import Campaign
from fadeout.campaign.metrics import default_columns
from fadeout.campaign.mistakes import mistake
from fadeout.results import Results
from fadeout.statistics import (
    FEWEST,
    Estimate,
    Interval,
    bootstrap,
    estimate,
    holm,
    paired_difference,
)


def compare_values(
    campaign: Campaign,
    key: str,
    baseline: Any,  # noqa: ANN401 - a value of the key
    metrics: Sequence[str] = (),
    *,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Returns the difference of each value of `key` from `baseline`, with all other values equal.

    There is a row for each other value, each combination of the other keys, and each metric. Runs
    are paired by their seed, which removes the randomness that both have in common. Columns:
    `baseline_mean`, `mean`, `difference` with `low` and `high`, `percent` with `percent_low` and
    `percent_high` (of the ratio of the means, by bootstrap), and `n`, the number of pairs.
    `p_value` is the probability of such a difference if there is none (Student's t). `p_corrected`
    is corrected for the number of rows (Holm). Fewer than five pairs have no interval.
    """
    frame = campaign.frame()
    key = _key_of(campaign, key)
    names = campaign.known(frame, metrics or campaign.metrics())
    values = frame[key].unique(maintain_order=True).to_list()
    baseline = _value_of(key, baseline, values)
    others = [each for each in campaign.keys if each != key]
    rows: list[dict[str, Any]] = []
    groups = frame.group_by(others, maintain_order=True) if others else [((), frame)]
    for place, group in groups:
        by_value = {v: group.filter(pl.col(key) == v) for v in values if v != baseline}
        base = group.filter(pl.col(key) == baseline)
        for value, ours in by_value.items():
            pairs = base.join(ours, on="seed", how="inner", suffix=" ours", maintain_order="left")
            for name in names:
                both = pairs.select(name, f"{name} ours").drop_nulls()
                if both.is_empty():
                    continue
                row = dict(zip(others, place, strict=True))
                row |= {key: value, "metric": name}
                rows.append(row | _difference(both[f"{name} ours"], both[name], confidence))
    corrected = holm([row["p_value"] for row in rows])
    for row, p_value in zip(rows, corrected, strict=True):
        row["p_corrected"] = p_value
    return pl.DataFrame(rows, infer_schema_length=None)


def _difference(ours: pl.Series, base: pl.Series, confidence: float) -> dict[str, Any]:
    first, second = ours.cast(pl.Float64).to_list(), base.cast(pl.Float64).to_list()
    found = paired_difference(first, second, confidence)
    ratio = None
    if np.mean(second) != 0:
        ratio = bootstrap(
            lambda a, b: 100 * (np.mean(a) / np.mean(b) - 1), first, second, confidence=confidence
        )
    return {
        "baseline_mean": float(np.mean(second)),
        "mean": float(np.mean(first)),
        "difference": found.mean,
        "low": found.low if found.is_known else None,
        "high": found.high if found.is_known else None,
        "percent": None if ratio is None else ratio.mean,
        "percent_low": None if ratio is None or not ratio.is_known else ratio.low,
        "percent_high": None if ratio is None or not ratio.is_known else ratio.high,
        "n": found.count,
        "p_value": found.p_value,
    }


def _key_of(campaign: Campaign, key: str) -> str:
    """Returns the key with this name, or with this last part."""
    keys = campaign.keys
    found = [each for each in keys if each == key or each.endswith(f".{key}")]
    if len(found) != 1:
        names = [*keys, *(each.rsplit(".", 1)[-1] for each in keys)]
        raise mistake(_names.unknown("key of the campaign", key, dict.fromkeys(names)))
    return found[0]


def _value_of(key: str, value: Any, values: Sequence[Any]) -> Any:  # noqa: ANN401
    for each in values:
        if each == value or str(each) == str(value):
            return each
    raise mistake(_names.unknown(f"value of {key}", str(value), [str(each) for each in values]))


# --- two runs or campaigns ----------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Two runs or campaigns, compared."""

    scenario: list[tuple[str, Any, Any]]
    """Differences between the scenarios: key and both values. None if one has no such key."""
    results: pl.DataFrame
    """Differences between the results."""
    is_same: bool
    """True if every run of both has the same trajectory."""
    warnings: list[str] = field(default_factory=list)


def compare(first: str | PathLike[str], second: str | PathLike[str]) -> Comparison:
    """Compares two folders, both of runs or both of campaigns.

    Raises:
        ResultError: a folder is neither, or one is a run and the other a campaign.
    """
    folders = Path(first), Path(second)
    are_campaigns = [(folder / "campaign.json").is_file() for folder in folders]
    if all(are_campaigns):
        return _compare_campaigns(*(Campaign.open(folder) for folder in folders))
    if any(are_campaigns):
        raise ResultError(f"{folders[0]} and {folders[1]}: one is a run and one a campaign")
    return _compare_runs(*(Results.open(folder) for folder in folders))


def _compare_runs(first: Results, second: Results) -> Comparison:
    rows = []
    flows = [
        {row["flow"]: row for row in each.flows.iter_rows(named=True)} for each in (first, second)
    ]
    for name in dict.fromkeys([*flows[0], *flows[1]]):
        for column in default_columns():
            a, b = (each.get(name, {}).get(column) for each in flows)
            if a != b:
                rows.append({"flow": name, "metric": column, **_change(a, b)})
    schema = {"flow": pl.String, "metric": pl.String}
    schema |= dict.fromkeys(("first", "second", "difference", "percent"), pl.Float64)
    return Comparison(
        differences(first.manifest["scenario"], second.manifest["scenario"]),
        pl.DataFrame(rows, schema=schema),
        first.fingerprint == second.fingerprint,
    )


def _change(a: Any, b: Any) -> dict[str, float | None]:  # noqa: ANN401
    a, b = (None if each is None else float(each) for each in (a, b))
    change = None if a is None or b is None else b - a
    percent = 100 * change / abs(a) if a and change is not None else None
    return {"first": a, "second": b, "difference": change, "percent": percent}


def _compare_campaigns(first: Campaign, second: Campaign) -> Comparison:
    frames = [campaign.frame() for campaign in (first, second)]
    keys = [key for key in first.keys if key in second.keys]
    names = [name for name in first.metrics() if name in frames[1].columns]
    warnings = []
    only = sorted(set(first.keys) ^ set(second.keys))
    if only:
        warnings.append(f"only one of them varies {', '.join(only)}: compared over all its values")
    places = [_places(frame, keys) for frame in frames]
    rows: list[dict[str, Any]] = []
    is_same = set(places[0]) == set(places[1])
    for place in places[0]:
        if place not in places[1]:
            continue
        a, b = places[0][place], places[1][place]
        is_same = is_same and sorted(a["fingerprint"]) == sorted(b["fingerprint"])
        for name in names:
            row = dict(zip(keys, place, strict=True)) | {"metric": name}
            rows.append(row | _unlike(a, b, name))
    missing = len(set(places[0]) ^ set(places[1]))
    if missing:
        warnings.append(f"{missing} points are in one of them only")
    if any(row["n"] < FEWEST for row in rows):
        warnings.append(f"no intervals with fewer than {FEWEST} seeds a point")
    return Comparison(
        differences(first.document, second.document),
        pl.DataFrame(rows, infer_schema_length=None),
        is_same,
        warnings,
    )


def _places(frame: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    return dict(frame.group_by(keys, maintain_order=True)) if keys else {(): frame}


def _unlike(a: pl.DataFrame, b: pl.DataFrame, name: str) -> dict[str, Any]:
    """Returns the difference of two points, paired if both have the same seeds."""
    pairs = a.select("seed", name).join(b.select("seed", name), on="seed", suffix=" second")
    pairs = pairs.drop_nulls()
    is_paired = len(pairs) == len(a) == len(b)
    means = [estimate(each[name].drop_nulls().to_list()) for each in (a, b)]
    if is_paired:
        found = paired_difference(pairs[f"{name} second"].to_list(), pairs[name].to_list())
    else:
        found = _welch(
            means[0], means[1], a[name].drop_nulls().to_list(), b[name].drop_nulls().to_list()
        )
    return {
        "first": means[0].mean,
        "second": means[1].mean,
        "difference": found.mean,
        "low": found.low if found.is_known else None,
        "high": found.high if found.is_known else None,
        "n": found.count,
        "paired": is_paired,
    }


def _welch(first: Estimate, second: Estimate, a: Sequence[float], b: Sequence[float]) -> Interval:
    """Returns the difference of two means of different runs (Welch's t)."""
    count = min(first.count, second.count)
    change = second.mean - first.mean
    if count < FEWEST:
        return Interval(change, float("nan"), float("nan"), count, 0.95)
    from scipy import stats

    found = stats.ttest_ind(b, a, equal_var=False)
    limits = found.confidence_interval(0.95)
    p_value = float(found.pvalue)  # pyright: ignore[reportAttributeAccessIssue]
    return Interval(change, float(limits.low), float(limits.high), count, 0.95, p_value)


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Returns the dotted keys in which two documents differ, with both values."""
    flat = [_flat(each) for each in (first, second)]
    return [
        (key, flat[0].get(key), flat[1].get(key))
        for key in dict.fromkeys([*flat[0], *flat[1]])
        if flat[0].get(key) != flat[1].get(key)
    ]


def _flat(document: Any, prefix: str = "") -> dict[str, Any]:  # noqa: ANN401
    if isinstance(document, Mapping) and document:
        found: dict[str, Any] = {}
        for key, value in document.items():
            found |= _flat(value, f"{prefix}.{key}" if prefix else str(key))
        return found
    return {prefix: document}
