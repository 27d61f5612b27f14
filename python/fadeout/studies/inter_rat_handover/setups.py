"""The paper's settings and numbers, and its open assumptions."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from fadeout.study import Change, Values, published, spread

PUBLISHED = published(Path(__file__).parent)

STOP_S: float = PUBLISHED["setup"]["stated"]["dl_stop_s"]
"""Time at which the source stops sending, seconds."""
SEGMENT_BYTES = 1500

FAST_MBPS = 155.0

STATED_STARTS_MS = (10.0, 50.0)
"""Starts of bicasting that the paper states, ms before the command."""


@dataclass(frozen=True)
class Setting:
    """A handover: rates before and after in Mbit/s, round trip, S1's rate, and scheme for data."""

    before: float
    after: float
    rtt_ms: float
    is_fast: bool
    """True if S1 has 155 Mbit/s. False for the rate of the radio."""
    scheme: str
    bicast_ms: float = 10.0
    """Time from the start of bicasting to the command, ms."""
    extra: tuple[tuple[str, str], ...] = field(default=())

    @property
    def name(self) -> str:
        """Name of the setting in tables."""
        return f"{self.before:g} to {self.after:g} Mbit/s, {self.rtt_ms:g} ms"

    def changed(self, values: Values) -> "Setting":
        """Returns the setting with other overrides."""
        return replace(self, extra=tuple({**dict(self.extra), **values}.items()))

    def values(self, seed: int) -> Values:
        """Returns the overrides of the setting.

        The seed moves the command by a part of a segment's transmission time, so that it meets
        every phase of the link's transmissions.
        """
        segment_s = SEGMENT_BYTES * 8 / (self.before * 1e6)
        at_s = STOP_S + spread(seed) * segment_s
        wires = {
            # This rate applies above the anchor, for reasons in README.md.
            "link.internet.rate": FAST_MBPS if self.is_fast else self.before,
            "link.s1.rate": FAST_MBPS if self.is_fast else self.before,
            "link.iu.rate": FAST_MBPS if self.is_fast else self.after,
            "link.lte.rate": self.before,
            "link.lte.reverse.rate": self.before,
            "link.umts.rate": self.after,
            "link.umts.reverse.rate": self.after,
        }
        values = {key: f"{rate * 1e6:.0f} bit/s" for key, rate in wires.items()}
        values["link.internet.delay"] = f"{self.rtt_ms / 2:g} ms"
        values["handover.to-umts.at"] = f"{at_s:.9f} s"
        values["handover.to-umts.data"] = self.scheme
        if self.scheme == "bicasting":
            values["handover.to-umts.bicast-before"] = f"{self.bicast_ms:g} ms"
        return {**values, **dict(self.extra)}


@dataclass(frozen=True)
class Row:
    """A row of figure 4 or 5, with four cells of retransmissions and time, by scheme and S1."""

    figure: str
    before: float
    after: float
    rtt_ms: float
    cells: dict[tuple[bool, str], tuple[float, float]]

    def setting(self, is_fast: bool, scheme: str) -> Setting:
        """Returns the setting of a cell."""
        return Setting(self.before, self.after, self.rtt_ms, is_fast, scheme)


def _rows(figure: str) -> list[Row]:
    columns = {
        "same_fwd": (False, "forwarding"),
        "same_bicast": (False, "bicasting"),
        "fast_fwd": (True, "forwarding"),
        "fast_bicast": (True, "bicasting"),
    }
    return [
        Row(
            figure,
            row.get("from_mbps", row.get("rate_mbps")),
            row.get("to_mbps", row.get("rate_mbps")),
            row["rtt_ms"],
            {cell: (row[name][0], row[name][1]) for name, cell in columns.items()},
        )
        for row in PUBLISHED[figure]
    ]


ROWS = (*_rows("figure4"), *_rows("figure5"))

FIRST = ROWS[0]

CELLS = ((False, "forwarding"), (False, "bicasting"), (True, "forwarding"), (True, "bicasting"))
"""Columns of the figures: fast S1 or not, and the scheme."""
HEADS = {
    (is_fast, scheme): f"S1 {'155' if is_fast else 'as radio'}, {scheme}"
    for is_fast, scheme in CELLS
}


def column(cell: tuple[bool, str]) -> str:
    """Returns the name of a cell in data files."""
    is_fast, scheme = cell
    return f"{'fast' if is_fast else 'same'}_{scheme}"


BASE = Change.nothing()
TCP = "flow.download.tcp"


CHANGES = (
    *(
        Change.of("delayed ACKs", value, f"{TCP}.delayed-ack", value)
        for value in ("40 ms", "100 ms", "500 ms")
    ),
    Change.of("ACKs", "each segment", f"{TCP}.ack-rule", "every-segment"),
    Change.of("ACKs of gaps", "delayed", f"{TCP}.ack-rule", "every-second-in-gaps"),
    *(Change.of("MSS", f"{mss} B", f"{TCP}.mss", mss) for mss in ("536", "1400")),
    *(
        Change.of("smallest timeout", value, f"{TCP}.minimum-rto", value)
        for value in ("500 ms", "1 s")
    ),
    *(
        Change.of("forwarding delay", value, "link.forwarding.delay", value)
        for value in ("5 ms", "50 ms")
    ),
    Change("delay of S1 and Iu", "5 ms", {"link.s1.delay": "5 ms", "link.iu.delay": "5 ms"}),
    Change(
        "queue with S1 at the radio's rate",
        "behind the anchor",
        {"link.internet.rate": "155 Mbit/s"},
    ),
    *(
        Change.of("path switch after the command", value, "handover.to-umts.path-switch", value)
        for value in ("0 ms", "50 ms", "200 ms")
    ),
    Change.of("queues at the target", "one", "handover.to-umts.target-order", "arrival"),
    Change.of("buffer at the target", "10 packets", "link.umts.queue.limit", "10 packets"),
    Change.of("buffer at the source", "20 packets", "link.lte.queue.limit", "20 packets"),
)
"""Changes of one assumption at a time. Those without effect on forwarding show no change."""

STACKS: dict[str, Values] = {
    "RFC 6675 (SACK)": {},
    "RFC 6582, impatient": {"flow.download.profile": "newreno", f"{TCP}.initial-window": "3"},
    "RFC 6582, slow but steady": {
        "flow.download.profile": "newreno",
        f"{TCP}.newreno-variant": "slow-but-steady",
    },
    "the same, gaps acknowledged late": {
        "flow.download.profile": "newreno",
        f"{TCP}.newreno-variant": "slow-but-steady",
        f"{TCP}.ack-rule": "every-second-in-gaps",
    },
    "RFC 6675, gaps acknowledged late": {f"{TCP}.ack-rule": "every-second-in-gaps"},
    "RFC 5681 (Reno)": {"flow.download.profile": "reno"},
    "Tahoe": {"flow.download.profile": "tahoe"},
    "Linux 6.12, Reno": {
        "flow.download.profile": "linux",
        "flow.download.congestion-control": "reno",
    },
    "Linux 6.12, CUBIC": {
        "flow.download.profile": "linux",
        "flow.download.congestion-control": "cubic",
    },
}
"""TCP stacks that the paper may have used."""
