"""Setups of the study: speeds, sets of TR 36.839, triggers, and other changes."""

from dataclasses import dataclass
from pathlib import Path

from fadeout.study import Change, Values

SCENARIO = Path(__file__).parent / "scenario.toml"
CIRCLE = Path(__file__).parent / "circle.toml"

SPEEDS_KMH = (3.0, 30.0, 60.0, 120.0)


@dataclass(frozen=True)
class Trigger:
    """Configuration of event A3."""

    trigger_ms: int
    offset_db: float
    filter: int

    @property
    def values(self) -> Values:
        """The override of the event."""
        event = (
            f'[{{ kind = "a3", offset = "{self.offset_db:g} dB", hysteresis = "0 dB", '
            f'time-to-trigger = "{self.trigger_ms} ms", filter = {self.filter} }}]'
        )
        return {"mobility-management.events": event}

    @property
    def name(self) -> str:
        """Name of the trigger in tables."""
        return f"{self.trigger_ms} ms, {self.offset_db:g} dB, k = {self.filter}"


SETS = {
    1: Trigger(480, 3, 4),
    2: Trigger(160, 3, 4),
    3: Trigger(160, 2, 4),
    4: Trigger(80, 1, 1),
    5: Trigger(40, -1, 0),
}
"""The sets of TR 36.839, from memory."""
SLOW, QUICK = SETS[1], SETS[5]
MIDDLE = SETS[3]

TRIGGERS_MS = (40, 80, 160, 320, 480)
OFFSETS_DB = (-1.0, 1.0, 2.0, 3.0)
AT_KMH = 60.0
"""Speed at which trigger, offset and assumptions are varied, km/h."""

CIRCLE_POINTS = (
    (30.0, 160),
    (30.0, 2560),
    (60.0, 160),
    (60.0, 480),
    (60.0, 1024),
    (120.0, 160),
    (120.0, 320),
    (120.0, 480),
    (120.0, 1024),
)
"""Speed in km/h and time to trigger in ms of lines through a pico."""
CIRCLE_AT = (120.0, 480)
"""The point at which the closed form's omissions are added one at a time."""

MANAGEMENT = "mobility-management"

CIRCLE_CHANGES = (
    Change.of("measurement", "each 200 ms", f"{MANAGEMENT}.measurement-period", "200 ms"),
    Change(
        "layer 3 filter",
        "k = 4",
        {f"{MANAGEMENT}.events": Trigger(CIRCLE_AT[1], 0, 4).values[f"{MANAGEMENT}.events"]},
    ),
    Change.of("error of RSRP", "1 dB", f"{MANAGEMENT}.measurement-error", "1 dB"),
    Change.of("preparation", "50 ms", f"{MANAGEMENT}.admission-delay", "50 ms"),
    Change.of("T310", "1 s", f"{MANAGEMENT}.t310", "1 s"),
    Change(
        "the macro",
        "2 km away",
        {
            "cell.macro.position": '["0 m", "-2 km"]',
            # Both cells are equal at 50 m again: in free space a fifth of the distance is 13.98 dB.
            "cell.pico.tx-power": "27.9588 dBm",
        },
    ),
    Change.of("load of the pico", "half", "cell.pico.radio.background-load", "0.5"),
)
"""Effects that the closed form omits, one at a time."""

LOAD = "deployment.network.cell.radio.background-load"
LAYOUT = "deployment.network.layout"

WITHOUT_PICOS = Change.of("picos in a sector", "none", LAYOUT, '{ kind = "hetnet", picos = 0 }')

CHANGES = (
    WITHOUT_PICOS,
    Change.of("picos in a sector", "2", LAYOUT, '{ kind = "hetnet", picos = 2 }'),
    Change.of("load", "half", LOAD, "0.5"),
    Change.of("sight", "drawn", "deployment.network.cell.channel.line-of-sight", '"drawn"'),
    Change.of("T310", "0.2 s", f"{MANAGEMENT}.t310", "200 ms"),
    Change.of("measurement", "each 200 ms", f"{MANAGEMENT}.measurement-period", "200 ms"),
    Change.of("error of RSRP", "1 dB", f"{MANAGEMENT}.measurement-error", "1 dB"),
    Change.of("shadowing", "none", "deployment.network.cell.channel.shadowing", "false"),
    Change.of("receive antennas", "2", "deployment.network.cell.channel.receive-antennas", "2"),
)
"""Assumptions of TR 36.839 or of this study that are changed one at a time."""
