"""Comparison with Table 1 of the paper, and the effect of each assumption on it."""

import math
import statistics
from collections.abc import Mapping, Sequence

from fadeout.studies.slow_start import figures
from fadeout.studies.slow_start.ramp import AS_CHOSEN, MEASURES, Download
from fadeout.studies.slow_start.runs import RampNumbers
from fadeout.studies.slow_start.setups import (
    BASE,
    CHANGES,
    PUBLISHED,
    SETTINGS,
    Change,
    Setting,
)
from fadeout.study import Moved, Section, Table, assumptions_section, beside, estimate

Found = Mapping[tuple[Change, Setting], Sequence[RampNumbers]]

COLUMNS = {
    "ramp_ms": "ramp, ms",
    "ramp_kb": "ramp, kB",
    "upt_ms": "UPT, ms",
    "upt_kb": "UPT, kB",
}


def mean(values: Sequence[RampNumbers], measure: str, column: str) -> float:
    """Returns the mean over the seeds. NaN if a seed did not reach the rate."""
    return statistics.fmean(numbers[measure][column] for numbers in values)


def ours(found: Found, setting: Setting, column: str) -> float:
    """Returns a cell of the unchanged scenario, read in the chosen way."""
    return mean(found[BASE, setting], AS_CHOSEN.name, column)


def table1(found: Found, downloads: Mapping[Setting, Download], seeds: int) -> Section:
    """Returns the section on Table 1."""
    cells = {
        (setting, column): {
            "tti_ms": setting.tti_ms,
            "sr_tti": setting.period_tti,
            "column": column,
            "published": setting.published("table1")[column],
            "mean": ours(found, setting, column),
            "ci95": estimate([each[AS_CHOSEN.name][column] for each in found[BASE, setting]]).ci95,
            "ratio": ours(found, setting, column) / setting.published("table1")[column],
        }
        for setting in SETTINGS
        for column in COLUMNS
    }
    wrong = next(row for row in PUBLISHED["table1"] if "upt_kb_consistent" in row)
    return Section(
        name="table1",
        title="Table 1: reaching 90 % of the saturation rate",
        text=(
            "*Ramp*: the first time at which the throughput is 90 % of 21 Mbit/s. This "
            "throughput is a mean over 25 ms, and its time is the start of this window. *UPT*: "
            "the first time at which the user-perceived throughput is 90 % of 21 Mbit/s. The "
            "user-perceived throughput is the data received since the request, divided by the "
            "time since the request. The columns show this time in ms, and the data received by "
            f"this time in kB. Each cell has the paper's number, our mean of {seeds} seeds, and "
            "the ratio of our mean to the paper's number."
        ),
        table=Table(
            columns=["TTI, SR period", *COLUMNS.values()],
            rows=[
                [
                    setting.name,
                    *(
                        beside(cells[setting, column]["published"], cells[setting, column]["mean"])
                        for column in COLUMNS
                    ),
                ]
                for setting in SETTINGS
            ],
            data=list(cells.values()),
        ),
        figures={
            f"Throughput with a scheduling request every {period} TTI (the paper's Figure "
            f"{number}): mean over the next 25 ms (above), and mean since the request (below). "
            "Each line is one run.": figures.ramps(downloads, period)
            for number, period in ((1, 5), (2, 1))
        },
        conclusion=(
            f"The paper's {wrong['upt_kb']:g} kB at {wrong['tti_ms']:g} ms, {wrong['sr_tti']} TTI "
            f"contradict its own {wrong['upt_ms']:g} ms: together they give more than the "
            f"saturation rate. A value of {wrong['upt_kb_consistent']:g} kB would be consistent."
        ),
        is_headline=True,
    )


def readings(found: Found) -> Section:
    """Returns the section on the effect of the window and of time zero."""
    table = {
        (measure.name, column): [
            mean(found[BASE, setting], measure.name, column) for setting in SETTINGS
        ]
        for measure in MEASURES
        for column in COLUMNS
    }
    return Section(
        name="readings",
        title="How the throughput is read",
        text=(
            "The table evaluates the same runs with other definitions. Each cell has the ramp in "
            "ms and kB, and the UPT time. Only the definition of time zero can change the UPT "
            "time."
        ),
        table=Table(
            columns=["reading", *(setting.name for setting in SETTINGS)],
            rows=[
                ["paper", *(reading_cell(published_row(setting)) for setting in SETTINGS)],
                *(
                    [
                        measure.name,
                        *(
                            reading_cell({c: table[measure.name, c][i] for c in COLUMNS})
                            for i in range(len(SETTINGS))
                        ),
                    ]
                    for measure in MEASURES
                ),
            ],
            data=[
                {"reading": name, "column": column}
                | {setting.name: value for setting, value in zip(SETTINGS, values, strict=True)}
                for (name, column), values in table.items()
            ],
        ),
    )


def published_row(setting: Setting) -> Mapping[str, float]:
    """Returns the paper's row."""
    return setting.published("table1")


def reading_cell(row: Mapping[str, float]) -> str:
    """Returns a cell with the ramp in ms and kB, and UPT in ms."""
    return f"{row['ramp_ms']:.0f} / {row['ramp_kb']:.0f} / {row['upt_ms']:.0f}"


def assumptions(found: Found) -> Section:
    """Returns the section on the effect of each assumption."""
    moved = []
    for change in (BASE, *CHANGES):
        means = {
            column: [mean(found[change, s], AS_CHOSEN.name, column) for s in SETTINGS]
            for column in COLUMNS
        }
        factors = {
            column: geometric_mean(
                [
                    value / ours(found, setting, column)
                    for setting, value in zip(SETTINGS, values, strict=True)
                ]
            )
            for column, values in means.items()
        }
        cells = [
            *(
                f"{ramp:.0f} / {number(upt)}"
                for ramp, upt in zip(means["ramp_ms"], means["upt_ms"], strict=True)
            ),
            f"{factors['ramp_ms']:.2f}" if change.value else "",
            f"{factors['upt_ms']:.2f}" if change.value else "",
        ]
        data = [
            {"column": column}
            | {setting.name: value for setting, value in zip(SETTINGS, values, strict=True)}
            | {"factor": factors[column]}
            for column, values in means.items()
        ]
        moved.append(Moved(change, cells, data))
    published = [
        f"{s.published('table1')['ramp_ms']:g} / {s.published('table1')['upt_ms']:g}"
        for s in SETTINGS
    ]
    return assumptions_section(
        moved,
        [*(s.name for s in SETTINGS), "ramp factor", "UPT factor"],
        "The table shows the ramp time and the UPT time in ms when one assumption changes. The "
        "last two columns show by which factor the change multiplies each time, as the geometric "
        "mean of the six settings. The file `tables/assumptions.csv` also has the bytes.",
        published=[*published, "", ""],
        is_headline=True,
        named=lambda change: [change.assumption, change.value],
    )


def number(value: float) -> str:
    """Returns a time in ms as text, or "never" for NaN."""
    return "never" if math.isnan(value) else f"{value:.0f}"


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean of the positive values.

    A ramp of zero length, and one that never ends, are left out.
    """
    known = [value for value in values if value > 0]
    return statistics.geometric_mean(known) if known else math.nan
