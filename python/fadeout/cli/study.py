"""`fadeout study`: run a study."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fadeout import _names
from fadeout.cli import complete
from fadeout.cli.console import out, say
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import (
    ClusterFile,
    Force,
    Jobs,
    cluster_of,
    examples,
    say_left_over,
    unused_folder,
)
from fadeout.cli.progress import count_progress
from fadeout.cli.signals import exit_status
from fadeout.cli.table import new_table, print_table

if TYPE_CHECKING:
    # Loaded when a study runs, as help does not need it.
    from fadeout.study import Report


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "study",
        epilog=examples(
            "fadeout study blockage",
            "fadeout study congestion-controls --quick",
            note="Studies: fadeout list studies.",
        ),
    )(reports_errors(study))


def study(
    name: Annotated[
        str, typer.Argument(help="Name of the study.", autocompletion=complete.studies)
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Run fewer seeds and shorter runs.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=2, help="Number of seeds for each point of the main tables.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the study. Default: out/study-NAME."),
    ] = None,
    force: Force = False,
    jobs: Jobs = None,
    cluster: ClusterFile = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep-runs",
            help=("Keep finished runs beside --out, so that the next study repeats none of them."),
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a study: its tables, figures, and a report.

    The results are the same for any number of jobs. If a study is stopped or killed, its finished
    runs are kept. Repeat the command to continue.
    """
    from fadeout.study import Options, run_study, studies, unfinished_runs

    known = studies()
    if name not in known:
        raise typer.BadParameter(_names.unknown("study", name, known), param_hint="NAME")
    folder = folder or unused_folder(Path("out") / f"study-{name}")
    say_left_over(folder)
    executor = cluster_of(cluster, jobs)
    options = Options(quick=quick, seeds=seeds, jobs=jobs, executor=executor, keeps_runs=keep)
    kept = unfinished_runs(known[name], folder, options)
    if len(kept) > 0 and not quiet:
        say(f"{len(kept)} finished runs are reused from {kept.path}")
    try:
        with count_progress(f"study {name}", quiet=quiet) as progress:
            report = run_study(known[name], folder, options, force=force, progress=progress)
    except KeyboardInterrupt:
        say_kept(kept.path)
        raise
    if not quiet:
        print_report(report, folder)
    if not report.is_whole:
        say("stopped early; the report covers the finished runs")
        say_kept(kept.path)
        raise typer.Exit(exit_status())


def say_kept(path: Path) -> None:
    """Prints the folder with the finished runs of a stopped study, if there are any."""
    if path.exists():
        say(f"finished runs are kept in {path}; repeat the command to continue")


def print_report(report: "Report", folder: Path) -> None:
    """Prints the main tables, and the place of all files."""
    from fadeout.study.study import EFFORT

    for section in report.sections:
        if section.is_headline and section.table is not None:
            table = new_table(*section.table.columns, title=section.title)
            for row in section.table.rows:
                table.add_row(*row)
            print_table(table)
            if section.conclusion:
                out().print(section.conclusion + "\n", markup=False, highlight=False)
    if (folder / EFFORT).is_file():
        effort = json.loads((folder / EFFORT).read_text(encoding="utf-8"))
        runs = effort["runs"]
        # The report of a stopped study says in words that it is incomplete.
        count = f"{runs:,} runs" if isinstance(runs, int) else runs
        text = (
            f"{count}, {effort['done_now']:,} of them now, in "
            f"{effort['wall_s']:,.0f} s ({effort['processor_s']:,.0f} s of processor time)"
        )
        out().print(text, markup=False, highlight=False)
    out().print(f"report:  {folder / 'report.md'}", markup=False, highlight=False)
    out().print(f"figures: {folder / 'figures'}", markup=False, highlight=False)
