"""Setups of the study: sets of TR 36.839, points, and changed assumptions."""

from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.study import Change, Data, Page, Values, claims_of, published

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)
CLAIMS = claims_of(published(FOLDER))

SCENARIO = FOLDER / "scenario.toml"
CIRCLE = FOLDER / "circle.toml"

SLOW_FACTOR = 4
"""Factor by which runs of slow UEs are longer."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds, number of UEs, and length of the runs."""

    ues: int
    lines: int
    """Number of lines through the circular pico in a run."""
    circle_seeds: int
    speeds_kmh: tuple[float, ...]
    sets: tuple[int, ...]
    triggers_ms: tuple[int, ...]
    offsets_db: tuple[float, ...]

    def length_s(self, kmh: float) -> float:
        """Returns the simulated time in seconds. Slow UEs have fewer handovers, so their runs are
        longer.
        """
        return (self.duration_s or 1.0) * (SLOW_FACTOR if kmh < 10 else 1)


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


@dataclass(frozen=True)
class Set:
    """A set of TR 36.839: time to trigger in ms, offset in dB, and filter."""

    number: int
    trigger: tuple[float, ...]


@dataclass(frozen=True)
class Lines:
    """Speeds in km/h and times to trigger in ms of lines through a pico."""

    points: tuple[tuple[int, ...], ...]
    at: tuple[int, ...]


def _trigger(ms: float, db: float, k: float) -> Trigger:
    return Trigger(int(ms), db, int(k))


SETS = {each.number: _trigger(*each.trigger) for each in DATA.all("set", Set)}
MIDDLE = SETS[3]

AT_KMH = 60.0
"""Speed at which trigger, offset and assumptions are varied, km/h."""

LINES = DATA.one("lines", Lines)
BASE = Change.nothing()
CIRCLE_CHANGES = DATA.all("circle-change", Change)
CHANGES = DATA.all("change", Change)
WITHOUT_PICOS = CHANGES[0]
