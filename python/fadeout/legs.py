"""The load of each leg of a bearer with several legs, over time."""

import polars as pl

from fadeout._native import ResultError
from fadeout._quantities import seconds
from fadeout.results import Results


def leg_shares(results: Results, every: str | float = "100 ms") -> pl.DataFrame:
    """Returns the load of each leg of each UE with a split bearer, in time bins.

    Returns
    -------
    A row for each `ue`, `direction`, `cell` of a leg and `time_s`, the beginning of a time bin of
    length `every`. `rate_mbps` is the rate of the transport blocks that arrived. `share` is the
    leg's share of the UE's bytes in this direction, and null if no bytes arrived.

    Raises
    ------
    ResultError
        If no bearer is split, or `transport-blocks` were not recorded.
    """
    every_s = seconds(every)
    if not every_s > 0:
        raise ValueError(f"`every` is a time above zero; got {every!r}")
    legs = results.legs.select(
        pl.col("bearer").str.split("/").list.first().alias("ue"), "direction", "cell"
    ).unique(maintain_order=True)
    if legs.is_empty():
        raise ResultError(
            "no bearer of this run is split: give a UE a `split`, and a `pscell` or `carriers`"
        )
    blocks = results.transport_blocks.filter("is_ok").select(
        pl.col("ue", "direction", "cell").cast(pl.String),
        (pl.col("time_s") / every_s).floor().cast(pl.Int64).alias("bin"),
        pl.col("size_bytes").cast(pl.Int64),
    )
    sums = blocks.group_by("ue", "direction", "cell", "bin").agg(pl.col("size_bytes").sum())
    last = max(0, -int(-results.duration_s // every_s) - 1)
    bins = pl.DataFrame({"bin": range(last + 1)}, schema={"bin": pl.Int64})
    keys = ["ue", "direction", "cell", "bin"]
    table = legs.join(bins, how="cross").join(sums, on=keys, how="left", maintain_order="left")
    table = table.with_columns(pl.col("size_bytes").fill_null(0))
    total = pl.col("size_bytes").sum().over("ue", "direction", "bin")
    return table.select(
        "ue",
        "direction",
        "cell",
        (pl.col("bin") * every_s).alias("time_s"),
        (pl.col("size_bytes") * 8 / every_s / 1e6).alias("rate_mbps"),
        pl.when(total > 0).then(pl.col("size_bytes") / total).alias("share"),
    )
