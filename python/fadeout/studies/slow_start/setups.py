"""The paper's settings and numbers, and its open assumptions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fadeout import study
from fadeout.study import Data, Page, Tolerance, Values, claims_of, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PUBLISHED = published(FOLDER)
PAGE = Page.read(FOLDER, PUBLISHED)
CLAIMS = claims_of(PUBLISHED)

SATURATION_MBPS: float = PUBLISHED["setup"]["stated"]["saturation_mbps"]
THRESHOLD_MBPS: float = SATURATION_MBPS * PUBLISHED["setup"]["stated"]["threshold"]
SEGMENT_BYTES = 1460
"""Size of TCP's segments in the scenario."""

BLER = "cell.cell.radio.bler"
MSS = "flow.download.tcp.mss"


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

    def data(self) -> dict[str, float]:
        """Returns the columns of a data file that identify the setting."""
        return {"tti_ms": self.tti_ms, "sr_tti": self.period_tti}

    def values(self) -> Values:
        """Returns the overrides of the setting."""
        return {
            "cell.cell.radio.tti": f"{self.tti_ms:g} ms",
            "cell.cell.radio.sr-period": str(self.period_tti),
        }

    def published(self, table: str) -> dict[str, Any]:
        """Returns the setting's row of the paper's `table`."""
        return next(
            row
            for row in PUBLISHED[table]
            if (row["tti_ms"], row["sr_tti"]) == (self.tti_ms, self.period_tti)
        )


SETTINGS = tuple(Setting(row["tti_ms"], row["sr_tti"]) for row in PUBLISHED["table1"])


@dataclass(frozen=True)
class Change(study.Change):
    """A change of one assumption. Everything else is as in the scenario."""

    round_trip_ms: float = 2.0
    """Round trip of the core network without the seed's part, ms."""

    @property
    def bler(self) -> float:
        """Error rate of first transmissions, which affects the radio's rate for 21 Mbit/s."""
        return float(self.values.get(BLER, "0"))

    @property
    def segment_bytes(self) -> int:
        """Size of TCP's segments, which affects the share of headers in the radio's rate."""
        return int(self.values.get(MSS, SEGMENT_BYTES))


@dataclass(frozen=True)
class Conclusion:
    """A ratio in the paper's text, between two cells of a column."""

    value: str
    """Name of the ratio in `published.toml`."""
    column: str
    over: str
    """Name of the setting of the numerator."""
    under: str


CHANGES = DATA.all("change", Change)
BASE = CHANGES[0]
CONCLUSIONS = DATA.all("conclusion", Conclusion)
TOLERANCES = {name: Tolerance(**rule) for name, rule in PUBLISHED["tolerance"].items()}
"""Tolerances of the columns of Table 1."""
