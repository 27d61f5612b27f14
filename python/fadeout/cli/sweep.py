"""`fadeout sweep`: a scenario over lists of values and seeds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fadeout import ScenarioError
from fadeout.campaign.axes import parse_values
from fadeout.cli.campaign import Metrics, Quiet, Retry, Yes, run_campaign
from fadeout.cli.congestion import CongestionControls, HandoverPolicies
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import (
    ClusterFile,
    Jobs,
    ScenarioFiles,
    examples,
    scenario_file,
    unused_folder,
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "sweep",
        epilog=examples(
            "fadeout sweep lossy-link --set flow.congestion-control=cubic,bbr3 --seeds 20 --out c/",
            'fadeout sweep my.toml --set link.radio.delay="5 ms,20 ms" '
            '--set link.radio.rate="10..100:10 Mbit/s" --seeds 10 --out c/',
            'fadeout sweep my.toml --until "goodput_mbps 2 %" --seeds 100 --out c/',
            note=(
                "Repeat the command to run only the missing runs: after Ctrl-C, after a kill, or "
                "with more values."
            ),
        ),
    )(reports_errors(sweep))


def sweep(
    scenarios: ScenarioFiles,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="KEY=VALUES",
            help=(
                "Values of a key, separated by commas, or a range A..B or A..B:STEP with a unit. "
                "Every value is combined with every value of the other keys."
            ),
        ),
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            "--zip",
            metavar="KEY=VALUES",
            help="Values that change together with the values of every other --zip.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPRESSION",
            help="Leave out points, as in \"rate > 50 and congestion_control = 'vegas'\".",
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            help=(
                "Number of seeds of each point, or a list of seeds: 20, 3..7 or 1,5,9. With "
                "--until, the largest number."
            )
        ),
    ] = "5",
    until: Annotated[
        str | None,
        typer.Option(
            metavar='"METRIC WIDTH"',
            help='Run more seeds until the interval of a mean is this narrow: "goodput_mbps 2 %".',
        ),
    ] = None,
    metrics: Metrics = None,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="Table over time to keep of every run, such as throughput."),
    ] = None,
    congestion_controls: CongestionControls = None,
    handover_policies: HandoverPolicies = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=(
                "Folder of the campaign. Default: out/sweep-SCENARIO, with a number if it exists."
            ),
        ),
    ] = None,
    jobs: Jobs = None,
    cluster: ClusterFile = None,
    retry: Retry = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Run scenarios over lists of values and seeds, and print means with intervals."""
    from fadeout.campaign import Campaign
    from fadeout.campaign import spec as spec_module

    document: dict[str, Any] = {
        "scenario": [str(scenario_file(path)) for path in scenarios],
        "grid": _lists("--set", values),
        "zip": _lists("--zip", together),
        "exclude": exclude or [],
        "seeds": seeds if until is None else _until(until, seeds),
        "metrics": metrics,
        "tables": tables or [],
        "congestion-controls": _controls(congestion_controls),
        "handover-policies": _controls(handover_policies),
    }
    # A single value applies to every point, so it needs no column.
    document["set"] = {key: each[0] for key, each in document["grid"].items() if len(each) == 1}
    document["grid"] = {key: each for key, each in document["grid"].items() if len(each) > 1}
    spec = spec_module.read(document)
    campaign = Campaign(spec, folder or unused_folder(Path("out") / f"sweep-{scenarios[0].stem}"))
    run_campaign(campaign, jobs=jobs, cluster=cluster, retry=retry, yes=yes, quiet=quiet)


def _lists(option: str, given: list[str] | None) -> dict[str, Any]:
    lists: dict[str, Any] = {}
    for text in given or []:
        key, equals, values = text.partition("=")
        if not equals or not key.strip() or not values.strip():
            raise ScenarioError(
                f"{option} {text}: expected KEY=VALUES, as in flow.profile=linux,rfc"
            )
        if key.strip() in lists:
            raise ScenarioError(
                f"{option} {text}: {key.strip()} is given twice; separate values by commas"
            )
        lists[key.strip()] = parse_values(values)
    return lists


def _until(text: str, most: str) -> dict[str, Any]:
    metric, _, width = text.strip().partition(" ")
    if not width.strip() or not most.isdigit():
        raise ScenarioError(
            f'--until {text} --seeds {most}: expected --until "METRIC WIDTH" and the largest '
            'number of seeds, as in --until "goodput_mbps 2 %" --seeds 100'
        )
    return {"metric": metric, "half-width": width.strip(), "max": int(most)}


def _controls(given: list[str] | None) -> dict[str, str]:
    pairs = (text.partition("=") for text in given or [])
    return {name: place for name, _, place in pairs}
