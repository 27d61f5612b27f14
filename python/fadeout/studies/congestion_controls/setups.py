"""The congestion controls that are compared, and the links."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from fadeout import _native
from fadeout.study import Choice, Data, Page, Values

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)


@dataclass(frozen=True)
class Link(Choice):
    """One of the links, as a change of the scenario."""

    is_blocked: bool = False

    @property
    def title(self) -> str:
        """Title of the link in figures and in the report."""
        return PAGE.parts[self.name].title.text


LINKS = DATA.all("link", Link)

RIVAL = "flow.cubic"
"""The CUBIC flow that competes with the tested flow."""

INFORMED_FAMILY = "cross-layer"
MARKED_FAMILY = "ecn"


@dataclass(frozen=True, eq=False)
class Entrant:
    """A congestion control, with the settings that it needs."""

    name: str
    """Name in the table and the figures."""
    algorithm: str
    family: str
    values: Values


def entrants() -> list[Entrant]:
    """Returns every congestion control of the registry. The ECN family is also tested with marks.

    The order is that of the families, and within a family that of the registry.
    """
    kinds = {kind["name"]: kind["entries"] for kind in json.loads(_native.catalog())["kinds"]}
    entries = kinds["congestion-control"]
    families = list(dict.fromkeys(entry["family"] for entry in entries))
    found: list[Entrant] = []
    for entry in sorted(entries, key=lambda entry: families.index(entry["family"])):
        name, family = entry["name"], entry["family"]
        values: dict[str, str] = {"flow.tested.congestion-control": name}
        if name == "tahoe":
            values |= DATA.values["tahoe"]
        if family == INFORMED_FAMILY:
            values |= DATA.values["link-info"]
        found.append(Entrant(name, name, family, values))
        if family == MARKED_FAMILY:
            queue = DATA.values["dualpi2" if name == "prague" else "ramp"]
            found.append(Entrant(f"{name}, marked", name, family, {**values, **queue}))
    return found


def chance(seed: int) -> Values:
    """Returns the random values of a seed: the link's delay (20 ms ± 5 %), and two starts within 1
    s.

    Without these draws, all runs on a link without random loss would be equal, and two flows at one
    buffer could lock into a pattern. An even seed has the draws of the odd one before it with the
    starts exchanged, so that neither flow starts first more often.
    """
    draw = random.Random((seed + 1) // 2)
    delay_ms = draw.uniform(19, 21)
    starts_s = [draw.uniform(0, 1), draw.uniform(0, 1)]
    if seed % 2 == 0:
        starts_s.reverse()
    return {
        "link.path.delay": f"{delay_ms:.3f} ms",
        "flow.tested.start": f"{starts_s[0]:.6f} s",
        f"{RIVAL}.start": f"{starts_s[1]:.6f} s",
    }
