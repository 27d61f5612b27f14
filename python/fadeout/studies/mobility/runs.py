"""The runs of the study, and the numbers read from them."""

from collections.abc import Sequence

import polars as pl

from fadeout import handover_metrics
from fadeout.results import Results
from fadeout.studies.mobility.geometry import OUTER_M
from fadeout.studies.mobility.setups import (
    AT_KMH,
    BASE,
    CHANGES,
    CIRCLE,
    CIRCLE_CHANGES,
    LINES,
    MIDDLE,
    SCENARIO,
    SETS,
    WITHOUT_PICOS,
    Effort,
    Trigger,
)
from fadeout.study import (
    QUIET_CELL,
    Change,
    Estimate,
    Job,
    Numbers,
    Runs,
    Values,
    overrides,
    paired_difference,
    paired_ratio,
)

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


Found = dict[tuple[float, Trigger, Change], list[Numbers]]


def over(
    runs: Runs[Effort], points: Sequence[tuple[float, Trigger, Change]], seeds: int | None = None
) -> Found:
    """Returns the counts at each point, as a list over the seeds."""
    return runs.over_seeds(
        list(points), lambda point, seed: job(point, seed, runs.effort), read, seeds
    )


def grid(runs: Runs[Effort]) -> Found:
    """Returns the counts by speed and set."""
    effort = runs.effort
    return over(runs, [(kmh, SETS[n], BASE) for n in effort.sets for kmh in effort.speeds_kmh])


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
    judged = over(runs, [(AT_KMH, MIDDLE, change) for change in (BASE, WITHOUT_PICOS)])
    others = [(AT_KMH, MIDDLE, change) for change in CHANGES if change != WITHOUT_PICOS]
    return judged | over(runs, others, runs.effort.swept)


LinePoint = tuple[float, int, Change]


def lines(runs: Runs[Effort]) -> dict[LinePoint, list[Numbers]]:
    """Returns the outcomes of lines through the circular pico."""
    points: list[LinePoint] = [(kmh, ms, BASE) for kmh, ms in LINES.points]
    points += [(LINES.at[0], LINES.at[1], change) for change in CIRCLE_CHANGES]

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

    return runs.over_seeds(points, of, read_lines, runs.effort.circle_seeds)


FAR_M = 160.0
"""Distance from the farthest start of a line to the pico, metres."""


def share(numbers: Sequence[Numbers], above: Sequence[str], below: Sequence[str]) -> Estimate:
    """Returns the ratio of two sums of counts in percent, paired by seed."""
    tops = [sum(each[name] for name in above) for each in numbers]
    bottoms = [sum(each[name] for name in below) for each in numbers]
    if not any(bottoms):
        return Estimate(0.0, float("nan"), 0)
    return paired_ratio(tops, bottoms).scaled(100)


TRIED = ("failures_state_2", "failures_state_3", "handovers")


def failure(numbers: Sequence[Numbers]) -> Estimate:
    """Returns the handover failure rate in percent.

    Standard: TR 36.839 §5.2.1.2.
    """
    return share(numbers, ("failures_state_2", "failures_state_3"), TRIED)


def ping_pong(numbers: Sequence[Numbers]) -> Estimate:
    """Returns the ping-pongs in percent of handovers."""
    return share(numbers, ("ping_pongs",), ("handovers",))


def short_stay(numbers: Sequence[Numbers]) -> Estimate:
    """Returns the short stays in percent of handovers, including ping-pongs."""
    return share(numbers, ("ping_pongs", "short_stays"), ("handovers",))


def rates(numbers: Sequence[Numbers]) -> dict[str, Estimate]:
    """Returns the rates in percent by name."""
    return {
        "failure_pct": failure(numbers),
        "ping_pong_pct": ping_pong(numbers),
        "short_stay_pct": short_stay(numbers),
    }


def more(
    ours: Sequence[Numbers], base: Sequence[Numbers], above: Sequence[str], below: Sequence[str]
) -> Estimate:
    """Returns the difference of two shares of counts in percentage points, over common seeds.

    The interval is that of the difference of both ratios' residuals.
    """

    def residuals(numbers: Sequence[Numbers]) -> tuple[float, list[float]]:
        tops = [sum(each[name] for name in above) for each in numbers]
        bottoms = [sum(each[name] for name in below) for each in numbers]
        mean = sum(bottoms) / len(bottoms)
        if mean == 0:
            return 0.0, [0.0] * len(bottoms)
        ratio = sum(tops) / sum(bottoms)
        return ratio, [(a - ratio * b) / mean for a, b in zip(tops, bottoms, strict=True)]

    (one, first), (other, second) = residuals(ours), residuals(base)
    spread = paired_difference(first, second)
    return Estimate(100 * (one - other), 100 * spread.half_width, spread.count)
