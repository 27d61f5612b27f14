"""Comparison of our runs with recorded runs of Linux: quantities, tolerances and misses."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl

from fadeout import _toml
from fadeout.results import Results
from fadeout.study.batch import CountCallback, read_texts, run_texts
from fadeout.validate.beside import Quantity, draw_beside
from fadeout.validate.recordings import DATA, Range, Recorded, recorded, samples

QUANTITIES = (
    Quantity("received Mbit/s", "received_mbps", ".2f"),
    Quantity("mean sRTT ms", "mean_srtt_ms", ".1f"),
    Quantity("max cwnd", "max_cwnd_segments", ".0f"),
    Quantity("retransmitted", "retransmitted_segments", ".0f"),
)

RATE = {
    "clean": 0.02,
    "buffer": 0.02,
    "slowstart": 0.02,
    "multipath": 0.02,
    "loss": 0.03,
    "pair": 0.0,
}
"""Largest relative error of received rate and round-trip time, by group. Others have 4 %.

Two runs of the kernel that differ in milliseconds differ by less than 0.2 % on a clean link. With
random loss at the same arrivals they differ by 1.4 %, with blockages by 0.6 %. The shares of a pair
are chaotic, so only the kernel's own spread is allowed.
"""

RATE_BLOCKED = 0.04
LARGEST_WINDOW = 0.05
RETRANSMISSIONS = 0.15
RETRANSMITTED_SEGMENTS = 10
"""Largest absolute error of retransmissions. The larger of both limits applies."""

TOLERANCES = (
    ("received rate, mean sRTT", "2 %; with losses at the same arrivals 3 %; with blockages 4 %"),
    ("shares of a pair", "our median within the kernel's spread"),
    ("largest window", "5 %, at the instants of the samples"),
    ("retransmitted segments", "15 % or 10 segments, whichever is more"),
)

COLUMNS = (
    "run",
    *(column for q in QUANTITIES for column in (f"{q.name} Linux", "ours", "error")),
)


@dataclass(frozen=True)
class Row:
    """A recorded flow and ours. There are several runs if the kernel's depends on milliseconds."""

    recorded: Recorded
    ours: dict[str, tuple[float, ...]]
    """Our values by the key of the quantity, one for each run."""

    @property
    def name(self) -> str:
        """Name of the recording."""
        return self.recorded.name

    def value(self, key: str) -> float:
        """Returns our value: the median of our runs."""
        return median(self.ours[key])

    def error(self, key: str) -> float:
        """Returns the relative distance of our value from the recorded range."""
        least, largest = self.recorded.linux[key]
        nearest = min(max(self.value(key), least), largest)
        return self.value(key) / nearest - 1 if nearest else self.value(key)

    def tolerance(self, key: str) -> float:
        """Returns the largest error that passes."""
        if key == "max_cwnd_segments":
            return LARGEST_WINDOW
        if key == "retransmitted_segments":
            return max(
                RETRANSMISSIONS, RETRANSMITTED_SEGMENTS / max(self.recorded.linux[key][1], 1)
            )
        if key == "mean_srtt_ms" and self.recorded.group == "pair":
            return RATE["clean"]
        return RATE.get(self.recorded.group, RATE_BLOCKED)

    def is_missed(self, key: str) -> bool:
        """Returns True if a quantity is outside its tolerance."""
        return abs(self.error(key)) > self.tolerance(key)

    def compared(self) -> list[Quantity]:
        """Returns the quantities that were recorded."""
        return [q for q in QUANTITIES if q.key in self.recorded.linux]

    def misses(self) -> dict[str, str]:
        """Returns descriptions of the misses, by the key of the quantity."""
        return {
            q.key: f"{self.name}: {q.name} {self.value(q.key):{q.form}}, Linux "
            f"{_range(self.recorded.linux[q.key], q.form)}: {self.error(q.key):+.1%} where "
            f"{self.tolerance(q.key):.0%} is allowed"
            for q in self.compared()
            if self.is_missed(q.key)
        }

    def cells(self) -> list[str]:
        """Returns the row of the table. Errors outside their tolerance have a cross."""
        cells = [self.name]
        for q in QUANTITIES:
            if q.key not in self.recorded.linux:
                cells += ["", "", ""]
                continue
            mark = " ✗" if self.is_missed(q.key) else ""
            own = (min(self.ours[q.key]), max(self.ours[q.key]))
            linux = _range(self.recorded.linux[q.key], q.form)
            cells += [linux, _range(own, q.form), f"{self.error(q.key):+.1%}{mark}"]
        return cells


def _range(values: Range, form: str) -> str:
    least, largest = (format(value, form) for value in values)
    return least if least == largest else f"{least} to {largest}"


@cache
def known_misses() -> dict[tuple[str, str], str]:
    """Returns the reasons of known misses, by name and quantity."""
    text = (DATA / "known_misses.toml").read_text(encoding="utf-8")
    return {
        (name, miss["quantity"]): group["why"]
        for group in tomllib.loads(text).get("group", [])
        for miss in group["rows"]
        for name in miss["runs"]
    }


def compare_all(
    names: Sequence[str] | None = None,
    *,
    jobs: int | None = None,
    progress: CountCallback | None = None,
) -> list[Row]:
    """Returns our runs with the recorded ones called `names`, or with all."""
    chosen = [recorded()[name] for name in names or recorded()]
    texts: dict[str, list[Recorded]] = {}
    for row in chosen:
        for made in row.scenarios:
            texts.setdefault(_toml.dumps(made), []).append(row)

    def measure(text: str, results: Results) -> dict[str, dict[str, float]]:
        return {row.name: ours(row, results) for row in texts[text]}

    measured = read_texts(list(texts), measure, workers=jobs, progress=progress)
    return [
        Row(
            row,
            {
                q.key: tuple(one[row.name][q.key] for one in measured if row.name in one)
                for q in QUANTITIES
                if q.key in row.linux
            },
        )
        for row in chosen
    ]


def ours(row: Recorded, results: Results) -> dict[str, float]:
    """Returns our values of the quantities that were recorded."""
    flow = results.flows.row(row.flow, named=True)
    start_s = row.data_start_s
    seconds = row.duration_s
    if row.group == "pair":
        start_s = flow["start_s"]
        seconds = results.duration_s - start_s
    values = {
        "received_mbps": flow["delivered_bytes"] * 8e-6 / seconds,
        "retransmitted_segments": float(flow["retransmitted_segments"]),
    }
    if "mean_srtt_ms" in row.linux:
        rows = results.congestion.filter((pl.col("flow") == flow["flow"]) & (pl.col("srtt_s") > 0))
        sampled = at_instants(rows, start_s, seconds)
        values["mean_srtt_ms"] = float(sampled["srtt_s"].to_numpy().mean()) * 1e3
        values["max_cwnd_segments"] = float(sampled["cwnd_segments"].to_numpy().max())
    return values


def at_instants(rows: pl.DataFrame, start_s: float, seconds: float) -> pl.DataFrame:
    """Returns window and smoothed round-trip time every 0.1 s, as in the recordings.

    A peak between two samples is in neither. Without an ACK in between, the last values apply.
    """
    times = [start_s + 0.1 * number for number in range(1, int(seconds / 0.1 + 0.5) + 1)]
    instants = pl.DataFrame({"time_s": times}).join_asof(
        rows.select("time_s", "srtt_s", "cwnd_segments"), on="time_s", strategy="backward"
    )
    return instants.drop_nulls()


def draw(folder: Path, names: Sequence[str] | None = None) -> list[Path]:
    """Draws our window over the recorded one into `folder`, one figure for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names or [name for name, row in recorded().items() if row.samples]:
        row = recorded()[name]
        results = run_texts([_toml.dumps(row.scenarios[0])])[0]
        rows = results.congestion.filter(pl.col("srtt_s") > 0)
        path = folder / f"{name}.png"
        draw_beside(
            path,
            samples(row).select(
                pl.col("t_s").alias("time_s"),
                "cwnd_segments",
                pl.col("srtt_ms").alias("srtt_s") / 1e3,
            ),
            rows.with_columns(pl.col("time_s") - row.data_start_s),
            results,
            kernel="6.12",
            end_s=row.duration_s,
        )
        paths.append(path)
    return paths
