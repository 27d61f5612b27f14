"""A search over values with Optuna. Its points are those of a campaign.

The campaign's folder is the only memory. A search that is started again asks for the same points,
and finds their runs there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from fadeout._native import ScenarioError
from fadeout._run import Source
from fadeout.campaign import spec as spec_module
from fadeout.campaign.axes import SEARCHED, Value, parse_values, quantity, values_frame
from fadeout.campaign.campaign import Campaign
from fadeout.campaign.engine import Executor, held
from fadeout.campaign.mistakes import mistake
from fadeout.campaign.spec import SCENARIO
from fadeout.statistics import Estimate, estimate

BATCH = 4
"""Number of points asked for before any result is returned to the search. The search is then the
same for any number of workers.
"""

DIGITS = 6
"""Number of digits of the numbers that are tried."""


@dataclass(frozen=True)
class Range:
    """A quantity to search for."""

    low: float
    high: float
    unit: str
    is_whole: bool
    is_log: bool

    def value(self, number: float) -> Value:
        """Returns the quantity in the form of a scenario."""
        short: float = int(number) if self.is_whole else float(f"{number:.{DIGITS}g}")
        return f"{short!r} {self.unit}" if self.unit else short


Over = Range | Sequence[Value]
"""The values of a search: a range, or a list of values."""


@dataclass(frozen=True)
class Tuned:
    """The result of a search."""

    values: dict[str, Value]
    """The best point."""
    score: Estimate
    """The metric of the best point over its seeds. It is biased, as the best of many. A campaign
    with other seeds gives an unbiased value.
    """
    tried: int
    """Number of points that were tried."""
    campaign: Campaign


def tune(
    scenario: Source,
    over: Mapping[str, str | Sequence[Value]],
    metric: str,
    *,
    out: str | PathLike[str],
    maximise: bool = True,
    trials: int = 50,
    seeds: Any = 5,  # noqa: ANN401 - as in a campaign's file
    sampler_seed: int = 1,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    **more: Any,  # noqa: ANN401 - keys of a campaign's file
) -> Tuned:
    """Searches for the values with the best mean of `metric` over the seeds.

        from fadeout.campaign.tune import tune

        over = {"link.radio.queue.limit": "10..1000 packets:log"}
        tune("my.toml", over, "goodput_mbps", out="t/").values

    Args:
        scenario: a scenario as for `fadeout.run`.
        over: a range `A..B UNIT`, a logarithmic range (`:log`) or a list of values for each key.
        metric: a metric as in a campaign.
        out: the folder. The same search continues there.
        maximise: True to maximise the metric, False to minimise it.
        trials: number of points to try.
        seeds: the seeds of each point.
        sampler_seed: seed of the search.
        jobs, executor: as in `Campaign.run`.
        progress: a callback, called with the numbers of tried and of all points.
        more: other keys of a campaign's file, such as `set` and `congestion_controls`.
    """
    try:
        import optuna
    except ImportError:
        raise ScenarioError("a search needs optuna: pip install 'fadeout[tune]'") from None
    ranges = {key: read_range(key, each) for key, each in over.items()}
    if not ranges or trials < 1:
        raise mistake("there is nothing to search for", expected=SEARCHED)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = optuna.create_study(
        direction="maximize" if maximise else "minimize",
        sampler=optuna.samplers.TPESampler(seed=sampler_seed),
    )
    document = {key.replace("_", "-"): value for key, value in more.items() if value is not None}
    document |= {SCENARIO: scenario, "seeds": seeds, "metrics": [metric]}
    points: list[dict[str, Value]] = []
    found: list[Estimate] = []
    with held(executor):
        while len(points) < trials:
            asked = [search.ask() for _ in range(min(BATCH, trials - len(points)))]
            points += [
                {key: _suggest(trial, key, ranges[key]) for key in ranges} for trial in asked
            ]
            spec = spec_module.read({**document, "point": points})
            campaign = Campaign(spec, out)
            campaign.run(jobs=jobs, executor=executor)
            frame = campaign.frame()
            tried = campaign.points.select("point", *ranges).rows()
            names = {row[1:]: row[0] for row in tried}
            places = values_frame(points).select(*ranges).rows()
            column = campaign.metrics()[0]
            for trial, place in zip(asked, places[len(found) :], strict=True):
                rows = frame.filter(frame["point"] == names[place])
                score = estimate(rows[column].drop_nulls().to_list())
                found.append(score)
                if score.count:
                    search.tell(trial, score.mean)
                else:
                    search.tell(trial, state=optuna.trial.TrialState.FAIL)
            if progress is not None:
                progress(len(points), trials)
    known = [index for index, score in enumerate(found) if score.count]
    if not known:
        raise ScenarioError(
            "every run of the search failed; fadeout campaign status shows the reasons"
        )
    best = (max if maximise else min)(known, key=lambda index: found[index].mean)
    return Tuned(points[best], found[best], len(points), campaign)  # pyright: ignore[reportPossiblyUnboundVariable]


def _suggest(trial: Any, key: str, over: Over) -> Value:  # noqa: ANN401 - of an optional module
    if not isinstance(over, Range):
        return over[trial.suggest_categorical(key, list(range(len(over))))]
    if over.is_whole:
        return over.value(trial.suggest_int(key, int(over.low), int(over.high), log=over.is_log))
    return over.value(trial.suggest_float(key, over.low, over.high, log=over.is_log))


def read_range(key: str, given: str | Sequence[Value]) -> Over:
    """Returns the range, or the values, of the text."""
    if not isinstance(given, str):
        return list(given)
    text = given.strip()
    is_log = text.endswith(":log")
    first, dots, last = text.removesuffix(":log").partition("..")
    if not dots:
        values = list(parse_values(text))
        if len(values) < 2:
            raise mistake(f"`{key}` has one value, {text}", expected=SEARCHED)
        return values
    low, high = quantity(first), quantity(last)
    if low is None or high is None or low[1] not in ("", high[1]) or not low[0] < high[0]:
        raise mistake(f"`{key}`: {text} is not a range", expected=SEARCHED)
    if is_log and low[0] <= 0:
        raise mistake(f"`{key}`: a logarithm needs a range above zero, not {text}")
    is_whole = all("." not in each and "e" not in each.lower() for each in (first, last.split()[0]))
    return Range(low[0], high[0], high[1], is_whole, is_log)
