"""Measures speed: instruction counts, compared with those in the repository, then whole runs.

Instruction counts hardly change from run to run, so they are a gate: a count that grew by more than
TOLERANCE fails. Times are only reported, as medians of CPU time. Some rows also have their range,
and are measured alone and while a process fills the cache. See docs/speed-method.md.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from statistics import median

from beside import cache_sizes, measure_beside
from whole_runs import ROOT, SCENARIOS, TARGET, Run, whole_run

BASELINE = ROOT / "benches" / "baseline.csv"
RESULTS = ROOT / "out" / "bench.json"

# A count repeats exactly for one compiler and one program. An unrelated change can alter the
# compiler's choice of inlined functions, which moves a count by one or two percent.
TOLERANCE = 0.03
# Largest ratio of the cost among many flows to that among few. A larger event queue costs 2 to 6 %.
# A scan over all flows would show at once.
RATIOS = {
    ("world/flows-1000", "world/flows-100"): 1.1,
    ("world/flows-10000", "world/flows-100"): 1.2,
    # Building is linear, so the cost of one item grows only with the depth of lookups.
    ("build/flows-100000", "build/flows-1000"): 1.1,
    ("build/ues-8000", "build/ues-1000"): 1.1,
    # The goal is 1.15 of the cost of two UEs, which one UE with two legs replaces. TCP meets it.
    # With datagrams nearly all of the cost is the radio's, and 1.31 and 1.21 are measured.
    ("legs/tcp-one-ue-two-legs", "legs/tcp-two-ues"): 1.15,
    ("legs/one-ue-two-legs", "legs/two-ues"): 1.4,
    ("legs/one-ue-two-legs", "legs/two-ues-one-over-xn"): 1.3,
}
CONTROL_RATIO = 1.3
"""Largest cost of an ACK with a congestion control, relative to NewReno. BBRv3 may have 2."""
# The value is that of STEPS in benches/benches/instructions.rs.
STEPS = 128
REPEATS = 5


# --- instruction counts -------------------------------------------------------------------------


def count_instructions() -> dict[str, float]:
    """Runs the counting benchmarks. Returns the instructions of one step by name."""
    folder = TARGET / "gungraun" / "fadeout-benches" / "instructions"
    shutil.rmtree(folder, ignore_errors=True)
    command = ["cargo", "bench", "--locked", "-p", "fadeout-benches", "--bench", "instructions"]
    print("$", " ".join(command), flush=True)
    environment = os.environ | {"GUNGRAUN_SAVE_SUMMARY": "json"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        print(done.stdout)
        sys.exit("the counting benchmarks failed")
    counts = {}
    for path in sorted(folder.rglob("summary.json")):
        summary = json.loads(path.read_text(encoding="utf-8"))
        metrics = summary["profiles"][0]["data"]["total"]["metrics"]
        name = f"{summary['function_name']}/{summary['id'].replace('_', '-')}"
        # Names of worlds end with the number of flows or UEs. A step is half a second of one flow,
        # or building one flow or UE.
        group, _, many = name.partition("/")
        steps = int(many.rpartition("-")[2]) if group in ("world", "build") else STEPS
        counts[name] = metrics["Ir"]["values"]["new"] / steps
    return counts


def read_baseline() -> dict[str, float]:
    """Returns the accepted counts."""
    if not BASELINE.exists():
        return {}
    with BASELINE.open(encoding="utf-8", newline="") as file:
        return {row["step"]: float(row["instructions"]) for row in csv.DictReader(file)}


def write_baseline(counts: dict[str, float]) -> None:
    """Writes the counts as the accepted ones."""
    with BASELINE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["step", "instructions"])
        writer.writerows((name, f"{count:.1f}") for name, count in sorted(counts.items()))
    print(f"written: {BASELINE.relative_to(ROOT)}")


def compare(counts: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """Prints old and new counts with their ratio. Returns the names of counts that grew
    too much.
    """
    print(f"\n{'instructions of one step':28}{'old':>10}{'new':>10}{'new/old':>9}")
    grown = []
    for name in sorted(counts.keys() | baseline.keys()):
        old, new = baseline.get(name), counts.get(name)
        line = f"{name:28}{_number(old):>10}{_number(new):>10}"
        if old is not None and new is not None:
            is_grown = new > old * (1 + TOLERANCE)
            line += f"{new / old:>9.3f}" + ("  grew" if is_grown else "")
            if is_grown:
                grown.append(name)
        print(line)
    return grown


def check_ratios(counts: dict[str, float]) -> list[str]:
    """Prints the ratios that have a bound. Returns a message for each ratio above its bound."""
    failed = []
    controls = [name for name in sorted(counts) if name.startswith("control/")]
    ratios = RATIOS | {
        (name, "control/newreno"): 2.0 if name == "control/bbr3" else CONTROL_RATIO
        for name in controls
    }
    for (many, few), bound in ratios.items():
        if many in counts and few in counts:
            ratio = counts[many] / counts[few]
            print(f"{many} to {few}: {ratio:.2f}, at most {bound}")
            if ratio > bound:
                failed.append(f"{many} is {ratio:.2f} times {few}, more than {bound}")
    return failed


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


# --- whole runs ---------------------------------------------------------------------------------


@dataclass
class Figure:
    """One line of the report."""

    name: str
    value: float
    unit: str
    target: float | None = None

    def line(self) -> str:
        """Returns the figure as text, with its target."""
        text = f"{self.name:52}{self.value:>9.2f} {self.unit:<6}"
        if self.target is None:
            return text.rstrip()
        return text + f"<= {self.target:<5g}" + ("PASS" if self.passes else "above target")

    @property
    def passes(self) -> bool:
        """True if the target is met."""
        return self.target is None or self.value <= self.target


def medians(variants: dict[str, list[str]]) -> dict[str, Run]:
    """Runs each variant several times and returns the run with the median CPU time.

    Variants are run in turn, so that a disturbance of the machine affects all of them.
    """
    runs: dict[str, list[Run]] = {name: [] for name in variants}
    for _ in range(REPEATS):
        for name, arguments in variants.items():
            runs[name].append(whole_run(arguments))
    middle = {name: median(run.cpu_s for run in several) for name, several in runs.items()}
    return {
        name: next(run for run in several if run.cpu_s == middle[name])
        for name, several in runs.items()
    }


def measure() -> list[Figure]:
    """Returns the measurements of whole runs."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "fadeout-benches"]
    print("\n$", " ".join([*command, "--bins"]), flush=True)
    subprocess.run([*command, "--bins"], cwd=ROOT, check=True)
    # A hundredth of all values: a hundred concurrent transfers, each with the same share.
    hundred = [
        "link.path.rate=100 Mbit/s",
        "link.path.queue.limit=400 packets",
        "flow.page.arrivals.rate=36.0",
    ]
    names = ("bulk", "thousand", "ten-thousand", "two-tcps", "two-subflows")
    bulk, thousand, transfers, tcps, subflows = (str(SCENARIOS / f"{name}.toml") for name in names)
    radio = (
        "mmwave-ue",
        "mmwave-ue-wideband",
        "mmwave-ue-clusters",
        "mmwave-ten-ues",
        "thousand-ues",
    )
    slow = ["link.path.rate=100 Mbit/s", "link.path.queue.limit=50 packets", "duration=100 s"]
    with tempfile.TemporaryDirectory() as scratch:
        runs = medians(
            {
                "bulk": ["null", bulk],
                "slow": ["null", bulk, *slow],
                "memory": ["memory", bulk],
                "folder": [f"folder={scratch}/run", bulk],
                "thousand": ["null", thousand],
                "thousand-folder": [f"folder={scratch}/thousand", thousand],
                "hundred-transfers": ["null", transfers, *hundred],
                "ten-thousand-transfers": ["null", transfers],
                "tcps": ["null", tcps],
                "subflows": ["null", subflows],
                "subflows-papers": [
                    "null",
                    subflows,
                    "flow.both.multipath.path-scheduler=lowest-rtt",
                ],
            }
            | {name: ["null", str(SCENARIOS / f"{name}.toml")] for name in radio}
            | {
                f"full-buffer-{ues}": [
                    "null",
                    str(SCENARIOS / "full-buffer.toml"),
                    f"ue.phone.count={ues}",
                ]
                for ues in (114, 570)
            }
            # A run of twice the length serves to subtract the time for building.
            | {
                f"{name}-{seconds}": [
                    "null",
                    str(SCENARIOS / f"{name}.toml"),
                    f"duration={seconds} s",
                ]
                for name, lengths in LENGTHS.items()
                for seconds in lengths
            }
        )
    one, slow_run, many = runs["bulk"], runs["slow"], runs["thousand"]
    slow_ms = slow_run.cpu_s * 1e3 / slow_run.simulated_s
    memory = runs["memory"].cpu_s / one.cpu_s
    folder = runs["folder"].cpu_s / one.cpu_s
    ratio = many.ns_per_packet / one.ns_per_packet
    peak = runs["thousand-folder"].peak_mb
    few, most = runs["hundred-transfers"], runs["ten-thousand-transfers"]
    transfer_ratio = most.ns_per_packet / few.ns_per_packet
    multipath, papers = (
        runs[name].ns_per_packet / runs["tcps"].ns_per_packet
        for name in ("subflows", "subflows-papers")
    )
    mmwave, wideband, clusters, ten, crowd = (
        runs[name].cpu_s * 1e3 / runs[name].simulated_s for name in radio
    )
    sparse, full = (runs[f"full-buffer-{ues}"] for ues in (114, 570))
    managed, idle, cars, many_cars = (
        (runs[f"{name}-{long}"].cpu_s - runs[f"{name}-{short}"].cpu_s) / (long - short)
        for name, (short, long) in LENGTHS.items()
    )
    figures = [
        Figure("CUBIC, 1 Gbit/s, 20 ms: a data packet and its ACKs", one.ns_per_packet, "ns", 300),
        Figure("a second of 100 Mbit/s", slow_ms, "ms", 3),
        Figure("default probes, in memory, to no probe", memory, "x", 1.3),
        Figure("default probes, to a folder, to no probe", folder, "x", 1.3),
        Figure("1,000 flows, 10 Gbit/s: a data packet", many.ns_per_packet, "ns"),
        Figure("1,000 flows to one flow, a data packet", ratio, "x", 2),
        Figure("1,000 flows: memory", many.peak_mb, "MB", 100),
        Figure("1,000 flows, default probes to a folder: memory", peak, "MB", 100),
        Figure("100 transfers at a time: a data packet", few.ns_per_packet, "ns"),
        Figure("10,000 transfers at a time: a data packet", most.ns_per_packet, "ns"),
        Figure("10,000 transfers to 100, a data packet", transfer_ratio, "x"),
        Figure("10,000 transfers at a time, 50,400 in all: memory", most.peak_mb, "MB"),
        Figure("Multipath TCP to two TCPs, a data packet", multipath, "x", 2.5),
        Figure("Multipath TCP, lowest RTT, to two TCPs", papers, "x", 2.5),
        Figure("one mmWave UE, 630 Mbit/s, full stack: a second", mmwave, "ms", 25),
        Figure("the same with wideband fading: a second", wideband, "ms", 25),
        Figure("the same through clusters and past a corner: a second", clusters, "ms", 32),
        Figure("ten mmWave UEs in a cell, full stack: a second", ten, "ms", 60),
        Figure("1,000 UEs in 10 LTE cells, full stack: a second", crowd, "ms", 1000),
        Figure("1,000 UEs in 10 LTE cells: memory", runs["thousand-ues"].peak_mb, "MB", 1000),
        Figure(
            "57 LTE sectors, 10 UEs each, full buffer: a packet", full.ns_per_packet, "ns", 4500
        ),
        Figure("1,000 managed UEs, 57 LTE cells, 1 Mbit/s: a second", managed * 1e3, "ms", 800),
        Figure("the same without flows: a UE's second", idle * 1e3, "us", 50),
        Figure("1,000 managed UEs, 57 LTE cells: memory", runs["managed-ues-4"].peak_mb, "MB", 100),
        Figure("200 cars, 20 units at 28 GHz, 10 Mbit/s each: a second", cars * 1e3, "ms", 1500),
        Figure("2,000 cars, 100 with flows, 20 units: a second", many_cars * 1e3, "ms", 2000),
        Figure("10 UEs a sector to 2, a packet", full.ns_per_packet / sparse.ns_per_packet, "x"),
    ]
    return figures + measure_worlds() + measure_congestion_controls(bulk)


LENGTHS = {
    "managed-ues": (2, 4),
    "managed-idle": (2, 4),
    "cars-200": (1, 2),
    "cars-2000": (1, 2),
}
"""Lengths of two runs of a scenario in seconds, whose difference excludes the building."""


def measure_worlds() -> list[Figure]:
    """Measures one large run in several worlds, on one thread and on two: wall time without
    building.
    """
    file = str(SCENARIOS / "four-carriers.toml")
    runs: dict[str, list[Run]] = {"1": [], "2": []}
    for _ in range(REPEATS):
        for threads, several in runs.items():
            several.append(whole_run(["--threads", threads, "null", file]))
    one, two = (median(run.run_wall_s for run in several) for several in runs.values())
    simulated_s = runs["1"][0].simulated_s
    peak_mb = max(run.peak_mb for run in runs["2"])
    name = "10,000 UEs in 100 cells on four carriers"
    return [
        Figure(f"{name}: a second, two threads", two * 1e3 / simulated_s, "ms"),
        Figure(f"{name}: two threads to one", two / one, "x", 1 / 1.6),
        Figure(f"{name}: memory", peak_mb, "MB"),
    ]


def measure_congestion_controls(scenario: str) -> list[Figure]:
    """Returns the cost of a data packet with each congestion control, relative to NewReno."""
    executable = TARGET / "release" / "whole_run"
    listed = subprocess.run([executable, "congestion-controls"], stdout=subprocess.PIPE, check=True)
    names: list[str] = json.loads(listed.stdout)
    runs = medians(
        {
            name: ["null", scenario, "duration=10 s", f"flow.bulk.congestion-control={name}"]
            for name in names
        }
    )
    base = runs["newreno"].ns_per_packet
    return [
        Figure(
            f"{name} to newreno, a data packet",
            runs[name].ns_per_packet / base,
            "x",
            2 if name == "bbr3" else 1.3,
        )
        for name in names
    ]


# --- the command --------------------------------------------------------------------------------


def main() -> None:
    """Measures and reports. Fails if an instruction count grew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--accept", action="store_true", help="make the new counts the baseline")
    accept = parser.parse_args().accept
    grown: list[str] = []
    failed: list[str] = []
    counts: dict[str, float] = {}
    if shutil.which("valgrind"):
        counts = count_instructions()
        grown = compare(counts, read_baseline())
        failed = check_ratios(counts)
        if accept:
            write_baseline(counts)
            return
    elif accept:
        sys.exit("valgrind is needed to count instructions")
    else:
        print("skipped: instruction counts (valgrind is not installed)")
    figures = measure()
    print(f"\nCPU time of the process, median of {REPEATS}")
    for figure in figures:
        print(figure.line())
    print(f"\nCaches: {cache_sizes()}. Alone, and beside a neighbour that walks over 64 MiB:")
    rows = []
    for row in measure_beside(REPEATS):
        print(row.line(), flush=True)
        rows.append(asdict(row))
    RESULTS.parent.mkdir(exist_ok=True)
    report = {
        "instructions": counts,
        "figures": [vars(figure) | {"passes": figure.passes} for figure in figures],
        "caches": cache_sizes(),
        "beside": rows,
    }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"written: {RESULTS.relative_to(ROOT)}")
    if failed:
        sys.exit("\n".join(failed))
    if grown:
        sys.exit(
            f"more than {TOLERANCE:.0%} more instructions than benches/baseline.csv: "
            f"{', '.join(grown)}\nIf that is meant: make bench-accept, and say why in the commit."
        )


if __name__ == "__main__":
    main()
