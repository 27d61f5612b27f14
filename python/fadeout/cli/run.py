"""`fadeout run`: run a scenario."""

from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import fadeout
from fadeout.cli.congestion import CongestionControls, load_classes, print_cause
from fadeout.cli.console import err, new_table, out, print_table
from fadeout.cli.errors import INTERRUPTED, reports_errors
from fadeout.cli.options import Force, Overrides, examples, unused_folder
from fadeout.cli.progress import run_progress, stoppable
from fadeout.results import Results

MOST_ROWS = 20
"""Flows and links printed; the rest stand in the results."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "run",
        epilog=examples(
            "fadeout run scenarios/blockage.toml",
            "fadeout run scenarios/blockage.toml --seed 7 --set flow.congestion-control=newreno "
            "--out out/newreno",
            "fadeout run my.toml --congestion-control mine=my_control.py:Mine",
            note="Read the results in Python with fadeout.Results.open('out/newreno').",
        ),
    )(reports_errors(run))


def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the scenario's seed.")] = None,
    overrides: Overrides = None,
    congestion_controls: CongestionControls = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the results. Default: out/ and the scenario's name, numbered when it "
            "is taken.",
        ),
    ] = None,
    force: Force = False,
    figures: Annotated[bool, typer.Option(help="Draw figures into OUT/figures.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario; write its tables and figures; print a summary."""
    classes = load_classes(congestion_controls)
    if folder is None:
        name = scenario.stem if seed is None else f"{scenario.stem}-seed{seed}"
        folder = unused_folder(Path("out") / name)
    with stoppable() as may_go_on, run_progress(scenario.stem, quiet=quiet) as draw:

        def progress(state: dict[str, Any]) -> bool | None:
            draw(state)
            return may_go_on(state)

        try:
            results = fadeout.run(
                scenario,
                seed=seed,
                set=overrides or [],
                out=folder,
                force=force,
                progress=progress,
                congestion_controls=classes,
            )
        except fadeout.CongestionControlError as error:
            print_cause(error)
            err().print(f"what was recorded until then: {folder}", markup=False, highlight=False)
            raise
    drawn = results.plot.save(folder / "figures") if figures else []
    if not quiet:
        print_summary(results)
        out().print(f"results: {folder}", markup=False, highlight=False)
        captures = results.manifest["captures"]
        if captures:
            packets = sum(capture["packets"] for capture in captures)
            files = "1 file" if len(captures) == 1 else f"{len(captures)} files"
            text = f"captures: {folder / 'captures'}, {files}, {packets:,} packets"
            out().print(text, markup=False, highlight=False)
        if drawn:
            out().print(f"figures: {folder / 'figures'}", markup=False, highlight=False)
    if not results.is_complete:
        err().print(f"stopped at {results.duration_s:g} s; what was recorded until then is kept")
        raise typer.Exit(INTERRUPTED)


def print_summary(results: Results) -> None:
    """Print the flows, the links that dropped something, and the radio interfaces."""
    flows = results.flows
    has_completion = "flow_completion_time_s" in flows.columns and (
        flows["flow_completion_time_s"].is_not_null().any()
    )
    numbers = ["goodput Mbit/s", "retransmitted", "timeouts", "mean RTT ms", "max cwnd"]
    numbers += ["completed in s"] if has_completion else []
    table = new_table("flow", "congestion control", *numbers, numbers=numbers)
    for flow in flows.head(MOST_ROWS).iter_rows(named=True):
        cells = [
            flow["flow"],
            flow["congestion_control"],
            f"{flow['goodput_mbps']:.2f}",
            f"{flow['retransmitted_segments']:,}",
            f"{flow['timeouts']:,}",
            number(flow["mean_srtt_s"], 1e3, ".1f"),
            number(flow["max_cwnd_segments"], 1, ",.0f"),
        ]
        if has_completion:
            cells.append(number(flow["flow_completion_time_s"], 1, ".3f"))
        table.add_row(*cells)
    print_table(table)
    times = results.completion_times
    if (times["completed"] > 1).any():
        print_completion_times(times)
    links = results.links
    lossy = links.filter(links["dropped_packets"] > 0)
    if len(lossy):
        numbers = ["sent packets", "dropped packets"]
        table = new_table("link", *numbers, numbers=numbers)
        for link in lossy.head(MOST_ROWS).iter_rows(named=True):
            table.add_row(link["link"], f"{link['sent_packets']:,}", f"{link['dropped_packets']:,}")
        print_table(table)
    used = print_interfaces(results)
    hidden = sum(max(0, len(rows) - MOST_ROWS) for rows in (flows, lossy, used))
    if hidden:
        out().print(f"{hidden} more rows are in summary.json", highlight=False)


def print_interfaces(results: Results) -> pl.DataFrame:
    """Print the radio interfaces that sent something; they are also the result."""
    interfaces = results.interfaces
    if not len(interfaces):
        return interfaces
    used = interfaces.filter(interfaces["transport_blocks"] > 0)
    numbers = ["Mbit/s", "transport blocks", "HARQ again", "lost blocks", "dropped packets"]
    table = new_table("radio interface", "cell", *numbers, numbers=numbers)
    for row in used.head(MOST_ROWS).iter_rows(named=True):
        again = row["harq_retransmissions"] / row["transport_blocks"]
        table.add_row(
            row["interface"],
            row["cell"],
            f"{row['rate_mbps']:.2f}",
            f"{row['transport_blocks']:,}",
            f"{again:.1%}",
            f"{row['lost_transport_blocks']:,}",
            f"{row['dropped_packets']:,}",
        )
    print_table(table)
    return used


def print_completion_times(times: pl.DataFrame) -> None:
    """Print how long groups of flows took."""
    lengths = [name for name in times.columns if name.endswith("_s")]
    columns = ["completed", *(f"{name.removesuffix('_s')} s" for name in lengths)]
    table = new_table("completion times of", *columns, numbers=columns)
    for row in times.head(MOST_ROWS).iter_rows(named=True):
        cells = [number(row[name], 1, ".3f") for name in lengths]
        table.add_row(row["group"], f"{row['completed']:,} of {row['flows']:,}", *cells)
    print_table(table)


def number(value: float | None, scale: float, form: str) -> str:
    """`value` times `scale`, or a dash when there is none."""
    return "-" if value is None else format(value * scale, form)
