"""Runs of both sides."""

from collections.abc import Sequence
from functools import partial

from fadeout._run import Overrides, ScenarioText, Source, check, run
from fadeout.kernel import find
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.job import MayGoOn
from fadeout.validate.kernel.compared import Compared
from fadeout.validate.kernel.measured import Values, measured
from fadeout.validate.kernel.scenario import Sides, sides

SEEDS = 5
"""Default number of seeds for each side."""


def run_side(pair: Sides, text: ScenarioText, seed: int, may_go_on: MayGoOn | None) -> Results:
    """Does a run of one side."""
    return run(text, seed=seed, set=pair.settings(seed), progress=may_go_on)


def read_side(
    pair: Sides, text: ScenarioText, seed: int, may_go_on: MayGoOn | None
) -> dict[str, Values]:
    """Returns the quantities of a run of one side, by flow."""
    results = run_side(pair, text, seed, may_go_on)
    return measured(results, pair, is_told=text is pair.kernel)


def check_sides(pair: Sides) -> None:
    """Raises ScenarioError if one side does not support something in the scenario."""
    for text in (pair.ours, pair.kernel):
        check(text, set=pair.settings(1))


def compare(
    source: Source,
    *,
    kernel: str = "6.12",
    seeds: Sequence[int] = range(1, SEEDS + 1),
    set: Overrides | None = None,  # noqa: A002
    is_chaotic: bool = False,
    jobs: int | None = None,
    progress: CountCallback | None = None,
) -> list[Compared]:
    """Runs a scenario with our TCP and with a kernel's, and returns the numbers of both.

    Args:
        source: the path of a scenario file, its TOML text, or the scenario as a dict.
        kernel: the version, such as 6.12. The newest built release of it is used.
        seeds: seeds of the runs of each side. A seed also shifts the flows' start against the tick.
        set: values in place of the scenario's on both sides, as in `fadeout.run`.
        is_chaotic: compare distributions, for scenarios whose result depends on milliseconds.
        jobs: number of parallel runs. Default: one for each processor.
        progress: a callback, called with the numbers of finished and of all runs.

    Returns:
        The flows of TCP, in the order of the scenario, each followed by its paths.

    Raises:
        ScenarioError: the scenario is wrong, or has something that one side does not support.
        FadeoutError: there is no such kernel, or nothing to compare.
    """
    pair = sides(source, kernel=kernel, set=set)
    check_sides(pair)
    find(kernel)
    calls = [
        partial(_call, pair, text, seed) for text in (pair.kernel, pair.ours) for seed in seeds
    ]
    found = run_all(calls, workers=jobs, progress=progress)
    theirs, ours = found[: len(seeds)], found[len(seeds) :]
    return [
        Compared(
            name,
            tuple(one[name] for one in theirs),
            tuple(one[name] for one in ours),
            is_chaotic,
        )
        for name in theirs[0]
    ]


def _call(pair: Sides, text: ScenarioText, seed: int, may_go_on: MayGoOn) -> dict[str, Values]:
    return read_side(pair, text, seed, may_go_on)
