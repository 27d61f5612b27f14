"""Campaigns as the command line prints them."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from fadeout.campaign import Campaign, Finished, Status
from fadeout.campaign.found import mean_text
from fadeout.cli.console import out, print_paragraph, say
from fadeout.cli.table import new_table, print_table
from fadeout.statistics import limits_text, value_text

MOST_POINTS = 60
"""Largest number of points printed. The export has all of them."""


def print_finished(campaign: Campaign, finished: Finished) -> None:
    """Prints the number of finished runs, earlier runs and failures."""
    status = finished.status
    done = f"{finished.done_now:,} runs in {finished.wall_s:,.1f} s"
    if finished.done_now:
        done += f", {1e3 * finished.cost_s / finished.done_now:,.1f} ms of processor time each"
    if finished.done_before:
        done += f"; {finished.done_before:,} of {status.runs:,} had been run before"
    out().print(done, markup=False, highlight=False)
    print_troubles(campaign, status)


def print_troubles(campaign: Campaign, status: Status) -> None:
    """Prints failed runs by reason, and warnings about the results."""
    if status.failed:
        failures = campaign.failures
        reasons = failures.group_by("kind", "reason", maintain_order=True).agg(pl.len())
        for kind, reason, count in reasons.head(5).iter_rows():
            first = (str(reason).splitlines() or [""])[0]
            say(f"{count} failed ({kind}): {first}")
        say("failed runs are repeated with --retry only")
    for warning in campaign.warnings():
        say(f"warning: {warning}")


def print_status(campaign: Campaign) -> None:
    """Prints the progress of a campaign."""
    status = campaign.status()
    table = new_table("", "runs", numbers=["runs"])
    rows = [("done", status.done), ("failed", status.failed), ("left", status.left)]
    for name, count in rows:
        table.add_row(name, f"{count:,}")
    print_table(table)
    text = f"{status.points:,} points, {campaign.seeds.describe()}"
    out().print(text, markup=False, highlight=False)
    if status.done:
        each = status.cost_s / status.done
        out().print(
            f"{status.cost_s:,.1f} s of processor time, {1e3 * each:,.1f} ms a run; about "
            f"{status.left * each:,.0f} s remain",
            markup=False,
            highlight=False,
        )
    if status.other:
        out().print(
            f"{status.other:,} more runs in the folder have values that the campaign no longer "
            "asks for",
            markup=False,
            highlight=False,
        )
    print_troubles(campaign, status)


def print_means(campaign: Campaign, metrics: Sequence[str], confidence: float) -> None:
    """Prints one row for each point: its values, and each metric with its interval."""
    names = list(metrics) or campaign.metrics()
    means = campaign.means(*names, confidence=confidence)
    keys = [key for key in campaign.keys if key in means.columns]
    table = new_table(*(short(key, keys) for key in keys), *names, "n", numbers=[*names, "n"])
    has_equal = False
    for row in means.head(MOST_POINTS).iter_rows(named=True):
        cells = [shown(row[key]) for key in keys]
        cells += [mean_text(row, name) for name in names]
        has_equal = has_equal or any(cell.endswith("± 0") for cell in cells)
        table.add_row(*cells, str(min(row[f"{name}_n"] for name in names)))
    print_table(table)
    if len(means) > MOST_POINTS:
        rest = (
            f"{len(means) - MOST_POINTS:,} more points: fadeout campaign export {campaign.folder}"
        )
        out().print(rest, markup=False, highlight=False)
    text = f"mean ± half the width of its {100 * confidence:g} % interval over n seeds"
    if has_equal:
        text += "; ± 0: equal with every seed"
    print_paragraph(text)


def print_differences(
    campaign: Campaign, key: str, baseline: str, metrics: Sequence[str], confidence: float
) -> None:
    """Prints one row for each comparison: both means, and their difference with its interval."""
    found = campaign.compare(key, baseline, *metrics, confidence=confidence)
    if found.is_empty():
        say(f"nothing to compare with {baseline}: no other value has runs with the same seeds")
        return
    places = found.columns[: found.columns.index("metric")]
    heads = (baseline, "mean", "difference", "percent", "n", "p")
    table = new_table(*(short(each, places) for each in places), "metric", *heads, numbers=heads)
    for row in found.head(MOST_POINTS).iter_rows(named=True):
        table.add_row(
            *(shown(row[each]) for each in (*places, "metric")),
            value_text(row["baseline_mean"]),
            value_text(row["mean"]),
            limits_text(row["difference"], row["low"], row["high"]),
            limits_text(row["percent"], row["percent_low"], row["percent_high"]),
            str(row["n"]),
            "-" if math.isnan(row["p_corrected"]) else f"{row['p_corrected']:.2g}",
        )
    print_table(table)
    text = (
        f"differences between runs with the same seed, with {100 * confidence:g} % intervals; p "
        f"corrected for {len(found)} comparisons"
    )
    print_paragraph(text)
    for warning in campaign.warnings():
        say(f"warning: {warning}")


def short(key: str, keys: Sequence[str]) -> str:
    """Returns the last part of a key, or more if another key has the same last part."""
    last = key.rsplit(".", 1)[-1]
    return last if sum(each.rsplit(".", 1)[-1] == last for each in keys) == 1 else key


def shown(value: Any) -> str:  # noqa: ANN401 - a value of any column
    """Returns a value of a point."""
    return "-" if value is None else str(value)
