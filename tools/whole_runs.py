"""Whole runs of scenarios, each in a process of its own. `tools/bench.py` uses them."""

import json
import os
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "benches" / "scenarios"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


@dataclass
class Run:
    """Resources and results of one process."""

    cpu_s: float
    peak_mb: float
    data_packets: int
    simulated_s: float
    run_wall_s: float
    """Wall time without building, seconds. 0 if the run recorded tables."""

    @property
    def ns_per_packet(self) -> float:
        """CPU time per sent data packet, including its ACKs, ns."""
        return self.cpu_s * 1e9 / self.data_packets


def measured(command: list[str]) -> tuple[resource.struct_rusage, str]:
    """Runs a command. Returns the resources that the operating system reports, and the output."""
    with tempfile.TemporaryFile() as output:
        actions = [(os.POSIX_SPAWN_DUP2, output.fileno(), 1)]
        try:
            pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        except OSError as error:
            sys.exit(f"{command[0]}: {error.strerror}")
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
        output.seek(0)
        return usage, output.read().decode()


def whole_run(arguments: list[str]) -> Run:
    """Runs a scenario in a process of its own."""
    usage, text = measured([str(TARGET / "release" / "whole_run"), *arguments])
    report = json.loads(text)
    # Linux reports KiB, and macOS reports bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024
    return Run(
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / unit,
        data_packets=report["data_packets"],
        simulated_s=report["simulated_s"],
        run_wall_s=report.get("run_wall_s", 0.0),
    )
