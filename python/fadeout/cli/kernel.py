"""`fadeout kernel`: build and test kernels that nodes can run."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import FadeoutError, kernel
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.cli.table import new_table, print_table


def register(app: typer.Typer) -> None:
    """Adds the command."""
    group = typer.Typer(
        name="kernel",
        no_args_is_help=True,
        help=(
            "Linux itself as the transport of nodes: build, list and test kernels. A kernel is "
            "built on this machine from its distribution's source, and kept in the user's cache."
        ),
    )
    group.command(
        "build",
        epilog=examples(
            "fadeout kernel build",
            "fadeout kernel build --source linux-6.12.tar.xz -j4",
            note="Needs a compiler and some minutes. A kernel that exists is not built again.",
        ),
    )(reports_errors(build))
    group.command("list", epilog=examples("fadeout kernel list"))(reports_errors(list_kernels))
    group.command("test", epilog=examples("fadeout kernel test 6.12"))(reports_errors(test))
    app.add_typer(group)


def build(
    version: Annotated[
        str, typer.Argument(help="Version of the source package linux-source-VERSION.")
    ] = "6.12",
    source: Annotated[
        Path | None,
        typer.Option("--source", help=("Archive of Linux's source, in place of the package.")),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Compilers.")] = None,
) -> None:
    """Build a kernel from the distribution's source package."""

    def say(step: str) -> None:
        out().print(step, markup=False, highlight=False)

    built = kernel.build(version, source=source, jobs=jobs, say=say)
    say(f"kernel {built.release}: {built.folder}")


def list_kernels() -> None:
    """List the kernels that were built."""
    kernels = kernel.installed()
    if not kernels:
        out().print("no kernel is built yet; fadeout kernel build builds one", highlight=False)
        return
    table = new_table("release", "folder")
    for one in kernels:
        table.add_row(one.release, str(one.folder))
    print_table(table)


def test(
    version: Annotated[
        str, typer.Argument(help="Version of the kernel. Default: the newest.")
    ] = "",
    delay_ms: Annotated[float, typer.Option(min=0.01, help="Delay between two guests, ms.")] = 10,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Number of round trips.")] = 5,
) -> None:
    """Start two guests of a kernel, and compare the round trip with the delay between them."""
    found = kernel.find(version)
    checked = kernel.check(found, delay_s=delay_ms / 1e3, count=count)
    if len(checked.echoes_s) < count:
        raise FadeoutError(
            f"kernel {checked.release}: {len(checked.echoes_s)} of {count} echo requests were "
            "answered"
        )
    expected = 2 * delay_ms / 1e3
    error = max(abs(echo - expected) for echo in checked.echoes_s)
    out().print(
        f"kernel {checked.release}: {count} round trips of {expected * 1e3:g} ms, "
        f"at most {error * 1e6:.3f} us off",
        highlight=False,
    )
    if error > 1e-6:
        raise FadeoutError("the error is more than 1 us, so the kernel's time is wrong")
