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

PATH_LOSS = "cell.small-cell.channel.path-loss"
APERTURE = {
    "cell.small-cell.antenna.element": "aperture",
    "cell.small-cell.channel.ue-antenna.element": "aperture",
}
CLUSTERS = {
    "cell.small-cell.channel.fading": "clusters",
    "cell.small-cell.channel.k-factor": "drawn",
}
TDL_A = {
    "cell.small-cell.channel.fading": "tdl-a",
    "cell.small-cell.channel.delay-spread": "100 ns",
}


def _close_in(exponent: float) -> str:
    return f'{{ model = "close-in", nlos-exponent = {exponent:g} }}'


CHANGES = (
    Change.of("path loss", "UMi", PATH_LOSS, "umi"),
    Change.of("path loss", "UMa", PATH_LOSS, "uma"),
    Change.of("path loss", "NLOS exponent 3.19 (close-in)", PATH_LOSS, _close_in(3.19)),
    Change.of("path loss", "NLOS exponent 3.7 (close-in)", PATH_LOSS, _close_in(3.7)),
    Change.of("transmit power", "20 dBm", "cell.small-cell.tx-power", "20 dBm"),
    Change.of("noise figure of the UE", "5 dB", "ue.phone.noise-figure", "5 dB"),
    Change.of("noise figure of the UE", "13 dB", "ue.phone.noise-figure", "13 dB"),
    Change.of("body loss", "10 dB", "ue.phone.penetration", "10 dB"),
    Change.of("power of the UE", "13 dBm", "ue.phone.tx-power", "13 dBm"),
    Change(
        "bandwidth",
        "400 MHz",
        {"cell.small-cell.bandwidth": "400 MHz", "cell.small-cell.radio.resource-blocks": "264"},
    ),
    Change("direction", "uplink", {"flow.download.from": "phone", "flow.download.to": "server"}),
    Change.of("core", "10 ms one way", "link.core.delay", "10 ms"),
    Change.of("buffer", "2 MB", "ue.phone.rlc.buffer", "2 MB"),
    Change.of("PDCP", "delivers at once", "ue.phone.pdcp", PDCP_AT_ONCE),
    Change.of("walking", "at rest", "ue.phone.mobility.y-speed", "0"),
    Change.of("block errors aimed at", "1 %", "cell.small-cell.radio.target-bler", "0.01"),
    Change("fading", "TDL-A, 100 ns", TDL_A),
    Change("elements", "5 dBi, as large as their cells", APERTURE),
    Change("fading and beams", "through clusters", CLUSTERS),
    Change("channel", "as fadeout has it by default", CLUSTERS | APERTURE),
)
"""Changes in the table that varies one assumption at a time."""

UPLINK_CHANGES = (
    Change.of("path loss", "UMi", PATH_LOSS, "umi"),
    Change.of("path loss", "NYU", PATH_LOSS, "nyu-28"),
    Change.of("line of sight", "none on the whole walk", "cell.small-cell.channel.line-of-sight",
              "obstructed"),
    Change.of("power of the UE", "13 dBm", "ue.phone.tx-power", "13 dBm"),
    Change.of("noise figure of the cell", "10 dB", "cell.small-cell.noise-figure", "10 dB"),
    Change.of("body loss", "10 dB", "ue.phone.penetration", "10 dB"),
    Change.of("antennas of the UE", "isotropic", "cell.small-cell.channel.ue-antenna",
              "isotropic"),
    Change("fading and beams", "through clusters", CLUSTERS),
)  # fmt: skip
"""Changes of the uplink past a building, one at a time."""


def place(distance_m: float, length_s: float) -> Values:
    """Returns a start from which the walk passes the point at `distance_m` half-way."""
    return {"ue.phone.position": f'["{distance_m:g} m", "{-SPEED_MPS * length_s / 2:g} m"]'}


def seen(sight: str) -> Values:
    """Returns overrides for places with or without line of sight."""
    return {"cell.small-cell.channel.line-of-sight": sight}
