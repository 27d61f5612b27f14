import fcntl
import os
import pickle
from collections.abc import Callable

import polars as pl
import pytest

import generate
from fadeout import check, run
from fadeout._toml import dumps
from fadeout.validate import linux, recordings

ACKS_OF_SLOW_START = 135
"""Number of ACKs that are compared one by one. Later ones depend on the receive buffer's growth."""


def test_every_recording_has_a_scenario_and_its_samples():
    for name, row in recordings.recorded().items():
        for made in row.scenarios:
            check(dumps(made))
        if row.samples:
            assert recordings.samples(row)["t_s"].max() == pytest.approx(row.duration_s, abs=0.3), (
                name
            )


def test_every_recorded_run_is_a_row_or_a_repetition_of_one():
    rows = recordings.recorded()
    for flow in recordings.exact_runs():
        name = flow["run"]
        if flow["group"] == "repeat":
            assert any(known.split("_flow")[0] in name for known in rows), name
        elif flow["group"] == "pair":
            assert f"{name.split('_30m')[0]}_flow{flow['flow']}" in rows
        else:
            assert name in rows


def test_a_known_miss_names_a_row_a_quantity_and_a_reason():
    keys = {quantity.key for quantity in linux.QUANTITIES}
    for (name, key), why in linux.known_misses().items():
        assert name in recordings.recorded() and key in keys and why


RowOf = Callable[[str], linux.Row]


@pytest.fixture(scope="module")
def row_of(tmp_path_factory: pytest.TempPathFactory) -> RowOf:
    """Returns a function that finds a row. One test worker simulates a row for all others."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        # The folder of the session, which the workers share.
        folder = folder.parent

    def find(name: str) -> linux.Row:
        # The two flows of a pair share their runs.
        run = name.split("_flow")[0]
        store = folder / f"validation-{run}.pickle"
        with store.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not store.exists():
                names = [each for each in recordings.recorded() if each.split("_flow")[0] == run]
                store.write_bytes(pickle.dumps(linux.compare_all(names)))
        found: list[linux.Row] = pickle.loads(store.read_bytes())
        return next(row for row in found if row.name == name)

    return find


def test_the_readme_has_the_result_of_the_validation(row_of: RowOf):
    assert generate.headline([row_of(name) for name in recordings.recorded()])


@pytest.mark.parametrize("name", recordings.recorded())
def test_a_run_of_the_kernel_is_reproduced(row_of: RowOf, name: str):
    """Fails for a new miss, and for a known miss that no longer occurs."""
    known = {key for row, key in linux.known_misses() if row == name}
    misses = row_of(name).misses()
    assert set(misses) == known, misses


def test_the_two_shares_of_a_pair_add_up_as_the_kernels(row_of: RowOf):
    """The kernel's sums differ by less than 0.2 % between starts. Ours may differ by 2 %."""
    first, second = (row_of(f"pair_cubic_cubic_flow{number}") for number in (0, 1))
    seconds = [40.0, 30.0]
    sums = [
        mine * seconds[0] + others * seconds[1]
        for mine, others in zip(
            first.ours["received_mbps"], second.ours["received_mbps"], strict=True
        )
    ]
    kernel = [run for run in recordings.exact_runs() if "pair_cubic_cubic" in run["run"]]
    recorded = (
        pl.DataFrame(kernel)
        .group_by("run")
        .agg((pl.col("received_mbps") * (40 - pl.col("start_s"))).sum().alias("sum"))["sum"]
    )
    assert min(sums) > 0.98 * min(recorded.to_list())
    assert max(sums) < 1.02 * max(recorded.to_list())


@pytest.mark.parametrize("control", ["cubic", "reno", "bbr"])
def test_the_acks_of_a_clean_start_are_the_kernels(control: str):
    """Each segment is acknowledged at first, and again while the advertised window grows."""
    made = recordings.recorded()[f"slowstart_30m_80ms_{control}"].scenarios[0]
    ours = run(dumps(made)).congestion["acked_bytes"]
    captured = pl.read_parquet(recordings.EXACT / "acks.parquet")
    kernel = captured.filter(pl.col("congestion_control") == control)["ack_number"] - 1
    assert ours[:ACKS_OF_SLOW_START].to_list() == kernel[:ACKS_OF_SLOW_START].to_list()


def test_the_window_is_drawn_over_the_kernels(tmp_path):
    paths = linux.draw(tmp_path, ["clean_20m_cubic", "buf0.5_30m_40ms_cubic"])
    assert [path.stat().st_size > 10_000 for path in paths] == [True, True]
