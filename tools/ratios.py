"""Compares the speed of whole runs with peers, run in turn on one machine.

    tools/ratios.py --htsim PROGRAM --ns3 PROGRAM

A row is a ratio of CPU times of whole processes: the median of the pairs, with the least and the
largest ratio. The two sides of a pair run one after the other. Rows without their program are left
out. The tool needs `cargo build --release --bin whole_run`. `--program` names another build of
whole_run, such as one that is optimised by a profile.

`tools/peers` has the programs for htsim and ns-3, with the commands that build them. `--straight`
is a program that simulates only the ordinary case of a bulk flow. Its arguments are seconds, flows,
nanoseconds between their starts, bit/s and the largest window, and it prints `packets N`.
`--earlier` is whole_run of an earlier commit.
"""

import argparse
import json
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from beside import TEN_THOUSAND
from whole_runs import SCENARIOS, TARGET, measured

Side = Callable[[argparse.Namespace], float]
"""Runs one side of a pair. Returns the CPU time of one unit of work, in seconds."""


@dataclass
class Row:
    """A ratio with its target."""

    name: str
    needs: str | None
    """Option whose program the row needs. None if the row compares two scenarios of fadeout."""
    own: Side
    other: Side
    target: float
    is_speedup: bool = False
    """True if the ratio is the other side's time to the own time, which should be large."""

    def ratio(self, options: argparse.Namespace) -> float:
        """Runs one pair. Returns its ratio."""
        own, other = self.own(options), self.other(options)
        return other / own if self.is_speedup else own / other

    def line(self, ratios: list[float]) -> str:
        """Returns the result as text."""
        middle = median(ratios)
        is_met = middle >= self.target if self.is_speedup else middle <= self.target
        sign = ">=" if self.is_speedup else "<="
        spread = f"{middle:.3g} ({min(ratios):.3g} to {max(ratios):.3g})"
        return f"{self.name:58} {spread:26} {sign} {self.target:g} {'met' if is_met else 'missed'}"


def cpu_s(usage: resource.struct_rusage) -> float:
    """Returns the CPU time of a process, user and system, in seconds."""
    return usage.ru_utime + usage.ru_stime


def scenario(name: str, unit: str, *overrides: str, option: str = "program") -> Side:
    """Returns a side that runs a scenario of `benches/scenarios` with the whole_run of an option. A
    unit is a data `packet`, a simulated `second`, or the whole `run`.
    """

    def side(options: argparse.Namespace) -> float:
        path = str(SCENARIOS / f"{name}.toml")
        usage, text = measured([getattr(options, option), "null", path, *overrides])
        report = json.loads(text)
        units = {"packet": report["data_packets"], "second": report["simulated_s"], "run": 1}
        return cpu_s(usage) / units[unit]

    return side


def peer(option: str, unit: str, *arguments: str) -> Side:
    """Returns a side that runs the program of an option. A unit is a data `packet` or the whole
    `run`.
    """

    def side(options: argparse.Namespace) -> float:
        command = [getattr(options, option), *arguments]
        usage, text = measured(command)
        return cpu_s(usage) / (1 if unit == "run" else packets_in(text, command))

    return side


def packets_in(output: str, command: list[str]) -> int:
    """Returns the number of data packets in a peer's output: `"data_packets": N` or `packets N`."""
    counted = re.search(r'^packets (\d+)|"data_packets": (\d+)', output, re.MULTILINE)
    if counted is None:
        sys.exit(f'{" ".join(command)}: expected "data_packets": N or packets N in the output')
    return int(counted[1] or counted[2])


PEERS = ("htsim", "ns3", "straight", "earlier")
"""Options that name the program of a peer."""

NEWRENO = 'flow.bulk.congestion-control="newreno"'
BULK = scenario("bulk", "packet")
NARROW = (
    'link.near.rate="1 Gbit/s"',
    'link.middle.rate="100 Mbit/s"',
    'link.middle.queue.limit="100 packets"',
    'link.far.rate="1 Gbit/s"',
)
DEFAULT_CHANNEL = tuple(f'cell.c{n}.channel={{ path-loss = "uma" }}' for n in range(10))

ROWS = (
    Row(
        "one NewReno flow, 1 Gbit/s, to htsim, a packet",
        "htsim",
        scenario("bulk", "packet", NEWRENO),
        peer("htsim", "packet", "1", "1000", "20"),
        0.8,
    ),
    Row(
        "1,000 NewReno flows, 10 Gbit/s, to htsim, a packet",
        "htsim",
        scenario("thousand", "packet", NEWRENO),
        peer("htsim", "packet", "1000", "10000", "3"),
        1.0,
    ),
    Row(
        "10,000 flows to one flow, a packet",
        None,
        scenario("thousand", "packet", *TEN_THOUSAND, "duration=1 s"),
        BULK,
        2.2,
    ),
    Row(
        "one CUBIC flow to the straight program, a packet",
        "straight",
        BULK,
        peer("straight", "packet", "20", "1", "0", "1000000000", "2100"),
        1.4,
    ),
    Row(
        "one CUBIC flow, three hops, 100 Mbit/s, 3 s: ns-3 to this",
        "ns3",
        scenario("three-hops", "run", *NARROW, 'duration="3 s"'),
        peer("ns3", "run", "1", "100", "3"),
        200,
        is_speedup=True,
    ),
    Row(
        "the same, 1 Gbit/s, 1 s: ns-3 to this",
        "ns3",
        scenario("three-hops", "run", 'duration="1 s"'),
        peer("ns3", "run", "1", "1000", "1"),
        900,
        is_speedup=True,
    ),
    Row(
        "Multipath TCP to two TCPs, a packet",
        None,
        scenario("two-subflows", "packet"),
        scenario("two-tcps", "packet"),
        2.2,
    ),
    Row(
        "one mmWave UE, default channel: now to earlier",
        "earlier",
        scenario("mmwave-ue-clusters", "second"),
        scenario("mmwave-ue-clusters", "second", option="earlier"),
        0.75,
    ),
    Row(
        "1,000 UEs in 10 cells, default channel: now to earlier",
        "earlier",
        scenario("thousand-ues", "second", *DEFAULT_CHANNEL),
        scenario("thousand-ues", "second", *DEFAULT_CHANNEL, option="earlier"),
        0.6,
    ),
)


def arguments() -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs", type=int, default=5, help="pairs of runs for each row, 5 or more"
    )
    for name in PEERS:
        parser.add_argument(f"--{name}", metavar="PROGRAM")
    built = TARGET / "release" / "whole_run"
    parser.add_argument(
        "--program", metavar="PROGRAM", default=str(built), help=f"default: {built}"
    )
    options = parser.parse_args()
    if options.pairs < 5:
        parser.error(f"--pairs {options.pairs}: a range needs 5 pairs or more")
    for name in ("program", *PEERS):
        path = getattr(options, name)
        if path is not None and not Path(path).is_file():
            parser.error(f"--{name} {path}: no such file")
    return options


def main() -> None:
    """Prints one line for each row."""
    options = arguments()
    for row in ROWS:
        if row.needs is not None and getattr(options, row.needs) is None:
            print(f"{row.name:58} left out: needs --{row.needs}")
            continue
        ratios = [row.ratio(options) for _ in range(options.pairs)]
        print(row.line(ratios), flush=True)


if __name__ == "__main__":
    main()
