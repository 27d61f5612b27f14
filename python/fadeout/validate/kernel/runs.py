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
"""Seeds a side, where nothing else is said."""


def run_side(pair: Sides, text: ScenarioText, seed: int, may_go_on: MayGoOn | None) -> Results:
    """A run of one side."""
    return run(text, seed=seed, set=pair.settings(seed), progress=may_go_on)


def read_side(
    pair: Sides, text: ScenarioText, seed: int, may_go_on: MayGoOn | None
) -> dict[str, Values]:
    """The quantities of a run of one side, by flow."""
    results = run_side(pair, text, seed, may_go_on)
    return measured(results, pair.start(seed), is_told=text is pair.kernel)


def check_sides(pair: Sides) -> None:
    """Raises ScenarioError for what one of the two cannot have."""
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
    """Run a scenario with our TCP and with a kernel's, and put their numbers side by side.

    Args:
        source: the path of a scenario file, its TOML text, or the same as a dict.
        kernel: the version, such as 6.12; the newest of it that was built.
        seeds: one run a side with each; a seed moves the start of the flows against the tick, too.
        set: replaces values of the scenario on both sides, as in `fadeout.run`.
        is_chaotic: compare distributions, where milliseconds decide how a run goes.
        jobs: runs at a time; as many as there are processors by default.
        progress: called with how many runs are done, of how many.

    Returns:
        The flows of TCP, in the order of the scenario, and behind each its paths.

    Raises:
        ScenarioError: the scenario is wrong, or has what one side cannot have.
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
