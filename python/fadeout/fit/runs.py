"""Runs of a scenario at points of its free parameters, and their features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fadeout import _names, _run
from fadeout._native import ScenarioError
from fadeout.fit.course import FIRST_DATA, Course, Numbers, of_run
from fadeout.fit.features import features
from fadeout.fit.parameter import LIMITS, Parameter
from fadeout.measured.errors import MeasuredError

if TYPE_CHECKING:
    from fadeout.results import Results
    from fadeout.study.job import MayGoOn

Matrix = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with the number of runs and the expected number of runs."""

PROBES = ("probe.congestion=every-ack", "probe.queue=false", 'probe.throughput="1000 s"')
"""Overrides of the runs."""
AFTER_S = 1e-3
"""Time that a run continues after the last sample."""
HANDSHAKES = 2.0
"""Round trips that a run lasts longer if the measurement begins with the first data."""
MOST_NAMES = 8
"""Largest number of flows that an error names."""


@dataclass
class Runs:
    """Runs of a scenario. Points are logarithms of the parameters."""

    source: _run.ScenarioText
    given: Sequence[str]
    """Overrides of every run, as on the command line."""
    flow: str
    observed: Course
    parameters: Sequence[Parameter]
    workers: int | None = None
    progress: Progress | None = None
    expected: int = 0
    points: list[Numbers] = field(default_factory=list)
    """Points of the runs that deliver data."""
    found: list[Numbers] = field(default_factory=list)
    """Features at each point."""
    count: int = 0
    """Number of runs."""

    def __post_init__(self) -> None:
        self.target = features(self.observed)
        self._known: dict[tuple[str, ...], Numbers | None] = {}

    def add(self, points: Matrix) -> list[Numbers | None]:
        """Runs the scenario at points. Returns the features. None if a run delivers nothing."""
        from fadeout.study.batch import run_all

        texts = [self.texts(point) for point in points]
        new = [values for values in dict.fromkeys(texts) if values not in self._known]
        before = self.count

        def tick(done: int, _total: int) -> None:
            if self.progress is not None:
                self.progress(before + done, max(self.expected, before + len(new)))

        calls = [partial(self._features, values=values) for values in new]
        results = run_all(calls, workers=self.workers, progress=tick)
        self.count += len(new)
        fresh = dict(zip(new, results, strict=True))
        self._known |= fresh
        for values, point in zip(texts, points, strict=True):
            # Points that differ by less than a packet or a bit/s are the same run.
            if (one := fresh.pop(values, None)) is not None:
                self.points.append(self._written(point))
                self.found.append(one)
        return [self._known[values] for values in texts]

    def clipped(self, points: Matrix) -> Matrix:
        """Returns points whose parameters are within their limits."""
        low, high = (np.log([LIMITS[one.kind][end] for one in self.parameters]) for end in (0, 1))
        return np.clip(points, low, high)

    def _written(self, point: Numbers) -> Numbers:
        """Returns the point with the values that the run has, such as whole packets."""
        pairs = zip(self.parameters, point, strict=True)
        return np.array([one.written_value(value) for one, value in pairs])

    def texts(self, point: Numbers) -> tuple[str, ...]:
        """Returns the values of the parameters at a point, in the form of a scenario."""
        return tuple(one.text(value) for one, value in zip(self.parameters, point, strict=True))

    def course_at(self, point: Numbers) -> Course | None:
        """Runs the scenario at a point. Returns the course. None if the run delivers nothing."""
        self.count += 1
        return self._course(self.texts(point))

    def differences(self) -> Matrix:
        """Returns the differences of features from the measurement, a row for each point."""
        return np.array(self.found) - self.target

    def require_data(self, first: Numbers) -> None:
        """Checks that enough runs deliver data.

        Raises:
            MeasuredError: too few do.
        """
        if len(self.points) < 4 * (len(first) + 1):
            raise MeasuredError(
                f"the flow {self.flow} delivers no data in {self.count - len(self.points)} of "
                f"{self.count} runs with values near the measured ones; expected a scenario "
                "whose flow can send as the measured one",
                key="scenario",
            )

    def _features(self, may_go_on: "MayGoOn", values: tuple[str, ...]) -> Numbers | None:
        course = self._course(values, may_go_on)
        return None if course is None else features(course)

    def _course(self, values: tuple[str, ...], may_go_on: "MayGoOn | None" = None) -> Course | None:
        settings = [*self.given, *_overrides(self.parameters, values)]
        results = _run.run(self.source, set=settings, progress=may_go_on)
        return of_run(results, self.flow, self.observed)


def open_runs(
    source: _run.Source,
    observed: Course,
    parameters: Sequence[Parameter],
    first: Numbers,
    *,
    flow: str | None = None,
    given: _run.Overrides | None = None,
) -> Runs:
    """Returns the runs of a scenario, without points yet.

    Args:
        source: the scenario.
        observed: the measurement.
        parameters: the free parameters.
        first: logarithms of their first values, with which the scenario is checked.
        flow: the flow to compare. Default: the only one.
        given: overrides of the scenario.

    Raises:
        MeasuredError: the scenario does not have the flow, or has several.
        ScenarioError: the scenario is wrong, or does not have a key.
    """
    text = _run.read_source(source)
    settings = [*_run.override_list(given), *PROBES]
    values = [one.text(value) for one, value in zip(parameters, first, strict=True)]
    trial_settings = [*settings, *_overrides(parameters, values), _duration(observed.duration_s)]
    try:
        trial = _run.run(text, set=trial_settings)
    except ScenarioError as error:
        _run.check(text, set=settings)
        # The scenario is right without the free keys.
        raise _of_key(error) from None
    name, start_s = _chosen(trial, flow)
    lasts_s = start_s + observed.duration_s + AFTER_S
    if observed.zero == FIRST_DATA:
        lasts_s += HANDSHAKES * _longest_trip_s(observed)
    return Runs(text, [*settings, _duration(lasts_s)], name, observed, parameters)


def _overrides(parameters: Sequence[Parameter], values: Sequence[str]) -> list[str]:
    return [f'{one.key}="{value}"' for one, value in zip(parameters, values, strict=True)]


def _of_key(error: ScenarioError) -> MeasuredError:
    """Returns the error of a free key that the scenario does not have."""
    first = error.errors[0] if error.errors else {}
    parts = [str(first.get("message", error))]
    if first.get("suggestion"):
        parts.append(f"did you mean {first['suggestion']}?")
    elif first.get("expected"):
        parts.append(f"expected {first['expected']}")
    return MeasuredError("; ".join(parts), key="free")


def _duration(seconds: float) -> str:
    return f'duration="{seconds:.6f} s"'


def _longest_trip_s(observed: Course) -> float:
    trips = observed.round_trip_s
    return 0.1 if trips is None else float(trips.max())


def _chosen(results: "Results", flow: str | None) -> tuple[str, float]:
    """Returns the name and the start in seconds of the flow that is compared.

    Raises:
        MeasuredError: there is no such flow, or there are several and none is named.
    """
    starts = {str(row["flow"]): row["start_s"] for row in results.flows.iter_rows(named=True)}
    if flow is None and len(starts) > 1:
        several = ", ".join([*starts][:MOST_NAMES])
        raise MeasuredError(
            f"the scenario has {len(starts)} flows; expected the one to compare, of {several}",
            key="flow",
        )
    if flow is not None and flow not in starts:
        raise MeasuredError(_names.unknown("flow", flow, [*starts]), key="flow")
    if not starts:
        raise MeasuredError("the scenario has no flow; expected a table [flow.NAME]", key="flow")
    name = flow or next(iter(starts))
    return name, float(starts[name] or 0.0)
