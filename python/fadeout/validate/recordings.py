"""Recorded runs of a Linux kernel, and the equivalent scenarios.

Two sets are in `linux_6_12/`: runs made with iperf3 (`runs.toml`), and runs with exact clocks
(`exact/about.md`). A further recording needs only an entry there.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

DATA = Path(__file__).parent / "linux_6_12"
EXACT = DATA / "exact"

MSS = 1448
"""Payload of a full segment with timestamps, bytes."""

ETHERNET_HEADER = 14
"""Bytes of a frame that netem's rate counts in addition to the IP packet."""

HZ = 100
"""Jiffies per second of the recorded kernels."""

RECEIVE_WINDOW = 32 * 1024 * 1024
"""Largest window in bytes: half of the kernel's largest receive buffer."""

SEND_BUFFER = 64 * 1024 * 1024
"""Largest memory of the kernel's send buffer, bytes."""

HEADER_MEMORY = 256
"""Bytes for headers in each buffer (`sk_buff`) of the recorded kernels' send queue.

The kernels were built without wireless networks: 46,080 bytes after the handshake are 10 segments
twice, at 2304 bytes each.
"""

COUNTS_JIFFIES = ("cubic", "bic", "westwood", "htcp", "bbr")
"""Congestion controls that compute in jiffies."""

BLOCKAGE_PERIOD_S = 5

CLOCK_AT_START_S = 5.0
"""Reading of the kernel's clock in seconds, at the tick before an exact run starts.

Timers of 63 ticks and more are coarse, and count from the clock's zero.
"""

IPERF3_EXCHANGES = 6
"""Number of round trips from the start of iperf3 to its first data.

First come the control connection's handshake, the cookie until the server requests parameters, and
the parameters' length until its ACK permits the rest. Then follow the rest until the server
requests streams, the stream's handshake, and its cookie until the server starts.
"""

IPERF3_CLOCK_LEAD_S = 0.2
"""Time from the start of the blockage clock to that of iperf3 in seconds, as in the notes."""

Range = tuple[float, float]
"""Least and largest recorded value. Both are equal for a run that repeats exactly."""

Document = dict[str, Any]
"""A scenario as a dict."""


@dataclass(frozen=True)
class Recorded:
    """A recorded flow: the kernel's values, and the scenarios that should give the same values."""

    name: str
    group: str
    congestion_control: str
    duration_s: float
    linux: dict[str, Range]
    """Recorded values by the key of the quantity."""
    scenarios: tuple[Document, ...]
    """Equivalent scenarios. There are several if the kernel's run depends on milliseconds."""
    flow: int = 0
    data_start_s: float = 0.0
    """Time of the scenario at which the flow's clock is zero, seconds."""
    samples: str = ""
    """Name of the samples of the flow."""


def congestion_control(name: str) -> str | Document:
    """Returns the congestion control `name` with the clock of the recorded kernels."""
    return {"name": name, "hz": HZ} if name in COUNTS_JIFFIES else name


def bottleneck(source: str, target: str, run: dict[str, Any]) -> Document:
    """Returns a link like netem with the run's rate, delay and limit."""
    return {
        "from": source,
        "to": target,
        "rate": f"{run['rate_mbps']} Mbit/s",
        "framing": f"{ETHERNET_HEADER} B",
        "delay": f"{run['delay_ms']} ms",
        "queue": {"limit": f"{run['limit_packets']} packets", "counts-delay-line": True},
        "reverse": {"queue": {"limit": "1000000 packets"}},
    }


def access(source: str, target: str) -> Document:
    """Returns the sender's own interface, which has no limit."""
    return {"from": source, "to": target, "rate": "unlimited", "delay": "0 s"}


def flow(name: str, start_s: float) -> Document:
    """Returns a bulk transfer with the settings of the recorded kernels."""
    return {
        "from": "server",
        "to": "client",
        "start": f"{start_s:.6f} s",
        "profile": "linux",
        "application": "bulk",
        "congestion-control": congestion_control(name),
        "tcp": {
            "maximum-receive-window": RECEIVE_WINDOW,
            "maximum-send-buffer": SEND_BUFFER,
            "header-memory": HEADER_MEMORY,
            "timer-tick": f"{1000 // HZ} ms",
            "nagle": True,
        },
    }


def blockage(link: str, length_s: float, phase_s: float) -> Document:
    """Returns a blockage that drops arriving packets, first from `phase_s` on."""
    return {
        "link": link,
        "direction": "forward",
        "schedule": {
            "period": f"{BLOCKAGE_PERIOD_S} s",
            "duration": f"{length_s} s",
            "phase": f"{phase_s % BLOCKAGE_PERIOD_S:.6f} s",
        },
        "effect": "dropped-on-arrival",
    }


def document(title: str, duration_s: float, run: dict[str, Any]) -> Document:
    """Returns a scenario without flows."""
    return {
        "title": title,
        "duration": f"{duration_s:.6f} s",
        "link": {
            "access": access("server", "router"),
            "bottleneck": bottleneck("router", "client", run),
        },
        "flow": {},
        "probe": {"congestion": "every-ack"},
    }


@cache
def recorded() -> dict[str, Recorded]:
    """Returns all recorded flows by name."""
    from fadeout.validate import multipath

    rows = [*_iperf3(), *_exact(), *_pairs(), *multipath.recorded()]
    return {row.name: row for row in rows}


def samples(row: Recorded) -> pl.DataFrame:
    """Returns the samples of a recorded flow every 0.1 s: `t_s`, `cwnd_segments` and `srtt_ms`."""
    if row.samples.endswith(".csv"):
        frame = pl.read_csv(DATA / row.samples, comment_prefix="#").with_columns(
            pl.col("cwnd_bytes") / MSS
        )
        frame = frame.rename({"cwnd_bytes": "cwnd_segments"})
    else:
        frame = _exact_samples().filter(pl.col("run") == row.samples)
    return frame.select("t_s", "cwnd_segments", (pl.col("srtt_us") / 1e3).alias("srtt_ms"))


@cache
def _exact_samples() -> pl.DataFrame:
    return pl.read_parquet(EXACT / "samples.parquet")


@cache
def exact_runs() -> list[dict[str, Any]]:
    """Returns the rows of the runs with exact clocks."""
    frame = pl.read_csv(EXACT / "runs.csv", comment_prefix="#", infer_schema_length=None)
    return list(frame.iter_rows(named=True))


def once(run: dict[str, Any]) -> dict[str, Range]:
    """Returns the quantities of a run that repeats exactly."""
    keys = {
        "received_mbps": "received_mbps",
        "mean_srtt_ms": "mean_srtt_ms",
        "max_cwnd_segments": "max_cwnd_segments",
        "retransmitted_segments": "retransmits",
    }
    values = {key: float(run[column]) for key, column in keys.items()}
    return {key: (value, value) for key, value in values.items()}


def spread(runs: list[dict[str, Any]]) -> dict[str, Range]:
    """Returns the least and largest quantities of a run that was repeated."""
    each = [once(run) for run in runs]
    return {
        key: (min(one[key][0] for one in each), max(one[key][1] for one in each)) for key in each[0]
    }


def _exact() -> Iterator[Recorded]:
    """Yields the recordings of single flows with exact clocks."""
    for row in exact_runs():
        if row["group"] not in ("buffer", "loss", "block", "slowstart"):
            continue
        run: dict[str, Any] = dict(row)
        run |= {key: float(row[key]) for key in ("rate_mbps", "delay_ms", "limit_packets")}
        run["limit_packets"] = int(run["limit_packets"])
        start_s = CLOCK_AT_START_S + run["tick_phase_ms"] * 1e-3
        made = document(f"Linux 6.12, {run['run']}", run["duration_s"] + start_s, run)
        made["flow"] = {"bulk": flow(run["congestion_control"], start_s)}
        if run["group"] == "loss":
            name = f"random_drops_{run['loss'] * 100:g}pct_seed{run['loss_seed']}.txt"
            made["link"]["bottleneck"]["loss"] = {"arrivals": str(EXACT / name)}
        if run["group"] == "block":
            phase_s = start_s - run["blockage_s"] - run["clock_lead_s"]
            made["blockage"] = {"bottleneck": blockage("bottleneck", run["blockage_s"], phase_s)}
        yield Recorded(
            name=run["run"],
            group=run["group"],
            congestion_control=run["congestion_control"],
            duration_s=run["duration_s"],
            linux=once(run),
            scenarios=(made,),
            data_start_s=start_s,
            samples=run["run"],
        )


PAIR_STARTS_MS = (3.0, 3.1, 4.0, 5.0, 7.0, 9.0)
"""Starts of a pair against the tick in milliseconds, which give our own spread."""


def _pairs() -> Iterator[Recorded]:
    """Yields two flows on one bottleneck. Their shares depend on the start, in the kernel too."""
    runs = [run for run in exact_runs() if "pair_" in run["run"]]
    first = runs[0] | {"rate_mbps": 30, "delay_ms": 20, "limit_packets": 150}
    for names in dict.fromkeys(_pair_of(run) for run in runs):
        again = [run for run in runs if _pair_of(run) == names]
        shifts = sorted({run["start_s"] for run in again if run["flow"] == 1})
        made = tuple(
            _pair(names, CLOCK_AT_START_S + start_ms * 1e-3, shift_s, first)
            for shift_s in shifts
            for start_ms in PAIR_STARTS_MS
        )
        for number in (0, 1):
            each = [run for run in again if run["flow"] == number]
            yield Recorded(
                name=f"pair_{'_'.join(names)}_flow{number}",
                group="pair",
                congestion_control=names[number],
                duration_s=40.0,
                linux=spread(each),
                scenarios=made,
                flow=number,
            )


def _pair_of(run: dict[str, Any]) -> tuple[str, str]:
    words = run["run"].split("_")
    at = words.index("pair")
    return words[at + 1], words[at + 2]


def _pair(names: tuple[str, str], start_s: float, shift_s: float, run: dict[str, Any]) -> Document:
    made = document(f"Linux 6.12, {names[0]} and {names[1]}", 40 + start_s, run)
    made["flow"] = {
        "first": flow(names[0], start_s),
        "second": flow(names[1], start_s + shift_s),
    }
    return made


def _iperf3() -> Iterator[Recorded]:
    """Yields the single flows made with iperf3."""
    for run in tomllib.loads((DATA / "runs.toml").read_text(encoding="utf-8"))["run"]:
        again = run.get("received_again_mbps", run["received_mbps"])
        linux = {
            key: (float(run[key]), float(run[key]))
            for key in ("mean_srtt_ms", "max_cwnd_segments", "retransmitted_segments")
        }
        received = sorted((run["received_mbps"], again))
        linux["received_mbps"] = (received[0], received[1])
        is_chaotic = run["blockage_s"] >= 1
        group = "chaotic" if is_chaotic else "block" if run["blockage_s"] > 0 else "clean"
        starts_s = [ms * 1e-3 for ms in range(0, 10, 2)] if is_chaotic else [0.0]
        yield Recorded(
            name=run["name"],
            group=group,
            congestion_control=run["congestion_control"],
            duration_s=run["duration_s"],
            linux=linux,
            scenarios=tuple(_iperf3_scenario(run, start_s) for start_s in starts_s),
            data_start_s=iperf3_data_start_s(run),
            samples=f"{run['name']}.csv",
        )


def iperf3_data_start_s(run: dict[str, Any]) -> float:
    """Returns the time of our sender's first data: handshake and cookie take a round trip each."""
    return 4e-3 * run["delay_ms"] + 5e-3


def iperf3_clock_lead_s(delay_ms: float) -> float:
    """Returns the time from the start of the blockage clock to the first data, for iperf3 runs."""
    return IPERF3_CLOCK_LEAD_S + IPERF3_EXCHANGES * 2e-3 * delay_ms


def _iperf3_scenario(run: dict[str, Any], start_s: float) -> Document:
    data_s = iperf3_data_start_s(run)
    made = document(f"Linux 6.12, {run['name']}", run["duration_s"] + data_s + start_s, run)
    bulk = flow(run["congestion_control"], start_s)
    # The cookie of iperf3 is acknowledged before its control connection starts the transfer.
    bulk["application"] = {"kind": "bulk", "greeting": 37, "pause": f"{data_s:.3f} s"}
    if "first_window_segments" in run:
        bulk["tcp"]["initial-window"] = run["first_window_segments"]
    made["flow"] = {"bulk": bulk}
    if run["blockage_s"] > 0:
        phase_s = data_s - run["blockage_s"] - iperf3_clock_lead_s(run["delay_ms"])
        made["blockage"] = {"bottleneck": blockage("bottleneck", run["blockage_s"], phase_s)}
    return made
