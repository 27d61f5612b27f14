"""The congestion controls that are compared, the links, and the runs."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from fadeout import _native
from fadeout.results import Results
from fadeout.study import QUIET, Choice, Data, Job, Numbers, Page, Values, overrides

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)


@dataclass(frozen=True)
class Link(Choice):
    """One of the links, as a change of the scenario."""

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


NOT_READ: Values = {
    **QUIET,
    "probe.timeouts": "false",
    "probe.flow-events": "false",
    "probe.blockages": "false",
}
"""Overrides that turn off tables which the study does not read."""


@dataclass(frozen=True)
class Point:
    """A congestion control on a link, alone or together with a CUBIC flow."""

    link: Link
    entrant: Entrant
    is_alone: bool

    def job(self, seed: int, duration: Values) -> Job:
        """Returns the run of the point with a seed."""
        values = {**NOT_READ, **duration}
        values |= {**self.link.values, **self.entrant.values, **chance(seed)}
        without = self.link.without
        if self.is_alone:
            # Keys of a flow that was removed cannot be overridden.
            values = {key: item for key, item in values.items() if not key.startswith(RIVAL)}
            del values["probe.congestion"]
            without = (*without, RIVAL)
        return Job(
            FOLDER / "scenario.toml", overrides(values), without, seed, with_tables=self.is_alone
        )


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run, so that its tables need not be kept."""
    flows = results.flows
    if len(flows) > 1:
        goodput = dict(zip(flows["flow"], flows["goodput_mbps"], strict=True))
        return fairness(goodput["tested"], goodput["cubic"])
    flow = flows.row(0, named=True)
    rtt_s = results.congestion["rtt_s"]
    p95_s = rtt_s.filter(rtt_s > 0).quantile(0.95, "nearest")
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "rtt_p95_ms": 1e3 * (p95_s or 0.0),
        "retransmitted_pct": 100 * flow["retransmitted_segments"] / flow["sent_segments"],
    }


def fairness(tested: float, cubic: float) -> Numbers:
    """Returns Jain's index of two goodputs, and the share of the tested flow.

    The index is 1 for equal goodputs, and 0.5 if one flow has all.
    """
    squares = tested**2 + cubic**2
    return {
        "jain": (tested + cubic) ** 2 / (2 * squares),
        "share_pct": 100 * tested / (tested + cubic),
        "tested_mbps": tested,
        "cubic_mbps": cubic,
    }
