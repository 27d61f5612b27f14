"""Sections on the cause of the higher loss at 0.2 s than at 0.1 s.

The sections vary the sender, the round trip, the receive window and the length of a run.
"""

from collections.abc import Sequence
from statistics import fmean

from fadeout.studies.blockage.assumptions import (
    BUFFERS,
    GUARDED,
    LINUX,
    NO_GUARD,
    SENDERS,
    round_trip,
    window,
)
from fadeout.studies.blockage.paper import CASES, LENGTHS
from fadeout.studies.blockage.runs import LINK, Effort, Found, Point
from fadeout.studies.blockage.search import rms_error
from fadeout.study import Estimate, Runs, Section, Table, Values, estimate, paired_difference
from fadeout.study.report import Record

ROUND_TRIPS_MS = (22, 30, 36, 42, 50, 60, 80, 100)
WINDOWS_MB = (3.0, 4.0, 4.5, 4.7, 5.0, 5.5, 6.0, 8.0, 67.1)
"""Receive windows in MB. The largest is the scenario's, which never limits the sender."""

PAPERS_WINDOW_MB = 4.7
"""Window for the link's 807 Mbit/s over 42 ms, and half of the buffer, MB."""

PUBLISHED = [case["degradation_pct"] for case in CASES]

NEAR_POINTS = 10
"""Largest distance from the paper at which a row counts as explained, in percentage points."""

LENGTH_SETUPS: dict[str, Values] = {
    f"{LINUX}, 50 ms of buffer": {},
    f"{LINUX}, 10 ms of buffer": BUFFERS["10 ms"],
    f"{NO_GUARD}, window {PAPERS_WINDOW_MB:g} MB": {
        **SENDERS[NO_GUARD],
        **window(PAPERS_WINDOW_MB),
    },
    f"{NO_GUARD}, 10 ms of buffer": {**SENDERS[NO_GUARD], **BUFFERS["10 ms"]},
}


def count(effort: Effort) -> int:
    """Returns the maximum number of simulations of the sections."""
    rows = len(CASES)
    return (
        2 * len(SENDERS) * (1 + rows * effort.knee_seeds)
        + len(ROUND_TRIPS_MS) * len(WINDOWS_MB) * (1 + rows * effort.fine_seeds)
        + len(effort.lengths_s) * len(LENGTH_SETUPS) * (1 + rows * effort.knee_seeds)
    )


def found_of(runs: Runs[Effort], values: Sequence[Values], seeds: int) -> list[list[list[Found]]]:
    """Returns the runs of each of `values`: for each case a list over the seeds."""
    points = [Point(each, case["block_s"]) for each in values for case in CASES]
    found = LINK.found(runs, points, seeds)
    rows = len(CASES)
    return [found[i * rows : (i + 1) * rows] for i in range(len(values))]


def counts(record: Record, name: str) -> str:
    """Returns the mean count in a run for each case, as text."""
    return " / ".join(f"{record[f'{name}_{length}']:.1f}" for length in LENGTHS)


def losses(case: list[Found]) -> list[float]:
    """Returns the losses of a case over the seeds."""
    return [run.loss_pct for run in case]


def senders(runs: Runs[Effort]) -> Section:
    """Returns the section on the loss of each sender, with everything else equal."""
    windows = {"never binds": {}, f"{PAPERS_WINDOW_MB:g} MB": window(PAPERS_WINDOW_MB)}
    keys = [(name, size) for size in windows for name in SENDERS]
    values = [{**SENDERS[name], **windows[size]} for name, size in keys]
    found = dict(zip(keys, found_of(runs, values, runs.effort.knee_seeds), strict=True))
    clear = dict(zip(keys, LINK.unblocked(runs, values), strict=True))
    records = [
        {"sender": name, "window": size, "unblocked_mbps": clear[name, size]}
        | {
            f"loss_{length}": estimate(losses(case))
            for length, case in zip(LENGTHS, cases, strict=True)
        }
        | {
            f"recoveries_{length}": fmean(run.recoveries for run in case)
            for length, case in zip(LENGTHS, cases, strict=True)
        }
        | {
            f"timeouts_{length}": fmean(run.timeouts for run in case)
            for length, case in zip(LENGTHS, cases, strict=True)
        }
        for (name, size), cases in found.items()
    ]
    # With an unlimited window, slow start overruns the buffer. A sender without SACK then loses so
    # much goodput that the effect of the blockages is hidden.
    size = f"{PAPERS_WINDOW_MB:g} MB"

    def moved(ours: str, base: str) -> str:
        pairs = zip(found[ours, size], found[base, size], strict=True)
        values = [paired_difference(losses(one), losses(other)) for one, other in pairs]
        return ", ".join(
            f"{value.text('+.1f')} points at {length}"
            for value, length in zip(values, LENGTHS, strict=True)
        )

    return Section(
        name="senders",
        title="Which sender has the knee?",
        text=(
            "These runs use the plain link with a round trip of 42 ms and a buffer of 50 ms. "
            "Blockages are total, and the buffer holds packets during a blockage. All senders "
            f"use CUBIC. The values are from {runs.effort.knee_seeds} seeds. *Recoveries*: number "
            "of fast retransmits a run, at 0.1 / 0.2 / 1 s. In a fast retransmit, duplicate ACKs "
            "or SACK make the sender retransmit and reduce its window. The paper describes such "
            "recoveries. After a timeout the sender repeats all data, which the receiver already "
            "has. The duplicate ACKs then reduce the window once more. These ACKs cover exactly "
            "the data sent before the timeout (`recover`). With RFC 6582 the window is reduced "
            "only if the ACK covers more than `recover`. In ns-3 an ACK equal to `recover` is "
            "enough, and RFC 5681 has no such condition."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "receive window": "{window}",
                "clear Mbit/s": "{unblocked_mbps:.0f}",
                **{
                    length: (lambda record, key=f"loss_{length}": record[key].text(".1f", " %"))
                    for length in LENGTHS
                },
                "recoveries": lambda record: counts(record, "recoveries"),
                "timeouts": lambda record: counts(record, "timeouts"),
            },
            unit="_pct",
            first=[
                ["*paper*", "", "807", *(f"*{loss:.0f} %*" for loss in PUBLISHED), "", ""],
            ],
        ),
        conclusion=(
            f"The receive window is {size}.\n\n"
            f"- Loss without SACK minus loss with SACK: {moved(NO_GUARD, 'SACK (RFC 6675)')}.\n"
            "- Loss without RFC 6582's guard minus loss with the guard: "
            f"{moved(NO_GUARD, GUARDED)}."
        ),
        is_headline=True,
    )


def fine(runs: Runs[Effort]) -> Section:
    """Returns the section on round trip and receive window of the paper's sender, on a
    fine grid.
    """
    keys = [(ms, mb) for ms in ROUND_TRIPS_MS for mb in WINDOWS_MB]
    values = [{**SENDERS[NO_GUARD], **round_trip(ms), **window(mb)} for ms, mb in keys]
    found = found_of(runs, values, runs.effort.fine_seeds)
    clear = LINK.unblocked(runs, values)
    records = []
    for (ms, mb), cases, rate in zip(keys, found, clear, strict=True):
        means = [fmean(losses(case)) for case in cases]
        records.append(
            {"round_trip_ms": ms, "window_mb": mb, "unblocked_mbps": rate}
            | {f"loss_{length}_pct": mean for length, mean in zip(LENGTHS, means, strict=True)}
            | {"rms_error": rms_error(means, rate), "seeds": runs.effort.fine_seeds}
        )
    ranked = sorted(records, key=lambda record: record["rms_error"])
    keys_of = [f"loss_{length}_pct" for length in LENGTHS]
    # For each point, whether each row is near the paper's.
    near = [
        [
            abs(record[key] - paper) <= NEAR_POINTS
            for key, paper in zip(keys_of, PUBLISHED, strict=True)
        ]
        for record in records
    ]
    alone = [sum(row[i] for row in near) for i in range(len(LENGTHS))]
    both = [
        record[keys_of[0]] for record, row in zip(records, near, strict=True) if row[1] and row[2]
    ]
    first_rows = (
        f"In {len(both)} of {len(records)} combinations the losses at 0.2 and 1 s are both within "
        f"{NEAR_POINTS} points of the paper's. In these combinations the loss at 0.1 s is "
        f"{min(both):.1f} to {max(both):.1f} %, and the paper has {PUBLISHED[0]:.0f} %."
        if both
        else f"In none do the rows of 0.2 and 1 s both come within {NEAR_POINTS} points."
    )
    return Section(
        name="fine",
        title="Round trip and receive window, finely",
        text=(
            "The sender has neither SACK nor RFC 6582's guard, and the buffer is 50 ms. The "
            f"values are means over {runs.effort.fine_seeds} seeds, without intervals. The table "
            "shows the eight combinations that are nearest to the paper. The file "
            "`tables/fine.csv` has all combinations."
        ),
        table=Table(
            columns=["round trip", "receive window", "clear Mbit/s", *LENGTHS, "RMS error"],
            rows=[
                [
                    f"{record['round_trip_ms']} ms",
                    f"{record['window_mb']:g} MB",
                    f"{record['unblocked_mbps']:.0f}",
                    *(f"{record[key]:.0f} %" for key in keys_of),
                    f"{record['rms_error']:.1f}",
                ]
                for record in ranked[:8]
            ],
            data=records,
        ),
        conclusion=(
            f"Losses within {NEAR_POINTS} points of the paper's: "
            + ", ".join(
                f"{some} of {len(records)} at {length}"
                for some, length in zip(alone, LENGTHS, strict=True)
            )
            + f". {first_rows}"
        ),
        is_headline=True,
    )


def length(runs: Runs[Effort]) -> Section:
    """Returns the section on the length of a run. Slow start matters less in a long run."""
    keys = [(name, s) for name in LENGTH_SETUPS for s in runs.effort.lengths_s]
    values = [{**LENGTH_SETUPS[name], DURATION: f"{s:g} s"} for name, s in keys]
    found = found_of(runs, values, runs.effort.knee_seeds)
    records = [
        {"setup": name, "length_s": s}
        | {f"loss_{at}": estimate(losses(case)) for at, case in zip(LENGTHS, cases, strict=True)}
        for (name, s), cases in zip(keys, found, strict=True)
    ]
    moved = [
        (name, index, change(records, name, f"loss_{at}"))
        for name in LENGTH_SETUPS
        for index, at in enumerate(LENGTHS)
    ]
    name, index, most = max(moved, key=lambda each: abs(each[2]))
    first, last = runs.effort.lengths_s[0], runs.effort.lengths_s[-1]
    return Section(
        name="length",
        title="How long a run is",
        text=(
            "The round trip is 42 ms. Runs of each length are compared with runs of the same "
            f"length without blockages, in {runs.effort.knee_seeds} seeds."
        ),
        table=Table.of(
            records,
            {
                "sender": "{setup}",
                "length of a run": "{length_s:g} s",
                **{
                    at: (lambda record, key=f"loss_{at}": record[key].text(".1f", " %"))
                    for at in LENGTHS
                },
            },
            unit="_pct",
        ),
        conclusion=(
            f"From {first:g} to {last:g} s a run, the loss changes most for {name} at "
            f"{LENGTHS[index]}: by {most:+.1f} points."
        ),
    )


DURATION = "duration"


def change(records: list[dict[str, str | float | Estimate]], name: str, key: str) -> float:
    """Returns the change of the loss from the shortest run to the longest."""
    values = [record[key] for record in records if record["setup"] == name]
    first, last = values[0], values[-1]
    assert isinstance(first, Estimate)
    assert isinstance(last, Estimate)
    return last.mean - first.mean
