"""Compares the fingerprints of the installed package with the pinned ones of all examples.

The program needs no package but fadeout, so it checks a wheel on any machine. It runs the rows of
the seed 1 with a recorder.
"""

import csv
import sys
from pathlib import Path

import fadeout

ROOT = Path(__file__).resolve().parents[1]
PINNED = ROOT / "crates" / "sim" / "tests" / "fingerprints.csv"
SCENARIOS = ROOT / "python" / "fadeout" / "scenarios"

Row = dict[str, str]
"""Row of the table: scenario, seed, duration_s and fingerprint."""


def pinned() -> list[Row]:
    """Returns the rows of the seed 1."""
    with PINNED.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["seed"] == "1"]


def recorded(row: Row) -> str:
    """Returns the fingerprint of a run with a recorder."""
    results = fadeout.run(
        SCENARIOS / f"{row['scenario']}.toml",
        seed=int(row["seed"]),
        set={"duration": f"{row['duration_s']} s"},
    )
    return results.fingerprint


def main() -> None:
    """Runs the rows, and fails if a fingerprint differs."""
    rows = pinned()
    found = [recorded(row) for row in rows]
    wrong = [
        f"{row['scenario']}: {one}, not {row['fingerprint']}"
        for row, one in zip(rows, found, strict=True)
        if one != row["fingerprint"]
    ]
    print(f"{len(rows) - len(wrong)} of {len(rows)} fingerprints are equal")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
