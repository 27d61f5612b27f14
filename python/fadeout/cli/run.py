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
from fadeout.results import Results, table_docs

MOST_ROWS = 20
"""Flows and links printed; the rest stand in the results."""

MILLISECONDS = "ms"
"""At the end of the form of a column of seconds that is printed in milliseconds."""

ACRONYMS = ("cwnd", "harq", "rtt", "srtt")

# The columns that are printed of each table of the summary, with the form of their values.
FLOW = {
    "flow": "",
    "congestion_control": "",
    "goodput_mbps": ".2f",
    "retransmitted_segments": ",",
    "timeouts": ",",
    "mean_rtt_s": ".1fms",
    "max_cwnd_segments": ",.0f",
}
COMPLETION = {"flow_completion_time_s": ".3f"}
PATH = {
    "path": "",
    "goodput_mbps": ".2f",
    "retransmitted_segments": ",",
    "timeouts": ",",
    "mean_srtt_s": ".1fms",
    "max_cwnd_segments": ",.0f",
}
TIMES = {"group": "", "flows": ",", "completed": ","}
TIMES |= dict.fromkeys(("mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "longest_s"), ".3f")
LINK = {"link": "", "sent_packets": ",", "dropped_packets": ","}
INTERFACE = {
    "interface": "",
    "cell": "",
    "rate_mbps": ".2f",
    "transport_blocks": ",",
    "harq_retransmissions": ",",
    "lost_transport_blocks": ",",
    "dropped_packets": ",",
}


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
    """Print what sums up a run: flows, their paths, links that lost something, interfaces."""
    flows, links, interfaces = results.flows, results.links, results.interfaces
    has_completion = flows["flow_completion_time_s"].is_not_null().any()
    times = results.completion_times
    shown = [
        ("flows", flows, FLOW | (COMPLETION if has_completion else {})),
        ("paths", results.paths, PATH),
        ("completion_times", times if (times["completed"] > 1).any() else times.clear(), TIMES),
        ("links", links.filter(links["dropped_packets"] > 0), LINK),
        ("interfaces", interfaces.filter(interfaces["transport_blocks"] > 0), INTERFACE),
    ]
    for name, rows, columns in shown:
        if len(rows) or name == "flows":
            print_rows(name, rows.head(MOST_ROWS), columns)
    hidden = sum(max(0, len(rows) - MOST_ROWS) for _, rows, _ in shown)
    if hidden:
        out().print(f"{hidden} more rows are in summary.json", highlight=False)


def print_rows(name: str, rows: pl.DataFrame, columns: dict[str, str]) -> None:
    """Print rows of the table `name`: these columns, each in its form."""
    docs = {column["name"]: column for column in table_docs()[name]["columns"]}
    headings = [heading(docs[column], form) for column, form in columns.items()]
    numbers = [text for text, form in zip(headings, columns.values(), strict=True) if form]
    table = new_table(*headings, numbers=numbers)
    for row in rows.iter_rows(named=True):
        table.add_row(*(cell(row[column], form) for column, form in columns.items()))
    print_table(table)


def heading(column: dict[str, Any], form: str) -> str:
    """What a column is called: its name with its unit, or milliseconds where `form` has them."""
    unit = column["unit"]
    name = column["name"].removesuffix("_mbps" if unit == "Mbit/s" else f"_{unit}")
    unit = "ms" if form.endswith(MILLISECONDS) else unit
    words = [word.upper() if word in ACRONYMS else word for word in name.split("_")]
    return " ".join(filter(None, (*words, unit)))


def cell(value: Any, form: str) -> str:  # noqa: ANN401
    """A value in its form; a dash where there is none."""
    if value is None:
        return "-"
    if form.endswith(MILLISECONDS):
        return format(value * 1e3, form.removesuffix(MILLISECONDS))
    return format(value, form)
