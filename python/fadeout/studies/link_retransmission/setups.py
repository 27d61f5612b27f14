"""Setups of the study: distances, retransmissions of the link, and open assumptions."""

from dataclasses import dataclass, field

from fadeout.study import Change, Values

DISTANCES_M = (50, 75, 100, 150)
SIZES_MB = (1, 2, 5, 10)
SPEED_MPS = 2
"""Walking speed in m/s, as in the scenario."""


@dataclass(frozen=True)
class Mode:
    """Retransmissions that the link uses."""

    name: str
    values: Values = field(default_factory=dict, hash=False)


NONE = Mode("none", {"cell.small-cell.radio.harq-transmissions": "1", "ue.phone.rlc.mode": "um"})
HARQ = Mode("HARQ", {"ue.phone.rlc.mode": "um"})
BOTH = Mode("HARQ + RLC AM")
MODES = (NONE, HARQ, BOTH)


PDCP_AT_ONCE = '{ name = "standard", delivery = "out-of-order" }'
"""PDCP that delivers packets at once, without waiting for older ones."""

BASE = Change.nothing()

CHANGES = (
    Change("path loss", "UMi", {"cell.small-cell.channel.path-loss": "umi"}),
    Change("transmit power", "20 dBm", {"cell.small-cell.tx-power": "20 dBm"}),
    Change("core", "10 ms one way", {"link.core.delay": "10 ms"}),
    Change("buffer", "2 MB", {"ue.phone.rlc.buffer": "2 MB"}),
    Change("PDCP", "delivers at once", {"ue.phone.pdcp": PDCP_AT_ONCE}),
    Change("walking", "at rest", {"ue.phone.mobility.y-speed": "0"}),
    Change("block errors aimed at", "1 %", {"cell.small-cell.radio.target-bler": "0.01"}),
    Change(
        "fading",
        "TDL-A, 100 ns",
        {
            "cell.small-cell.channel.fading": "tdl-a",
            "cell.small-cell.channel.delay-spread": "100 ns",
        },
    ),
    Change(
        "elements",
        "5 dBi, as large as their cells",
        {
            "cell.small-cell.antenna.element": "aperture",
            "cell.small-cell.channel.ue-antenna.element": "aperture",
        },
    ),
    Change(
        "fading and beams",
        "through clusters",
        {"cell.small-cell.channel.fading": "clusters", "cell.small-cell.channel.k-factor": "drawn"},
    ),
    Change(
        "channel",
        "as fadeout has it by default",
        {
            "cell.small-cell.channel.fading": "clusters",
            "cell.small-cell.channel.k-factor": "drawn",
            "cell.small-cell.antenna.element": "aperture",
            "cell.small-cell.channel.ue-antenna.element": "aperture",
        },
    ),
)
"""Changes in the table that varies one assumption at a time."""


def place(distance_m: float, length_s: float) -> Values:
    """Returns a start from which the walk passes the point at `distance_m` half-way."""
    return {"ue.phone.position": f'["{distance_m:g} m", "{-SPEED_MPS * length_s / 2:g} m"]'}


def seen(sight: str) -> Values:
    """Returns overrides for places with or without line of sight."""
    return {"cell.small-cell.channel.line-of-sight": sight}
