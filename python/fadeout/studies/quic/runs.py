"""The numbers that the study on QUIC reads from a run."""

from itertools import pairwise

import polars as pl

from fadeout.results import Results
from fadeout.study import Numbers

BIN_S = 0.02
"""Length of the bins in which silences are measured, seconds."""


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run, so that its tables need not be kept."""
    flow = results.flows.row(0, named=True)
    delivered = results.throughput.filter((pl.col("flow") == flow["flow"]) & (pl.col("bytes") > 0))
    # A silence may last until the end of the run.
    times = [*delivered["time_s"].to_list(), results.duration_s]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    rtt_s = results.congestion["rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        # Two bins with data that follow each other are a bin apart.
        "silence_ms": 1e3 * max(0.0, max(gaps, default=0.0) - BIN_S),
        "rtt_p95_ms": 1e3 * (rtt_s.filter(rtt_s > 0).quantile(0.95, "nearest") or 0.0),
    }


def ended(results: Results) -> Numbers:
    """Returns the delivered data of a run, and 1 if an end gave up the connection."""
    failures = results.quic_ends["failure"].drop_nulls()
    delivered = results.flows["delivered_bytes"].item()
    return {"ended": float(len(failures) > 0), "delivered_mb": delivered / 1e6}
