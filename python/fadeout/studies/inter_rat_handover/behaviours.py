"""The search for a sender that repairs one segment in each 200 ms."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fadeout.studies.inter_rat_handover.runs import (
    DATA,
    PAGE,
    STATED_STARTS_MS,
    Effort,
    Setting,
    job,
    read,
)
from fadeout.study import Choice, Job, Runs, Section

AXES = [DATA.all(axis, Choice) for axis in ("sender", "receiver", "timer", "transmit")]
"""Documented senders, receivers, retransmission timers and rules for new data."""

PACE_S = 0.2
"""Time of the paper for each segment sent again, from its tables, seconds."""
NEAR = 1.5
"""Factor within which a time or a number counts as the paper's, as in published.toml."""
SEEDS = 1
"""Seeds for each behaviour."""
SHOWN = 8

PAPER_S = {10.0: 9.3, 50.0: 8.91}
"""The paper's time, by the start of bicasting in ms."""


@dataclass(frozen=True)
class Behaviour:
    """A choice of each axis, and the start of bicasting."""

    choices: tuple[Choice, ...]
    start_ms: float

    def setting(self) -> Setting:
        """Returns the setting of the paper's first row with this behaviour."""
        values = {key: value for each in self.choices for key, value in each.values.items()}
        return Setting(1.0, 1.0, 10.0, True, "bicasting", self.start_ms).changed(values)


def behaviours() -> list[Behaviour]:
    """Returns all combinations."""
    return [
        Behaviour(choices, start)
        for choices in itertools.product(*AXES)
        for start in STATED_STARTS_MS
    ]


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on the documented behaviours that could give the paper's times."""

    def of(behaviour: Behaviour, seed: int) -> Job:
        return job(behaviour.setting(), seed)

    found = runs.over_seeds(behaviours(), of, read, SEEDS)
    names = ("sender", "receiver", "timer", "limited_transmit")
    records: list[dict[str, Any]] = [
        {
            **dict(zip(names, (choice.name for choice in each.choices), strict=True)),
            "bicast_ms_before": each.start_ms,
            "published_s": PAPER_S[each.start_ms],
            **{
                name: None if math.isnan(numbers[name]) else numbers[name]
                for name in ("retransmissions", "timeouts", "silence_s", "spacing_s", "time_s")
            },
        }
        for each, (numbers,) in found.items()
    ]
    ranked = sorted(records, key=distance)
    near = [record for record in records if distance(record) <= math.log(NEAR)]
    paced = [one for one in near if PACE_S / NEAR <= (one["spacing_s"] or 0) <= PACE_S * NEAR]
    # Timer and new data mostly have no effect. The table has the nearest of each group.
    groups = {
        (one["sender"], one["receiver"], one["bicast_ms_before"]): one for one in reversed(ranked)
    }
    start_ms = STATED_STARTS_MS[0]
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
