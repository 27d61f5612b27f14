"""Our Multipath TCP beside that of a Linux kernel.

The recordings are totals, without samples; set-up and numbers are in `linux_6_12/multipath.toml`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from fadeout import _toml
from fadeout.study.batch import CountCallback, run_texts
from fadeout.validate.linux import COUNTS_JIFFIES, DATA, ETHERNET_HEADER, QUANTITIES

COLUMNS = ("run", "received Mbit/s Linux", "ours", "error", "ours from", "to")


@dataclass(frozen=True)
class MultipathComparison:
    """A recorded run and ours: several where the recording leaves something open."""

    recorded: dict[str, Any]
    ours_mbps: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the recording."""
        return self.recorded["name"]

    def mean_mbps(self) -> float:
        """Our received rate, the mean over what the recording leaves open."""
        return sum(self.ours_mbps) / len(self.ours_mbps)

    def error(self) -> float:
        """Relative error of the received rate."""
        return self.mean_mbps() / self.recorded["received_mbps"] - 1

    def tolerance(self) -> float:
        """The largest relative error that passes: that of the single-path runs."""
        received = QUANTITIES[0]
        blocked = self.recorded["blockage_s"] > 0
        return received.tolerance_blocked if blocked else received.tolerance

    def misses(self) -> list[str]:
        """What lies outside its tolerance, in words."""
        if abs(self.error()) <= self.tolerance():
            return []
        return [
            f"{self.name}: received Mbit/s {self.mean_mbps():.2f}, Linux "
            f"{self.recorded['received_mbps']:.2f}: {self.error():+.1%} where "
            f"{self.tolerance():.0%} is allowed"
        ]

    def cells(self) -> list[str]:
        """The row of the table; an error outside its tolerance carries a cross."""
        mark = " ✗" if self.misses() else ""
        return [
            self.name,
            f"{self.recorded['received_mbps']:.2f}",
            f"{self.mean_mbps():.2f}",
            f"{self.error():+.1%}{mark}",
            f"{min(self.ours_mbps):.2f}",
            f"{max(self.ours_mbps):.2f}",
        ]


@cache
def runs() -> dict[str, dict[str, Any]]:
    """The recorded runs by name."""
    document = tomllib.loads((DATA / "multipath.toml").read_text(encoding="utf-8"))
    lead = {key: value for key, value in document.items() if key != "run"}
    return {run["name"]: lead | run for run in document["run"]}


def scenarios(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The scenarios that are equivalent to a recorded run: one a clock of the blockage."""
    if run["blockage_s"] == 0:
        return [scenario(run)]
    period, length = run["blockage_period_s"], run["blockage_s"]
    documents = []
    for lead in run["blockage_clock_leads_s"]:
        document = scenario(run)
        document["blockage"] = {
            "first-path": {
                "link": "path-1",
                "direction": "forward",
                "schedule": {
                    "period": f"{period} s",
                    "duration": f"{length} s",
                    "phase": f"{period - length - lead:.6f} s",
                },
                "effect": "dropped-on-arrival",
            }
        }
        documents.append(document)
    return documents


def scenario(run: dict[str, Any]) -> dict[str, Any]:
    """The scenario that is equivalent to a recorded run without its blockage."""
    links: dict[str, Any] = {}
    paths = []
    for number, path in enumerate(run["paths"], start=1):
        links[f"access-{number}"] = {
            "from": "server",
            "to": f"router-{number}",
            "rate": "unlimited",
            "delay": "0 s",
        }
        links[f"path-{number}"] = {
            "from": f"router-{number}",
            "to": "client",
            "rate": f"{path['rate_mbps']} Mbit/s",
            "framing": f"{ETHERNET_HEADER} B",
            "delay": f"{path['delay_ms']} ms",
            "queue": {"limit": f"{path['limit_packets']} packets", "counts-delay-line": True},
            "reverse": {"queue": {"limit": "1000000 packets"}},
        }
        paths.append([f"access-{number}", f"path-{number}"])
    name = run["congestion_control"]
    return {
        "title": f"{run['stack']}, {run['name']}",
        "duration": f"{run['duration_s']} s",
        "link": links,
        "flow": {
            "bulk": {
                "from": "server",
                "to": "client",
                "profile": "linux",
                "application": {"kind": "bulk"},
                "congestion-control": {"name": name, "hz": run["hz"]}
                if name in COUNTS_JIFFIES
                else name,
                "multipath": {
                    "paths": paths,
                    "path-scheduler": "linux",
                    "maximum-send-buffer": run["maximum_send_buffer"],
                },
                "tcp": {
                    "maximum-receive-window": 32 * 1024 * 1024,
                    "timer-tick": f"{1000 // run['hz']} ms",
                },
            }
        },
    }


def compare_all(
    *, jobs: int | None = None, progress: CountCallback | None = None
) -> list[MultipathComparison]:
    """Our runs beside all recorded ones."""
    cases = [(run, document) for run in runs().values() for document in scenarios(run)]
    texts = [_toml.dumps(document) for _, document in cases]
    results = run_texts(texts, workers=jobs, progress=progress)
    rated = [
        (run["name"], result.flows.row(0, named=True)["delivered_bytes"] * 8e-6 / run["duration_s"])
        for (run, _), result in zip(cases, results, strict=True)
    ]
    return [
        MultipathComparison(runs()[name], tuple(rate for _, rate in group))
        for name, group in groupby(rated, key=lambda pair: pair[0])
    ]
