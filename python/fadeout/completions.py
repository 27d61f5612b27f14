"""Flow-completion times: which flows came to their end, and how long groups of them took."""

import re
from collections import Counter

import polars as pl

PERCENTILES = (50, 90, 95, 99)

COLUMNS = {
    "group": ("group", pl.String),
    "flow": ("flow", pl.String),
    "application": ("application", pl.String),
    "congestion_control": ("congestion_control", pl.String),
    "start_s": ("start_s", pl.Float64),
    "first_delivery_s": ("first_byte_s", pl.Float64),
    "completed_at_s": ("completed_at_s", pl.Float64),
    "flow_completion_time_s": ("completion_time_s", pl.Float64),
    "delivered_bytes": ("size_bytes", pl.Int64),
    "goodput_mbps": ("mean_rate_mbps", pl.Float64),
    "retransmitted_segments": ("retransmitted_segments", pl.Int64),
}
"""Columns of the table with their types, by their names in the summary."""


def completions(flows: pl.DataFrame) -> pl.DataFrame:
    """One row a completed flow, in the order of completion."""
    if flows.is_empty():
        return pl.DataFrame(schema=dict(COLUMNS.values()))
    done = with_groups(flows).filter(pl.col("flow_completion_time_s").is_not_null())
    named = [pl.col(old).cast(kind).alias(new) for old, (new, kind) in COLUMNS.items()]
    return done.select(named).sort("completed_at_s", maintain_order=True)


def completion_times(flows: pl.DataFrame) -> pl.DataFrame:
    """One row a group of flows of which some completed: how many, the mean, percentiles, longest.

    A percentile is the nearest rank: the smallest time that so many did not exceed.
    """
    done = completions(flows)
    rows = []
    groups = [] if flows.is_empty() else with_groups(flows)["group"].to_list()
    for group, count in Counter(groups).items():
        times = done.filter(pl.col("group") == group)["completion_time_s"].sort().to_list()
        if times:
            row = {"group": group, "flows": count, "completed": len(times)}
            row["mean_s"] = sum(times) / len(times)
            for percent in PERCENTILES:
                row[f"p{percent}_s"] = times[-(-len(times) * percent // 100) - 1]
            row["longest_s"] = times[-1]
            rows.append(row)
    schema = {"group": pl.String, "flows": pl.Int64, "completed": pl.Int64, "mean_s": pl.Float64}
    schema |= {f"p{percent}_s": pl.Float64 for percent in PERCENTILES}
    return pl.DataFrame(rows, schema | {"longest_s": pl.Float64})


def with_groups(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows with the `group` of each.

    It is NAME for the NAME-0, NAME-1, ... that `count` and `arrivals` make. A flow with such a name
    that stands alone is its own group.
    """
    names = flows["flow"].to_list()
    groups = [re.sub(r"-\d+$", "", name) for name in names]
    sizes = Counter(groups)
    own = [group if sizes[group] > 1 else name for name, group in zip(names, groups, strict=True)]
    return flows.with_columns(pl.Series("group", own, pl.String))
