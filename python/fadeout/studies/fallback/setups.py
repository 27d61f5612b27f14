"""Setups of the study: remedies for a broken beam, senders, lengths of a blockage."""

from dataclasses import dataclass
from typing import Literal

from fadeout.study import Values

LENGTHS_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
CLEAR_S = 0.0
"""Length that stands for a run without blockages."""

BLOCKAGE = "cell.small.channel.blockage"
TCP = "flow.download.tcp"
CONTROL = "flow.download.congestion-control"
SPLIT = "ue.phone.split"
MANAGEMENT = "mobility-management"

VEHICLE = (
    '{ model = "passing", width = 4.8, height = 1.4, nearest = 0.5, farthest = 1, period = "5 s", '
    'phase = "fixed", first = "4 s" }'
)
"""The stated vehicle, in place of a total blockage."""

PAPERS_RATE = {
    "cell.small.radio.resource-blocks": "168",
    "ue.phone.rlc.buffer": '"5.3 MB"',
}
"""Overrides for a rate of 814 Mbit/s without blockages."""

Group = Literal["handover", "two legs", "notice", "Multipath TCP"]
GROUPS: tuple[Group, ...] = ("handover", "two legs", "notice", "Multipath TCP")


@dataclass(frozen=True)
class Remedy:
    """A measure of the network or of the sender against a broken beam."""

    name: str
    group: Group | None
    pairs: tuple[tuple[str, str], ...] = ()
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
    def values(self) -> Values:
        """Overrides of the scenario."""
        return dict(self.pairs)

    @property
    def without(self) -> tuple[str, ...]:
        """Tables of the scenario that the remedy does not use."""
        unused = () if self.has_handover else (MANAGEMENT,)
        if self.is_one_node:
            unused = (*unused, "link.s1-small", "link.x2")
        return unused if self.has_modem else (*unused, "ue.modem")


MACRO_OF_NR = {"cell.macro.radio": '{ kind = "nr" }'}
A3 = '[{ kind = "a3", time-to-trigger = "40 ms", filter = 0 }]'
CONDITIONAL = {
    f"{MANAGEMENT}.procedure": '"conditional"',
    f"{MANAGEMENT}.events": '[{ kind = "a4", threshold = "-110 dBm" }]',
    f"{MANAGEMENT}.conditions": A3,
}
SWITCHED = {
    "cell.small.node": '"macro"',
    f"{MANAGEMENT}.procedure": '"ltm"',
    f"{MANAGEMENT}.events": '[{ kind = "a4", threshold = "-110 dBm" }]',
    f"{MANAGEMENT}.switch-reports": "2",
    f"{MANAGEMENT}.early-synchronisation": '"both"',
}
EN_DC = {"ue.phone.cell": '"macro"', "ue.phone.pscell": '"small"'}


def _handover(name: str, values: Values, *, is_one_node: bool = False) -> Remedy:
    pairs = tuple(values.items())
    return Remedy(name, "handover", pairs, has_handover=True, is_one_node=is_one_node)


def _legs(name: str, split: str, more: Values | None = None) -> Remedy:
    # The study was published with `demand`: the faster leg gets all data that its node requests.
    values = {**EN_DC, SPLIT: f'{{ {split}, leg-choice = "demand" }}', **(more or {})}
    return Remedy(name, "two legs", tuple(values.items()))


def _notice(name: str, response: str) -> Remedy:
    told = '{ link = "phone", delay = "10 ms", prediction = "100 ms" }'
    values = {"flow.download.link-info": told, f"{TCP}.outage-response": f'"{response}"'}
    return Remedy(name, "notice", tuple(values.items()))


def _paths(
    name: str, scheduler: str, *, backup: bool = False, coupling: str | None = None
) -> Remedy:
    second = '["core", "s1-macro", "modem"]'
    if backup:
        second = f"{{ links = {second}, backup = true }}"
    coupled = f', coupling = "{coupling}"' if coupling else ""
    value = (
        f'{{ paths = [["core", "s1-small", "phone"], {second}], '
        f'path-scheduler = "{scheduler}"{coupled}, maximum-send-buffer = "64 MiB" }}'
    )
    return Remedy(
        name,
        "Multipath TCP",
        (("flow.download.multipath", value),),
        has_modem=True,
        is_coupled=coupling is not None,
    )


def switching(threshold: str) -> Remedy:
    """Returns EN-DC whose LTE leg is used while more than this waits at PDCP."""
    return _legs(
        f"switching at {threshold}",
        f'primary-path = "secondary", downlink-threshold = "{threshold}", '
        'ul-data-split-threshold = "100 B"',
    )


ON_BOTH = 'ul-data-split-threshold = "25600 B"'
PATIENT = {"ue.phone.pdcp": '{ name = "standard", t-reordering = "3 s" }'}

NOTHING = Remedy("nothing", None)
TOLD_RATES = '{ link = "phone", delay = "10 ms", prediction = "100 ms", rates = true }'
CONDITIONAL_HANDOVER = _handover("conditional handover to NR", {**MACRO_OF_NR, **CONDITIONAL})
DUPLICATION = _legs("duplication", f'{ON_BOTH}, duplication = "both"')
REMEDIES = (
    NOTHING,
    _handover("handover to LTE", {}),
    _handover("handover to NR", {**MACRO_OF_NR, f"{MANAGEMENT}.events": A3}),
    CONDITIONAL_HANDOVER,
    _handover(
        "conditional, early forwarding",
        {**MACRO_OF_NR, **CONDITIONAL, f"{MANAGEMENT}.early-forwarding": "true"},
    ),
    _handover("LTM to NR", {**MACRO_OF_NR, **SWITCHED}, is_one_node=True),
    switching("100 kB"),
    switching("500 kB"),
    switching("2 MB"),
    _legs("split", ON_BOTH),
    _legs("split, t-Reordering 3 s", ON_BOTH, PATIENT),
    DUPLICATION,
    _notice("Freeze-TCP", "freeze"),
    _notice("TCP-Feedback", "feedback"),
    Remedy(
        "conditional, X-TCP told rates",
        "notice",
        tuple({**MACRO_OF_NR, **CONDITIONAL, "flow.download.link-info": TOLD_RATES}.items()),
        has_handover=True,
        control="x-tcp",
    ),
    _paths("backup", "linux", backup=True),
    _paths("default", "linux"),
    _paths("lowest RTT", "lowest-rtt"),
    _paths("redundant", "redundant"),
    _paths("lowest RTT, LIA", "lowest-rtt", coupling="lia"),
)

WIDE_LENGTHS_S = (0.2, 0.5, 1.0)
"""Lengths of blockage that decide, which are also run with the paper's rate, seconds."""

THRESHOLDS_KB = (20, 50, 100, 200, 500, 1000, 2000)
"""Backlogs at PDCP from which EN-DC uses its LTE leg, kB."""

SWEPT_S = 1.0
"""Length of the blockages in the runs over thresholds, seconds."""

SENDERS = {"CUBIC": "cubic", "BBRv3": "bbr3"}
