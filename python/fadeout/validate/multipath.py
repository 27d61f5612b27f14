"""Recorded runs of Linux's Multipath TCP, and the scenarios that are equivalent to them.

The connections open on the first path, and the second joins at once. The recordings made with
iperf3 (`linux_6_12/multipath.toml`) have totals only. The recordings with exact clocks also have
samples.
"""

import tomllib
from collections.abc import Iterator
from typing import Any

from fadeout.validate import recordings
from fadeout.validate.recordings import BLOCKAGE_PERIOD_S, DATA, Document, Recorded

MAXIMUM_SEND_BUFFER = "64 MiB"

STARTS_MS = (3.0, 3.1, 4.0, 5.0, 7.0, 9.0)
"""Starts against the tick in milliseconds, for runs whose results depend on milliseconds."""


def recorded() -> Iterator[Recorded]:
    """Yields all recorded connections."""
    yield from _iperf3()
    runs = [run for run in recordings.exact_runs() if run["path1_wire_mbps"] is not None]
    for name in dict.fromkeys(run["run"] for run in runs if run["group"] == "mptcp"):
        again = [run for run in runs if name in run["run"]]
        is_blocked = again[0]["blockage_s"] is not None
        # The spread over starts of blocked runs was recorded for one lead only. Another lead is
        # assumed to have the same spread.
        alike = again if not is_blocked else [run for run in runs if _is_alike(run, again[0])]
        received = [run["received_mbps"] for run in alike]
        resent = [float(run["retransmits"]) for run in alike]
        starts_ms = STARTS_MS if is_blocked else STARTS_MS[:1]
        starts_s = [recordings.CLOCK_AT_START_S + ms * 1e-3 for ms in starts_ms]
        yield Recorded(
            name=name,
            group="multipath-block" if is_blocked else "multipath",
            congestion_control=again[0]["congestion_control"],
            duration_s=30.0,
            linux={
                "received_mbps": (min(received), max(received)),
                "retransmitted_segments": (min(resent), max(resent)),
            },
            scenarios=tuple(_exact_scenario(again[0], start_s) for start_s in starts_s),
        )


def _is_alike(run: dict[str, Any], other: dict[str, Any]) -> bool:
    keys = ("congestion_control", "blockage_s")
    return all(run[key] == other[key] for key in keys)


def _exact_scenario(run: dict[str, Any], start_s: float) -> Document:
    paths = [
        {"rate_mbps": float(rate), "delay_ms": float(delay), "limit_packets": int(limit)}
        for rate, delay, limit in zip(
            *(run[key].split("/") for key in ("rate_mbps", "delay_ms", "limit_packets")),
            strict=True,
        )
    ]
    made = scenario(run["run"], run["congestion_control"], 30.0 + start_s, paths, start_s)
    if run["blockage_s"] is not None:
        phase_s = start_s - run["blockage_s"] - run["clock_lead_s"]
        made["blockage"] = {"first-path": recordings.blockage("path-1", run["blockage_s"], phase_s)}
    return made


def _iperf3() -> Iterator[Recorded]:
    document = tomllib.loads((DATA / "multipath.toml").read_text(encoding="utf-8"))
    for run in document["run"]:
        name, length_s = run["name"], run["blockage_s"]
        starts_s = [ms * 1e-3 for ms in range(0, 10, 2)] if length_s > 0 else [0.0]
        lead_s = recordings.iperf3_clock_lead_s(run["paths"][0]["delay_ms"])
        scenarios = []
        for start_s in starts_s:
            end_s = run["duration_s"] + start_s
            made = scenario(name, run["congestion_control"], end_s, run["paths"], start_s)
            if length_s > 0:
                phase_s = BLOCKAGE_PERIOD_S - length_s - lead_s
                made["blockage"] = {"first-path": recordings.blockage("path-1", length_s, phase_s)}
            scenarios.append(made)
        yield Recorded(
            name=name,
            group="multipath-block" if length_s > 0 else "multipath",
            congestion_control=run["congestion_control"],
            duration_s=run["duration_s"],
            linux={"received_mbps": (run["received_mbps"],) * 2},
            scenarios=tuple(scenarios),
        )


def scenario(
    name: str, control: str, duration_s: float, paths: list[dict[str, Any]], start_s: float
) -> Document:
    """Returns a connection over `paths`, without blockages."""
    links: Document = {}
    ways = []
    for number, path in enumerate(paths, start=1):
        links[f"access-{number}"] = recordings.access("server", f"router-{number}")
        links[f"path-{number}"] = recordings.bottleneck(f"router-{number}", "client", path)
        ways.append([f"access-{number}", f"path-{number}"])
    bulk = recordings.flow(control, start_s)
    bulk["multipath"] = {
        "paths": ways,
        "path-scheduler": "linux",
        "maximum-send-buffer": MAXIMUM_SEND_BUFFER,
    }
    return {
        "title": f"Linux 6.12, {name}",
        "duration": f"{duration_s:.6f} s",
        "link": links,
        "flow": {"bulk": bulk},
    }
