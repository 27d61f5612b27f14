"""Events of the radio in a trace: transport blocks, bearers, measurements, changes of cell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fadeout.results import Results
from fadeout.trace.links import Block, Links
from fadeout.trace.writer import Writer

Row = Mapping[str, Any]

SYMBOLS = 14
"""OFDM symbols of a slot of NR, and of a subframe of LTE."""

SUBFRAME_NS = 1_000_000
"""Length of a subframe."""

TIMES = ("triggered_s", "commanded_s", "left_s", "entered_s", "completed_s", "switched_s")
"""Steps of a change of cell, in order."""


class RadioEvents:
    """Writes the rows of the tables of the radio."""

    def __init__(self, writer: Writer, links: Links, results: Results) -> None:
        self._writer = writer
        self._links = links
        self._scenario = results.manifest.get("scenario", {})
        self._symbols: dict[str, float] = {}
        # Each HARQ process has the arrow from its latest transmission, and the round of this
        # transmission.
        self._harq: dict[tuple[str, str, str, int], tuple[int, int]] = {}
        self.repeated = 0
        """Number of arrows from a transmission to the HARQ retransmission of its block."""

    def transport_blocks(self, row: Row, _number: int) -> None:
        """Writes a transmission as a slice, and its SINR and MCS."""
        cell, ue, direction = row["cell"], row["ue"], row["direction"]
        at = ns(row["time_s"])
        process = (cell, ue, direction, row["process"])
        block: Block = (*process, at)
        starts = list(self._links.block_starts.get(block, ()))
        ends = list(self._links.block_ends.get(block, ()))
        before = self._harq.pop(process, None)
        if before is not None and row["round"] == before[1] + 1:
            ends.append(before[0])
            self.repeated += 1
        if not row["is_ok"]:
            number = next(self._links.numbers)
            self._harq[process] = (number, row["round"])
            starts.append(number)
        values = {
            name: row[name]
            for name in ("size_bytes", "mcs", "cqi", "sinr_db", "n_prb", "symbols", "layers")
        }
        values["round"] = row["round"]
        name = "decoded" if row["is_ok"] else "CRC failed"
        if row["round"]:
            name += f", transmission {row['round'] + 1}"
        group = (f"UE {ue}", f"cell {cell}", direction)
        track = self._writer.track(*group, "HARQ", f"process {row['process']:02}")
        length = round(row["symbols"] * self._symbol_ns(cell))
        self._writer.slice(track, name, range(at, at + length), "harq", values, starts, ends)
        self._count((*group, "SINR"), "dB", at, row["sinr_db"])
        self._count((*group, "MCS"), "", at, row["mcs"])

    def _symbol_ns(self, cell: str) -> float:
        """Returns the length of an OFDM symbol of a cell, and zero if the scenario has no such
        cell.
        """
        if cell not in self._symbols:
            self._symbols[cell] = symbol_ns(self._scenario, cell)
        return self._symbols[cell]

    def radio_delay(self, row: Row, number: int) -> None:
        """Writes the delivery of a packet, with the parts of its delay."""
        values = {"flow": row["flow"], "size_bytes": row["size_bytes"]}
        values |= {name: row[name] for name in row if name.endswith("_s") and row[name]}
        del values["time_s"]
        self._writer.instant(
            self._bearer(row, "delivered packets"),
            "delivered",
            ns(row["time_s"]),
            "bearer",
            values,
            ends=self._links.row_ends.get(("radio_delay", number), ()),
        )

    def radio_drops(self, row: Row, number: int) -> None:
        """Writes the loss of a packet in a bearer."""
        self._writer.instant(
            self._bearer(row, "lost packets"),
            row["cause"],
            ns(row["time_s"]),
            "loss",
            {"flow": row["flow"], "size_bytes": row["size_bytes"]},
            self._links.row_starts.get(("radio_drops", number), ()),
            self._links.row_ends.get(("radio_drops", number), ()),
        )

    def bearers(self, row: Row, _number: int) -> None:
        """Writes the data that waits in a bearer."""
        at = ns(row["time_s"])
        path = self._bearer_path(row)
        for name, title, unit in (
            ("rlc_new_bytes", "RLC new data", "bytes"),
            ("rlc_retransmission_bytes", "RLC retransmissions", "bytes"),
            ("rlc_status_bytes", "RLC status reports", "bytes"),
            ("packets", "packets", "packets"),
            ("pdcp_held_packets", "packets held by PDCP", "packets"),
        ):
            self._count((*path, title), unit, at, row[name])

    def measurements(self, row: Row, _number: int) -> None:
        """Writes a measured RSRP."""
        at = ns(row["time_s"])
        group = (f"UE {row['ue']}", f"cell {row['cell']}", "measurements")
        self._count((*group, "RSRP"), "dBm", at, row["rsrp_dbm"])
        self._count((*group, "RSRP, filtered"), "dBm", at, row["filtered_dbm"])

    def rrc(self, row: Row, _number: int) -> None:
        """Writes a step of radio resource control."""
        track = self._writer.track(f"UE {row['ue']}", "RRC", "steps")
        self._writer.instant(track, row["event"], ns(row["time_s"]), "rrc", {"cell": row["cell"]})

    def handovers(self, row: Row, _number: int) -> None:
        """Writes a change of cell."""
        self._change(row, (f"UE {row['ue']}", "RRC", "changes of cell"), row["procedure"])

    def secondary_changes(self, row: Row, _number: int) -> None:
        """Writes a change of the secondary node."""
        self._change(row, (f"UE {row['ue']}", "RRC", "secondary node"), row["kind"])

    def _change(self, row: Row, path: tuple[str, ...], kind: str) -> None:
        """Writes a procedure as a slice from its first to its last step."""
        times = span(row, TIMES)
        values = {name: row[name] for name in row if name not in ("time_s", "ue")}
        track = self._writer.free_track(path, times)
        self._writer.slice(track, changed(row, kind), times, "mobility", values)

    def _bearer_path(self, row: Row) -> tuple[str, ...]:
        bearer = row["bearer"]
        ue = bearer if bearer in self._scenario.get("ue", {}) else bearer.partition("/")[0]
        return f"UE {ue}", f"bearer {bearer}", row["direction"]

    def _bearer(self, row: Row, title: str) -> int:
        return self._writer.track(*self._bearer_path(row), title)

    def _count(self, path: tuple[str, ...], unit: str, at: int, value: float) -> None:
        if math.isfinite(value):
            self._writer.value(self._writer.track(*path, unit=unit), at, value)


def ns(seconds: float) -> int:
    """Returns a time in nanoseconds."""
    return round(seconds * 1e9)


def span(row: Row, names: Sequence[str]) -> range:
    """Returns the nanoseconds from the first to the last of the steps that happened."""
    steps = [ns(row[name]) for name in names if name in row and not math.isnan(row[name])]
    return range(min(steps), max(steps)) if steps else range(ns(row["time_s"]), ns(row["time_s"]))


def changed(row: Row, kind: str) -> str:
    """Returns the name of a change of cell or link, with its outcome if it failed."""
    outcome = "" if row["outcome"] == "success" else f": {row['outcome']}"
    return f"{kind} {row['source']} → {row['target']}{outcome}"


def symbol_ns(scenario: Mapping[str, Any], cell: str) -> float:
    """Returns the length of an OFDM symbol of a cell. Zero if the scenario has no such cell."""
    for radio in _radios(scenario, cell):
        if isinstance(radio, str):
            radio = {"kind": radio}
        if radio.get("kind") == "lte":
            return SUBFRAME_NS / SYMBOLS
        if radio.get("kind") == "nr" and "numerology" in radio:
            return SUBFRAME_NS / 2 ** int(radio["numerology"]) / SYMBOLS
    return 0.0


def _radios(scenario: Mapping[str, Any], cell: str) -> Iterator[Any]:
    """Yields the radio of a cell, which may be one of a deployment."""
    cells = scenario.get("cell", {})
    if cell in cells:
        yield cells[cell].get("radio", {})
    for name, deployment in scenario.get("deployment", {}).items():
        if cell.startswith(name):
            yield deployment.get("cell", {}).get("radio", {})
