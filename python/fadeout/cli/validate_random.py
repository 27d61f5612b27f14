"""The part of `fadeout validate kernel` that draws scenarios at random."""

import warnings
from pathlib import Path

import typer

from fadeout.cli.console import out
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table


def compare_random(
    count: int,
    seed: int,
    folder: Path | None,
    version: str,
    *,
    only: list[str],
    seeds: int | None,
    jobs: int | None,
) -> None:
    """Runs random scenarios on both sides, and prints the distribution of errors.

    Raises:
        typer.BadParameter: the number of seeds is too small to compare distributions.
        typer.Exit: a run failed. The exit status is 1.
    """
    from fadeout.validate.kernel import draw, matrix, spread

    seeds = draw.SEEDS if seeds is None else seeds
    if seeds < draw.LEAST_SEEDS:
        raise typer.BadParameter(
            f"distributions of {seeds} runs cannot differ at 1 %; "
            f"expected {draw.LEAST_SEEDS} or more",
            param_hint="--seeds",
        )
    wanted = draw.draw(count, seed, families=only, seeds=seeds)
    folder = folder or Path("out") / f"validate-kernel-random-{seed}"
    with warnings.catch_warnings(), count_progress(f"{len(wanted)} random scenarios") as progress:
        # Advice about drawn scenarios, such as a small buffer, is of no use.
        warnings.simplefilter("ignore")
        runs = matrix.run_matrix(wanted, folder, kernel=version, jobs=jobs, progress=progress)
    errors = spread.flow_errors(runs)
    for failure in runs.failures:
        out().print(f"failed: {failure}", markup=False, highlight=False)
    if not errors:
        raise typer.Exit(1)
    table = new_table(*spread.TABLE, numbers=spread.TABLE[1:])
    for row in spread.table(errors):
        table.add_row(*row)
    print_table(table)
    files = spread.write(folder, errors, version)
    out().print(
        "errors of goodput or completion time; competing flows have medians of "
        f"{seeds} runs a side, other flows have one run",
        highlight=False,
    )
    out().print(spread.headline(errors), highlight=False)
    if files:
        out().print(f"largest errors: {folder / 'worst'}", markup=False, highlight=False)
    out().print(f"runs, table and errors: {folder}", markup=False, highlight=False)
    if runs.failures:
        raise typer.Exit(1)
