"""`fadeout validate measured`: compare with published measurements of radio networks."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fadeout.cli.console import out
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table

if TYPE_CHECKING:
    from fadeout.validate.measured.judge import Comparison


def compare_measured(
    only: list[str], data: Path | None, *, seeds: int | None, jobs: int | None, as_json: bool
) -> None:
    """Runs the scenarios and prints the judged table. The exit status is 1 if a row is outside."""
    from fadeout._native import FadeoutError
    from fadeout.validate.measured import judge, model

    try:
        model.chosen_names(only)
    except FadeoutError as error:
        raise typer.BadParameter(str(error), param_hint="--only") from None
    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"{data} is no folder", param_hint="--data")
    chosen = judge.entries(only, data)
    with count_progress("validate measured") as progress:
        found = judge.compare(chosen, seeds=seeds or judge.SEEDS, jobs=jobs, progress=progress)
    if as_json:
        out().print(found.json(), markup=False, highlight=False, soft_wrap=True)
    else:
        _print_table(found)
    if found.outside():
        raise typer.Exit(1)


def _print_table(found: "Comparison") -> None:
    from fadeout.validate.measured import judge

    if found.rows:
        table = new_table(*judge.COLUMNS, numbers=("n", "measured", "ours", "error"))
        for row in found.rows:
            table.add_row(*row.cells())
        print_table(table)
    lines = [ratio.text() for ratio in found.ratios]
    lines += [f"not compared: {judge.needs_copy(entry)}" for entry in found.unknown]
    for (entry, point), rows in found.outside_by_point().items():
        quantities = " and ".join(f"{row.quantity} {row.error:+.0%}" for row in rows)
        why = rows[0].entry.why(point) or "not known"
        lines.append(f"outside: {entry}, {point}: {quantities}; missing: {why}")
    for line in lines:
        out().print(line, markup=False, highlight=False, soft_wrap=True)
    out().print(found.headline(), highlight=False, soft_wrap=True)
