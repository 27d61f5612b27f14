"""The congestion controls that are compared, the links, and the runs."""

import json
import random
from pathlib import Path

from fadeout import _native
from fadeout.results import Results
from fadeout.study import Choice, Data, Job, Numbers, Page, Values, combined

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)

LINKS = DATA.all("link", Choice)
ALONE, BESIDE_CUBIC = DATA.all("company", Choice)

Point = tuple[Choice, Choice, Choice]
"""A link, a congestion control, and its company."""

INFORMED_FAMILY = "cross-layer"
MARKED_FAMILY = "ecn"


def entrants() -> list[Choice]:
    """Returns every congestion control of the registry. The ECN family is also tested with marks.

    The kind of a choice is its family. The order is that of the families, and within a family that
    of the registry.
    """
    kinds = {kind["name"]: kind["entries"] for kind in json.loads(_native.catalog())["kinds"]}
    entries = kinds["congestion-control"]
    families = list(dict.fromkeys(entry["family"] for entry in entries))
    found: list[Choice] = []
    for entry in sorted(entries, key=lambda entry: families.index(entry["family"])):
        name, family = entry["name"], entry["family"]
        values: dict[str, str] = {"flow.tested.congestion-control": name}
        if name == "tahoe":
            values |= DATA.values["tahoe"]
        if family == INFORMED_FAMILY:
            values |= DATA.values["link-info"]
        found.append(Choice(name, values, kind=family))
        if family == MARKED_FAMILY:
            queue = DATA.values["dualpi2" if name == "prague" else "ramp"]
            found.append(Choice(f"{name}, marked", {**values, **queue}, kind=family))
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
        "flow.cubic.start": f"{starts_s[1]:.6f} s",
    }


def job(point: Point, seed: int, duration: Values) -> Job:
    """Returns the run of a point with a seed."""
    drawn = Choice(f"seed {seed}", chance(seed))
    made = combined(
        FOLDER / "scenario.toml", {**DATA.values["not-read"], **duration}, *point, drawn
    )
    return made.seeded(seed, with_tables=ALONE in point)


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
