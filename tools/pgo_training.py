"""Runs scenarios for the profile of the optimised wheel: `maturin build --pgo` calls this program.

The compiler optimises for the branches that these runs take. They cover wired flows, many flows,
Multipath TCP, LTE, millimetre waves, many UEs, handovers and vehicles, with tables in files and in
memory. The runs change the speed of the wheel and no result.
"""

import math
import sys
import tempfile
from pathlib import Path

import fadeout

ROOT = Path(__file__).resolve().parents[1]
BENCHES = ROOT / "benches" / "scenarios"
EXAMPLES = ROOT / "python" / "fadeout" / "scenarios"

RUNS = {
    BENCHES / "bulk.toml": "2 s",
    BENCHES / "cars-200.toml": "0.5 s",
    BENCHES / "mmwave-ue-clusters.toml": "2 s",
    BENCHES / "thousand-ues.toml": "0.5 s",
    BENCHES / "thousand.toml": "1 s",
    BENCHES / "three-hops.toml": "2 s",
    BENCHES / "two-subflows.toml": "2 s",
    EXAMPLES / "blockage.toml": "6 s",
    EXAMPLES / "competing-flows.toml": "10 s",
    EXAMPLES / "handover.toml": "8 s",
    EXAMPLES / "lte-download.toml": "4 s",
    EXAMPLES / "mmwave-walk.toml": "3 s",
}
"""Scenarios with their durations. With the profiling code a run takes one to four seconds."""


def main() -> None:
    """Runs each scenario twice, with tables in files and in memory."""
    with tempfile.TemporaryDirectory() as folder:
        for path, duration in RUNS.items():
            out = Path(folder) / path.stem
            results = fadeout.run(path, set={"duration": duration}, out=out)
            simulation = fadeout.Simulation(path, set={"duration": duration})
            simulation.advance(math.inf)
            if simulation.finish().fingerprint != results.fingerprint:
                sys.exit(f"{path.name}: the two runs differ")
            print(f"{path.stem}: {results.fingerprint}", flush=True)


if __name__ == "__main__":
    main()
