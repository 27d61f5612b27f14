"""User-written classes, named on the command line."""

import traceback
from typing import Annotated

import typer

from fadeout._instances import OwnError
from fadeout.cli.console import err

CongestionControls = Annotated[
    list[str] | None,
    typer.Option(
        "--congestion-control",
        "-c",
        metavar="NAME=FILE.py:CLASS",
        help=(
            "Congestion control of your own, a class in a Python file, as in "
            "mine=my_control.py:Mine. Flows use it by its name: congestion-control = 'mine'. May "
            "be given several times."
        ),
    ),
]


HandoverPolicies = Annotated[
    list[str] | None,
    typer.Option(
        "--handover-policy",
        metavar="NAME=FILE.py:CLASS",
        help=(
            "Handover policy of your own, a class in a Python file, as in mine=my_policy.py:Mine. "
            "The scenario uses it by its name: [mobility-management] policy = 'mine'. May be "
            "given several times."
        ),
    ),
]


def print_cause(error: OwnError) -> None:
    """Prints the traceback of the user's method."""
    cause = error.__cause__
    if cause is not None:
        lines = traceback.format_exception(type(cause), cause, cause.__traceback__)
        err().print("".join(lines).rstrip(), markup=False, highlight=False)
