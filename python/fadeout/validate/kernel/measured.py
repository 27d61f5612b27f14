"""Quantities that are read from a run of either side."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from fadeout.results import Results

INSTANTS_S = 0.01
"""The kernel reports its state at multiples of this interval, seconds."""

TOLD_WITHIN_S = 5e-6
"""Largest delay of the kernel's report in seconds. The guest's clock differs by nanoseconds."""

Values = dict[str, float]
"""Values by the key of their quantity."""


def measured(
    results: Results, starts_s: Mapping[str, float], *, is_told: bool = False
) -> dict[str, Values]:
    """Returns the quantities of each flow in `starts_s` and of its paths.

    `starts_s` has the start of each flow in seconds. `is_told` is True for a kernel, which reports
    its state.
    """
    flows = {row["flow"]: row for row in results.flows.iter_rows(named=True)}
    paths = results.paths.to_dicts()
    found: dict[str, Values] = {}
    for name, start_s in starts_s.items():
        flow = flows[name]
        seconds = (flow["completed_at_s"] or results.duration_s) - start_s
        found[name] = _quantities(
            results, (name, flow), flow["delivered_bytes"], (start_s, seconds), is_told
        )
        for path in paths:
            if path["flow"] == name:
                row = (path["path"], path)
                found[path["path"]] = _quantities(
                    results, row, path["arrived_bytes"], (start_s, seconds), is_told
                )
    return found


def _quantities(
    results: Results,
    named: tuple[str, Mapping[str, Any]],
    arrived_bytes: int,
    during: tuple[float, float],
    is_told: bool,
) -> Values:
    """Returns the quantities of a flow or a path.

    `named` is its name and row of the summary. `during` is its start and duration in seconds.
    """
    name, row = named
    start_s, seconds = during
    of = (start_s, start_s + seconds)
    sampled = at_instants(results.congestion, name, of, is_told=is_told)
    values = {
        "goodput_mbps": arrived_bytes * 8e-6 / max(seconds, 1e-9),
        "retransmitted_segments": float(row["retransmitted_segments"]),
        "timeouts": float(row["timeouts"]),
    }
    if sampled.height:
        values |= {
            "mean_srtt_ms": float(sampled["srtt_s"].to_numpy().mean()) * 1e3,
            "max_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().max()),
            "mean_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().mean()),
        }
    return values


def at_instants(
    congestion: pl.DataFrame, flow: str, of: tuple[float, float], *, is_told: bool
) -> pl.DataFrame:
    """Returns window and smoothed round-trip time of a flow every 10 ms between two times.

    The instants are multiples of 10 ms. Between two ACKs the last values apply. Before the first
    round trip there are none. A kernel reports its state at its tick, before it receives packets of
    that instant. So fadeout's values are those just before the instant.
    """
    rows = congestion.filter((pl.col("flow") == flow) & (pl.col("srtt_s") > 0)).sort("time_s")
    if not rows.height:
        return rows.select("time_s", "srtt_s", "cwnd_segments")
    first, last = int(of[0] / INSTANTS_S) + 1, int(of[1] / INSTANTS_S + 1e-6)
    times = [INSTANTS_S * n for n in range(first, last + 1)]
    reach_s = TOLD_WITHIN_S if is_told else -1e-10
    instants = pl.DataFrame({"time_s": times}, schema={"time_s": pl.Float64}).with_columns(
        (pl.col("time_s") + reach_s).alias("at_s")
    )
    joined = instants.join_asof(
        rows.select(pl.col("time_s").alias("row_s"), "srtt_s", "cwnd_segments"),
        left_on="at_s",
        right_on="row_s",
        strategy="backward",
    )
    return joined.drop_nulls().select("time_s", "srtt_s", "cwnd_segments")


def series(results: Results, flow: str, start_s: float, *, is_told: bool = False) -> pl.DataFrame:
    """Returns window and round-trip time of a flow or a path at multiples of 10 ms."""
    of = (start_s, results.duration_s)
    return at_instants(results.congestion, flow, of, is_told=is_told)


def rate(results: Results, flow: str) -> pl.DataFrame:
    """Returns the rate at the application of a flow over time. Empty if it was not recorded."""
    if not results.has_table("throughput"):
        return pl.DataFrame(schema={"time_s": pl.Float64, "rate_mbps": pl.Float64})
    rows = results.table("throughput")
    return rows.filter(pl.col("flow") == flow).select("time_s", "rate_mbps").sort("time_s")
