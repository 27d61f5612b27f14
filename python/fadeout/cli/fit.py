"""`fadeout fit`: values of a scenario that explain a measurement."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import ScenarioError
from fadeout.cli.console import out, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import Jobs, Overrides, ScenarioFile, examples, scenario_file
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table

PERCENT = 100.0


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "fit",
        epilog=examples(
            "fadeout fit my.toml --to download.pcapng --free link.path.rate,link.path.delay",
            "fadeout fit my.toml --to tcp_info.csv "
            "--free link.path.rate,link.path.delay,link.path.queue.limit --out fit/",
            note="fadeout inspect prints the columns of a table and the flows of a capture. Needs "
            "fadeout[study].",
        ),
    )(reports_errors(fit))


def fit(
    scenario: ScenarioFile,
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="FILE",
            help="The measurement: a capture (pcap) or a table (CSV or Parquet).",
        ),
    ],
    free: Annotated[
        list[str],
        typer.Option(
            metavar="KEYS",
            help="Keys to fit: rates, delays and limits of queues, separated by commas.",
        ),
    ],
    flow: Annotated[
        str | None,
        typer.Option(help="Flow of the scenario to compare. Default: its only flow."),
    ] = None,
    captured: Annotated[
        str | None,
        typer.Option(
            metavar="FLOW", help="Flow of the capture. Default: the flow with the most data."
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Use only this first part of the measurement."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the values (fit.toml) and a figure."),
    ] = None,
    overrides: Overrides = None,
    jobs: Jobs = None,
) -> None:
    """Find the rates, delays and queue limits with which a scenario explains a measurement.

    The measurement is one TCP flow: a capture at the sender, or a table over time with round trips,
    windows, bytes, rates or retransmissions. The output has a 90 % interval for each value, and
    states which values the measurement does not determine.
    """
    from fadeout.fit import fit as search
    from fadeout.fit import read_course
    from fadeout.measured.errors import MeasuredError

    keys = [key.strip() for text in free for key in text.split(",") if key.strip()]
    try:
        observed = read_course(to, captured)
        if until is not None:
            observed = observed.until(until)
    except MeasuredError as error:
        raise typer.BadParameter(str(error), param_hint="--to") from None
    try:
        with count_progress(f"fit {scenario.stem}") as progress:
            found = search(
                str(scenario_file(scenario)),
                observed,
                keys,
                flow=flow,
                set=overrides,
                workers=jobs,
                progress=progress,
            )
    except MeasuredError as error:
        hint = {"free": "--free", "flow": "--flow"}.get(error.key, "SCENARIO")
        raise typer.BadParameter(str(error), param_hint=hint) from None
    table = new_table("key", "value", "90 % interval")
    for one in found.parameters:
        table.add_row(one.key, one.shown(), one.interval())
    print_table(table)
    differences = ", ".join(
        f"{name} {PERCENT * value:.2g} %" for name, value in found.quantities.items()
    )
    print_paragraph(f"Differences from the measurement after {found.runs} runs: {differences}.")
    for statement in found.statements:
        print_paragraph(f"{statement[0].upper()}{statement[1:]}.")
    if folder is not None:
        _write(folder, found)


def _write(folder: Path, found) -> None:  # noqa: ANN001
    from fadeout.fit.figure import draw

    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"{folder} is a file; expected a folder for --out")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fit.toml").write_text(found.toml(), encoding="utf-8")
    if found.fitted is not None:
        draw(folder / "fit.png", found.observed, found.fitted)
    out().print(f"values and figure: {folder}", markup=False, highlight=False)
