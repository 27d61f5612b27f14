"""The paper's settings and numbers, and its open assumptions."""

from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.study import Values, published

PUBLISHED = published(Path(__file__).parent)
SATURATION_MBPS: float = PUBLISHED["setup"]["stated"]["saturation_mbps"]
THRESHOLD_MBPS: float = SATURATION_MBPS * PUBLISHED["setup"]["stated"]["threshold"]


@dataclass(frozen=True)
class Setting:
    """A row of the paper's tables: transmission time interval, and period of scheduling
    requests.
    """

    tti_ms: float
    period_tti: int

    @property
    def name(self) -> str:
        """Name of the setting in tables."""
        return f"{self.tti_ms:g} ms, {self.period_tti} TTI"

    def values(self) -> Values:
        """Returns the overrides of the setting."""
        return {
            "cell.cell.radio.tti": f"{self.tti_ms:g} ms",
            "cell.cell.radio.sr-period": str(self.period_tti),
        }

    def published(self, table: str) -> dict[str, float]:
        """Returns the setting's row of the paper's `table`."""
        return next(
            row
            for row in PUBLISHED[table]
            if (row["tti_ms"], row["sr_tti"]) == (self.tti_ms, self.period_tti)
        )


SETTINGS = tuple(Setting(row["tti_ms"], row["sr_tti"]) for row in PUBLISHED["table1"])


MSS = "flow.download.tcp.mss"

SEGMENT_BYTES = 1460
"""Size of TCP's segments in the scenario."""


@dataclass(frozen=True)
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario."""

    round_trip_ms: float = 2.0
    """Round trip of the core network without the seed's part, ms."""

    @property
    def bler(self) -> float:
        """Error rate of first transmissions, which affects the radio's rate for 21 Mbit/s."""
        return float(self.values.get("cell.cell.radio.bler", "0"))

    @property
    def segment_bytes(self) -> int:
        """Size of TCP's segments, which affects the share of headers in the radio's rate."""
        return int(self.values.get(MSS, SEGMENT_BYTES))


BASE = Change.nothing()


RARE_REPORTS = {"ue.phone.rlc.t-status-prohibit": "60 ms"}
"""Override for LTE's usual t-StatusProhibit."""

FIRST_GRANT = "cell.cell.radio.first-grant"
UPLINK_RATE = "cell.cell.radio.uplink-rate"

CHANGES = (
    *(
        Change.of(
            "initial window", f"{window} segments", "flow.download.tcp.initial-window", window
        )
        for window in ("2", "4", "10")
    ),
    # RFC 5681 allows an initial window of four segments of at most 1,095 bytes.
    Change(
        "segments",
        "1,000 B, 4 in the initial window",
        {MSS: "1000", "flow.download.tcp.initial-window": "4"},
    ),
    # The threshold is in segments, of which 22 are 32 kB.
    Change.of("initial ssthresh", "32 kB", "flow.download.tcp.initial-ssthresh", "22"),
    *(
        Change("core round trip", f"{round_trip:g} ms", round_trip_ms=round_trip)
        for round_trip in (0.0, 1.0, 4.0)
    ),
    Change(
        "core jitter",
        "1 ms each way",
        {
            "link.core.delay": "0.5 ms",
            "link.core.jitter": "1 ms",
            "link.core.reverse.jitter": "1 ms",
        },
    ),
    Change.of("delayed ACKs", "none", "flow.download.tcp.ack-rule", "every-segment"),
    Change.of("receive window", "65,535 B", "flow.download.tcp.receive-window", "65535"),
    Change.of("errors", "10 %", "cell.cell.radio.bler", "0.1"),
    Change.of("RLC", "unacknowledged", "ue.phone.rlc", '{ mode = "um", buffer = "32 MB" }'),
    Change("RLC status reports", "60 ms apart", RARE_REPORTS),
    *(
        Change.of("first uplink grant", f"{size} B", FIRST_GRANT, size)
        for size in ("64", "128", "1000")
    ),
    *(Change.of("uplink", f"{rate} Mbit/s", UPLINK_RATE, f"{rate}e6") for rate in ("2", "5", "10")),
    Change(
        "uplink",
        "5 Mbit/s, first grant of 64 B",
        {UPLINK_RATE: "5e6", FIRST_GRANT: "64"},
    ),
)
