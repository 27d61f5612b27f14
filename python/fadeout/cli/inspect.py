"""The command `fadeout inspect` describes a table of measurements or a capture."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout.cli.console import out, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table
from fadeout.measured.files import is_capture


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "inspect",
        epilog=examples(
            "fadeout inspect drive.csv",
            "fadeout inspect drive.csv --preset g-nettrack",
            note="fadeout list presets lists the known formats of logs.",
        ),
    )(reports_errors(inspect))


def inspect(
    file: Annotated[
        Path, typer.Argument(help="Table of measurements (CSV or Parquet), or a capture (pcap).")
    ],
    preset: Annotated[
        str | None,
        typer.Option(help="Preset of a format of log, or the path of a preset's TOML file."),
    ] = None,
) -> None:
    """Describe a table of measurements, and print a scenario that uses the table.

    The output has columns, units, times, gaps, repeated times and contradictions. The output for a
    capture (pcap, pcapng) has the TCP flows, with rates, round trips and retransmissions.
    """
    from fadeout.measured.errors import MeasuredError
    from fadeout.measured.inspect import inspect_table, printed

    if is_capture(file):
        _print_capture(file)
        return
    is_small = not file.is_file() or file.stat().st_size < LARGE
    keys: dict[str, object] | None = {"preset": preset} if preset is not None else None
    try:
        with count_progress(file.name, quiet=is_small, unit="MB") as progress:
            report = inspect_table(
                file, keys, lambda done, total: progress(done // 10**6, total // 10**6)
            )
    except MeasuredError as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from None
    for heading, lines in printed(report):
        for number, line in enumerate(lines):
            start = f"{heading + ':' if number == 0 else '':<16}"
            out().print(start + line, markup=False, highlight=False, soft_wrap=True)
    if report.found:
        table = new_table(
            "quantity", "column", "unit", "rows", "missing", "values", numbers=["rows", "missing"]
        )
        for one in report.found:
            unit = f"{one.unit} (guessed)" if one.is_guessed else one.unit
            table.add_row(
                one.quantity, one.column, unit, f"{one.rows:,}", f"{one.missing:,}", one.values
            )
        print_table(table)
    if report.unused:
        print_paragraph(f"Unused columns: {', '.join(report.unused)}.")
    if report.scenario:
        print_paragraph("A scenario that uses the table:")
        out().print(report.scenario, markup=False, highlight=False, soft_wrap=True)


LARGE = 100 * 10**6
"""Bytes of a table from which the progress is printed."""
MOST_FLOWS = 40
"""Largest number of flows printed."""


def _print_capture(file: Path) -> None:
    from fadeout.measured.capture import read_flows
    from fadeout.measured.errors import MeasuredError
    from fadeout.statistics import value_text

    try:
        capture = read_flows(file)
    except MeasuredError as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from None
    out().print(
        f"{file.name}: {capture.packets:,} packets, {capture.others:,} of them not TCP",
        markup=False,
        highlight=False,
    )
    table = new_table("flow", *MEASURES, numbers=MEASURES)
    for flow in capture.flows[:MOST_FLOWS]:
        measures = flow.measures()
        table.add_row(flow.name, *(value_text(measures[name]) for name in MEASURES))
    print_table(table)
    if len(capture.flows) > MOST_FLOWS:
        print_paragraph(f"{len(capture.flows) - MOST_FLOWS} more flows have fewer data.")
    for note in capture.notes():
        print_paragraph(note)


MEASURES = (
    "goodput Mbit/s",
    "MB",
    "duration s",
    "retransmitted segments",
    "min RTT ms",
    "median RTT ms",
    "mean RTT ms",
    "max unacknowledged kB",
)
"""Columns of flows, as `Flow.measures` names them."""
