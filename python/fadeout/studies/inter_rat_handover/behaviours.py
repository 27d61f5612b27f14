"""Section on the behaviour of a sender that repairs one segment in each 200 ms."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fadeout.studies.inter_rat_handover.runs import Effort, job, read
from fadeout.studies.inter_rat_handover.setups import STATED_STARTS_MS, TCP, Setting
from fadeout.study import Job, Runs, Section, Table, Values

PROFILE = "flow.download.profile"
VARIANT = f"{TCP}.newreno-variant"
GUARD = f"{TCP}.recover-guard"
ACKS = f"{TCP}.ack-rule"

SENDERS: dict[str, Values] = {
    "RFC 6675 (SACK)": {},
    "RFC 6675, PRR (RFC 6937)": {f"{TCP}.prr": "true"},
    "RFC 6582, impatient": {PROFILE: "newreno"},
    "RFC 6582, slow but steady": {PROFILE: "newreno", VARIANT: "slow-but-steady"},
    "RFC 3782 without the guard, slow but steady": {
        PROFILE: "newreno",
        VARIANT: "slow-but-steady",
        GUARD: "none",
    },
    "RFC 5681 (Reno)": {PROFILE: "reno"},
    "Tahoe": {PROFILE: "tahoe"},
    "Linux 6.12, Reno": {PROFILE: "linux", "flow.download.congestion-control": "reno"},
}
"""Documented senders."""

RECEIVERS: dict[str, Values] = {
    "gaps at once (RFC 5681)": {},
    "gaps after 200 ms (RFC 1122)": {ACKS: "every-second-in-gaps"},
    "gaps after 500 ms (RFC 1122)": {
        ACKS: "every-second-in-gaps",
        f"{TCP}.delayed-ack": "500 ms",
    },
    "each segment at once": {ACKS: "every-segment"},
}
"""Documented receivers, by their ACKs of segments that fill a part of a gap."""

TIMERS: dict[str, Values] = {
    "smallest timeout 200 ms": {},
    "smallest timeout 1 s (RFC 6298)": {f"{TCP}.minimum-rto": "1 s"},
    "ticks of 500 ms (4.4BSD)": {f"{TCP}.timer-tick": "500 ms", f"{TCP}.minimum-rto": "1 s"},
}
"""Documented retransmission timers."""

TRANSMITS: dict[str, Values] = {
    "limited transmit (RFC 3042)": {},
    "none": {f"{TCP}.limited-transmit": "false"},
}

PACE_S = 0.2
"""Time of the paper for each segment sent again, from its tables, seconds."""
NEAR = 1.5
"""Factor within which a time or a number counts as the paper's, as in published.toml."""
SEEDS = 1
"""Seeds for each behaviour."""
SHOWN = 8

PAPER = {10.0: (41.0, 9.3), 50.0: (math.nan, 8.91)}
"""Retransmissions and time in s that the paper has, by the start of bicasting in ms."""


@dataclass(frozen=True)
class Behaviour:
    """A sender, receiver, timer, rule for new data, and the start of bicasting."""

    sender: str
    receiver: str
    timer: str
    transmit: str
    start_ms: float

    def setting(self) -> Setting:
        """Returns the setting of the paper's first row with this behaviour."""
        base = Setting(1.0, 1.0, 10.0, True, "bicasting", self.start_ms)
        return base.changed(
            {
                **SENDERS[self.sender],
                **RECEIVERS[self.receiver],
                **TIMERS[self.timer],
                **TRANSMITS[self.transmit],
            }
        )


def behaviours() -> list[Behaviour]:
    """Returns all combinations."""
    axes = (SENDERS, RECEIVERS, TIMERS, TRANSMITS, STATED_STARTS_MS)
    return [Behaviour(*each) for each in itertools.product(*axes)]


def count() -> int:
    """Returns the number of runs of the section."""
    return len(behaviours()) * SEEDS


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on the documented behaviours that could give the paper's times."""

    def of(behaviour: Behaviour, seed: int) -> Job:
        return job(behaviour.setting(), seed)

    found = runs.over_seeds(behaviours(), of, read, SEEDS)
    records: list[dict[str, Any]] = [
        {
            "sender": each.sender,
            "receiver": each.receiver,
            "timer": each.timer,
            "limited_transmit": each.transmit,
            "bicast_ms_before": each.start_ms,
            "published_s": PAPER[each.start_ms][1],
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
    text = "No combination" if not near else f"{len(near)} of {len(records)} combinations"
    best = ranked[0]
    early = max(one["time_s"] for one in records if one["bicast_ms_before"] == STATED_STARTS_MS[0])
    # Timer and new data mostly have no effect. The table has the nearest of each group.
    groups = {
        (one["sender"], one["receiver"], one["bicast_ms_before"]): one for one in reversed(ranked)
    }
    distinct = sorted(groups.values(), key=distance)
    return Section(
        name="behaviours",
        title="Does a documented behaviour give 200 ms for each segment?",
        text=(
            f"All {len(records)} combinations of documented senders, receivers, retransmission "
            "timers and rules for new data, in the paper's first row with bicasting. *Each*: mean "
            "time between two retransmissions. *Silence*: time from the command to the first. "
            f"The table has the {SHOWN} groups of sender, receiver and start with the recoveries "
            "nearest to the paper's. These are 9.3 s (bicasting from 10 ms before) and 8.91 s "
            "(from 50 ms before). `tables/behaviours.csv` has all."
        ),
        table=Table(
            columns=[
                *("sender", "receiver acknowledges", "timer", "new data", "bicasting"),
                *("sent again", "silence s", "each s", "paper s", "ours s"),
            ],
            rows=[row(record) for record in distinct[:SHOWN]],
            data=records,
        ),
        conclusion=(
            f"{text} recover within a factor of {NEAR:g} of the paper's time. "
            f"The number that also sends a segment in each {PACE_S:g} s, within the same factor, "
            f"is {len(paced)}. "
            f"Nearest comes {best['sender']} with {best['receiver']}: "
            f"{best['time_s']:.2f} s for {best['published_s']:g} s. With bicasting from "
            f"{STATED_STARTS_MS[0]:g} ms before, the longest recovery is {early:.2f} s."
        ),
        is_headline=True,
    )


def distance(record: Mapping[str, Any]) -> float:
    """Returns the distance of a recovery from the paper's, as the logarithm of their ratio."""
    return abs(math.log(max(record["time_s"], 0.01) / record["published_s"]))


def row(record: Mapping[str, Any]) -> list[str]:
    """Returns the row of a combination."""
    return [
        *(str(record[name]) for name in ("sender", "receiver", "timer", "limited_transmit")),
        f"{record['bicast_ms_before']:g} ms before",
        f"{record['retransmissions']:.0f}",
        *(_seconds(record[name]) for name in ("silence_s", "spacing_s")),
        f"{record['published_s']:g}",
        f"{record['time_s']:.2f}",
    ]


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
