"""Measures the couplings of Multipath TCP against their design goals (RFC 6356 section 1).

Prints the tables of docs/models/coupled-cubic.md, in Markdown, and draws its figure:

    python tools/coupling_grid.py docs/models/coupled-cubic.png
"""

import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import _toml
from fadeout.plot.style import PALETTE, legend_above, new_figure
from fadeout.results import Results
from fadeout.study.batch import run_texts

SEEDS = range(1, 6)
SETTLED_S, END_S = 20, 80
"""Start and end of the time over which rates are averaged, seconds."""


@dataclass(frozen=True)
class Law:
    """A coupling, or a congestion control on each path by itself."""

    name: str
    keys: dict[str, Any]
    """Keys of the flow."""
    coupling: Any = "uncoupled"
    single: str = "cubic"
    """Congestion control of the single-path flows in the comparison."""


LAWS = (
    Law("uncoupled Reno", {"congestion-control": "reno"}, single="reno"),
    Law("LIA", {}, "lia", "reno"),
    Law("OLIA", {}, "olia", "reno"),
    Law("BALIA", {}, "balia", "reno"),
    Law("wVegas", {}, "wvegas", "reno"),
    Law("uncoupled CUBIC", {"congestion-control": "cubic"}),
    Law("coupled CUBIC, losses", {}, {"name": "coupled-cubic", "estimate": "losses"}),
    Law("coupled CUBIC", {}, "coupled-cubic"),
)


def link(rate: str, rtt_ms: float, **rest: Any) -> dict[str, Any]:  # noqa: ANN401
    """Returns a link from router to client."""
    delay = f"{rtt_ms / 2} ms"
    return {"from": "router", "to": "client", "rate": rate, "delay": delay, **rest}


def buffered(rate_mbps: float, rtt_ms: float) -> dict[str, Any]:
    """Returns a link with a buffer of one bandwidth-delay product."""
    packets = max(20, round(rate_mbps * 1e3 * rtt_ms / (8 * 1500)))
    return link(f"{rate_mbps} Mbit/s", rtt_ms, queue={"limit": f"{packets} packets"})


def access(name: str) -> dict[str, Any]:
    """Returns a link that never limits the flows."""
    return {name: {"from": "server", "to": "router", "rate": "unlimited", "delay": "0 s"}}


def document(
    law: Law, links: dict[str, Any], paths: list[list[str]], singles: list[list[str]], seed: int
) -> dict[str, Any]:
    """Returns a multipath flow `mp` with a single-path flow over each of `singles`."""
    starts = random.Random(seed)
    ends = {"from": "server", "to": "client", "tcp": {"maximum-receive-window": 1 << 28}}
    flows: dict[str, Any] = {}
    if paths:
        flows["mp"] = {
            **ends,
            **law.keys,
            "multipath": {"paths": paths, "coupling": law.coupling, "scheduler": "lowest-rtt"},
        }
    for number, path in enumerate(singles):
        # Multipath TCP over one path behaves as TCP, and its key selects the links.
        flows[f"single-{number}"] = {
            **ends,
            "congestion-control": law.single,
            "multipath": {"paths": [path], "scheduler": "lowest-rtt"},
        }
    for flow in flows.values():
        flow["start"] = f"{starts.uniform(0.0, 2.0):.6f} s"
    off = ("drops", "retransmissions", "timeouts", "flow-events", "blockages")
    return {
        "seed": seed,
        "duration": f"{END_S} s",
        "link": links,
        "flow": flows,
        "probe": {"throughput": "1 s", "congestion": False, **dict.fromkeys(off, False)},
    }


def rate(results: Results, flow: str) -> float:
    """Returns the mean rate of a flow after the start-up, Mbit/s."""
    rows = results.throughput.filter(
        (pl.col("flow") == flow) & (pl.col("time_s") > SETTLED_S) & (pl.col("time_s") <= END_S)
    )
    return float(rows["bytes"].sum()) * 8e-6 / (END_S - SETTLED_S)


LOSSY = (
    ((1e-3, 40), (1e-3, 40)),
    ((1e-3, 40), (1e-4, 40)),
    ((1e-4, 20), (1e-4, 100)),
    ((3e-4, 20), (1e-4, 100)),
)
SHARED = ((10, 20), (10, 100), (100, 20), (100, 100))
SEPARATE = (((20, 40), (20, 40)), ((20, 20), (20, 100)), ((50, 20), (10, 60)))
BLOCKED = (((50, 20), (10, 60), 1.0), ((100, 40), (20, 40), 0.2))

Cell = dict[str, list[float]]
"""Values of all seeds, by law."""


def measure(documents: list[dict[str, Any]]) -> list[Results]:
    """Returns the results of all documents."""
    return run_texts([_toml.dumps(document) for document in documents])


def table_of_lossy() -> dict[str, Cell]:
    """Returns goal 1: the rate relative to the better single path, on fast links with
    random loss.
    """
    rows: dict[str, Cell] = {}
    for pair in LOSSY:
        links = access("a") | access("b")
        for name, (loss, rtt) in zip(("pa", "pb"), pair, strict=True):
            links[name] = link(
                "1 Gbit/s",
                rtt,
                queue={"limit": "100000 packets"},
                loss={"probability": loss},
            )
        both = [["a", "pa"], ["b", "pb"]]
        cell: Cell = {}
        for law in LAWS:
            multi = measure([document(law, links, both, [], seed) for seed in SEEDS])
            alone = [
                measure([document(law, links, [], [path], seed) for seed in SEEDS]) for path in both
            ]
            best = max(statistics.mean(rate(run, "single-0") for run in runs) for runs in alone)
            cell[law.name] = [rate(run, "mp") / best for run in multi]
        label = "; ".join(f"{loss:g}, {rtt} ms" for loss, rtt in pair)
        rows[label] = cell
    return rows


def table_of_shared() -> dict[str, Cell]:
    """Returns goal 2: the rate relative to a single-path flow at the same bottleneck."""
    rows: dict[str, Cell] = {}
    for mbps, rtt in SHARED:
        links = access("a") | access("b") | {"shared": buffered(mbps, rtt)}
        both = [["a", "shared"], ["b", "shared"]]
        cell: Cell = {}
        for law in LAWS:
            runs = measure([document(law, links, both, both[:1], seed) for seed in SEEDS])
            cell[law.name] = [rate(run, "mp") / max(rate(run, "single-0"), 1e-3) for run in runs]
        rows[f"{mbps} Mbit/s, {rtt} ms"] = cell
    return rows


def table_of_separate() -> dict[str, Cell]:
    """Returns both goals at once: the rate relative to half of the larger link.

    Each link also has a single-path flow.
    """
    rows: dict[str, Cell] = {}
    for pair in SEPARATE:
        links = access("a") | access("b")
        for name, (mbps, rtt) in zip(("pa", "pb"), pair, strict=True):
            links[name] = buffered(mbps, rtt)
        both = [["a", "pa"], ["b", "pb"]]
        half = max(mbps for mbps, _ in pair) / 2
        cell: Cell = {}
        for law in LAWS:
            runs = measure([document(law, links, both, both, seed) for seed in SEEDS])
            cell[law.name] = [rate(run, "mp") / half for run in runs]
        rows["; ".join(f"{mbps} Mbit/s, {rtt} ms" for mbps, rtt in pair)] = cell
    return rows


def table_of_blocked() -> dict[str, Cell]:
    """Returns the rate in Mbit/s if the first path is blocked every 5 s."""
    rows: dict[str, Cell] = {}
    for first, second, blocked_s in BLOCKED:
        links = access("a") | access("b") | {"pa": buffered(*first), "pb": buffered(*second)}
        both = [["a", "pa"], ["b", "pb"]]
        cell: Cell = {}
        for law in LAWS:
            documents = [document(law, links, both, [], seed) for seed in SEEDS]
            for item in documents:
                schedule = {"period": "5 s", "duration": f"{blocked_s} s", "phase": "4 s"}
                item["blockage"] = {
                    "car": {"link": "pa", "schedule": schedule, "effect": "dropped-on-arrival"}
                }
            cell[law.name] = [rate(run, "mp") for run in measure(documents)]
        label = "; ".join(f"{mbps} Mbit/s, {rtt} ms" for mbps, rtt in (first, second))
        rows[f"{label}; {blocked_s:g} s"] = cell
    return rows


def markdown(head: str, rows: dict[str, Cell], form: str = ".2f") -> str:
    """Returns means with the standard deviation over the seeds, as a table in Markdown."""
    names = [law.name for law in LAWS]
    lines = [f"| {' | '.join([head, *names])} |", "|---" * (len(names) + 1) + "|"]
    for label, cell in rows.items():
        cells = [
            f"{statistics.mean(values):{form}} ± {statistics.stdev(values):{form}}"
            for values in (cell[name] for name in names)
        ]
        lines.append(f"| {' | '.join([label, *cells])} |")
    return "\n".join(lines)


def draw(lossy: dict[str, Cell], shared: dict[str, Cell], path: Path) -> None:
    """Draws a point for each law: goal 1 across, goal 2 up, with the ranges over all cases."""
    with new_figure(height=4.0) as (figure, (ax,)):
        for number, law in enumerate(LAWS):
            across, up = (
                [statistics.mean(cell[law.name]) for cell in rows.values()]
                for rows in (lossy, shared)
            )
            x, y = statistics.mean(across), statistics.mean(up)
            ax.errorbar(
                [x],
                [y],
                xerr=[[x - min(across)], [max(across) - x]],
                yerr=[[y - min(up)], [max(up) - y]],
                marker="osD^vPX*"[number],
                color=PALETTE[number % len(PALETTE)],
                elinewidth=0.6,
                label=law.name,
            )
        ax.axhline(1.0, color="0.5", linewidth=0.8)
        ax.axvline(1.0, color="0.5", linewidth=0.8)
        ax.set_xlabel("Rate over the best single path's (separate lossy paths)")
        ax.set_ylabel("Rate over one flow's (shared bottleneck)")
        legend_above(ax, columns=2)
    figure.savefig(path)


def main() -> None:
    """Measures, prints the tables and draws the figure."""
    lossy, shared = table_of_lossy(), table_of_shared()
    for head, rows, form in (
        ("loss and round trip of the paths", lossy, ".2f"),
        ("rate, round trip", shared, ".2f"),
        ("links", table_of_separate(), ".2f"),
        ("links; blocked", table_of_blocked(), ".1f"),
    ):
        print(markdown(head, rows, form), end="\n\n", flush=True)
    draw(lossy, shared, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
