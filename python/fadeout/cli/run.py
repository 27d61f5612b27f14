"""`fadeout run`: run a scenario."""

from pathlib import Path
from typing import Annotated, Any

import typer

import fadeout
from fadeout import _extras
from fadeout._instances import OwnError
from fadeout._overview import sections
from fadeout._own import POLICY_OPTION, load_classes
from fadeout._sentences import sentences
from fadeout.cli import signals
from fadeout.cli.congestion import CongestionControls, HandoverPolicies, print_cause
from fadeout.cli.console import err, out, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.guest_console import follow
from fadeout.cli.options import (
    Force,
    Overrides,
    ScenarioFile,
    examples,
    say_left_over,
    scenario_file,
    unused_folder,
)
from fadeout.cli.progress import run_progress
from fadeout.cli.table import new_table, print_table
from fadeout.cli.warnings import kept_warnings
from fadeout.results import Results


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "run",
        epilog=examples(
            "fadeout run blockage",
            "fadeout run blockage --seed 7 --set flow.congestion-control=newreno --out out/newreno",
            "fadeout run my.toml --congestion-control mine=my_control.py:Mine",
            note="Read the results in Python with fadeout.Results.open('out/newreno').",
        ),
    )(reports_errors(run))


def run(
    scenario: ScenarioFile,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed, in place of the scenario's.")
    ] = None,
    overrides: Overrides = None,
    congestion_controls: CongestionControls = None,
    handover_policies: HandoverPolicies = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=(
                "Folder for the results. Default: out/ and the scenario's name, with a number if "
                "it exists."
            ),
        ),
    ] = None,
    force: Force = False,
    figures: Annotated[bool, typer.Option(help="Draw figures into OUT/figures.")] = True,
    report: Annotated[
        bool | None,
        typer.Option(
            "--report/--no-report",
            help=(
                "Write OUT/report.html, as `fadeout report` does. Default: only for an example "
                "that runs by its name."
            ),
            show_default=False,
        ),
    ] = None,
    consoles: Annotated[
        list[str] | None,
        typer.Option(
            "--console",
            metavar="NODE",
            help=(
                "Print the console output of this node's kernel. OUT/kernel-NODE.log has it in "
                "any case."
            ),
        ),
    ] = None,
    programs: Annotated[
        bool,
        typer.Option(
            "--allow-programs",
            help=(
                "Let nodes with a kernel run their `command`, a program of this machine. Its "
                "output is in OUT/program-NODE.txt."
            ),
        ),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            min=1,
            help=(
                "Largest number of threads for a scenario divided by `worlds`. The results do not "
                "depend on it. Default: one for each processor."
            ),
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario, write its tables and figures, and print a summary."""
    classes = load_classes(congestion_controls)
    policies = load_classes(handover_policies, POLICY_OPTION)
    given, scenario = scenario, scenario_file(scenario)
    is_example = scenario != given
    if report is None:
        report = is_example
    if folder is None:
        name = scenario.stem if seed is None else f"{scenario.stem}-seed{seed}"
        folder = unused_folder(Path("out") / name)
    say_left_over(folder)
    with signals.Stoppable() as may_go_on, run_progress(scenario.stem, quiet=quiet) as draw:
        listen = follow(folder, consoles or [])

        def progress(state: dict[str, Any]) -> bool | None:
            draw(state)
            listen()
            return may_go_on(state)

        try:
            with kept_warnings() as remarks:
                results = fadeout.run(
                    scenario,
                    seed=seed,
                    set=overrides or [],
                    out=folder,
                    force=force,
                    progress=progress,
                    congestion_controls=classes,
                    handover_policies=policies,
                    allow_programs=programs,
                    threads=threads,
                )
        except OwnError as error:
            print_cause(error)
            err().print(f"recorded until then: {folder}", markup=False, highlight=False)
            raise
        finally:
            listen()
    if (figures or report) and (error := _extras.missing("matplotlib")):
        left_out = " and ".join(["figures"] * figures + ["the report"] * report)
        err().print(f"without {left_out}: {error}", markup=False, highlight=False)
        figures = report = False
    drawn = _draw(results, folder) if figures and not signals.came() else []
    page = _report(folder, scenario, remarks) if report and not signals.came() else None
    if not quiet:
        print_summary(results)
        print_paragraph(" ".join(sentences(results)))
        _print_places(results, folder, drawn, page)
        if is_example:
            text = f"next: fadeout new {given} writes this example to {given}.toml, to change it"
            out().print(text, markup=False, highlight=False)
    if signals.came() or not results.is_complete:
        what = "all" if results.is_complete else "what was recorded until then"
        text = f"stopped at {results.duration_s:g} s; {what} is kept"
        if figures:
            text += f"; fadeout plot {folder} draws its figures"
        err().print(text, markup=False, highlight=False)
        raise typer.Exit(signals.exit_status())


def _print_places(results: Results, folder: Path, drawn: list[Path], page: Path | None) -> None:
    """Prints the paths of the results, the captures, the first figure and the report."""
    out().print(f"results: {folder}", markup=False, highlight=False)
    written = results.manifest["captures"]
    captures = [capture for capture in written if "flow" not in capture]
    if captures:
        packets = sum(capture["packets"] for capture in captures)
        files = "1 file" if len(captures) == 1 else f"{len(captures)} files"
        text = f"captures: {folder / 'captures'}, {files}, {packets:,} packets"
        out().print(text, markup=False, highlight=False)
    if results.qlogs:
        text = f"logs of QUIC: {folder / 'captures'}, {len(results.qlogs)} files"
        out().print(text, markup=False, highlight=False)
    if drawn:
        out().print(f"figures: {_name_first(drawn)}", markup=False, highlight=False)
    if page is not None:
        out().print(f"report: {page}", markup=False, highlight=False)


def _draw(results: Results, folder: Path) -> list[Path]:
    drawn = []
    for name in results.plot.available():
        signals.obey()
        drawn += results.plot.save(folder / "figures", [name])
    if "drive" in results.plot.available():
        from fadeout import drives

        drives.save(results, folder)
    return drawn


def _report(folder: Path, scenario: Path, remarks: list[str]) -> Path:
    from fadeout import report as reports

    return reports.write(folder, remarks=remarks, base=scenario.parent)


def _name_first(drawn: list[Path]) -> str:
    """Returns the path of the overview, or of the first figure, and the number of the others."""
    first = next((path for path in drawn if path.stem == "overview"), drawn[0])
    others = len(drawn) - 1
    return f"{first} and {others} more beside it" if others else str(first)


def print_summary(results: Results) -> None:
    """Prints the summary of a run: flows, their paths, links with losses, interfaces."""
    hidden = 0
    for section in sections(results):
        table = new_table(*section.headings, numbers=section.numbers)
        for row in section.rows:
            table.add_row(*row)
        print_table(table)
        hidden += section.hidden
    if hidden:
        out().print(f"{hidden} more rows are in the tables of the run", highlight=False)
