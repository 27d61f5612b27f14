"""Setups of the study, its runs, and the numbers read from them.

The setups are the sets of TR 36.839, points, and changed assumptions.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fadeout import handover_metrics, study
from fadeout.results import Results
from fadeout.studies.mobility.geometry import OUTER_M
from fadeout.study import (
    QUIET_CELL,
    Change,
    Data,
    Found,
    Job,
    Page,
    Runs,
    Values,
    claims_of,
    overrides,
    published,
)

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
CLAIMS = claims_of(published(FOLDER))

SCENARIO = FOLDER / "scenario.toml"
CIRCLE = FOLDER / "circle.toml"

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


@dataclass(frozen=True)
class Lines:
    """Speeds in km/h and times to trigger in ms of lines through a pico."""

    points: tuple[tuple[int, ...], ...]
    at: tuple[int, ...]


SETS = {each.number: each for each in DATA.all("set", Set)}
MIDDLE = SETS[3]

AT_KMH = 60.0
"""Speed at which trigger, offset and assumptions are varied, km/h."""

LINES = DATA.one("lines", Lines)
CIRCLE_CHANGES = DATA.all("circle-change", Change)
CHANGES = DATA.all("change", Change)
BASE, WITHOUT_PICOS = CHANGES[:2]

COUNTS = (
    "handovers",
    "failures_state_1",
    "failures_state_2",
    "failures_state_3",
    "ping_pongs",
    "short_stays",
)


def read(results: Results) -> dict[str, float]:
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


def read_lines(results: Results) -> dict[str, float]:
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


def speed(kmh: float) -> Values:
    """Returns the override of a speed."""
    return {"ue.phone.speed": f"{kmh:g} km/h"}


def job(point: tuple[float, Trigger, Change], seed: int, effort: Effort) -> Job:
    """Returns a run in the network with a speed, an event and a change of an assumption."""
    kmh, trigger, change = point
    values = {
        **QUIET_CELL,
        "duration": f"{effort.length_s(kmh):g} s",
        "ue.phone.count": str(effort.ues),
        **speed(kmh),
        **trigger.values,
        **change.values,
    }
    return Job(SCENARIO, overrides(values), seed=seed, with_tables=True)


Point = tuple[float, Trigger, Change]
"""Speed in km/h, event, and changed assumption."""


def over(runs: Runs[Effort], points: Iterable[Point], seeds: int | None = None) -> Found:
    """Returns the counts at each point over the seeds."""
    numbers = runs.over_seeds(
        points, lambda point, seed: job(point, seed, runs.effort), read, seeds
    )
    return Found(("speed_kmh", "trigger", "change"), numbers)


def grid(runs: Runs[Effort]) -> Found:
    """Returns the counts by set and speed."""
    effort = runs.effort
    found = over(runs, [(kmh, SETS[n], BASE) for n in effort.sets for kmh in effort.speeds_kmh])
    numbers = {
        (n, SETS[n], kmh): found[kmh, SETS[n], BASE]
        for n in effort.sets
        for kmh in effort.speeds_kmh
    }
    return Found(("set", "trigger", "speed_kmh"), numbers)


def triggers(runs: Runs[Effort]) -> Found:
    """Returns the counts by time to trigger and offset, at one speed."""
    effort = runs.effort
    points = [
        (AT_KMH, Trigger(ms, db, MIDDLE.filter), BASE)
        for ms in effort.triggers_ms
        for db in effort.offsets_db
    ]
    return over(runs, points, effort.swept)


def sweep(runs: Runs[Effort]) -> Found:
    """Returns the counts with one assumption changed at a time.

    The change without picos belongs to a claim, so it has all seeds.
    """
    judged = over(runs, [(AT_KMH, MIDDLE, change) for change in CHANGES[:2]])
    return judged | over(runs, [(AT_KMH, MIDDLE, each) for each in CHANGES[2:]], runs.effort.swept)


LinePoint = tuple[float, int, Change]


def lines(runs: Runs[Effort]) -> Found:
    """Returns the outcomes of lines through the circular pico, in percent of the lines."""
    count = runs.effort.lines
    points: list[LinePoint] = [(kmh, ms, CIRCLE_CHANGES[0]) for kmh, ms in LINES.points]
    points += [(LINES.at[0], LINES.at[1], change) for change in CIRCLE_CHANGES[1:]]

    def of(point: LinePoint, seed: int) -> Job:
        kmh, ms, change = point
        # The run covers the first line's entry to the last one's exit.
        length_s = (FAR_M + 2 * OUTER_M) / (kmh / 3.6) + ms / 1e3 + 1
        values = {
            **QUIET_CELL,
            "duration": f"{length_s:.3f} s",
            "ue.line.count": str(runs.effort.lines),
            "ue.line.mobility": f'{{ model = "line", x-speed = {kmh / 3.6:.6f} }}',
            **Trigger(ms, 0, 0).values,
            **change.values,
        }
        return Job(CIRCLE, overrides(values), seed=seed, with_tables=True)

    found = runs.over_seeds(points, of, read_lines, runs.effort.circle_seeds)
    numbers = {
        point: [
            {
                **each,
                "none_pct": 100 * (count - each["failed"] - each["handed_over"]) / count,
                "failed_pct": 100 * each["failed"] / count,
                "ping_pong_pct": 100 * each["ping_pong"] / count,
            }
            for each in of_seeds
        ]
        for point, of_seeds in found.items()
    }
    return Found(("speed_kmh", "trigger_ms", "change"), numbers)


FAR_M = 160.0
"""Distance from the farthest start of a line to the pico, metres."""
