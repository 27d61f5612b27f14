"""`fadeout compare`: two runs or campaigns side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fadeout.cli.console import out, say
from fadeout.cli.errors import reports_errors
from fadeout.cli.inspect import MEASURES
from fadeout.cli.options import examples
from fadeout.cli.table import new_table, print_table
from fadeout.measured.files import is_capture

MOST_ROWS = 60
"""Largest number of differences printed of each kind."""

SMALLEST_PERCENT = 0.01
"""Smallest difference in percent that is printed."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "compare",
        epilog=examples(
            "fadeout compare out/cubic out/newreno",
            "fadeout compare out/sweep-mine out/sweep-mine-2",
            "fadeout compare download.pcapng out/mine",
            note="To compare values within one campaign: fadeout campaign compare.",
        ),
    )(reports_errors(compare))


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run or campaign, or a capture.")],
    second: Annotated[
        Path, typer.Argument(help="Folder of the other run or campaign, or a capture.")
    ],
) -> None:
    """Print the differences between two runs or campaigns, in their scenarios and results.

    One side may be a capture (pcap, pcapng). Its TCP flows are then beside those of a run, the flow
    with the most data first.

    Runs of campaigns are paired by their seeds if both have the same seeds. Each difference has a
    95 % interval.
    """
    from fadeout.campaign.comparison import compare as compare_folders
    from fadeout.cli.campaign_tables import shown

    if is_capture(first) or is_capture(second):
        _compare_flows(first, second)
        return
    found = compare_folders(first, second)
    if found.scenario:
        table = new_table("scenario", str(first), str(second))
        for key, a, b in found.scenario[:MOST_ROWS]:
            table.add_row(key, shown(a), shown(b))
        print_table(table)
        if len(found.scenario) > MOST_ROWS:
            say(f"{len(found.scenario) - MOST_ROWS} more keys differ")
    else:
        out().print("the scenarios are the same")
    if found.is_same:
        out().print("the results are the same: every run has the same fingerprint")
        return
    names = [name for name in found.results.columns if name not in ("low", "high", "paired")]
    table = new_table(*names, numbers=names[names.index("metric") + 1 :])
    for row in found.results.head(MOST_ROWS).iter_rows(named=True):
        table.add_row(*(cell(row, name) for name in names))
    print_table(table)
    for warning in found.warnings:
        say(f"warning: {warning}")


def _compare_flows(first: Path, second: Path) -> None:
    """Prints the flows of captures and runs side by side."""
    from fadeout.statistics import value_text

    sides = [_flows(first), _flows(second)]
    table = new_table(
        "flow", "measure", str(first), str(second), "difference", numbers=["difference"]
    )
    for (name, one), (other_name, other) in zip(*sides, strict=False):
        label = f"{name} | {other_name}"
        for measure in MEASURES:
            a, b = one.get(measure), other.get(measure)
            if a is None and b is None:
                continue
            share = f"{100 * (b - a) / a:+.1f} %" if a and b is not None else "-"
            table.add_row(label, measure, value_text(a), value_text(b), share)
            label = ""
    print_table(table)
    counts = [len(side) for side in sides]
    if counts[0] != counts[1]:
        say(f"{first} has {counts[0]} flows with data, {second} has {counts[1]}")


def _flows(path: Path) -> list[tuple[str, dict[str, float | None]]]:
    """Returns the flows with data of a capture or a run, with their measures.

    The flow with the most data is first.

    Raises:
        BadParameter: the file is no capture.
        ResultError: the folder is no run.
    """
    from fadeout.measured.capture import read_flows
    from fadeout.measured.errors import MeasuredError
    from fadeout.results import Results

    if is_capture(path):
        try:
            return [(flow.name, flow.measures()) for flow in read_flows(path).flows]
        except MeasuredError as error:
            raise typer.BadParameter(str(error), param_hint="FIRST SECOND") from None
    flows = Results.open(path).flows
    rows = flows.filter(flows["delivered_bytes"] > 0).sort(
        "delivered_bytes", descending=True, maintain_order=True
    )
    found = []
    for row in rows.iter_rows(named=True):
        measures = {
            "goodput Mbit/s": row["goodput_mbps"],
            "retransmitted segments": row["retransmitted_segments"],
            "min RTT ms": None if row["min_rtt_s"] is None else 1e3 * row["min_rtt_s"],
            "mean RTT ms": None if row["mean_rtt_s"] is None else 1e3 * row["mean_rtt_s"],
        }
        found.append((str(row["flow"]), measures))
    return found


def cell(row: dict[str, Any], name: str) -> str:
    """Returns a value of a row. A difference has its interval, if there is one."""
    from fadeout.cli.campaign_tables import shown
    from fadeout.statistics import limits_text, value_text

    value = row[name]
    if name == "difference":
        return limits_text(value, row.get("low"), row.get("high"))
    if not isinstance(value, float):
        return shown(value)
    if name != "percent":
        return value_text(value)
    is_small = 0 < abs(value) < SMALLEST_PERCENT
    return f"<{SMALLEST_PERCENT}" if is_small else value_text(round(value, 2), "+")
