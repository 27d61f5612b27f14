"""Values that the entries compare, read from the results of a run."""

from collections.abc import Callable

import polars as pl

from fadeout.results import Results
from fadeout.validate.measured.model import Point

SKIPPED_S = 2.0
"""Time at the start of a transfer that does not count, in seconds: slow start."""


def round_trips(results: Results, point: Point) -> list[float]:
    """Returns round-trip times of the echoes of the point's flows in milliseconds."""
    return _milliseconds(_datagrams(results, point, "sender")["round_trip_s"])


def delays(results: Results, point: Point) -> list[float]:
    """Returns one-way delays of the point's flows in milliseconds."""
    return _milliseconds(_datagrams(results, point, "receiver")["delay_s"])


def rates(results: Results, point: Point) -> list[float]:
    """Returns the received rate of each second in Mbit/s, without the start of the transfer."""
    rows = results.throughput.filter(
        pl.col("flow").cast(pl.String).str.starts_with(point.flow)
        & (pl.col("time_s") > SKIPPED_S + 1e-9)
    )
    return rows["rate_mbps"].to_list()


def preparations(results: Results, point: Point) -> list[float]:  # noqa: ARG001
    """Returns the times from measurement report to handover command in milliseconds."""
    rows = _successes(results.handovers)
    return _milliseconds(rows["commanded_s"] - rows["triggered_s"])


def executions(results: Results, point: Point) -> list[float]:  # noqa: ARG001
    """Returns the times from the UE's handover command to its access in milliseconds.

    A UE whose link failed before the command has entered its cell by re-establishment.
    """
    rows = _successes(results.handovers).filter(pl.col("commanded_s").is_not_nan())
    return _milliseconds(rows["entered_s"] - rows["left_s"])


def additions(results: Results, point: Point) -> list[float]:  # noqa: ARG001
    """Returns the times from report to command of secondary node additions in milliseconds."""
    rows = _successes(results.secondary_changes)
    rows = rows.filter(pl.col("kind").cast(pl.String) == "addition")
    return _milliseconds(rows["commanded_s"] - rows["triggered_s"])


READINGS: dict[str, Callable[[Results, Point], list[float]]] = {
    "round trip": round_trips,
    "one-way delay": delays,
    "rate": rates,
    "preparation": preparations,
    "execution": executions,
    "addition": additions,
}
"""Quantities of the entries by name."""


def _datagrams(results: Results, point: Point, end: str) -> pl.DataFrame:
    return results.datagrams.filter(
        (pl.col("end").cast(pl.String) == end)
        & pl.col("flow").cast(pl.String).str.starts_with(point.flow)
    )


def _successes(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(
        (pl.col("outcome").cast(pl.String) == "success") & pl.col("triggered_s").is_not_nan()
    )


def _milliseconds(seconds: pl.Series) -> list[float]:
    return [value * 1e3 for value in seconds.drop_nulls().to_list() if value == value]
