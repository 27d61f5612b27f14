"""Traces: a run as a file for the viewer Perfetto, from the whole run down to a microsecond.

The trace has tracks of UEs, cells, bearers, flows and links. Arrows lead from a lost transport
block to its HARQ retransmissions, its RLC repetition, the packets, and the TCP retransmission.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from fadeout._files import new_file
from fadeout._native import ResultError
from fadeout._probes import PROBES

if TYPE_CHECKING:
    from fadeout.results import Results

__all__ = ["Trace", "write"]

RECORDED = (
    "transport_blocks",
    "radio_delay",
    "bearers",
    "measurements",
    "rrc",
    "handovers",
    "congestion",
    "throughput",
    "retransmissions",
    "timeouts",
    "flow_events",
    "queues",
    "drops",
    "blockages",
)
"""Tables of a trace that have a setting of their own."""

TABLES = (*RECORDED, "radio_drops", "secondary_changes", "link_handovers")
"""Tables of a trace. The setting of another table records the last three, too."""

RADIO = ("transport_blocks", "radio_delay", "bearers")
"""Tables that only a run with UEs can have."""

MOBILITY = ("measurements", "rrc", "handovers")
"""Tables that only a run with `[mobility-management]` can have."""

REPORTED_EVERY = 10_000
"""Number of rows between two reports of progress."""


@dataclass(frozen=True)
class Trace:
    """A trace that was written."""

    path: Path
    """The file."""
    rows: dict[str, int]
    """Number of rows of each table in the trace."""
    harq: int
    """Number of arrows from a transmission to the HARQ retransmission of the block."""
    rlc: int
    """Number of arrows from a block that HARQ gave up to its RLC repetition."""
    packets: int
    """Number of arrows from a repeated or lost block to a packet that it delivered or lost."""
    tcp: int
    """Number of arrows from a lost packet to the TCP retransmission."""
    lost_blocks: int
    """Number of transport blocks that HARQ gave up."""
    unlinked_blocks: int
    """Number of these blocks without an arrow to a repetition or a lost packet. Either no table has
    their contents, or several blocks are possible.
    """
    missing: dict[str, str]
    """Tables that were not recorded, each with the setting that records it."""
    is_complete: bool
    """False if the run was stopped before its end."""


def write(
    folder: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """Writes the trace of a run. Perfetto's viewer opens the file: https://ui.perfetto.dev.

    The tables are read in parts, so the memory does not grow with most of them. For the arrows it
    grows by some 100 bytes for each row of `radio_delay` and for each failed transmission.

    Args:
        folder: the folder of a run.
        out: the file. Default: `trace.pftrace` in the folder. An existing file is replaced.
        progress: called with the number of written rows and of all rows.

    Raises:
        ImportError: the package `perfetto` is missing: `pip install 'fadeout[trace]'`.
        ResultError: the folder has no run, no table of the trace was recorded, or a file cannot be
            read or written.
    """
    from fadeout.results import Results

    folder = Path(folder)
    if not folder.is_dir():
        raise ResultError(f"{folder}: expected the folder of a run")
    if (folder / "campaign.json").is_file():
        raise ResultError(f"{folder}: expected the folder of one run, found a campaign")
    results = Results.open(folder)
    path = folder / "trace.pftrace" if out is None else Path(out)
    try:
        with new_file(path) as partial:
            return _write(results, (path, partial), progress or (lambda _done, _total: None))
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror or error}") from error


def _write(
    results: "Results", paths: tuple[Path, Path], progress: Callable[[int, int], None]
) -> Trace:
    """Writes the trace of the first path to a file at the second."""
    path, partial = paths
    from fadeout.trace import links as link
    from fadeout.trace import tables
    from fadeout.trace.flow_events import FlowEvents
    from fadeout.trace.radio_events import RadioEvents
    from fadeout.trace.writer import Writer

    heights = {name: tables.height(results, name) for name in TABLES if results.has_table(name)}
    missing = _missing(results)
    if not heights:
        raise ResultError(f"the run recorded no table for a trace; {advice(missing)}")
    with partial.open("wb") as file:
        writer = Writer(file)
        links = link.find(results)
        radio, flows = RadioEvents(writer, links, results), FlowEvents(writer, links)
        done, total = 0, sum(heights.values())
        for name, height in heights.items():
            handle = getattr(radio, name, None) or getattr(flows, name)
            for number, row in enumerate(tables.rows(results, name, height)):
                handle(row, number)
                done += 1
                if done % REPORTED_EVERY == 0:
                    progress(done, total)
        flows.finish()
        writer.flush()
        progress(total, total)
    return Trace(
        path=path,
        rows=heights,
        harq=radio.repeated,
        rlc=links.repeated,
        packets=links.delivered + links.dropped,
        tcp=links.resent,
        lost_blocks=links.lost,
        unlinked_blocks=links.unlinked,
        missing=missing,
        is_complete=results.is_complete,
    )


def _missing(results: "Results") -> dict[str, str]:
    """Returns the tables that were not recorded and could have been, with their settings."""
    scenario = results.manifest.get("scenario", {})
    impossible: set[str] = set()
    if not scenario.get("ue"):
        impossible.update(RADIO)
    if not scenario.get("mobility-management"):
        impossible.update(MOBILITY)
    return {
        name: PROBES[name]
        for name in RECORDED
        if name not in impossible and not results.has_table(name)
    }


def advice(missing: Mapping[str, str]) -> str:
    """Returns the command that records missing tables."""
    settings = " ".join(f"--set {setting}" for setting in missing.values())
    return f"record the tables with: fadeout run scenario.toml {settings}"
