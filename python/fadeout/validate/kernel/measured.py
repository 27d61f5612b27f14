"""Quantities that are read from a run of either side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from fadeout.results import Results
from fadeout.validate.kernel.scenario import Sides

INSTANTS_S = 0.01
"""The kernel reports its state at multiples of this interval, seconds."""

TOLD_WITHIN_S = 5e-6
"""Largest delay of the kernel's report in seconds. The guest's clock differs by nanoseconds."""

Values = dict[str, float]
"""Values by the key of their quantity."""


@dataclass(frozen=True)
class _Part:
    """A flow or a path of a run."""

    name: str
    row: Mapping[str, Any]
    arrived_bytes: int
    start_s: float
    seconds: float
    """Duration until the end of the flow or of the run."""


def measured(results: Results, pair: Sides, *, is_told: bool = False) -> dict[str, Values]:
    """Returns the quantities of each flow in the scenario file, followed by those of its paths.

    A flow that stands for several has the quantities of all of them together, and no paths.
    `is_told` is True for a kernel, which reports its state.
    """
    rows = {row["flow"]: row for row in results.flows.iter_rows(named=True)}
    paths = results.paths.to_dicts()
    found: dict[str, Values] = {}
    for entry, names in pair.members(rows).items():
        flows = [_part(results, name, rows[name]) for name in names]
        found[entry] = _quantities(results, flows, is_told)
        for path in [] if entry in pair.several else paths:
            if path["flow"] == entry:
                part = replace(
                    flows[0], name=path["path"], row=path, arrived_bytes=path["arrived_bytes"]
                )
                found[path["path"]] = _quantities(results, [part], is_told)
    return found


def _part(results: Results, name: str, row: Mapping[str, Any]) -> _Part:
    start_s = row["start_s"]
    seconds = (row["completed_at_s"] or results.duration_s) - start_s
    return _Part(name, row, row["delivered_bytes"], start_s, seconds)


def _quantities(results: Results, parts: Sequence[_Part], is_told: bool) -> Values:
    """Returns the quantities of a flow or a path, or of several flows together.

    The goodput of several is their data over the sum of their durations.
    """
    seconds = sum(part.seconds for part in parts)
    values = {
        "goodput_mbps": sum(part.arrived_bytes for part in parts) * 8e-6 / max(seconds, 1e-9),
        "retransmitted_segments": _sum(parts, "retransmitted_segments"),
        "timeouts": _sum(parts, "timeouts"),
    }
    each = [
        at_instants(
            results.congestion,
            part.name,
            (part.start_s, part.start_s + part.seconds),
            is_told=is_told,
        )
        for part in parts
    ]
    sampled = pl.concat(each) if each else pl.DataFrame()
    if sampled.height:
        values |= {
            "mean_srtt_ms": float(sampled["srtt_s"].to_numpy().mean()) * 1e3,
            "max_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().max()),
            "mean_cwnd_segments": float(sampled["cwnd_segments"].to_numpy().mean()),
        }
    return values


def _sum(parts: Iterable[_Part], key: str) -> float:
    return float(sum(part.row[key] for part in parts))


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
