"""`fadeout validate`: compare with recorded stacks, a kernel on this machine, or measurements."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import _names
from fadeout.cli import complete
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import Jobs, Overrides, examples, unused_folder
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table
from fadeout.cli.validate_fit import compare_fits
from fadeout.cli.validate_measured import compare_measured
from fadeout.cli.validate_random import compare_random
from fadeout.validate import REFERENCES


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "validate",
        epilog=examples(
            "fadeout validate linux",
            "fadeout validate kernel scenarios/mmwave-walk.toml --seeds 5",
            "fadeout validate kernel scenarios/blockage.toml scenarios/handover.toml -o out/both",
            "fadeout validate kernel --matrix --quick",
            "fadeout validate kernel --random 100 --seed 7",
            "fadeout validate measured --only idle",
            "fadeout validate fit --only cubic",
            note="The exit status is 1 if a row is outside its tolerance.",
        ),
    )(reports_errors(validate))


def validate(
    reference: Annotated[
        str,
        typer.Argument(
            help=(
                "Reference: linux, the recordings in the package; kernel, a kernel on this "
                "machine; measured, published measurements of radio networks; or fit, fits to the "
                "recordings."
            ),
            autocompletion=complete.references,
        ),
    ] = "linux",
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SCENARIO...", help="Scenarios that both sides run, for kernel."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=(
                "Folder for figures, and for the runs and tables of kernel. Runs in the folder "
                "are not repeated. Default: out/validate-REFERENCE."
            ),
        ),
    ] = None,
    figures: Annotated[
        bool, typer.Option(help="Draw both congestion windows in one figure.")
    ] = True,
    overrides: Overrides = None,
    version: Annotated[
        str,
        typer.Option(
            "--kernel", help=("Version of the kernel. fadeout kernel list has the installed ones.")
        ),
    ] = "6.12",
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help=(
                "Number of runs on each side. Default: 5, or 20 with --chaotic. With --random, the "
                "number for competing flows (at least 5). Other scenarios then have one run a side."
            ),
        ),
    ] = None,
    chaotic: Annotated[
        bool,
        typer.Option(
            "--chaotic",
            help=("Compare distributions, for scenarios in which milliseconds decide the outcome."),
        ),
    ] = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help=(
                "Run the package's matrix of cases in place of a scenario. Default of --out: "
                "out/validate-kernel-matrix."
            ),
        ),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run only one case of each group.")
    ] = False,
    drawn: Annotated[
        int | None,
        typer.Option(
            "--random",
            min=1,
            max=100_000,
            metavar="N",
            help=(
                "Draw N scenarios at random, and print the distribution of errors by family. "
                "Default of --out: out/validate-kernel-random-SEED."
            ),
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of --random. Default: 1.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help=("Run only cases with this word in their name, or with --random this family."),
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help=(
                "Folder with copies of the measured data sets as OWNER/NAME of their repositories. "
                "Their values replace those of the package."
            ),
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows of measured as JSON.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Compare with a real TCP, or with measurements of real radio networks.

    With `linux`, scenarios run that correspond to recorded runs. With
    `kernel`, a scenario runs twice: with our endpoints, and with Linux's own TCP at the
    ends of its flows. Build that kernel with `fadeout kernel build`. Both sides have the
    same links, radios and random losses. A seed also shifts the start of the flows against the
    kernel's clock tick. Windows and round-trip times are read at the same times, every 10 ms.

    An error is the relative difference of our median. Tolerances are 3 % for goodput (10 % with one
    seed), 3 % for round trips, and 15 % or 10 segments for retransmissions.

    With `measured`, scenarios run that repeat the set-up of published measurements. A row shows the
    measured value, our mean with a 95 % interval over the seeds, and the error. Tolerances are 15 %
    for medians and 25 % for 90th percentiles. The package has values of some data sets only, as
    their licences demand. The option --data adds the others.

    With --random, the table has errors of goodput or completion time by family. The
    distributions of competing flows are compared. A stopped command continues with the same --out.
    The ten scenarios with the largest errors are written as files.

    With `fit`, `fadeout fit` finds the links of recorded runs, and the known values are beside its
    results. The fits take some minutes. --only chooses recordings.

    Give --chaotic and at least 20 seeds for a scenario in which milliseconds decide the outcome,
    such as two flows on a link. Distributions are then compared (Kolmogorov-Smirnov at 1 %, medians
    within 10 %).
    """
    if reference not in REFERENCES:
        raise typer.BadParameter(
            _names.unknown("reference", reference, REFERENCES), param_hint="REFERENCE"
        )
    if reference != "measured" and (data or as_json):
        raise typer.BadParameter(
            f"{reference} has no --data and no --json; they need measured", param_hint="REFERENCE"
        )
    if drawn is None and seed is not None:
        raise typer.BadParameter(
            "--seed is the seed of random scenarios; expected --random N, too", param_hint="--seed"
        )
    if drawn is not None and reference != "kernel":
        raise typer.BadParameter(
            f"{reference} draws no scenarios; expected kernel", param_hint="--random"
        )
    if reference == "fit":
        if scenarios or matrix or quick or overrides or chaotic or folder or seeds:
            raise typer.BadParameter(
                "fit has fixed recordings; expected only --only and --jobs", param_hint="REFERENCE"
            )
        compare_fits(only or [], jobs=jobs)
    elif reference == "measured":
        if scenarios or matrix or quick or overrides or chaotic or folder:
            raise typer.BadParameter(
                "measured has its own scenarios; expected only --only, --data, --seeds, --jobs and "
                "--json",
                param_hint="REFERENCE",
            )
        compare_measured(only or [], data, seeds=seeds, jobs=jobs, as_json=as_json)
    elif reference == "linux":
        if scenarios or matrix or quick or only or overrides or seeds or chaotic:
            raise typer.BadParameter(
                "linux has fixed recordings; a scenario, --matrix, --seeds and similar options "
                "need kernel",
                param_hint="REFERENCE",
            )
        _recordings(folder, figures=figures, jobs=jobs)
    elif drawn is not None:
        if scenarios or matrix or quick or overrides or chaotic:
            raise typer.BadParameter(
                "random scenarios are drawn; expected no scenario, --matrix, --quick, --set or "
                "--chaotic",
                param_hint="--random",
            )
        seed = 1 if seed is None else seed
        compare_random(drawn, seed, folder, version, only=only or [], seeds=seeds, jobs=jobs)
    elif matrix:
        if scenarios or overrides or chaotic:
            raise typer.BadParameter(
                "the matrix has its own scenarios; expected no scenario, no --set and no --chaotic",
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
        out().print(f"outside its tolerance: {miss}", markup=False, highlight=False)
        out().print(f"        {why or 'not known before'}", markup=False, highlight=False)
    if figures:
        folder = folder or unused_folder(Path("out") / "validate-linux")
        linux.draw(folder)
        out().print(f"figures: {folder}", markup=False, highlight=False)
    if missed:
        raise typer.Exit(1)
    out().print(f"all {len(rows)} rows are within their tolerances", highlight=False)


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
        f"medians of {runs_of} a side, smallest and largest in brackets; windows and timeouts have "
        "no tolerance",
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
        out().print(f"outside its tolerance: {miss}", markup=False, highlight=False)
    for failure in runs.failures:
        out().print(f"failed: {failure}", markup=False, highlight=False)
    out().print(made.headline(rows), highlight=False)
    out().print(f"runs and table: {folder}", markup=False, highlight=False)
    if missed or runs.failures:
        raise typer.Exit(1)
