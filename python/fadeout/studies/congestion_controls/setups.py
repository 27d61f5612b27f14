"""Who is compared, and on which links."""

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
"""100 Mbit/s, 40 ms and a buffer of one bandwidth-delay product, but for what is said."""

RIVAL = "flow.cubic"
"""The flow beside the one that is looked at."""

LINK_INFO: Values = {
    "flow.tested.link-info": '{ link = "path", delay = "10 ms", prediction = "100 ms" }'
}
"""What an algorithm that needs it learns of the link."""

INFORMED_FAMILY = "cross-layer"
MARKED_FAMILY = "ecn"

RAMP = "{ name = 'red', min-threshold = 48, max-threshold = 333, weight = 1, max-probability = 1 }"
"""Marks by the queue of the moment: from C RTT / 7, the least threshold that keeps DCTCP's link
busy (Alizadeh and others, SIGCOMM 2010, section 3.4), up to C RTT."""

PROFILES = {"tahoe": "tahoe"}
"""Stacks without which an algorithm is not what its name says; Linux's for the others."""

MARKING_QUEUES = {"prague": "dualpi2"}
"""Queue disciplines that algorithms of the ECN family are made for; `RAMP` for the others."""


@dataclass(frozen=True, eq=False)
class Entrant:
    """A congestion control, with what it needs."""

    name: str
    """As the table and the figures call it."""
    algorithm: str
    family: str
    values: Values


def entrants() -> list[Entrant]:
    """Every congestion control of the registry; those that need marks also behind a marking queue.

    They come in the order of the families, and within a family in that of the registry.
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
    """What a seed draws: the link's delay within 5 % of 20 ms, and two starts within a second.

    Without that, runs on a link without random loss would all be the same, and two flows behind
    one buffer could lock into one of their patterns. An even seed draws what the odd one before it
    does, with the starts exchanged, so that neither flow comes first more often.
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
