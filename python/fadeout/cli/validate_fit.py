"""`fadeout validate fit`: fits of a link to recorded Linux senders."""

import typer

from fadeout.cli.console import out
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table

PERCENT = 100.0


def compare_fits(only: list[str], *, jobs: int | None) -> None:
    """Fits the recordings and prints the errors. The exit status is 1 if a limit is exceeded."""
    from fadeout.validate import fit

    chosen = [name for name in fit.names() if all(word in name for word in only)]
    if not chosen:
        raise typer.BadParameter(
            f"no recording has {' and '.join(only)} in its name; expected a part of a name such as "
            f"{fit.names()[0]}",
            param_hint="--only",
        )
    with count_progress("validate fit", unit="recordings") as progress:
        rows = list(fit.fits(chosen, workers=jobs, progress=progress))
    table = new_table("recording", *fit.LIMITS, numbers=tuple(fit.LIMITS))
    for row in rows:
        cells = [
            f"{PERCENT * error:+.2f} %{'' if covered else ' ✗'}"
            for error, covered in zip(row.errors(), row.covered(), strict=True)
        ]
        table.add_row(row.name, *cells)
    print_table(table)
    scores = fit.scores(rows)
    for one in scores:
        out().print(
            f"{one.kind}: median error {PERCENT * one.median_error:.2g} % (at most "
            f"{PERCENT * fit.LIMITS[one.kind]:g} %), {one.covered} of {one.recordings} intervals "
            "contain the known value",
            highlight=False,
        )
    out().print("✗: the 90 % interval does not contain the known value", highlight=False)
    if not only and not all(one.is_met for one in scores):
        raise typer.Exit(1)
