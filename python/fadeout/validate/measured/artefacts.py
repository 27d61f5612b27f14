"""Reference values from a copy of the data sets: quantiles of each half.

A copy of a data set is in the folder `OWNER/NAME` of its repository on GitHub.
"""

import csv
import hashlib
import math
import re
import statistics
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fadeout._files import read_bytes, read_text
from fadeout._native import FadeoutError
from fadeout.validate.measured.model import CHOSEN, HALVES, HELD_OUT, Entry, Reference, half_of

Found = dict[str, list[Reference]]
"""Reference values by the name of the point."""


def derive(entry: Entry, folder: Path) -> Found:
    """Returns the reference values of an entry from the copies of data sets in `folder`.

    Raises:
        FadeoutError: the copy of the data set is missing, or a file in it is not as expected.
    """
    root = folder / entry.source.repository
    if not root.is_dir():
        raise FadeoutError(
            f"{entry.name} needs a copy of {entry.source.address} (commit {entry.source.commit}) "
            f"in {root}"
        )
    try:
        found = DERIVATIONS[entry.name](root)
    except OSError as error:
        raise FadeoutError(f"{error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, IndexError, zipfile.BadZipFile) as error:
        raise FadeoutError(
            f"{root} is not as in commit {entry.source.commit}: {error!r}"
        ) from error
    for point in entry.points:
        if not found.get(point.name):
            raise FadeoutError(f"{root} has no values for the point '{point.name}'")
    return found


def quantile(values: Sequence[float], share: float) -> float:
    """Returns a quantile of `values`, between two values linearly. NaN without values."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def reference(half: str, values: Sequence[float]) -> Reference:
    """Returns the quantiles of `values`."""
    p10, median, p90 = (quantile(values, share) for share in (0.1, 0.5, 0.9))
    return Reference(half, len(values), p10, median, p90)


def halves(values: Iterable[tuple[str, float]]) -> list[Reference]:
    """Returns the quantiles of each half of `values`, pairs of a unit's name and a value."""
    by_half: dict[str, list[float]] = {half: [] for half in HALVES}
    for unit, value in values:
        by_half[half_of(unit)].append(value)
    return [reference(half, found) for half, found in by_half.items() if found]


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(read_text(path, "measurement").splitlines()))


PROBES = {
    "Verizon": ("S20US_162_Verizon_4G.csv", (1.0, 9.5), (11.0, 20.0)),
    "T-Mobile": ("SALMONBERRY_299_TMobile_4G.csv", (1.0, 4.5), (6.0, 20.0)),
}
"""File of RRC-Probe, and idle times in seconds that are surely before and after the release."""


def _idle_lte(root: Path) -> Found:
    found: Found = {}
    for operator, (name, *ranges) in PROBES.items():
        rows = _rows(root / "RRC-Probe" / "data" / name)
        for state, (least_s, end_s) in zip(("connected", "idle"), ranges, strict=True):
            found[f"{operator}, {state}"] = halves(
                (f"{name}:{number}", (float(row["RTT1"]) + float(row["RTT2"])) / 2)
                for number, row in enumerate(rows)
                if row["KeepOrDrop"] == "YEP" and least_s <= float(row["interval"]) < end_s
            )
    return found


BUFFERS = {"default buffer": "tcp1d", "tuned buffer": "tcp1c"}
SERVERS = {"20 ms": "north-central", "25 ms": "central", "43 ms": "east2", "58 ms": "west2"}
"""Servers whose smallest ping is not that of a phone in DRX, by this ping."""


def _tcp_mmwave(root: Path) -> Found:
    folder = root / "TCP-Single-Conn-Perf" / "data-processed"
    rows = _rows(folder / "TCP-Single-Conn-Perf_combined.csv")
    found: Found = {}
    for ping, server in SERVERS.items():
        for buffer, kind in BUFFERS.items():
            runs = [r for r in rows if r["server_location"] == server and r["type"] == kind]
            found[f"{ping}, {buffer}"] = [
                _typical(half, [r for r in runs if half_of(r["iperf_run_number"]) == half])
                for half in (CHOSEN, HELD_OUT)
            ]
    return found


def _typical(half: str, runs: list[dict[str, str]]) -> Reference:
    """Returns the median over runs, of each run's median and of its 90th percentile."""
    median, p90 = (
        statistics.median(float(run[column]) for run in runs)
        for column in ("throughput_median", "throughput_90tile")
    )
    return Reference(half, len(runs), None, median, p90)


HISTOGRAMS = {
    "2a": ("5G-midband-Downlink_PD-Wireless-5G-2a.csv", "5G-midband-Uplink_PD-Wireless-5G-2a.csv"),
    "3a": (
        "5G-URLLC-mmW-Downlink_PD-Wireless-5G-3a.csv",
        "5G-URLLC-mmW-Uplink_PD-Wireless-5G-3a.csv",
    ),
    "4a": ("5G-mmW-DL-histData.csv", "5G-mmW-UL-histData.csv"),
}


UPLINKS = {
    "2a": ("uplink, configured grants", "uplink, requests"),
    "3a": ("uplink, divided slots", "uplink, DDSU"),
    "4a": ("uplink, configured grants", "uplink, requests"),
}
"""Points with different assumptions about the uplink. The same measured values belong to each."""


def _one_way(number: str, *, gives_uplink: bool = False) -> Callable[[Path], Found]:
    """Returns the derivation of a system. The median of the first point of the uplink is chosen if
    `gives_uplink` is True."""

    def derived(root: Path) -> Found:
        folder = root / f"PD-Wireless-5G-{number}" / "raw"
        down, up = (_histogram(folder / name) for name in HISTOGRAMS[number])
        held_out = _of_histogram(HELD_OUT, up)
        points = {name: [held_out] for name in UPLINKS[number]}
        if gives_uplink:
            points[UPLINKS[number][0]] = [
                Reference(CHOSEN, held_out.count, None, held_out.median),
                replace(held_out, median=None),
            ]
        return {"downlink": [_of_histogram(CHOSEN, down)], **points}

    return derived


def _histogram(path: Path) -> list[tuple[float, float]]:
    """Returns lower limits in milliseconds and counts of the bins of a histogram."""
    lines = read_text(path, "histogram").splitlines()
    cells = [re.split(r"[\t,; ]+", line.strip()) for line in lines if line.strip()]
    return [(float(low), float(count)) for low, count in cells]


def _of_histogram(half: str, bins: list[tuple[float, float]]) -> Reference:
    total = sum(count for _, count in bins)
    width = bins[1][0] - bins[0][0]

    def at(share: float) -> float:
        passed = 0.0
        for low, count in bins:
            if count and passed + count >= share * total:
                return low + width * (share * total - passed) / count
            passed += count
        return bins[-1][0] + width

    # Two histograms have shares and no counts.
    return Reference(half, round(total) if total > 2 else None, at(0.1), at(0.5), at(0.9))


OPERATORS = {"AT&T": "ATT", "T-Mobile": "TMB", "Verizon": "VZW"}


PARTS = {"preparation": ("MR",), "execution": ("HO", "RCH")}
"""Columns of the parts of a handover, whose durations are added."""

Rows = list[tuple[str, dict[str, str]]]
"""Rows of a table with the numbers of the rows."""


def _handovers(root: Path, kind: str, technology: str) -> Rows:
    path = root / "data" / "figure9-ho_exec_duration" / "HO-Duration_Combined.csv"
    return [
        (f"{number}", row)
        for number, row in enumerate(_rows(path))
        if row["Type"] == kind and row["Tech"] == technology
    ]


def _part(rows: Rows, name: str) -> list[Reference]:
    """Returns the durations of a part of the handovers in milliseconds."""
    columns = PARTS[name]
    return halves(
        (unit, 1e3 * sum(float(row[column]) for column in columns))
        for unit, row in rows
        if all(row[column] for column in columns)
    )


def _handover_lte(root: Path) -> Found:
    rows = _handovers(root, "PCell", "LTE")
    found: Found = {}
    for operator, code in OPERATORS.items():
        own = [(unit, row) for unit, row in rows if row["Operator"] == code]
        found |= {f"{operator}, {name}": _part(own, name) for name in PARTS}
    return found


def _handover_nr_sa(root: Path) -> Found:
    rows = _handovers(root, "MCG", "SA")
    return {name: _part(rows, name) for name in PARTS}


def _addition_nsa(root: Path) -> Found:
    folder = root / "figure" / "cdf-5g-addition-delay"
    found: Found = {}
    for operator in OPERATORS:
        name = f"{operator[0]}_command_delay_cdf_all.csv"
        lines = read_text(folder / name, "distribution").split()
        steps = [tuple(map(float, line.split(","))) for line in lines]
        # Each share is that of the values up to this one.
        p10, median, p90 = (
            1e3 * next(delay_s for delay_s, share in steps if share >= wanted)
            for wanted in (0.1, 0.5, 0.9)
        )
        # The first step is that of the smallest value.
        count = round(1 / steps[0][1])
        found[operator] = [Reference(HELD_OUT, count, p10, median, p90)]
    return found


def _rtt_drive(root: Path) -> Found:
    """Returns round-trip times of the runs at 20 Hz. Copies of a run count once."""
    seen: set[str] = set()
    values: dict[str, list[tuple[str, float]]] = {"n78": [], "n8": []}
    for path in sorted((root / "data").rglob("*_run*.txt")):
        data = read_bytes(path, "run")
        digest = hashlib.sha256(data).hexdigest()
        if "frequency" in str(path.parent) or digest in seen:
            continue
        seen.add(digest)
        band = "n78" if "_n78_" in path.name else "n8"
        for line in data.decode("utf-8").splitlines()[1:]:
            cells = line.split()
            if len(cells) >= 3:
                values[band].append((path.name, float(cells[2])))
    return {band: halves(found) for band, found in values.items()}


def _walk_n78(root: Path) -> Found:
    """Returns SINR and rate of the walks. A unit is a minute of a walk."""
    seconds = []
    for path in sorted((root / "dataset").glob("*.csv")):
        for row in _rows(path):
            if row["NR-ARFCN"] == "628416" and row["SINR"] and float(row["throughput_DL"]) > 0:
                unit = f"{path.name}:{row['Time'][:16]}"
                seconds.append((unit, float(row["SINR"]), float(row["throughput_DL"]) / 1e6))
    return {"walk": _paired(seconds)}


def _drive_lte(root: Path) -> Found:
    """Returns SINR and rate of each second of the downloads in cars over LTE."""
    seconds = []
    for name, text in _zipped(root / "5G-production-dataset.zip", "Download/Driving/"):
        for row in csv.DictReader(text.splitlines()):
            if row["NetworkMode"] != "LTE" or row["State"] != "D" or row["SNR"] in ("", "-"):
                continue
            seconds.append((name, float(row["SNR"]), float(row["DL_bitrate"]) / 1e3))
    return {"drive": _paired(seconds)}


def _zipped(path: Path, folder: str) -> Iterator[tuple[str, str]]:
    """Yields names and texts of the CSV files in a folder of a ZIP file."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if folder in name and name.endswith(".csv") and "__MACOSX" not in name:
                yield name.rsplit("/", 1)[-1], archive.read(name).decode("utf-8")


def _paired(seconds: list[tuple[str, float, float]]) -> list[Reference]:
    found = []
    for half in (CHOSEN, HELD_OUT):
        pairs = tuple((sinr, rate) for unit, sinr, rate in seconds if half_of(unit) == half)
        whole = reference(half, [rate for _, rate in pairs])
        found.append(Reference(half, whole.count, whole.p10, whole.median, whole.p90, pairs=pairs))
    return found


DERIVATIONS: dict[str, Callable[[Path], Found]] = {
    "idle-lte": _idle_lte,
    "tcp-mmwave": _tcp_mmwave,
    "one-way-n78": _one_way("2a"),
    "one-way-urllc": _one_way("3a"),
    "one-way-mmwave": _one_way("4a", gives_uplink=True),
    "handover-lte": _handover_lte,
    "handover-nr-sa": _handover_nr_sa,
    "addition-nsa": _addition_nsa,
    "rtt-drive": _rtt_drive,
    "walk-n78": _walk_n78,
    "drive-lte": _drive_lte,
}
"""Derivations by the name of the entry."""
