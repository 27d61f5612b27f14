"""`fadeout packetdrill`: run scripts in the packetdrill language against TCP endpoints."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fadeout import _native
from fadeout.cli.console import err, out
from fadeout.cli.errors import MISTAKE, reports_errors
from fadeout.cli.options import examples

DIFFERENT = 1
"""The endpoint did not do as a script expects."""
UNSUPPORTED = 3
"""A script uses something that is not supported."""

STATUS = {"invalid": MISTAKE, "failed": DIFFERENT, "unsupported": UNSUPPORTED, "passed": 0}
"""Exit status of each outcome. With several outcomes, the first of this list counts."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "packetdrill",
        epilog=examples(
            "fadeout packetdrill slow-start.pkt",
            "fadeout packetdrill tests/*.pkt --quiet",
            note=(
                "The exit status is 0 if all scripts pass, 1 if the endpoint did something else, "
                "2 if a script is invalid, and 3 if a script uses an unsupported feature."
            ),
        ),
    )(reports_errors(packetdrill))


def packetdrill(
    scripts: Annotated[list[Path], typer.Argument(help="Scripts, usually named .pkt.")],
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing about scripts that pass.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reports as JSON.")] = False,
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", help="NAME=VALUE: a symbol of the scripts and its value."),
    ] = None,
) -> None:
    """Run packetdrill scripts against TCP or Multipath TCP, in virtual time.

    A script gives the segments that arrive, the application's calls, and the segments that must
    leave. The first difference is shown with the script's line, the expected and the actual
    segment.
    """
    symbols = [_symbol(text) for text in define or []]
    reports = [_report(script, symbols) for script in scripts]
    if as_json:
        text = json.dumps(reports, indent=2, ensure_ascii=False)
        out().print(text, markup=False, highlight=False)
    else:
        for report in reports:
            _print(report, quiet=quiet)
    outcomes = {report["outcome"] for report in reports}
    status = next((code for name, code in STATUS.items() if name in outcomes), 0)
    if status:
        raise typer.Exit(status)


LARGEST = 4 << 20
"""Size of the largest script, in bytes."""


def _symbol(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise typer.BadParameter(f"expected NAME=VALUE, not {text!r}", param_hint="--define")
    return name, value


def _report(script: Path, symbols: list[tuple[str, str]]) -> dict[str, Any]:
    why = _unreadable(script)
    if why is not None:
        text = f"{script}: invalid: {why}"
        return {"name": str(script), "outcome": "invalid", "message": why, "text": text}
    # The parser of the script reports a byte that is not text.
    text = script.read_bytes().decode("utf-8", errors="replace")
    return json.loads(_native.packetdrill(text, str(script), symbols))


def _unreadable(script: Path) -> str | None:
    """Returns the reason why a script cannot be read. Devices and pipes may have no end."""
    try:
        if not script.is_file():
            return "no such file" if not script.exists() else "not a regular file"
        size = script.stat().st_size
        with script.open("rb"):
            return None if size <= LARGEST else f"a script has at most {LARGEST} bytes"
    except OSError as error:
        return error.strerror or str(error)


def _print(report: dict[str, Any], *, quiet: bool) -> None:
    passed = report["outcome"] == "passed"
    for line in report.get("output", []):
        out().print(line, markup=False, highlight=False)
    if passed and quiet:
        return
    console = out() if passed else err()
    console.print(report["text"], markup=False, highlight=False, soft_wrap=True)
