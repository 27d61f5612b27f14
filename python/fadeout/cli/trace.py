"""`fadeout trace`: write a trace of a run for Perfetto's viewer."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import trace as traces
from fadeout.cli.console import out, say
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.cli.progress import count_progress


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "trace",
        epilog=examples(
            "fadeout trace out/walk",
            "fadeout trace out/walk -o walk.pftrace",
            note="Open the file at https://ui.perfetto.dev. The viewer does not upload it.",
        ),
    )(reports_errors(trace))


def trace(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    file: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write. Default: FOLDER/trace.pftrace."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Write a trace of a run for Perfetto's viewer.

    The trace has tracks of UEs, cells, bearers, flows and links. Arrows lead from a lost transport
    block to its HARQ retransmissions, its RLC repetition, the packets, and the TCP retransmission.

    Needs fadeout[trace].
    """
    with count_progress("trace", quiet=quiet, unit="rows") as progress:
        written = traces.write(folder, file, progress=progress)
    out().print(f"trace: {written.path}", markup=False, highlight=False)
    if quiet:
        return
    for line in _remarks(written):
        say(line)


def _remarks(written: traces.Trace) -> list[str]:
    """Returns sentences about arrows and about missing parts of the trace."""
    rows = sum(written.rows.values())
    lines = [
        f"{rows:,} rows. Arrows: {written.harq:,} to HARQ retransmissions, {written.rlc:,} to RLC "
        f"repetitions, {written.packets:,} to packets, {written.tcp:,} to TCP retransmissions."
    ]
    if written.unlinked_blocks:
        lines.append(
            f"{written.unlinked_blocks:,} of {written.lost_blocks:,} transport blocks that HARQ "
            "gave up have no arrow to a repetition or a lost packet: their contents do not follow "
            "without doubt from the tables."
        )
    if not written.is_complete:
        lines.append("The run was stopped before its end, and so is the trace.")
    if written.missing:
        lines.append(
            f"Not recorded: {', '.join(written.missing)}. To {traces.advice(written.missing)}"
        )
    return lines
