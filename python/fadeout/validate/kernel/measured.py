"""What is read from a run, on either side."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from fadeout.results import Results

INSTANTS_S = 0.01
"""The kernel tells of its state at whole multiples of this."""

Values = dict[str, float]
"""By the keys of the quantities."""


def measured(results: Results, starts_s: Mapping[str, float]) -> dict[str, Values]:
    """The quantities of each flow of `starts_s`, which says when it starts."""
    flows = {row["flow"]: row for row in results.flows.iter_rows(named=True)}
    return {
        name: _of_flow(results, flows[name], start_s, results.duration_s)
        for name, start_s in starts_s.items()
    }


def _of_flow(results: Results, flow: Mapping[str, Any], start_s: float, end_s: float) -> Values:
    completed = flow["completed_at_s"]
    seconds = (end_s if completed is None else completed) - start_s
    sampled = at_instants(results.congestion, flow["flow"], start_s, start_s + seconds)
    values = {
        "goodput_mbps": flow["delivered_bytes"] * 8e-6 / max(seconds, 1e-9),
        "retransmitted_segments": float(flow["retransmitted_segments"]),
        "timeouts": float(flow["timeouts"]),
    }
    if sampled.height:
        values |= {
            "mean_srtt_ms": float(sampled["srtt_s"].to_numpy().mean()) * 1e3,
            "max_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().max()),
            "mean_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().mean()),
        }
    return values


def at_instants(congestion: pl.DataFrame, flow: str, start_s: float, end_s: float) -> pl.DataFrame:
    """Window and smoothed round-trip time of a flow at whole multiples of 10 ms.

    Between two ACKs the last values hold; before the first round trip there are none.
    """
    rows = congestion.filter((pl.col("flow") == flow) & (pl.col("srtt_s") > 0)).sort("time_s")
    if not rows.height:
        return rows.select("time_s", "srtt_s", "cwnd_segments")
    first = int(start_s / INSTANTS_S) + 1
    times = [INSTANTS_S * n for n in range(first, int(end_s / INSTANTS_S + 1e-6) + 1)]
    # The kernel is asked when it has done what it does at that time.
    instants = pl.DataFrame({"time_s": times}, schema={"time_s": pl.Float64}).with_columns(
        (pl.col("time_s") + 1e-7).alias("at_s")
    )
    joined = instants.join_asof(
        rows.select(pl.col("time_s").alias("row_s"), "srtt_s", "cwnd_segments"),
        left_on="at_s",
        right_on="row_s",
        strategy="backward",
    )
    return joined.drop_nulls().select("time_s", "srtt_s", "cwnd_segments")


def series(results: Results, flow: str, start_s: float) -> pl.DataFrame:
    """Window and round-trip time of a flow at the instants."""
    return at_instants(results.congestion, flow, start_s, results.duration_s)
