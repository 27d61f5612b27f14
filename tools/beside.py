"""Measures CPU time of whole runs with its range, alone and while a process fills the cache.

The process is `benches/src/bin/neighbour.rs`, on another core of the machine.
"""

import contextlib
import math
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from whole_runs import SCENARIOS, TARGET, whole_run


@dataclass
class Row:
    """Time of one unit of a scenario's work, alone and while the neighbour runs."""

    name: str
    unit: str
    """`ns` for a data packet, or `ms` for a simulated second."""
    alone: list[float]
    beside: list[float]
    targets: tuple[float | None, float | None]

    def line(self) -> str:
        """Returns medians and ranges as text, with the targets."""
        parts = [f"{self.name:46}"]
        for values, target in zip((self.alone, self.beside), self.targets, strict=True):
            text = f"{median(values):.4g} ({min(values):.4g} to {max(values):.4g}) {self.unit}"
            if target is not None:
                is_met = median(values) <= target
                text += f", <= {target:g} " + ("PASS" if is_met else "above target")
            parts.append(f"{text:44}")
        return "  ".join(parts).rstrip()


@dataclass
class Case:
    """A scenario that is timed, with overrides."""

    name: str
    scenario: str
    unit: str
    targets: tuple[float | None, float | None] = (None, None)
    overrides: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None
    """Lengths of two runs in seconds, whose difference excludes the building. None for one run."""
    cells: int | None = None
    """Number of cells of the carrier, each with the same number of UEs. None for the file's own."""

    def value(self) -> float:
        """Returns the time of one unit, from one run or from the difference of two."""
        path = SCENARIOS / f"{self.scenario}.toml"
        if self.cells is None:
            return self._value(str(path))
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".toml") as file:
            file.write(with_cells(path.read_text(encoding="utf-8"), self.cells))
            file.flush()
            return self._value(file.name)

    def _value(self, path: str) -> float:
        if self.lengths is None:
            run = whole_run(["null", path, *self.overrides])
            per_second = run.cpu_s * 1e3 / run.simulated_s
            return run.ns_per_packet if self.unit == "ns" else per_second
        short, long = (
            whole_run(["null", path, *self.overrides, f"duration={length} s"])
            for length in self.lengths
        )
        cpu_s = long.cpu_s - short.cpu_s
        packets = long.data_packets - short.data_packets
        per_second = cpu_s * 1e3 / (long.simulated_s - short.simulated_s)
        return cpu_s * 1e9 / packets if self.unit == "ns" else per_second


def with_cells(text: str, number: int) -> str:
    """Returns `thousand-ues.toml` with `number` cells, 500 m apart in a square, and 100 UEs for
    each.
    """
    before, first, *_ = text.split("[cell.")
    after = "[ue." + text.partition("[ue.")[2]
    columns = math.ceil(math.sqrt(number))
    half = 250 * (columns - 1)
    cells = (
        f"[cell.{first}".replace("[cell.c0]", f"[cell.c{n}]").replace(
            '["0 m", "0 m"]', f'["{500 * (n % columns)} m", "{500 * (n // columns)} m"]'
        )
        for n in range(number)
    )
    after = after.replace("count = 1000", f"count = {100 * number}")
    after = after.replace('["1000 m", "250 m"]', f'["{half} m", "{half} m"]')
    after = after.replace('spread = "1000 m"', f'spread = "{half + 250} m"')
    return before + "".join(cells) + after


# 10,000 flows with 10 Mbit/s of a link each, and a queue of 5 ms.
TEN_THOUSAND = (
    "flow.bulk.count=10000",
    "flow.bulk.start-spacing=50 us",
    "link.path.rate=100 Gbit/s",
    "link.path.queue.limit=50000 packets",
)
CASES = (
    Case("one bulk flow, a data packet", "bulk", "ns", (150, None), lengths=(2, 12)),
    Case("one bulk flow, three hops", "three-hops", "ns", (220, None), lengths=(2, 12)),
    Case("1,000 flows, a data packet", "thousand", "ns", (320, 420), lengths=(1, 2)),
    Case(
        "10,000 flows of 10 Mbit/s, a data packet",
        "thousand",
        "ns",
        (450, 600),
        TEN_THOUSAND,
        (1, 2),
    ),
    Case("10,000 transfers at a time, a data packet", "ten-thousand", "ns", (550, None)),
    Case("one mmWave UE, clusters: a second", "mmwave-ue-clusters", "ms", (20, None), (), (2, 12)),
    Case("ten mmWave UEs: a second", "mmwave-ten-ues", "ms", (32, None), (), (2, 12)),
    Case("1,000 UEs in 10 cells: a second", "thousand-ues", "ms", (250, None), (), (1, 3)),
    Case("one mmWave UE, as the peer's: a data packet", "mmwave-peer", "ns", lengths=(2, 6)),
    *(
        Case(
            f"{100 * cells:,} UEs, cells of 100: a second",
            "thousand-ues",
            "ms",
            (most, None),
            lengths=(1, 2),
            cells=cells,
        )
        for cells, most in ((1, None), (30, 900), (100, 3500))
    ),
    Case("1,000 managed UEs, 1 Mbit/s: a second", "managed-ues", "ms", (800, None), (), (1, 3)),
    Case("1,000 managed UEs, idle: a second", "managed-idle", "ms", (50, None), (), (2, 7)),
    Case("200 cars: a second", "cars-200", "ms", (1500, None), (), (1, 2)),
    Case("2,000 cars: a second", "cars-2000", "ms", (2000, None), (), (1, 2)),
)


def cache_sizes() -> str:
    """Returns the caches of a core, as Linux reports them."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with contextlib.suppress(OSError):
            level, kind, size = (
                (index / name).read_text(encoding="utf-8").strip()
                for name in ("level", "type", "size")
            )
            found.append(f"L{level} {kind.lower()} {size}")
    return ", ".join(found) or "not known"


@contextlib.contextmanager
def neighbour() -> Iterator[None]:
    """Context in which a process on another core fills the cache."""
    process = subprocess.Popen([str(TARGET / "release" / "neighbour")])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure_beside(repeats: int) -> Iterator[Row]:
    """Measures each case `repeats` times, alternately alone and while the neighbour runs."""
    for case in CASES:
        alone, beside = [], []
        for _ in range(repeats):
            alone.append(case.value())
            with neighbour():
                beside.append(case.value())
        yield Row(case.name, case.unit, alone, beside, case.targets)


if __name__ == "__main__":
    print(f"Caches: {cache_sizes()}")
    for row in measure_beside(5):
        print(row.line(), flush=True)
