"""Running and checking scenarios."""

import contextlib
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from fadeout import _files, _native, _toml, congestion, handover_policy

if TYPE_CHECKING:
    from fadeout.results import Results

Overrides = Mapping[str, Any] | Sequence[str]
CongestionControls = Mapping[str, Callable[..., Any]]
HandoverPolicies = Mapping[str, Callable[..., Any]]
Progress = Callable[[dict[str, Any]], bool | None]


class Interrupted(KeyboardInterrupt):
    """Exception of Ctrl-C during `fadeout.run`. `results` has the results until then.

    The class derives from KeyboardInterrupt, so it ends a loop of runs. In a notebook
    `sys.last_value.results` has the results afterwards.
    """

    def __init__(self, results: "Results") -> None:
        where = "its .results" if results.folder is None else str(results.folder)
        super().__init__(
            f"stopped at {results.duration_s:g} s; the results until then are in {where}"
        )
        self.results = results
        """The results until the stop. `results.is_complete` is False."""


class ScenarioText(NamedTuple):
    """The text of a scenario, and its source."""

    text: str
    name: str
    """The name of the source in errors."""
    base_dir: str | None
    """The folder of relative paths in the scenario."""


Source = str | PathLike[str] | Mapping[str, Any] | ScenarioText


def run(
    source: Source,
    *,
    seed: SupportsIndex | None = None,
    set: Overrides | None = None,  # noqa: A002
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    congestion_controls: CongestionControls | None = None,
    handover_policies: HandoverPolicies | None = None,
    allow_programs: bool = False,
    threads: SupportsIndex | None = None,
) -> "Results":
    """Runs a scenario and returns its results.

    Args:
        source: the path of a scenario file, its TOML text, or the scenario as a dict.
        seed: the seed, in place of the scenario's. An integer of Python or numpy.
        set: values in place of the scenario's: `{"flow.congestion-control": "newreno"}`, or in the
            form of the command line, `["flow.congestion-control=newreno"]`.
        out: the folder for the results, as Parquet. Default: the results stay in memory.
        force: replace a run in `out`.
        progress: a callback, called about ten times a second with `time_s`, `duration_s`,
            `events`, `packets` and `wall_s`. If it returns False, the run ends early with valid
            results. If it raises an exception, the run ends, and the exception is raised again
            with `.results`.
        congestion_controls: user-written classes by the name that the scenario's flows use:
            `{"mine": Mine}`. See `fadeout.CongestionControl`.
        handover_policies: a user-written class by the name that [mobility-management] uses. See
            `fadeout.HandoverPolicy`.
        allow_programs: let nodes with a kernel run the `command` that the scenario gives them, a
            program of this machine.
        threads: the largest number of threads for a scenario divided by `worlds`. The results do
            not depend on it. Default: one for each processor.

    Raises:
        ScenarioError: the scenario or a user-written class is wrong. `.errors` has each mistake
            with file, line, column, the expected values and the nearest name.
        CongestionControlError: a method of a user-written congestion control raised an
            exception, which is the cause. `.results` has the results until then.
        HandoverPolicyError: a method of a user-written handover policy raised an exception, which
            is the cause. `.results` has the results until then.
        ResultError: the results cannot be written, or `out` exists and `force` is not set.
        FadeoutError: a kernel, or a program in it, failed. `out` has the results until then.
        Interrupted: Ctrl-C. `.results` has the results until then.
        OSError: the scenario cannot be read.
    """
    from fadeout.results import Results

    text, name, base_dir = read_source(source)
    outcome = _native.run(
        text,
        source_name=name,
        base_dir=base_dir,
        overrides=with_traces(text, name, base_dir, override_list(set)),
        seed=None if seed is None else operator.index(seed),
        out=None if out is None else str(Path(out)),
        force=force,
        progress=progress,
        congestion_controls=congestion.makers(congestion_controls),
        handover_policies=handover_policy.makers(handover_policies),
        allow_programs=allow_programs,
        threads=None if threads is None else operator.index(threads),
    )
    results = Results.from_outcome(outcome)
    if outcome["raised"] is not None:
        message, error, kind = outcome["raised"]
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(results) from None
        if not message:
            # The exception of `progress` is raised unchanged, with the results until then.
            where = "its .results" if results.folder is None else str(results.folder)
            own: Any = error
            with contextlib.suppress(AttributeError, TypeError):
                own.results = results
                own.add_note(
                    f"progress ended the run at {results.duration_s:g} s; the results until then "
                    f"are in {where}"
                )
            raise error
        raise own_error(kind, message, results) from error
    warn_of(outcome["remarks"], results)
    return results


def warn_of(remarks: Sequence[str], results: "Results") -> None:
    """Warns about results that are probably not intended.

    If warnings are exceptions, they have the results as `.results`, so that nothing is lost.
    """
    for remark in remarks:
        try:
            warnings.warn(remark, stacklevel=3)
        except UserWarning as warning:
            own: Any = warning
            own.results = results
            raise


def own_error(kind: str, message: str, results: "Results") -> Exception:
    """Returns the exception for a user-written class of this kind that raised one."""
    if kind == handover_policy.KIND.kind:
        return handover_policy.HandoverPolicyError(message, results)
    return congestion.CongestionControlError(message, results)


def check(
    source: Source,
    *,
    set: Overrides | None = None,  # noqa: A002
    congestion_controls: CongestionControls | None = None,
    handover_policies: HandoverPolicies | None = None,
) -> None:
    """Checks a scenario without running it. Raises ScenarioError with every mistake."""
    text, name, base_dir = read_source(source)
    _native.check(
        text,
        source_name=name,
        base_dir=base_dir,
        overrides=with_traces(text, name, base_dir, override_list(set)),
        congestion_controls=congestion.makers(congestion_controls),
        handover_policies=handover_policy.makers(handover_policies),
    )


def read_source(source: Source) -> ScenarioText:
    """Returns the text of a scenario given as a path, as TOML text or as a dict.

    A string with a line break or an equals sign is TOML text, and other strings are paths.

    Raises:
        ScenarioError: the file is not text, or the dict cannot be written as TOML.
        OSError: the file cannot be read, or is no regular file.
    """
    if isinstance(source, ScenarioText):
        return source
    if isinstance(source, Mapping):
        text = _toml.dumps(source)
        return ScenarioText(_with_buildings(text, "<dict>", None), "<dict>", None)
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return ScenarioText(_with_buildings(source, "<string>", None), "<string>", None)
    if isinstance(source, str | PathLike):
        path = Path(source)
        text = _files.read_text(path, "a scenario")
        text = _with_buildings(text, str(source), str(path.parent))
        return ScenarioText(text, str(source), str(path.parent))
    raise TypeError(f"a scenario is a path, TOML text or a dict, not {type(source).__name__}")


def override_list(overrides: Overrides | None) -> list[str]:
    """Returns overrides in the form of the command line, `key=value`."""
    if overrides is None:
        return []
    if isinstance(overrides, Mapping):
        return [f"{key}={_toml.value(item)}" for key, item in overrides.items()]
    if isinstance(overrides, str):
        raise TypeError(
            f"`set` takes a dict or a list of 'key=value', not the string {overrides!r}"
        )
    return list(overrides)


MAPS = (".osm", ".pbf")
"""File endings of maps. The code that reads maps is loaded only if a scenario's text has one of
them.
"""
TRACES = ("sumo", *MAPS)
"""Words of scenarios with traces or maps of other tools. The code that converts them is loaded only
if the text has one of them.
"""
MEASURED = ("measurement", "series", "channel-file")
"""Words of scenarios with measured tables. The code that reads tables is loaded only if the text
has one of them.
"""


def _with_buildings(text: str, name: str, base_dir: str | None) -> str:
    if not has_word(MAPS, text):
        return text
    from fadeout import _traces

    return _traces.with_buildings(text, name, base_dir)


def with_traces(text: str, name: str, base_dir: str | None, given: Sequence[str]) -> list[str]:
    """Returns the overrides, with replacements for traces made before the scenario is read.

    Raises:
        ScenarioError: a trace cannot be made.
    """
    found = [*given]
    if has_word(MEASURED, text, given):
        from fadeout.measured import scenario

        found += scenario.overrides(text, name, base_dir, given)
    if has_word(TRACES, text, given):
        from fadeout import _traces

        found += _traces.overrides(text, name, base_dir, given)
    return found


def has_word(words: Sequence[str], text: str, given: Sequence[str] = ()) -> bool:
    """Returns True if the text of a scenario or an override has one of the words."""
    return any(word in part for part in (text, *given) for word in words)
