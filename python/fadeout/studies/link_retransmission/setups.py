"""Setups of the study: distances, retransmissions of the link, and open assumptions."""

from pathlib import Path

from fadeout.study import Change, Choice, Data, Page, Values, claims_of, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

DISTANCES_M = (50, 75, 100, 150)
SIZES_MB = (1, 2, 5, 10)
SPEED_MPS = 2
"""Walking speed in m/s, as in the scenario."""

Mode = Choice
"""Retransmissions that the link uses."""

MODES = DATA.all("mode", Mode)
NONE, HARQ, BOTH = MODES

BASE = Change.nothing()
CHANGES = DATA.all("change", Change)
UPLINK_CHANGES = DATA.all("uplink-change", Change)


def place(distance_m: float, length_s: float) -> Values:
    """Returns a start from which the walk passes the point at `distance_m` half-way."""
    return {"ue.phone.position": f'["{distance_m:g} m", "{-SPEED_MPS * length_s / 2:g} m"]'}


def seen(sight: str) -> Values:
    """Returns overrides for places with or without line of sight."""
    return {"cell.small-cell.channel.line-of-sight": sight}
