"""User-written handover policies, as classes.

    from fadeout import HandoverPolicy, run

    class Emptiest(HandoverPolicy):
        def __init__(self, margin_db=3.0):
            self.margin_db = margin_db

        def on_report(self, report):
            least = report.serving_dbm + self.margin_db
            good = [cell for cell, dbm in report.cells.items() if dbm > least]
            return min(good, key=report.loads.get, default=None)

    run("my.toml", handover_policies={"emptiest": Emptiest})

A scenario whose [mobility-management] has `policy = "emptiest"` runs it, with one instance for
the whole network. `policy = { name = "emptiest", margin-db = 2 }` calls `Emptiest(margin_db=2)`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fadeout._instances import Maker, OwnError, OwnKind
from fadeout._native import HandoverEnd, MeasurementReport

__all__ = ["HandoverEnd", "HandoverPolicy", "HandoverPolicyError", "MeasurementReport"]


class HandoverPolicy:
    """Base class of a handover policy. Inheriting is optional, as only the methods' names count.

    UEs report according to the `events` of the scenario. The class chooses the target cell of a UE.
    The network then performs the handover, which may fail.
    """

    def on_report(self, report: MeasurementReport) -> str | None:
        """Returns the name of the target cell, or None to keep the UE in its cell. Required.

        The network calls this method for each report that arrives while no change of cell of the UE
        is in progress.
        """
        raise NotImplementedError

    def on_handover(self, handover: HandoverEnd) -> None:
        """Process the end of a change of cell, with success or without, also of one after a
        failure.
        """


class HandoverPolicyError(OwnError):
    """A method of a user-written handover policy raised an exception, which ended the run.

    The exception, with its traceback, is `__cause__`. `results` has the results until then.
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
    """Returns the functions that make the instances of each class, after checks of names and
    classes.
    """
    return KIND.makers(given)
