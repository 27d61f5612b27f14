"""`fadeout tune`: search for the best values."""

from pathlib import Path
from typing import Annotated

import typer

from fadeout import ScenarioError
from fadeout.campaign.axes import SEARCHED, parse_value
from fadeout.cli.campaign import Quiet
from fadeout.cli.congestion import CongestionControls, HandoverPolicies
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import (
    ClusterFile,
    Jobs,
    Overrides,
    ScenarioFile,
    cluster_of,
    examples,
    scenario_file,
)
from fadeout.cli.progress import count_progress
from fadeout.cli.table import new_table, print_table


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "tune",
        epilog=examples(
            "fadeout tune my.toml --over link.radio.queue.limit='10..1000 packets:log' "
            "--over flow.congestion-control=cubic,bbr3 --maximise goodput_mbps --out t/",
            note="Repeat the command to continue a search. Needs fadeout[tune].",
        ),
    )(reports_errors(tune))


def tune(
    scenario: ScenarioFile,
    over: Annotated[
        list[str], typer.Option(metavar="KEY=RANGE", help=f"Key and values to search: {SEARCHED}.")
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the campaign.")],
    maximise: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Metric to maximise.")
    ] = None,
    minimise: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Metric to minimise.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of points to try.")] = 50,
    seeds: Annotated[str, typer.Option(help="Number of seeds of each point.")] = "5",
    overrides: Overrides = None,
    congestion_controls: CongestionControls = None,
    handover_policies: HandoverPolicies = None,
    jobs: Jobs = None,
    cluster: ClusterFile = None,
    quiet: Quiet = False,
) -> None:
    """Search for the values of keys with the best mean of a metric over the seeds (Optuna).

    The points that were tried are a campaign in --out. Read it with fadeout campaign show and
    fadeout campaign export.
    """
    from fadeout.campaign.tune import tune as search
    from fadeout.cli.campaign_tables import shown

    metric = maximise or minimise
    if metric is None or (maximise and minimise):
        raise ScenarioError("expected either --maximise METRIC or --minimise METRIC")
    with count_progress(f"tune {scenario.stem}", quiet=quiet) as progress:
        found = search(
            str(scenario_file(scenario)),
            dict(_pair("--over", text) for text in over),
            metric,
            out=folder,
            maximise=maximise is not None,
            trials=trials,
            seeds=seeds,
            jobs=jobs,
            executor=cluster_of(cluster, jobs),
            progress=progress,
            set={
                key: parse_value(value)
                for key, value in (_pair("--set", text) for text in overrides or [])
            },
            congestion_controls=dict(
                _pair("--congestion-control", text) for text in congestion_controls or []
            ),
            handover_policies=dict(
                _pair("--handover-policy", text) for text in handover_policies or []
            ),
        )
    if quiet:
        return
    table = new_table("key", "best value")
    for key, value in found.values.items():
        table.add_row(key, shown(value))
    print_table(table)
    text = (
        f"{metric}: {found.score.text()}, the best of {found.tried} points. The best of many is "
        "biased: run it again with other seeds before you report it"
    )
    out().print(text, markup=False, highlight=False)
    out().print(f"campaign: {folder}", markup=False, highlight=False)


def _pair(option: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ScenarioError(f"{option} {text}: expected KEY=VALUE")
    return key.strip(), value.strip()
