"""Which runs: distances, second paths, couplings."""

import json
from dataclasses import dataclass

from fadeout.study import Job
from fadeout.study.batch import overrides

DISTANCES_M = (50, 100, 150)
COUPLINGS = ("uncoupled", "lia", "olia", "balia", "coupled-cubic")
INTERFACES = ("28", "73", "lte")
SECOND = {"LTE": "lte", "73 GHz": "73"}
"""Second paths as people read them, and their interfaces."""

QUIET = {
    "probe.congestion": "false",
    "probe.throughput": "false",
    "probe.queue": "false",
    "probe.drops": "false",
    "probe.retransmissions": "false",
    "probe.bearers": "false",
}
"""Nothing is recorded over time where only totals are read."""


@dataclass(frozen=True)
class Setup:
    """A single path, or 28 GHz and a second one."""

    second: str | None = None
    coupling: str = "uncoupled"

    @property
    def name(self) -> str:
        """What tables call it."""
        return "28 GHz alone" if self.second is None else f"28 GHz + {self.second}"

    def job(self, distance_m: int, duration_s: float, seed: int) -> Job:
        """A run of it. Interfaces that it does not use are left out, and change nothing."""
        used = ("28",) if self.second is None else ("28", SECOND[self.second])
        values = {"duration": f"{duration_s} s", **QUIET}
        values |= {f"ue.ue-{name}.position": f'["{distance_m} m", "-6 m"]' for name in used}
        without = [
            part
            for name in INTERFACES
            if name not in used
            for part in (f"link.core-{name}", f"cell.cell-{name}", f"ue.ue-{name}")
        ]
        if self.second is None:
            without.append("flow.download.multipath")
        else:
            paths = [[f"core-{name}", f"ue-{name}"] for name in used]
            values["flow.download.multipath.paths"] = json.dumps(paths)
            if self.coupling != "uncoupled":
                values["flow.download.multipath.coupling"] = self.coupling
        return Job(overrides(values), without=tuple(without), seed=seed)


SINGLE = Setup()
SETUPS = (SINGLE, *(Setup(second, coupling) for second in SECOND for coupling in COUPLINGS))
