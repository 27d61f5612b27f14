"""Our runs beside those of a Linux kernel.

The recordings and their set-up are in `linux_6_12/`: another recording joins by its CSV and its
entry in `runs.toml`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import _toml
from fadeout.plot.panels import shade_blockages
from fadeout.plot.style import PALETTE, legend_above, new_figure
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_texts

DATA = Path(__file__).parent / "linux_6_12"

MSS = 1448
"""Payload of a full segment, with timestamps."""

INITIAL_WINDOW = 10
"""Segments, where a run does not say otherwise."""

ETHERNET_HEADER = 14
"""Bytes of a frame that netem's rate counts besides the IP packet."""


@dataclass(frozen=True)
class Quantity:
    """Something that is compared."""

    name: str
    key: str
    """In `runs.toml`."""
    form: str
    tolerance: float
    """Largest relative error on a clean run."""
    tolerance_blocked: float
    """Largest relative error on a run with blockages."""
    why: str
    """Where the tolerance comes from."""


QUANTITIES = (
    Quantity(
        "received Mbit/s", "received_mbps", ".2f", 0.03, 0.08, "the rate a user sees; blockages "
        "amplify differences of a packet at their edges"
    ),
    Quantity(
        "mean sRTT ms", "mean_srtt_ms", ".1f", 0.10, 0.10, "the queue follows the window's history"
    ),
    Quantity(
        "max cwnd", "max_cwnd_segments", ".0f", 0.10, 0.10, "one slow-start overshoot decides it"
    ),
    Quantity(
        "retransmitted", "retransmitted_segments", ".0f", 0.30, 0.30, "a single burst of drops "
        "makes most of them"
    ),
)  # fmt: skip

SHAPE = ("max_cwnd_segments", "retransmitted_segments")
SHAPE_CHECKED = ("cubic", "reno")
"""The algorithms whose largest window and retransmissions must agree too.

The others are held to rate and round-trip time: in Vegas one decision at the end of slow start,
at a queueing delay of half a packet, makes or avoids the one overshoot of the run.
"""

COLUMNS = (
    "run",
    *(column for q in QUANTITIES for column in (f"{q.name} Linux", "ours", "error")),
)


@dataclass(frozen=True)
class Comparison:
    """A recorded run and ours."""

    recorded: dict[str, Any]
    results: Results

    @property
    def name(self) -> str:
        """Name of the recording."""
        return self.recorded["name"]

    def ours(self) -> dict[str, float]:
        """Our values of the quantities, by their keys."""
        flow = self.results.flows.row(0, named=True)
        samples = sampled(self.results, data_start_s(self.recorded))
        return {
            "received_mbps": flow["delivered_bytes"] * 8e-6 / self.recorded["duration_s"],
            "mean_srtt_ms": float(samples["srtt_s"].to_numpy().mean()) * 1e3,
            "max_cwnd_segments": float(samples["cwnd_segments"].to_numpy().max()),
            "retransmitted_segments": flow["retransmitted_segments"],
        }

    def errors(self) -> dict[str, float]:
        """Relative errors by key."""
        return {key: value / self.recorded[key] - 1 for key, value in self.ours().items()}

    def tolerance(self, quantity: Quantity) -> float:
        """The largest relative error of `quantity` that passes; infinite where none is asked."""
        if quantity.key in SHAPE and self.recorded["congestion_control"] not in SHAPE_CHECKED:
            return float("inf")
        blocked = self.recorded["blockage_s"] > 0
        return quantity.tolerance_blocked if blocked else quantity.tolerance

    def misses(self) -> list[str]:
        """What lies outside its tolerance, in words."""
        errors, ours = self.errors(), self.ours()
        return [
            f"{self.name}: {q.name} {ours[q.key]:{q.form}}, Linux {self.recorded[q.key]:{q.form}}: "
            f"{errors[q.key]:+.1%} where {self.tolerance(q):.0%} is allowed"
            for q in QUANTITIES
            if abs(errors[q.key]) > self.tolerance(q)
        ]

    def cells(self) -> list[str]:
        """The row of the table; errors outside their tolerance carry a cross."""
        errors, ours = self.errors(), self.ours()
        cells = [self.name]
        for q in QUANTITIES:
            error = errors[q.key]
            mark = " ✗" if abs(error) > self.tolerance(q) else ""
            recorded = format(self.recorded[q.key], q.form)
            cells += [recorded, format(ours[q.key], q.form), f"{error:+.1%}{mark}"]
        return cells


@cache
def runs() -> dict[str, dict[str, Any]]:
    """The recorded runs by name."""
    document = tomllib.loads((DATA / "runs.toml").read_text(encoding="utf-8"))
    lead = {key: value for key, value in document.items() if key != "run"}
    return {run["name"]: lead | run for run in document["run"]}


def recording(name: str) -> pl.DataFrame:
    """The samples of a recorded run, every 0.1 s."""
    samples = pl.read_csv(DATA / f"{name}.csv", comment_prefix="#")
    return samples.with_columns(
        (pl.col("cwnd_bytes") / MSS).alias("cwnd_segments"),
        (pl.col("srtt_us") / 1e3).alias("srtt_ms"),
    )


COUNTS_JIFFIES = ("cubic", "bic", "westwood")
"""Congestion controls whose arithmetic is in jiffies."""


def congestion_control(run: dict[str, Any]) -> str | dict[str, Any]:
    """The congestion control of a recorded run, on that kernel's clock."""
    name = run["congestion_control"]
    return {"name": name, "hz": run["hz"]} if name in COUNTS_JIFFIES else name


def data_start_s(run: dict[str, Any]) -> float:
    """When our sender starts with data: after handshake and cookie, a round trip each."""
    return 4e-3 * run["delay_ms"] + 5e-3


def scenario(run: dict[str, Any]) -> dict[str, Any]:
    """The scenario that is equivalent to a recorded run."""
    document: dict[str, Any] = {
        "title": f"{run['stack']}, {run['name']}",
        "duration": f"{run['duration_s'] + data_start_s(run):.3f} s",
        "link": {
            "access": {
                "from": "server",
                "to": "router",
                "rate": "unlimited",
                "delay": "0 s",
            },
            "bottleneck": {
                "from": "router",
                "to": "client",
                "rate": f"{run['rate_mbps']} Mbit/s",
                "framing": f"{ETHERNET_HEADER} B",
                "delay": f"{run['delay_ms']} ms",
                "queue": {"limit": f"{run['limit_packets']} packets", "counts-delay-line": True},
                "reverse": {"queue": {"limit": "1000000 packets"}},
            },
        },
        "flow": {
            "bulk": {
                "from": "server",
                "to": "client",
                "profile": "linux",
                "application": {
                    "kind": "bulk",
                    # iperf3's cookie, acknowledged while its control connection says when to start.
                    "greeting": 37,
                    "pause": f"{data_start_s(run):.3f} s",
                },
                "congestion-control": congestion_control(run),
                "tcp": {
                    "initial-window": run.get("first_window_segments", INITIAL_WINDOW),
                    "maximum-receive-window": 32 * 1024 * 1024,
                    "timer-tick": f"{1000 // run['hz']} ms",
                },
            }
        },
        "probe": {"congestion": "10 ms"},
    }
    if run["blockage_s"] > 0:
        period, lead = run["blockage_period_s"], run["blockage_clock_lead_s"]
        document["blockage"] = {
            "bottleneck": {
                "link": "bottleneck",
                "direction": "forward",
                "schedule": {
                    "period": f"{period} s",
                    "duration": f"{run['blockage_s']} s",
                    "phase": f"{period - run['blockage_s'] - lead + data_start_s(run):.6f} s",
                },
                "effect": "dropped-on-arrival",
            }
        }
    return document


def compare_all(
    names: list[str] | None = None,
    *,
    jobs: int | None = None,
    progress: CountCallback | None = None,
) -> list[Comparison]:
    """Our runs beside the recorded ones called `names`, or all."""
    chosen = [runs()[name] for name in names or runs()]
    texts = [_toml.dumps(scenario(run)) for run in chosen]
    results = run_texts(texts, workers=jobs, progress=progress)
    return [Comparison(run, result) for run, result in zip(chosen, results, strict=True)]


def sampled(results: Results, start: float) -> pl.DataFrame:
    """Window and smoothed round-trip time every 0.1 s, as the recordings have them.

    A peak between two samples is in neither. Where no ACK came in between, the last values hold.
    """
    rows = results.congestion.filter(pl.col("srtt_s") > 0)
    # The recordings count from the first data.
    count = int((results.duration_s - start) / 0.1)
    times = [start + 0.1 * number for number in range(1, count + 1)]
    return pl.DataFrame({"time_s": times}).join_asof(
        rows.select("time_s", "srtt_s", "cwnd_segments"), on="time_s", strategy="backward"
    )


def draw(comparisons: list[Comparison], folder: Path) -> list[Path]:
    """Draw our window over the recorded one, a figure a run, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for comparison in comparisons:
        recorded = recording(comparison.name)
        with new_figure(height=3.4, rows=2) as (figure, (window, rtt)):
            ours = comparison.results.congestion
            label = comparison.recorded["stack"]
            pairs = (
                (window, "cwnd_segments", "Window (segments)", ours["cwnd_segments"]),
                (rtt, "srtt_ms", "Smoothed RTT (ms)", ours["srtt_s"] * 1e3),
            )
            for ax, column, axis, values in pairs:
                ax.plot(
                    recorded["t_s"], recorded[column], color=PALETTE[1], linewidth=1.6, label=label
                )
                ax.plot(
                    ours["time_s"] - data_start_s(comparison.recorded),
                    values,
                    color=PALETTE[0],
                    linewidth=0.9,
                    drawstyle="steps-post",
                    label="fadeout",
                )
                ax.set_ylabel(axis)
                ax.set_ylim(bottom=0)
                shade_blockages(ax, comparison.results, label=ax is window)
            window.set_xlim(0, comparison.recorded["duration_s"])
            rtt.set_xlabel("Time (s)")
            legend_above(window)
        path = folder / f"{comparison.name}.png"
        figure.savefig(path)
        paths.append(path)
    return paths
