import pytest

from fadeout import check
from fadeout._toml import dumps
from fadeout.validate import linux, linux_multipath


def test_every_recording_has_its_samples():
    for name, run in linux.runs().items():
        samples = linux.recording(name)
        assert samples["t_s"].max() == pytest.approx(run["duration_s"], abs=0.3)
        check(dumps(linux.scenario(run)))


@pytest.fixture(scope="module")
def comparisons() -> dict[str, linux.Comparison]:
    return {comparison.name: comparison for comparison in linux.compare_all()}


@pytest.mark.parametrize("name", linux.runs())
def test_a_run_of_the_kernel_is_reproduced(comparisons, name: str):
    assert comparisons[name].misses() == []


def test_the_window_is_drawn_over_the_kernels(comparisons, tmp_path):
    paths = linux.draw(list(comparisons.values())[:1], tmp_path)
    assert [path.stat().st_size > 10_000 for path in paths] == [True]


def test_multipath_runs_of_the_kernel_are_reproduced():
    comparisons = linux_multipath.compare_all()
    assert [comparison.name for comparison in comparisons] == list(linux_multipath.runs())
    assert [miss for comparison in comparisons for miss in comparison.misses()] == []
