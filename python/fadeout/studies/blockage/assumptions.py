"""Assumptions that the paper leaves open, as values of the scenario."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fadeout import study
from fadeout.study import Values


def round_trip(milliseconds: float) -> Values:
    """Returns overrides for a base round-trip time.

    The core has most of the delay. The radio link has 1 ms in each direction.
    """
    return {"link.core.delay": f"{milliseconds / 2 - 1:g} ms"}


def window(megabytes: float) -> Values:
    """Returns overrides for a fixed receive window."""
    return {"flow.tcp.receive-window": f"{round(1e6 * megabytes)}"}


ROUND_TRIPS = {f"{ms} ms": round_trip(ms) for ms in (20, 42, 100)}

BUFFERS = {size: {"link.radio.queue.limit": size} for size in ("10 ms", "50 ms", "200 ms")}

EFFECTS = {
    "held": {"blockage.vehicle.effect": "held"},
    "lost": {"blockage.vehicle.effect": "lost"},
}

STATED_REDUCTION = 0.2
"""Window after a loss as a share of the window before, as the paper states it: CUBIC reduces the
window "by about 80 %".
"""

LINUX_REDUCTION = 0.7
"""CUBIC's window after a loss in Linux and in RFC 9438. It is 0.8 in the paper on CUBIC of 2008."""

REDUCTIONS = (STATED_REDUCTION, 0.3, 0.4, 0.5, LINUX_REDUCTION, 0.8)


def reduction(share: float) -> Values:
    """Returns overrides for CUBIC's window after a loss, as a share of the window before."""
    if share == LINUX_REDUCTION:
        return {}
    return {"flow.congestion-control": f'{{ name = "cubic", beta = {share:g} }}'}


def length(seconds: float) -> Values:
    """Returns overrides for the length of a run."""
    return {"duration": f"{seconds:g} s"}


NO_UNDO = {"flow.tcp.undo": "false", "flow.tcp.frto": "false"}
FIXED_RTO = {"flow.tcp.rto-rule": "fixed", "flow.tcp.minimum-rto": "200 ms"}

LINUX = "Linux"
NO_GUARD = "no SACK (RFC 5681)"
GUARDED = "no SACK (RFC 6582, impatient)"
SLOW = "slow-but-steady"
SENDERS: dict[str, Values] = {
    LINUX: {},
    "Linux, no undo": NO_UNDO | FIXED_RTO,
    "SACK (RFC 6675)": {"flow.profile": "rfc"} | FIXED_RTO,
    GUARDED: {"flow.profile": "newreno"} | FIXED_RTO,
    "no SACK (RFC 6582, slow but steady)": {"flow.profile": "newreno"}
    | FIXED_RTO
    | {"flow.tcp.newreno-variant": SLOW},
    "no SACK (RFC 6582 as ns-3 compares)": {"flow.profile": "newreno"}
    | FIXED_RTO
    | {"flow.tcp.recover-guard": "from"},
    NO_GUARD: {"flow.profile": "reno"} | FIXED_RTO,
}
"""Senders, from Linux to the paper's, which takes duplicate ACKs after a timeout for a loss.

SACK recognises such ACKs. RFC 6582's `recover` does so if an ACK must cover more than `recover`. In
ns-3 an equal ACK suffices. All senders use CUBIC, and all except Linux's have the paper's timeout.
"""

GEOMETRY = {
    "blockage.vehicle.depth": "{ geometry = { "
    'blocker-width = "4.8 m", blocker-height = "1.4 m", blocker-distance = ["0.5 m", "1 m"] } }'
}
"""Depth of the blockage by diffraction around the stated vehicle."""


@dataclass(frozen=True)
class Candidate:
    """One choice for each assumption that the paper leaves open."""

    round_trip: str
    buffer: str
    effect: str
    stack: str
    """Name of the sender."""
    reduction: float
    """Window after a loss as a share of the window before."""
    length_s: float
    """Length of a run, seconds."""

    def values(self) -> Values:
        """Returns the overrides of the candidate."""
        return {
            **ROUND_TRIPS[self.round_trip],
            **BUFFERS[self.buffer],
            **EFFECTS[self.effect],
            **SENDERS[self.stack],
            **reduction(self.reduction),
            **length(self.length_s),
        }


def candidates(reductions: Sequence[float], lengths_s: Sequence[float]) -> Iterator[Candidate]:
    """Yields every point of the grid that is searched for the paper's numbers."""
    axes = (ROUND_TRIPS, BUFFERS, EFFECTS, SENDERS, reductions, lengths_s)
    for point in itertools.product(*axes):
        yield Candidate(*point)


LINK_DEPTH = ""
"""Name of the single depth of a link's blockages."""


@dataclass(frozen=True)
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario."""

    depths: tuple[str, ...] = (LINK_DEPTH,)
    """Depths of the blockage at which the assumption can matter."""


CHANGES = (
    Change("minimum RTO", "300 ms", {"flow.tcp.minimum-rto": "300 ms"}),
    Change("RTO rule", "RFC 6298, at least 200 ms", {"flow.tcp.rto-rule": "rfc6298"}),
    Change("RTO rule", "always 200 ms", FIXED_RTO),
    Change("undo and F-RTO", "off", NO_UNDO),
    Change("packets while blocked", "lost", EFFECTS["lost"]),
    Change("buffer", "10 ms", BUFFERS["10 ms"]),
    Change("buffer", "200 ms", BUFFERS["200 ms"]),
    Change("round trip", "20 ms", ROUND_TRIPS["20 ms"]),
    Change("round trip", "100 ms", ROUND_TRIPS["100 ms"]),
    Change("depth", "the vehicle's geometry", GEOMETRY),
    Change("depth", "20 dB", {"blockage.vehicle.depth": '{ loss = "20 dB" }'}),
    Change("CUBIC's window after a loss", "20 %", reduction(STATED_REDUCTION)),
    Change("CUBIC's window after a loss", "80 %", reduction(0.8)),
    Change("receive window", "Linux's default, 3 MiB", {"flow.tcp": "{}"}),
)  # fmt: skip
"""Changes in the table that varies one assumption at a time."""
