"""Assumptions of the full stack, as values of its scenario."""

from dataclasses import dataclass

from fadeout.studies.blockage.assumptions import FIXED_RTO, NO_UNDO, Change
from fadeout.studies.blockage.runs import CELL_BLOCKAGE
from fadeout.study import Values

RADIO = "cell.base-station.radio"
CHANNEL = "cell.base-station.channel"
POWER = "cell.base-station.tx-power"
ANTENNA = "cell.base-station.antenna"
UE_ANTENNA = f"{CHANNEL}.ue-antenna"

TOTAL_DB = 300
"""Loss of a total blockage, dB."""


def blocked_by(loss_db: float) -> Values:
    """Returns overrides for a blockage of this loss in place of the vehicle. It has
    sudden edges.
    """
    return {
        CELL_BLOCKAGE: '{ model = "periodic", period = "5 s", phase = "random", '
        f"loss = {loss_db:g} }}"
    }


VEHICLE = "vehicle"
NOTHING_PASSES = "nothing passes"
DEPTHS: dict[str, Values] = {VEHICLE: {}, NOTHING_PASSES: blocked_by(TOTAL_DB)}
"""Depths of a blockage: that of the vehicle by model B, and a total blockage."""


def beams(base_deg: float, ue_deg: float) -> dict[str, str]:
    """Returns overrides for beams of these widths, in azimuth and elevation."""
    return {
        f"{ANTENNA}.width": f"{base_deg:g}",
        f"{ANTENNA}.height": f"{base_deg:g}",
        f"{UE_ANTENNA}.width": f"{ue_deg:g}",
        f"{UE_ANTENNA}.height": f"{ue_deg:g}",
    }


def failure_at(loss_db: float) -> dict[str, str]:
    """Returns overrides for beams that fail above this loss."""
    return {f"{CHANNEL}.beam-failure-threshold": f"{loss_db:g} dB"}


def row_of(elements: int, azimuth_deg: int) -> str:
    """Returns an antenna with a row of elements of 8 dBi."""
    return (
        f'{{ kind = "array", rows = 1, columns = {elements}, element = "tr38901", '
        f"azimuth = {azimuth_deg} }}"
    )


def pdcp(timer: str) -> Values:
    """Returns overrides for PDCP with another timer."""
    return {"ue.phone.pdcp": f'{{ name = "standard", {timer} }}'}


@dataclass(frozen=True)
class CellChange(Change):
    """A change of one assumption. Everything else is as in the cell's scenario."""

    depths: tuple[str, ...] = (VEHICLE, NOTHING_PASSES)


CELL_CHANGES = (
    CellChange("RLC mode", "UM (HARQ only)", {"ue.phone.rlc.mode": "um"}),
    CellChange(
        "RLC mode and HARQ",
        "UM, none (no repetition)",
        {"ue.phone.rlc.mode": "um", f"{RADIO}.harq-transmissions": "1"},
    ),
    CellChange("HARQ", "off (RLC AM only)", {f"{RADIO}.harq-transmissions": "1"}),
    CellChange("RLC buffer", "2 MB, the default", {"ue.phone.rlc.buffer": "2 MB"}),
    CellChange("RLC buffer", "21 MB (200 ms)", {"ue.phone.rlc.buffer": "21 MB"}),
    CellChange("beam failure", "declared at 10 dB", failure_at(10), (VEHICLE,)),
    CellChange(
        "beam failure",
        "at 10 dB, to a reflection of 15 dB",
        failure_at(10) | {f"{CHANNEL}.reflected-path": "15 dB"},
    ),
    CellChange(
        "beam recovery", "100 ms", {f"{CHANNEL}.beam-recovery-delay": "100 ms"}, (NOTHING_PASSES,)
    ),
    CellChange(
        "out of range",
        "looked at every 5 ms",
        {f"{RADIO}.recheck-period": "5 ms"},
        (NOTHING_PASSES,),
    ),
    CellChange("transmit power", "10 dBm", {POWER: "10 dBm"} | failure_at(36)),
    CellChange("transmit power", "0 dBm", {POWER: "0 dBm"} | failure_at(26)),
    CellChange("beams", "6 and 15 degrees", beams(6, 15) | failure_at(58)),
    CellChange("beams", "24 and 60 degrees", beams(24, 60) | failure_at(34)),
    CellChange(
        "beams",
        "rows of 8 and 4 elements",
        {
            ANTENNA: row_of(8, 0),
            UE_ANTENNA: row_of(4, 180),
        }
        | failure_at(37),
    ),
    CellChange("receiver's height", "1.3 m", {"ue.phone.height": "1.3 m"}, (VEHICLE,)),
    CellChange("receiver's height", "1.5 m", {"ue.phone.height": "1.5 m"}, (VEHICLE,)),
    CellChange("onset", "steps", {f"{CELL_BLOCKAGE}.onset": "sudden"}, (VEHICLE,)),
    CellChange("LOS fading", "none", {f"{CHANNEL}.fading": "none"}),
    CellChange("LOS fading", "Rician, K = 3 dB", {f"{CHANNEL}.k-factor": "3 dB"}),
    CellChange(
        "LOS fading",
        "clusters, K drawn",
        {f"{CHANNEL}.fading": "clusters", f"{CHANNEL}.k-factor": "drawn"},
    ),
    CellChange("PDCP t-Reordering", "300 ms", pdcp('t-reordering = "300 ms"')),
    CellChange("PDCP discardTimer", "100 ms", pdcp('discard-timer = "100 ms"')),
    CellChange("stack", "no undo, RTO always 200 ms", NO_UNDO | FIXED_RTO),
)  # fmt: skip
"""Changes in the full stack's table that varies one assumption at a time.

If power or antennas change, beams still fail at the same SINR.
"""

LOSSES_DB = (5, 10, 15, 20, 25, 30, 40, 50, 60)
"""Depths of a blockage on the curve, dB."""

MODEL_B_DB = (22.6, 25.0)
"""Depth of the stated vehicle at 1 m and at 0.5 m from the receiver, dB.

The depth follows TR 38.901 clause 7.6.4.2. The receiver has a height of 1 m. The base station has a
height of 5 m and is 50 m away.
"""
