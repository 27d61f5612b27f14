"""Setups of the study, its runs, and the numbers read from them."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout import study
from fadeout.results import Results
from fadeout.study import QUIET_CELL, At, Choice, Data, Job, Page, claims_of, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

SPEED_MPS = 2
"""Walking speed in m/s, as in the scenario."""

MODES = DATA.all("mode", Choice)
"""Retransmissions that the link uses."""
NONE, HARQ, BOTH = MODES

PARTS = ("queue", "sr_wait", "grant_wait", "transmission", "harq", "rlc", "reordering")
"""The parts of the delay on the radio."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and length of the runs. `seeds` is the number of places of each stratum."""

    delay_seeds: int
    delay_s: float
    """Length of the runs in which the delay of every packet is recorded, seconds."""
    walk_seeds: int
    limit_s: float
    """Time after which a download is stopped and counted with this time, seconds."""


def across(at: At) -> Job:
    """Returns the run of a long transfer, or of a download with a size.

    The walk of a long transfer passes its distance half-way.
    """
    start_m = -SPEED_MPS * at.effort.duration_s / 2
    values = {
        **QUIET_CELL,
        "ue.phone.position": f'["{at["distance_m"]:g} m", "{start_m:g} m"]',
        "cell.small-cell.channel.line-of-sight": at.sight,
    }
    size_mb = at.get("size_mb", None)
    if size_mb is not None:
        transfer = f'{{ kind = "transfer", size = "{size_mb} MB" }}'
        values |= {"flow.download.application": transfer, "duration": f"{at.effort.limit_s:g} s"}
    return at.job(FOLDER / "scenario.toml", values)


def measure(results: Results) -> dict[str, float | None]:
    """Returns the numbers of a long transfer."""
    flow = results.flows.row(0, named=True)
    rtt_s = flow["mean_rtt_s"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_ms": None if rtt_s is None else 1e3 * rtt_s,
        "timeouts": flow["timeouts"],
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / max(1, flow["sent_segments"]),
    }


def completion(results: Results) -> dict[str, float]:
    """Returns the time of the download in seconds, or the length of the run."""
    time_s = results.flows["flow_completion_time_s"][0]
    return {"time_s": results.duration_s if time_s is None else time_s}


def parts_ms(results: Results) -> dict[str, float | None]:
    """Returns the mean parts of the downlink packets' delay in ms. None if no packet arrived."""
    rows = results.table("radio_delay").filter(pl.col("direction") == "downlink")
    means = rows.select(pl.col(f"{part}_s").mean() * 1e3 for part in PARTS).row(0)
    return dict(zip(PARTS, means, strict=True))
