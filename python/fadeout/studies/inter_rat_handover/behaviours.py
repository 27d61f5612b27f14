"""The search for a sender that repairs one segment in each 200 ms."""

import math
from collections.abc import Mapping
from typing import Any

from fadeout.studies.inter_rat_handover.runs import PAGE
from fadeout.study import Found, Section

PACE_S = 0.2
"""Time of the paper for each segment sent again, from its tables, seconds."""
NEAR = 1.5
"""Factor within which a time or a number counts as the paper's, as in published.toml."""
SHOWN = 8

PAPER_S = {10.0: 9.3, 50.0: 8.91}
"""The paper's time, by the start of bicasting in ms."""

NUMBERS = ("retransmissions", "timeouts", "silence_s", "spacing_s", "time_s")


def section(found: Found) -> Section:
    """Returns the section on the documented behaviours that could give the paper's times."""
    records: list[dict[str, Any]] = [
        {
            **(labels := found.labels(point)),
            "published_s": PAPER_S[labels["bicast_ms_before"]],
            **{name: None if math.isnan(one[name]) else one[name] for name in NUMBERS},
        }
        for point in found
        for one in found[point]
    ]
    ranked = sorted(records, key=distance)
    near = [record for record in records if distance(record) <= math.log(NEAR)]
    paced = [one for one in near if PACE_S / NEAR <= (one["spacing_s"] or 0) <= PACE_S * NEAR]
    # Timer and new data mostly have no effect. The table has the nearest of each group.
    groups = {
        (one["sender"], one["receiver"], one["bicast_ms_before"]): one for one in reversed(ranked)
    }
    start_ms = min(PAPER_S)
    return PAGE.section(
        "behaviours",
        sorted(groups.values(), key=distance)[:SHOWN],
        data=records,
        count=len(records),
        shown=SHOWN,
        near=f"{len(near)} of {len(records)} combinations" if near else "No combination",
        factor=NEAR,
        pace_s=PACE_S,
        paced=len(paced),
        start_ms=start_ms,
        early_s=max(one["time_s"] for one in records if one["bicast_ms_before"] == start_ms),
    )


def distance(record: Mapping[str, Any]) -> float:
    """Returns the distance of a recovery from the paper's, as the logarithm of their ratio."""
    return abs(math.log(max(record["time_s"], 0.01) / record["published_s"]))
