"""The congestion controls that are compared, and the links."""

import json
import random
from dataclasses import dataclass, field

from fadeout import _native
from fadeout.study import Values


@dataclass(frozen=True, eq=False)
class Link:
    """One of the links, as a change of the scenario."""

    name: str
    title: str
    values: Values = field(default_factory=dict)
    is_blocked: bool = False


LINKS = (
    Link("clean", "Clean"),
    Link("lossy", "Lossy: 0.1 % random loss", {"link.path.loss.probability": "0.001"}),
    Link("bufferbloated", "Bufferbloated: a second of buffer", {"link.path.queue.limit": "1 s"}),
    Link("blocked-held", "Blocked 0.2 s in 5 s, packets held", is_blocked=True),
    Link(
        "blocked-lost",
        "Blocked 0.2 s in 5 s, packets lost",
        {"blockage.vehicle.effect": "lost"},
        is_blocked=True,
    ),
)
"""The links. All have 100 Mbit/s, 40 ms and a buffer of one bandwidth-delay product, unless
changed.
"""

RIVAL = "flow.cubic"
"""The CUBIC flow that competes with the tested flow."""

LINK_INFO: Values = {
    "flow.tested.link-info": '{ link = "path", delay = "10 ms", prediction = "100 ms" }'
}
"""Link information for algorithms that need it."""

INFORMED_FAMILY = "cross-layer"
MARKED_FAMILY = "ecn"

RAMP = "{ name = 'red', min-threshold = 48, max-threshold = 333, weight = 1, max-probability = 1 }"
"""Queue that marks by its momentary length, with thresholds from C RTT / 7 to C RTT.

C RTT / 7 is the least threshold that keeps DCTCP's link busy (Alizadeh and others, SIGCOMM 2010,
section 3.4).
"""

PROFILES = {"tahoe": "tahoe"}
"""Profiles of algorithms that are named after a whole stack. All others have that of Linux."""

MARKING_QUEUES = {"prague": "dualpi2"}
"""Queue disciplines designed for algorithms of the ECN family. All others have `RAMP`."""


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
        if name in PROFILES:
            values["flow.tested.profile"] = PROFILES[name]
        if family == INFORMED_FAMILY:
            values |= LINK_INFO
        found.append(Entrant(name, name, family, values))
        if family == MARKED_FAMILY:
            queue = {"link.path.queue.discipline": MARKING_QUEUES.get(name, RAMP)}
            found.append(Entrant(f"{name}, marked", name, family, values | queue))
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
