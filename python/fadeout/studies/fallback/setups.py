"""Setups of the study: remedies for a broken beam, senders, lengths of a blockage."""

from dataclasses import dataclass
from pathlib import Path

from fadeout.study import Choice, Data, Page

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)

CLEAR_S = 0.0
"""Length that stands for a run without blockages."""

BLOCKAGE = "cell.small.channel.blockage"
CONTROL = "flow.download.congestion-control"
SPLIT = "ue.phone.split"
MANAGEMENT = "mobility-management"

MACRO_OF_NR = DATA.values["nr"]

GROUPS = ("handover", "two legs", "notice", "Multipath TCP")


@dataclass(frozen=True)
class Points:
    """Points of the smaller tables."""

    wide_lengths_s: tuple[float, ...]
    thresholds_kb: tuple[int, ...]
    swept_s: float


@dataclass(frozen=True)
class Remedy(Choice):
    """A measure of the network or of the sender against a broken beam."""

    group: str | None = None
    has_handover: bool = False
    has_modem: bool = False
    is_coupled: bool = False
    """True if one coupled congestion control governs all paths, in place of the sender's."""
    control: str | None = None
    """Congestion control of the remedy, in place of the sender's. None for the sender's."""
    is_one_node: bool = False
    """True if both cells belong to the base station of the macro cell."""

    @property
    def has_own_sender(self) -> bool:
        """True if the remedy does not depend on the sender."""
        return self.is_coupled or self.control is not None

    @property
    def unused(self) -> tuple[str, ...]:
        """Tables of the scenario that the remedy does not use."""
        moves = self.has_handover or self.group == "handover"
        unused = () if moves else (MANAGEMENT,)
        if self.is_one_node:
            unused = (*unused, "link.s1-small", "link.x2")
        return unused if self.has_modem else (*unused, "ue.modem")


def switching(threshold: str) -> Remedy:
    """Returns EN-DC whose LTE leg is used while more than this waits at PDCP."""
    split = (
        f'{{ primary-path = "secondary", downlink-threshold = "{threshold}", '
        'ul-data-split-threshold = "100 B", leg-choice = "demand" }'
    )
    values = {**DATA.values["en-dc"], SPLIT: split}
    return Remedy(f"switching at {threshold}", values, "two legs")


POINTS = DATA.one("points", Points)
REMEDIES = DATA.all("remedy", Remedy)
NOTHING = REMEDIES[0]

SENDERS = {"CUBIC": "cubic", "BBRv3": "bbr3"}

PAGE = Page.read(FOLDER, {"remedies": len(REMEDIES) - 1})
