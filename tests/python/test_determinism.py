"""The module with a recorder takes the trajectories that the Rust tests pin without one.

The Rust tests run one of the two pinned seeds of each example, these run the other.
"""

import pytest

import fingerprints


@pytest.mark.parametrize("row", fingerprints.pinned(), ids=lambda row: row["scenario"])
def test_a_recorded_run_takes_the_pinned_trajectory(row: fingerprints.Row):
    assert fingerprints.recorded(row) == row["fingerprint"]
