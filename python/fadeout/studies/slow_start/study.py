"""The study on slow start: the numbers of its tables."""

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from fadeout.studies.slow_start import figures
from fadeout.studies.slow_start.claims import COLUMNS, consistent, verdicts
from fadeout.studies.slow_start.delay import Delay, downlink_formula_tti, uplink_formula_tti
from fadeout.studies.slow_start.ramp import AS_CHOSEN, MEASURES, Download, Measure
from fadeout.studies.slow_start.runs import (
    BLERS,
    Effort,
    Load,
    Ramps,
    Rates,
    delays,
    downloads,
    limited,
    ramps,
    rates,
)
from fadeout.studies.slow_start.setups import (
    BASE,
    CHANGES,
    DATA,
    PAGE,
    PUBLISHED,
    SETTINGS,
    THRESHOLD_MBPS,
    Change,
    Setting,
)
from fadeout.study import Found, Runs, Section, Study, Tables
from fadeout.study.found import Point
from fadeout.study.tables import Column

Delays = Mapping[tuple[Setting, float, str], Delay]

QUANTITIES = {"dl": "DL", "ul_sr": "UL, request", "ul_data": "UL, data", "ul_total": "UL, total"}

MISS = 4 / 3
"""Factor from which a cell counts as a miss, in either direction."""
SHOWN = 4
"""Number of mechanisms that are shown for each cell."""
RAMP_SLACK_MS = 5.0
"""Interval of the observations in ms, by which ramps may differ."""
IDENTITY = 0.06
"""Largest deviation of the UPT's bytes over its time from the threshold, as a share."""

BY_SETTING: dict[str, Any] = {
    "settings": [setting.name for setting in SETTINGS],
    "paper": {setting.name: setting.published("table1") for setting in SETTINGS},
}
"""Values of the page: columns of tables with a column for each setting, and the paper's row."""


TABLES = Tables(DATA, PAGE, {})


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    effort = runs.effort
    runs.facts["packets_a_cell_of_table_2"] = (
        f"{effort.packets} without errors, {effort.packets_with_errors} with"
    )
    single = delays(runs)
    radio = rates(runs)
    found = ramps(runs, radio)
    compared = compare(single)
    yield table1(found, downloads(runs, radio), effort.seeds)
    yield table2(compared, single)
    yield PAGE.claims(verdicts(found))
    yield misses(found)
    yield assumptions(found)
    yield TABLES.section("readings", found.only({"change": BASE.name}), **BY_SETTING)
    yield PAGE.section("checks", checks(found, compared))
    yield saturation(radio, limited(runs, radio))


def mean(
    found: Ramps,
    setting: Setting,
    column: str,
    change: Change = BASE,
    measure: Measure = AS_CHOSEN,
) -> float:
    """Returns the mean of a cell over the seeds. NaN if a seed did not reach the rate."""
    return found.mean((change, setting, measure), column).mean


def table1(found: Ramps, drawn: Mapping[Setting, Download], seeds: int) -> Section:
    """Returns the section on Table 1."""
    columns: dict[str, Column] = {}
    for name in COLUMNS:
        columns[f"published_{name}"] = lambda at, name=name: at[1].published("table1")[name]
        columns[f"ratio_{name}"] = lambda at, name=name: (
            mean(found, at[1], name) / at[1].published("table1")[name]
        )
    return TABLES.section(
        "table1",
        found.only({"change": BASE.name, "reading": AS_CHOSEN.name}),
        columns,
        {f"period-{period}": figures.ramps(drawn, period) for period in (5, 1)},
        heads=COLUMNS,
        seeds=seeds,
        wrong=next(row for row in PUBLISHED["table1"] if "upt_kb_consistent" in row),
    )


def compare(single: Delays) -> dict[Point, dict[str, Any]]:
    """Returns each cell of Table 2 in ms: printed, by the appendix's formula, and simulated."""
    rows: dict[Point, dict[str, Any]] = {}
    for setting, bler in itertools.product(SETTINGS, BLERS):
        printed = setting.published("table2")
        down, up = (single[setting, bler, direction] for direction in ("downlink", "uplink"))
        request_tti, data_tti = uplink_formula_tti(setting.period_tti, bler)
        asked_ms = up.request_ms(setting)
        cells = {
            "dl": (down, downlink_formula_tti(bler), down.total_ms),
            "ul_sr": (up, request_tti, asked_ms),
            "ul_data": (up, data_tti, up.total_ms - asked_ms),
            "ul_total": (up, request_tti + data_tti, up.total_ms),
        }
        for quantity, (of, formula_tti, ours_ms) in cells.items():
            formula_ms = formula_tti * setting.tti_ms
            rows[setting, bler, quantity] = {
                "printed_ms": printed[f"{quantity}_{'10' if bler else 'free'}"],
                "formula_ms": formula_ms,
                "ours_ms": ours_ms,
                "standard_error_ms": of.error_ms,
                "packets": of.packets,
                "deviation_pct": 100 * (ours_ms / formula_ms - 1),
            }
    return rows


def table2(rows: Mapping[Point, dict[str, Any]], single: Delays) -> Section:
    """Returns the section on Table 2."""
    worst = max(rows, key=lambda at: abs(rows[at]["deviation_pct"]))
    setting, bler, quantity = worst
    columns: dict[str, Column] = {"_errors": lambda at: f"{100 * at[1]:g} %"}
    for name in rows[worst]:
        columns[name] = lambda at, name=name: rows[at][name]
    return TABLES.section(
        "table2",
        Found(("setting", "bler", "quantity"), rows),
        columns,
        {"parts": figures.parts(single)},
        quantities=QUANTITIES,
        worst={**rows[worst], **setting.data()},
        most=abs(rows[worst]["deviation_pct"]),
        worst_errors=f"{100 * bler:g} %",
        quantity=QUANTITIES[quantity],
        error_us=1e3 * rows[worst]["standard_error_ms"],
    )


def checks(found: Ramps, compared: Mapping[Point, dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the results of checks that do not depend on assumptions."""
    worst = max(abs(row["deviation_pct"]) for row in compared.values())
    ramp = {(s.tti_ms, s.period_tti): mean(found, s, "ramp_ms") for s in SETTINGS}
    falls = all(ramp[1.0, p] > ramp[0.5, p] > ramp[0.1, p] for p in (5, 1))
    gains = all(ramp[t, 5] >= ramp[t, 1] - RAMP_SLACK_MS for t in (1.0, 0.5, 0.1))
    within = f"within {100 * IDENTITY:g} % of {THRESHOLD_MBPS:g} Mbit/s"
    through = [mean(found, s, "upt_kb") * 8 / mean(found, s, "upt_ms") for s in SETTINGS]
    farthest = max(through, key=lambda rate: abs(rate / THRESHOLD_MBPS - 1))
    return [
        {
            "check": "Table 2 within 1 % of Appendix A",
            "holds": worst < 1,
            "found": f"at most {worst:.2f} %",
        },
        {
            "check": "ramp falls with the interval and with the period",
            "holds": falls and gains,
            "found": ", ".join(f"{each:.0f}" for each in ramp.values()) + " ms",
        },
        {
            "check": f"UPT bytes over time {within}",
            "holds": abs(farthest / THRESHOLD_MBPS - 1) <= IDENTITY,
            "found": f"{farthest:.2f} Mbit/s at the worst",
        },
    ]


def off(value: float, target: float) -> float:
    """Returns the distance from the paper's value, as the logarithm of a ratio."""
    return abs(math.log(value / target)) if value > 0 else math.inf


def whole(found: Ramps, change: Change = BASE, measure: Measure = AS_CHOSEN) -> float:
    """Returns the root mean square of the factors between the paper's cells and ours."""
    errors = [
        off(mean(found, setting, column, change, measure), consistent(setting, column))
        for setting in SETTINGS
        for column in COLUMNS
    ]
    return math.exp(math.sqrt(math.fsum(error**2 for error in errors) / len(errors)))


def misses(found: Ramps) -> Section:
    """Returns the section on the cells that differ most, and the assumptions that change them.

    Nothing is fitted to single cells: a mechanism that improves one cell is judged by all others.
    """
    tried = {change.name: (change, AS_CHOSEN) for change in CHANGES[1:]}
    tried |= {measure.name: (BASE, measure) for measure in MEASURES[1:]}
    of_table = {name: whole(found, *each) for name, each in tried.items()}
    records, data = [], []
    for setting in SETTINGS:
        for column, title in COLUMNS.items():
            ours, paper = mean(found, setting, column), consistent(setting, column)
            if off(ours, paper) <= math.log(MISS):
                continue
            moved = {name: mean(found, setting, column, *each) for name, each in tried.items()}
            known = {name: value for name, value in moved.items() if value > 0}
            cell = {
                "cell": f"{setting.name}: {title}",
                "paper": f"{paper:g}",
                "ours": f"{ours:.0f}",
            }
            for name in sorted(known, key=lambda name: off(known[name], paper))[:SHOWN]:
                numbers = {"mechanism": name, "value": known[name], "whole": of_table[name]}
                records.append(cell | numbers)
                cell = dict.fromkeys(cell, "")
            data += [
                {"tti_ms": setting.tti_ms, "sr_tti": setting.period_tti, "column": column}
                | {"published": paper, "ours": ours, "mechanism": name, "value": value}
                | {"error_of_the_table": of_table[name]}
                for name, value in moved.items()
            ]
    best = min(of_table, key=lambda name: of_table[name])
    return PAGE.section(
        "misses",
        records,
        data=data,
        shown=SHOWN,
        base_error=whole(found),
        best=best,
        best_error=of_table[best],
    )


def assumptions(found: Ramps) -> Section:
    """Returns the section on the effect of each assumption."""

    def factor(change: Change, column: str) -> str:
        ratios = [
            mean(found, setting, column, change) / mean(found, setting, column)
            for setting in SETTINGS
        ]
        # A ramp of zero length, and one that never ends, are left out.
        positive = [ratio for ratio in ratios if ratio > 0]
        geometric = statistics.geometric_mean(positive) if positive else math.nan
        return f"{geometric:.2f}" if change is not BASE else ""

    columns: dict[str, Column] = {
        "ramp_factor": lambda at: factor(at[0], "ramp_ms"),
        "upt_factor": lambda at: factor(at[0], "upt_ms"),
    }
    of_changes = found.only({"reading": AS_CHOSEN.name})
    return TABLES.section("assumptions", of_changes, columns, **BY_SETTING)


def saturation(rates: Rates, limited: Mapping[Load, float]) -> Section:
    """Returns the section on the radio's rate at which 21 Mbit/s arrive."""
    records = [
        {
            "_errors": f"{100 * bler:g} %",
            "tti_ms": tti,
            "bler": bler,
            "segment_bytes": size,
            "radio_mbps": radio,
            "reached_mbps": reached,
            "reached_with_rare_reports_mbps": limited[tti, bler, size],
        }
        for (tti, bler, size), (radio, reached) in rates.items()
    ]
    return PAGE.section("saturation", records)


STUDY = Study.of(DATA, PAGE, Effort, sections)
