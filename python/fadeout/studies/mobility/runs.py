"""Setups of the study, its runs, and the numbers read from them.

The setups are the sets of TR 36.839, points, and changed assumptions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import handover_metrics, study
from fadeout.results import Results
from fadeout.studies.mobility.geometry import OUTER_M
from fadeout.study import QUIET_CELL, At, Change, Data, Job, Page, Values, claims_of, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
CLAIMS = claims_of(published(FOLDER))

SLOW_FACTOR = 4
"""Factor by which runs of slow UEs are longer."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds, number of UEs, and length of the runs."""

    ues: int
    lines: int
    """Number of lines through the circular pico in a run."""
    circle_seeds: int
    speeds_kmh: tuple[float, ...]
    sets: tuple[int, ...]
    triggers_ms: tuple[int, ...]
    offsets_db: tuple[float, ...]

    def length_s(self, kmh: float) -> float:
        """Returns the simulated time in seconds. Slow UEs have fewer handovers, so their runs are
        longer.
        """
        return (self.duration_s or 1.0) * (SLOW_FACTOR if kmh < 10 else 1)


@dataclass(frozen=True)
class Trigger:
    """Configuration of event A3."""

    trigger_ms: int
    offset_db: float
    filter: int

    @property
    def values(self) -> Values:
        """The override of the event."""
        event = (
            f'[{{ kind = "a3", offset = "{self.offset_db:g} dB", hysteresis = "0 dB", '
            f'time-to-trigger = "{self.trigger_ms} ms", filter = {self.filter} }}]'
        )
        return {"mobility-management.events": event}

    def data(self) -> dict[str, float]:
        """Returns the columns of a data file that identify the trigger."""
        return {
            "trigger_ms": self.trigger_ms,
            "offset_db": self.offset_db,
            "filter": self.filter,
        }

    @property
    def name(self) -> str:
        """Name of the trigger in tables."""
        return f"{self.trigger_ms} ms, {self.offset_db:g} dB, k = {self.filter}"


@dataclass(frozen=True)
class Set(Trigger):
    """A set of TR 36.839."""

    number: int

    def data(self) -> dict[str, float]:
        """Returns the columns of a data file that identify the set."""
        return {"set": self.number, **super().data()}


@dataclass(frozen=True)
class Line:
    """Speed and time to trigger of lines through a pico."""

    speed_kmh: int
    trigger_ms: int

    @property
    def name(self) -> str:
        """Name of the lines in `study.toml`."""
        return f"{self.speed_kmh} km/h, {self.trigger_ms} ms"

    def data(self) -> dict[str, float]:
        """Returns the columns of a data file that identify the lines."""
        return {"speed_kmh": self.speed_kmh, "trigger_ms": self.trigger_ms}


SETS = {each.number: each for each in DATA.all("set", Set)}
MIDDLE = Trigger(SETS[3].trigger_ms, SETS[3].offset_db, SETS[3].filter)
"""The event of set 3."""

AT_KMH = 60.0
"""Speed at which trigger, offset and assumptions are varied, km/h."""

LINES = DATA.all("line", Line)
CHANGES = DATA.all("change", Change)
BASE, WITHOUT_PICOS = DATA.all("judged-change", Change)

COUNTS = (
    "handovers",
    "failures_state_1",
    "failures_state_2",
    "failures_state_3",
    "ping_pongs",
    "short_stays",
)


def measure(results: Results) -> dict[str, float]:
    """Returns the counts of a run, over all UEs."""
    row = handover_metrics(results).row(0, named=True)
    changes = results.handovers.with_columns(pl.col("source", "target").cast(pl.String))
    into_pico = pl.col("target").str.contains("pico")
    of_pico = pl.col("source").str.contains("pico")
    whole = changes.filter((pl.col("procedure") == "handover") & (pl.col("outcome") == "success"))
    return {
        **{name: float(row[name]) for name in COUNTS},
        "macro_to_pico": float(len(whole.filter(into_pico & ~of_pico))),
        "pico_to_macro": float(len(whole.filter(of_pico & ~into_pico))),
    }


def measure_lines(results: Results) -> dict[str, float]:
    """Returns the outcomes of the lines through a pico, and the time from reports to commands.

    Outcomes are counts, and the time is a sum in seconds.
    """
    steps = results.rrc.select("time_s", pl.col("ue", "event").cast(pl.String)).sort(
        "time_s", maintain_order=True
    )
    ends = {"link-failure", "access-done"}
    first = dict(
        steps.filter(pl.col("event").is_in(ends))
        .unique("ue", keep="first")
        .select("ue", "event")
        .rows()
    )
    stays = handover_metrics(results, per_ue=True)
    short = set(stays.filter(pl.col("ping_pongs") > 0)["ue"])
    entered = {ue for ue, event in first.items() if event == "access-done"}

    def when(event: str) -> pl.DataFrame:
        of = steps.filter(pl.col("event") == event).unique("ue", keep="first")
        return of.select("ue", pl.col("time_s").alias(event))

    both = when("report-sent").join(when("command-received"), on="ue")
    delays = both.filter(pl.col("ue").is_in(entered)).select(
        pl.col("command-received") - pl.col("report-sent")
    )
    return {
        "failed": float(len(first) - len(entered)),
        "handed_over": float(len(entered)),
        "ping_pong": float(len(short & entered)),
        "command_s": float(delays.to_series().sum()),
    }


def in_network(at: At) -> Job:
    """Returns a run in the network with a speed and an event."""
    kmh, effort = at["speed_kmh"], at.effort
    values = {
        **QUIET_CELL,
        "duration": f"{effort.length_s(kmh):g} s",
        "ue.phone.count": str(effort.ues),
        "ue.phone.speed": f"{kmh:g} km/h",
        **at["trigger"].values,
    }
    return at.job(FOLDER / "scenario.toml", values, with_tables=True)


FAR_M = 160.0
"""Distance from the farthest start of a line to the pico, metres."""


def through_pico(at: At) -> Job:
    """Returns a run with lines through the circular pico.

    The run covers the first line's entry to the last one's exit.
    """
    line: Line = at["line"]
    speed_mps = line.speed_kmh / 3.6
    length_s = (FAR_M + 2 * OUTER_M) / speed_mps + line.trigger_ms / 1e3 + 1
    values = {
        **QUIET_CELL,
        "duration": f"{length_s:.3f} s",
        "ue.line.count": str(at.effort.lines),
        "ue.line.mobility": f'{{ model = "line", x-speed = {speed_mps:.6f} }}',
        **Trigger(line.trigger_ms, 0, 0).values,
    }
    return at.job(FOLDER / "circle.toml", values, with_tables=True)


def lists(effort: Effort) -> dict[str, Sequence[Any]]:
    """Returns the lists of the sets of runs that are not tables of `study.toml`."""
    return {
        "sets": [SETS[number] for number in effort.sets],
        "middle": [MIDDLE],
        "speeds": effort.speeds_kmh,
        "triggers": [
            Trigger(ms, db, MIDDLE.filter) for ms in effort.triggers_ms for db in effort.offsets_db
        ],
        "lines": LINES,
        "unchanged": [BASE],
    }
