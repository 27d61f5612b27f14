"""A policy of handover of your own, as a class.

    from fadeout import HandoverPolicy, run

    class Emptiest(HandoverPolicy):
        def __init__(self, margin_db=3.0):
            self.margin_db = margin_db

        def on_report(self, report):
            least = report.serving_dbm + self.margin_db
            good = [cell for cell, dbm in report.cells.items() if dbm > least]
            return min(good, key=report.loads.get, default=None)

    run("my.toml", handover_policies={"emptiest": Emptiest})

A scenario whose [mobility-management] has `policy = "emptiest"` then runs it, with one instance for
the whole network. `policy = { name = "emptiest", margin-db = 2 }` calls `Emptiest(margin_db=2)`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fadeout._instances import Maker, OwnError, OwnKind
from fadeout._native import HandoverEnd, MeasurementReport

__all__ = ["HandoverEnd", "HandoverPolicy", "HandoverPolicyError", "MeasurementReport"]


class HandoverPolicy:
    """Base of a policy of handover. Inheriting is optional; the methods' names are what counts.

    UEs report as `events` of the scenario says. The class decides to which cell a UE goes; what
    follows, and whether it goes well, is the network's part.
    """

    def on_report(self, report: MeasurementReport) -> str | None:
        """Choose the cell that the UE is to go to, by its name, or None to let it stay. Required.

        It is called for each report that arrives while no change of cell of the UE is under way.
        """
        raise NotImplementedError

    def on_handover(self, handover: HandoverEnd) -> None:
        """A change of cell has ended, well or not; also one after a failure."""


class HandoverPolicyError(OwnError):
    """A method of a policy of your own raised, which ended the run.

    Its own exception, with the traceback, is `__cause__`. `results` has what was recorded until
    then.
    """


KIND = OwnKind(
    "handover-policy",
    "handover_policies",
    HandoverPolicy,
    ("on_report",),
    ("on_handover",),
    lambda _name, _label, _instance: {},
)


def makers(given: Mapping[str, Callable[..., Any]] | None) -> dict[str, Maker]:
    """What makes the instances of each class, after the names and the classes were checked."""
    return KIND.makers(given)
