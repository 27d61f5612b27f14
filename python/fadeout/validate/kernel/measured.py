"""What is read from a run, on either side."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from fadeout.results import Results

INSTANTS_S = 0.01
"""The kernel tells of its state at whole multiples of this."""

TOLD_WITHIN_S = 5e-6
"""How long after such an instant it tells at the latest: its clock has its own nanoseconds."""

Values = dict[str, float]
"""By the keys of the quantities."""


def measured(
    results: Results, starts_s: Mapping[str, float], *, is_told: bool = False
) -> dict[str, Values]:
    """The quantities of each flow of `starts_s`, which says when it starts, and of its paths.

    `is_told`: a kernel told of its state.
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
    """Those of a flow or a path: its name and row of the summary; when it starts, for how long."""
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
    """Window and smoothed round-trip time of a flow at multiples of 10 ms between two times.

    Between two ACKs the last values hold; before the first round trip there are none. A kernel is
    asked at its tick, before it is given what arrives at that instant, so that of ours counts what
    was before it.
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
    """Window and round-trip time of a flow, or of a path, at the instants."""
    of = (start_s, results.duration_s)
    return at_instants(results.congestion, flow, of, is_told=is_told)


def rate(results: Results, flow: str) -> pl.DataFrame:
    """What reaches the application of a flow, by intervals; empty where that is not recorded."""
    if not results.has_table("throughput"):
        return pl.DataFrame(schema={"time_s": pl.Float64, "rate_mbps": pl.Float64})
    rows = results.table("throughput")
    return rows.filter(pl.col("flow") == flow).select("time_s", "rate_mbps").sort("time_s")
