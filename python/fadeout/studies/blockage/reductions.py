"""Section on the window after a loss, which the paper states, and on the length of a run."""

from fadeout.studies.blockage.assumptions import (
    LINUX,
    NO_GUARD,
    REDUCTIONS,
    SENDERS,
    length,
    reduction,
    window,
)
from fadeout.studies.blockage.knee import PAPERS_WINDOW_MB, PUBLISHED, found_of, losses
from fadeout.studies.blockage.paper import CASES, LENGTHS
from fadeout.studies.blockage.runs import LINK, Effort
from fadeout.studies.blockage.search import rms_error
from fadeout.study import Runs, Section, Table, estimate, percent

SHOWN = (LINUX, "SACK (RFC 6675)", NO_GUARD)
"""Senders whose window after a loss is varied."""


def points(effort: Effort) -> list[tuple[str, float, float]]:
    """Returns sender, window after a loss and length of a run of each row.

    The window is varied at the study's length of a run, and for the paper's sender at the second
    length too.
    """
    own, longer = effort.lengths_s[:2]
    varied = [(name, share, own) for name in SHOWN for share in REDUCTIONS]
    return varied + [(NO_GUARD, share, longer) for share in REDUCTIONS]


def count(effort: Effort) -> int:
    """Returns the maximum number of simulations of the section."""
    return len(points(effort)) * (1 + len(CASES) * effort.knee_seeds)


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on CUBIC's window after a loss."""
    keys = points(runs.effort)
    values = [
        {**SENDERS[name], **window(PAPERS_WINDOW_MB), **reduction(share), **length(seconds)}
        for name, share, seconds in keys
    ]
    found = found_of(runs, values, runs.effort.knee_seeds)
    clear = LINK.unblocked(runs, values)
    records = []
    for (name, share, seconds), cases, rate in zip(keys, found, clear, strict=True):
        means = [estimate(losses(case)) for case in cases]
        records.append(
            {"sender": name, "window_after_a_loss": share, "length_s": seconds}
            | {"unblocked_mbps": rate}
            | {f"loss_{at}": mean for at, mean in zip(LENGTHS, means, strict=True)}
            | {"rms_error": rms_error([mean.mean for mean in means], rate)}
        )
    nearest = min(records, key=lambda record: record["rms_error"])
    return Section(
        name="reductions",
        title="CUBIC's window after a loss",
        text=(
            'The paper says that CUBIC reduces its window "by about 80 %". Linux and RFC 9438 '
            "reduce it to 70 %, and CUBIC of 2008 reduces it to 80 %. Over the link, with a round "
            f"trip of 42 ms, 50 ms of buffer and a window of {PAPERS_WINDOW_MB:g} MB, in "
            f"{runs.effort.knee_seeds} seeds."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "window after a loss": "{window_after_a_loss:.0%}",
                "run": "{length_s:g} s",
                "clear Mbit/s": "{unblocked_mbps:.0f}",
                **{at: percent(f"loss_{at}") for at in LENGTHS},
                "RMS error": "{rms_error:.1f}",
            },
            unit="_pct",
            first=[["*paper*", "*20 %*", "", "807", *(f"*{x:.0f} %*" for x in PUBLISHED), ""]],
        ),
        conclusion=(
            f"The row nearest to the paper is {nearest['rms_error']:.1f} points off (root mean "
            f"square). Its sender is {nearest['sender']}. The window after a loss is "
            f"{nearest['window_after_a_loss']:.0%}, and a run lasts {nearest['length_s']:g} s."
        ),
        is_headline=True,
    )
