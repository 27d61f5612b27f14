"""The release build with a recorder takes the trajectories that the Rust tests pin without one."""

import csv
from pathlib import Path

import pytest

import fadeout

ROOT = Path(__file__).parents[2]
PINNED = ROOT / "crates/sim/tests/fingerprints.csv"


def pinned() -> list[list[str]]:
    lines = [line for line in PINNED.read_text().splitlines() if not line.startswith("#")]
    return [row for row in csv.reader(lines) if row and row[0] != "scenario"]


@pytest.mark.parametrize(("name", "seed", "seconds", "fingerprint"), pinned())
def test_a_release_build_takes_the_pinned_trajectory(name, seed, seconds, fingerprint):
    results = fadeout.run(
        ROOT / f"scenarios/{name}.toml",
        seed=int(seed),
        set={"duration": f"{seconds} s"},
    )
    assert results.fingerprint == fingerprint
