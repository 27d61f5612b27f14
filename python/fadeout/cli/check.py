"""`fadeout check`: find mistakes in scenarios."""

import typer

import fadeout
from fadeout._own import POLICY_OPTION, load_classes
from fadeout.cli.congestion import CongestionControls, HandoverPolicies
from fadeout.cli.console import out
from fadeout.cli.errors import MISTAKE, print_scenario_error, reports_errors
from fadeout.cli.options import Overrides, ScenarioFiles, examples, scenario_file


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "check",
        epilog=examples(
            "fadeout check my.toml other.toml",
            note="The exit status is 2 if a scenario has a mistake.",
        ),
    )(reports_errors(check))


def check(
    scenarios: ScenarioFiles,
    overrides: Overrides = None,
    congestion_controls: CongestionControls = None,
    handover_policies: HandoverPolicies = None,
) -> None:
    """Check scenarios without running them.

    Every mistake is shown with file, line and column, the expected value, and the nearest name.
    """
    classes = load_classes(congestion_controls)
    policies = load_classes(handover_policies, POLICY_OPTION)
    is_wrong = False
    for scenario in scenarios:
        try:
            fadeout.check(
                scenario_file(scenario),
                set=overrides or [],
                congestion_controls=classes,
                handover_policies=policies,
            )
        except fadeout.ScenarioError as error:
            is_wrong = True
            print_scenario_error(error)
        else:
            out().print(f"{scenario}: ok", markup=False, highlight=False)
    if is_wrong:
        raise typer.Exit(MISTAKE)
