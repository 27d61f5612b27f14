"""The module with a recorder takes the trajectories that the Rust tests pin without one.

The Rust tests run one of the two pinned seeds of each example, these run the other.
"""

import csv
from pathlib import Path

import pytest

import fadeout

ROOT = Path(__file__).parents[2]
PINNED = ROOT / "crates/sim/tests/fingerprints.csv"


def pinned() -> list[list[str]]:
    lines = [line for line in PINNED.read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in csv.reader(lines) if row and row[0] != "scenario"]
    return [row for row in rows if row[1] == "1"]


@pytest.mark.parametrize(("name", "seed", "seconds", "fingerprint"), pinned())
def test_a_recorded_run_takes_the_pinned_trajectory(name, seed, seconds, fingerprint):
    results = fadeout.run(
        ROOT / f"scenarios/{name}.toml",
        seed=int(seed),
        set={"duration": f"{seconds} s"},
    )
    assert results.fingerprint == fingerprint
