"""Mobility metrics of a run: failures by state, ping-pongs, short stays, interruptions."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from fadeout._quantities import seconds
from fadeout.results import Results


@dataclass
class _Account:
    """Sums over the steps of one UE."""

    handovers: int = 0
    failures: list[int] = field(default_factory=lambda: [0, 0, 0])
    ping_pongs: int = 0
    short_stays: int = 0
    gaps: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def add(self, other: "_Account") -> None:
        self.handovers += other.handovers
        self.failures = [a + b for a, b in zip(self.failures, other.failures, strict=True)]
        self.ping_pongs += other.ping_pongs
        self.short_stays += other.short_stays
        for mine, theirs in zip(self.gaps, other.gaps, strict=True):
            mine.extend(theirs)

    def row(self) -> dict[str, float | int | None]:
        before, during, after = self.failures
        tried = self.handovers + during + after
        downlink, uplink = (math.fsum(gaps) / len(gaps) if gaps else None for gaps in self.gaps)
        return {
            "handovers": self.handovers,
            "failures_state_1": before,
            "failures_state_2": during,
            "failures_state_3": after,
            "failure_rate": (during + after) / tried if tried else None,
            "ping_pongs": self.ping_pongs,
            "ping_pong_rate": self.ping_pongs / self.handovers if self.handovers else None,
            "short_stays": self.short_stays,
            "short_stay_rate": self.short_stays / self.handovers if self.handovers else None,
            "downlink_gap_s": downlink,
            "uplink_gap_s": uplink,
        }


_BY_CHOICE = ("handover", "conditional", "daps", "ltm")
"""Procedures that do not follow a failure."""


def _failures(steps: Iterable[tuple[str, str]]) -> list[int]:
    """Returns the failures of the three states, from the steps of one UE in order of time."""
    holding: set[str] = set()
    failures = [0, 0, 0]
    is_commanded = False
    for cell, event in steps:
        match event:
            case "condition-entered":
                holding.add(cell)
            case "condition-left":
                holding.discard(cell)
            case "command-received" | "conditions-met":
                is_commanded = True
            case "access-done":
                # In a new cell, all measurement events are evaluated anew.
                is_commanded = False
                holding.clear()
            case "link-failure":
                failures[1 if holding else 0] += 1
                holding.clear()
            case "access-failure" if is_commanded:
                failures[2] += 1
                is_commanded = False
            case _:
                pass
    return failures


def _stays(changes: Iterable[dict[str, Any]], least_s: float) -> tuple[int, int]:
    """Returns the number of ping-pongs and of other short stays in one UE's changes of cell.

    `changes` are in order of time. `least_s` is the time below which a stay is short.
    """
    ping_pongs = short = 0
    came: tuple[str, float] | None = None
    for change in changes:
        if change["procedure"] not in _BY_CHOICE or change["outcome"] != "success":
            # A stay that begins or ends by a failure does not count.
            if change["outcome"] in ("success", "failed"):
                came = None
            continue
        if came is not None:
            previous, since = came
            if change["completed_s"] - since < least_s:
                is_back = change["target"] == previous
                ping_pongs += is_back
                short += not is_back
        came = (change["source"], change["completed_s"])
    return ping_pongs, short


def handover_metrics(
    results: Results, *, minimum_stay: str = "1 s", per_ue: bool = False
) -> pl.DataFrame:
    """Returns the metrics of TR 36.839 clause 5.2.1 for a run's changes of cell.

    A failure has state 1 if the link fails while no entering condition of a measurement event
    holds. State 2 means that the link fails after that and before the UE has received the command.
    For a conditional handover it means before its conditions are met. State 3 means that the UE
    cannot enter the target. In the report the link's quality decides whether a command is lost.
    Here a command is lost if RLC cannot deliver it.

    Parameters
    ----------
    results
        The results of a run with `[mobility-management]`.
    minimum_stay
        The time from the end of a handover to the end of the next one. After a shorter time, a
        return to the previous cell is a ping-pong. Any other handover then ends a short stay.
    per_ue
        Return a row for each UE, with its name in `ue`. Default: one row for all.

    Returns
    -------
    A frame with these columns. `handovers` counts successful handovers. `failures_state_1` to `_3`
    count failures. `failure_rate` is the share of failures of states 2 and 3 in these failures and
    the successful handovers. `ping_pongs` and `short_stays` have counts, and rates relative to the
    successful handovers. `downlink_gap_s` and `uplink_gap_s` are means in seconds. A rate without
    a denominator is null.

    Raises
    ------
    FadeoutError
        If the run has no table `handovers` or `rrc`.
    ValueError
        If `minimum_stay` is not a time.

    Standard: TR 36.839 §5.2.1.
    """
    least_s = seconds(minimum_stay)
    words = pl.col("ue", "source", "target", "procedure", "outcome").cast(pl.String)
    changes = results.table("handovers").with_columns(words).sort("time_s", maintain_order=True)
    words = pl.col("ue", "cell", "event").cast(pl.String)
    steps = results.table("rrc").with_columns(words).sort("time_s", maintain_order=True)
    changes_of, steps_of = (
        {str(name): own for (name,), own in table.group_by("ue", maintain_order=True)}
        for table in (changes, steps)
    )

    accounts: dict[str, _Account] = {}
    for name in {**changes_of, **steps_of}:
        own = changes_of.get(name, changes.clear())
        of_ue = steps_of.get(name, steps.clear()).select("cell", "event")
        is_meant = pl.col("procedure").is_in(_BY_CHOICE)
        whole = own.filter(is_meant & (pl.col("outcome") == "success"))
        ping_pongs, short = _stays(own.iter_rows(named=True), least_s)
        gaps = [
            whole[key].fill_nan(None).drop_nulls().to_list()
            for key in ("downlink_gap_s", "uplink_gap_s")
        ]
        accounts[name] = _Account(
            handovers=len(whole),
            failures=_failures(of_ue.rows()),
            ping_pongs=ping_pongs,
            short_stays=short,
            gaps=(gaps[0], gaps[1]),
        )
    if per_ue:
        rows = [{"ue": name, **account.row()} for name, account in accounts.items()]
        return pl.DataFrame(rows, infer_schema_length=None)
    total = _Account()
    for account in accounts.values():
        total.add(account)
    return pl.DataFrame([total.row()])
