"""Table 2: the delay of single packets and its parts."""

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from fadeout.plot.radio import PARTS
from fadeout.results import Results
from fadeout.studies.slow_start.setups import Setting

GRANT_DECODING_TTI = 1.5
"""Half of the UE's 3 TTI, which the paper adds to the request (Table A.1, step 5)."""

WARM_UP_S = 1.0
"""Time from which packets count, which excludes the handshake, seconds."""


@dataclass(frozen=True)
class Delay:
    """Mean delay of single packets in one direction."""

    parts_ms: dict[str, float]
    total_ms: float
    error_ms: float
    """Standard error of the total, ms."""
    packets: int

    def request_ms(self, setting: Setting) -> float:
        """Returns the part that the paper calls SR-related, in ms."""
        asked = self.parts_ms["sr_wait_s"] + self.parts_ms["grant_wait_s"]
        return asked - GRANT_DECODING_TTI * setting.tti_ms


DIRECTIONS = {"down": "downlink", "up": "uplink"}
"""Directions of the flows of single packets."""


def delay(results: Results) -> dict[str, Any]:
    """Returns the delay of the packets of a run's only flow, as the fields of a `Delay`."""
    direction = DIRECTIONS[results.flows["flow"][0]]
    table = results.table("radio_delay").filter(
        (pl.col("direction") == direction) & (pl.col("time_s") > WARM_UP_S)
    )
    columns = [part for part, _ in PARTS]
    totals = table.select(pl.sum_horizontal(columns).alias("total"))["total"] * 1e3
    means = table.select(pl.col(columns).mean() * 1e3).row(0, named=True)
    count = len(totals)
    deviation = totals.std()
    assert isinstance(deviation, float), "packets on both sides of the warm-up"
    return {
        "parts_ms": means,
        "total_ms": float(sum(means.values())),
        "error_ms": deviation / math.sqrt(count),
        "packets": count,
    }


def downlink_formula_tti(bler: float) -> float:
    """Returns the delay of Appendix A.1, in TTI."""
    return 1.5 + 1 + 1.5 + 8 * bler


def uplink_formula_tti(period: int, bler: float) -> tuple[float, float]:
    """Returns the delays of Table A.1 in TTI: those of the request, and of the data."""
    return period / 2 + 1 + 3 + 1 + 1.5, 1.5 + (1 + 8 * bler) + 1.5
