"""Compares the fingerprints of the installed package with the pinned ones of all examples.

The program needs no package but fadeout: it checks a wheel on any machine. Rows of the seed 1 run
with a recorder.
"""

import csv
import sys
from pathlib import Path

import fadeout

ROOT = Path(__file__).resolve().parents[1]
PINNED = ROOT / "crates" / "sim" / "tests" / "fingerprints.csv"
SCENARIOS = ROOT / "python" / "fadeout" / "scenarios"


def main() -> None:
    """Runs the rows, and fails if a fingerprint differs."""
    wrong = []
    with PINNED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["seed"] == "1"]
    for row in rows:
        results = fadeout.run(
            SCENARIOS / f"{row['scenario']}.toml",
            seed=int(row["seed"]),
            set={"duration": f"{row['duration_s']} s"},
        )
        if results.fingerprint != row["fingerprint"]:
            wrong.append(f"{row['scenario']}: {results.fingerprint}, not {row['fingerprint']}")
    print(f"{len(rows) - len(wrong)} of {len(rows)} fingerprints are equal")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
