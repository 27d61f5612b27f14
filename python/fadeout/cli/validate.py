"""`fadeout validate`: compare with recordings of real stacks, or with a kernel that runs here."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import _names
from fadeout.cli import complete
from fadeout.cli.console import new_table, out, print_table
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import Jobs, Overrides, examples, unused_folder
from fadeout.cli.progress import count_progress
from fadeout.validate import REFERENCES


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "validate",
        epilog=examples(
            "fadeout validate linux",
            "fadeout validate kernel scenarios/mmwave-walk.toml --seeds 5",
            "fadeout validate kernel scenarios/blockage.toml scenarios/handover.toml -o out/both",
            "fadeout validate kernel --matrix --quick",
            note="Exit status 1: a row missed.",
        ),
    )(reports_errors(validate))


def validate(
    reference: Annotated[
        str,
        typer.Argument(
            help="What to compare with: linux, the recordings in the package, or kernel, a kernel "
            "that runs here.",
            autocompletion=complete.references,
        ),
    ] = "linux",
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SCENARIO...", help="For kernel: what both sides run."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for figures, and for kernel runs and tables: what it holds is not run "
            "again. Default: out/validate-REFERENCE.",
        ),
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw our window over the other's.")] = True,
    overrides: Overrides = None,
    version: Annotated[
        str, typer.Option("--kernel", help="Its version; fadeout kernel list has those there are.")
    ] = "6.12",
    seeds: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Runs a side. Default: 5; 20 where chaotic.")
    ] = None,
    chaotic: Annotated[
        bool,
        typer.Option(
            "--chaotic", help="Compare distributions: milliseconds decide how a run goes."
        ),
    ] = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="The cases of the package in place of a scenario. Default of --out: "
            "out/validate-kernel-matrix.",
        ),
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A case of each group alone.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Cases with this word in their name.")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Compare our TCP with a real one: goodput, round trips, retransmissions, windows.

    [bold]linux[/bold] runs the equivalents of recorded runs. [bold]kernel[/bold] runs a scenario
    twice: with our endpoints, and with Linux's own TCP at the ends of its flows, which
    [bold]fadeout kernel build[/bold] makes on this machine. Both see the same links, radios and
    random losses; a seed moves the start of the flows against the kernel's clock tick, too. Windows
    and round-trip times are read at the same instants, every 10 ms. An error is that of our median.
    Goodput may be 3 % off (10 % for a single seed), round trips 3 %, retransmissions 15 % or 10
    segments. Where milliseconds decide how a run goes, as with two flows on a link, give --chaotic
    and at least 20 seeds: then distributions are compared (Kolmogorov and Smirnov at 1 %, medians
    within 10 %).
    """
    if reference not in REFERENCES:
        raise typer.BadParameter(
            _names.unknown("reference", reference, REFERENCES), param_hint="REFERENCE"
        )
    if reference == "linux":
        if scenarios or matrix or quick or only or overrides or seeds or chaotic:
            raise typer.BadParameter(
                "the recordings are what they are; a scenario, --matrix, --seeds and their like "
                "belong to kernel",
                param_hint="REFERENCE",
            )
        _recordings(folder, figures=figures, jobs=jobs)
    elif matrix:
        if scenarios or overrides or chaotic:
            raise typer.BadParameter(
                "it has its own scenarios; expected none, no --set and no --chaotic",
                param_hint="--matrix",
            )
        folder = folder or Path("out") / "validate-kernel-matrix"
        _matrix(folder, version, quick=quick, only=only or [], seeds=seeds, jobs=jobs)
    else:
        if not scenarios:
            raise typer.BadParameter("expected a scenario, or --matrix", param_hint="SCENARIO")
        _scenarios(
            scenarios, folder, version, overrides, seeds, jobs, chaotic=chaotic, draw=figures
        )


def _recordings(folder: Path | None, *, figures: bool, jobs: int | None) -> None:
    from fadeout.validate import linux

    with count_progress("validate linux") as progress:
        rows = linux.compare_all(jobs=jobs, progress=progress)
    columns = linux.COLUMNS
    table = new_table(*columns, numbers=columns[1:])
    for row in rows:
        table.add_row(*row.cells())
    print_table(table)
    known = linux.known_misses()
    missed = [(row.name, key, miss) for row in rows for key, miss in row.misses().items()]
    for name, key, miss in missed:
        why = known.get((name, key))
        out().print(f"missed: {miss}", markup=False, highlight=False)
        out().print(f"        {why or 'not known before'}", markup=False, highlight=False)
    if figures:
        folder = folder or unused_folder(Path("out") / "validate-linux")
        linux.draw(folder)
        out().print(f"figures: {folder}", markup=False, highlight=False)
    if missed:
        raise typer.Exit(1)
    out().print(f"all {len(rows)} rows lie within the tolerances", highlight=False)


def _scenarios(
    scenarios: list[Path],
    folder: Path | None,
    version: str,
    overrides: list[str] | None,
    seeds: int | None,
    jobs: int | None,
    *,
    chaotic: bool,
    draw: bool,
) -> None:
    from fadeout.validate.kernel import cases, figure
    from fadeout.validate.kernel import matrix as made

    wanted = cases.given(scenarios, kernel=version, set=overrides, is_chaotic=chaotic)
    name = f"validate-kernel-{wanted[0].file_name}" if len(wanted) == 1 else "validate-kernel"
    folder = folder or unused_folder(Path("out") / name)
    title = wanted[0].name if len(wanted) == 1 else f"{len(wanted)} scenarios"
    with count_progress(f"validate kernel {title}") as progress:
        runs = made.run_matrix(
            wanted,
            folder,
            kernel=version,
            seeds=seeds,
            jobs=jobs,
            progress=progress,
            keeps_first=draw,
        )
    rows = made.compared(runs)
    columns = ("flow", "quantity", f"Linux {version}", "fadeout", "error", "")
    table = new_table(*columns, numbers=columns[2:5])
    for flow in rows:
        for number, row in enumerate(flow.rows()):
            table.add_row("" if number else flow.name, *row.cells())
    print_table(table)
    if rows:
        (folder / "table.md").write_text(made.markdown_by_quantity(rows, version), encoding="utf-8")
    count = max((len(row.kernel) for row in rows), default=0)
    runs_of = "a run" if count == 1 else f"{count} runs"
    out().print(
        f"medians of {runs_of} a side, least and most in brackets; windows and timeouts have no "
        "tolerance",
        highlight=False,
    )
    for case in wanted if draw else ():
        if not any(failure.startswith(f"{case.name},") for failure in runs.failures):
            theirs, ours = (runs.whole.get((case.name, side)) for side in made.SIDES)
            file = folder / f"{case.file_name}.png"
            figure.draw(case.sides(version), file, kernel=version, theirs=theirs, ours=ours)
    for failure in runs.failures:
        out().print(f"failed: {failure}", markup=False, highlight=False)
    out().print(f"runs, table and figures: {folder}", markup=False, highlight=False)
    if runs.failures or any(flow.misses() for flow in rows):
        raise typer.Exit(1)


def _matrix(
    folder: Path,
    version: str,
    *,
    quick: bool,
    only: list[str],
    seeds: int | None,
    jobs: int | None,
) -> None:
    from fadeout.validate.kernel import matrix as made

    wanted = made.chosen(quick=quick, only=only)
    with count_progress(f"validate kernel, {len(wanted)} cases") as progress:
        runs = made.run_matrix(
            wanted, folder, kernel=version, seeds=seeds, jobs=jobs, progress=progress
        )
    rows = made.compared(runs)
    table = new_table(*made.TABLE, numbers=made.TABLE[1:])
    for row in rows:
        table.add_row(*made.cells(row))
    print_table(table)
    (folder / "table.md").write_text(made.markdown(rows), encoding="utf-8")
    missed = [miss for row in rows for miss in row.misses()]
    for miss in missed:
        out().print(f"missed: {miss}", markup=False, highlight=False)
    for failure in runs.failures:
        out().print(f"failed: {failure}", markup=False, highlight=False)
    out().print(made.headline(rows), highlight=False)
    out().print(f"runs and table: {folder}", markup=False, highlight=False)
    if missed or runs.failures:
        raise typer.Exit(1)
