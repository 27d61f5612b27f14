"""Options that several commands take."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fadeout.cli import complete
from fadeout.cli.console import say

if TYPE_CHECKING:
    from fadeout.campaign.cluster import Cluster

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        autocompletion=complete.overrides,
        help=(
            "Replace a value of the scenario, as in flow.congestion-control=newreno. Items of a "
            "list are numbered from 0. May be given several times."
        ),
    ),
]

Force = Annotated[
    bool, typer.Option("--force", help="Replace the file or folder of --out if it exists.")
]

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, help=("Number of parallel runs. Default: one for each processor.")
    ),
]


ClusterFile = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help=(
            "Run on a cluster with Dask. FILE is a TOML file (kind = 'slurm', ...), or 'local' "
            "for processes of this machine. Needs fadeout[cluster]."
        ),
    ),
]


ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file (TOML), or the name of an example.",
        autocompletion=complete.scenarios,
    ),
]

ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO...",
        help="Scenario files (TOML), or names of examples.",
        autocompletion=complete.scenarios,
    ),
]


def scenario_file(given: Path) -> Path:
    """Returns the file of a scenario. A name without a file may be that of an example."""
    if given.suffix or len(given.parts) != 1 or given.exists():
        return given
    from fadeout._examples import examples as known

    example = known().get(given.name)
    if example is None:
        return given
    here = given.with_suffix(".toml")
    if here.exists():
        say(f"{given} is the example of the package; {here} means the file here")
    return example.path


def cluster_of(file: str | None, jobs: int | None) -> "Cluster | None":
    """Returns the cluster of `--cluster`, with `--jobs` workers if given."""
    if file is None:
        return None
    from fadeout.campaign.cluster import read_cluster

    cluster = read_cluster(file)
    return cluster if jobs is None else replace(cluster, workers=jobs)


def unused_folder(base: Path) -> Path:
    """Returns `base`, or `base` with a number added if it exists."""
    number = 1
    folder = base
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


PARTIAL = re.compile(r"\..+\.partial-(\d+)(-\d+)?")


def say_left_over(folder: Path) -> None:
    """Prints the hidden folders beside `folder` that killed runs have left."""
    try:
        beside = sorted(folder.absolute().parent.glob(".*.partial-*"))
    except OSError:
        return
    for path in beside:
        match = PARTIAL.fullmatch(path.name)
        if match is not None and not _is_alive(int(match[1])):
            say(f"left by a run that was killed: {path} (you can delete it)")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def examples(*commands: str, note: str = "") -> str:
    """Returns the epilog of a command: one command to paste in each line, and a remark."""
    lines = ["Examples:", *commands]
    return "\n\n".join([*lines, note] if note else lines)
