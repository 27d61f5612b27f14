"""The specification of a campaign: from its file, the command line or a program."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from fadeout import _files, _names
from fadeout._columns import table_docs
from fadeout._native import ScenarioError
from fadeout._own import OPTION, POLICY_OPTION, load_classes
from fadeout._quantities import seconds
from fadeout._run import ScenarioText, Source, read_source
from fadeout.campaign.axes import METHODS, Axes, Sample, Value, check_distribution, parse_values
from fadeout.campaign.metrics import Metric, read_metrics
from fadeout.campaign.mistakes import mistake, placed
from fadeout.campaign.seeds import Seeds, read_seeds
from fadeout.campaign.trust import Foreign

SCENARIO = "scenario"
"""The key of the grid whose values are files of scenarios."""

KEYS = (
    "title",
    "scenario",
    "set",
    "seeds",
    "metrics",
    "tables",
    "congestion-controls",
    "handover-policies",
    "run-timeout",
    "grid",
    "zip",
    "point",
    "sample",
    "exclude",
)

Control = str | Callable[..., Any]
"""A user-written class, or `FILE.py:CLASS`: a congestion control or a handover policy."""


@dataclass(frozen=True)
class Spec:
    """The specification of a campaign."""

    scenarios: Mapping[str, ScenarioText]
    """Scenarios by the name that the points use."""
    axes: Axes
    set: Mapping[str, Value] = field(default_factory=dict)
    """Values of every point."""
    seeds: Seeds = Seeds()  # noqa: RUF009 - it cannot be changed
    metrics: tuple[Metric, ...] = ()
    tables: tuple[str, ...] = ()
    """Tables over time that are kept, by point."""
    controls: Mapping[str, Control] = field(default_factory=dict)
    policies: Mapping[str, Control] = field(default_factory=dict)
    run_timeout_s: float | None = None
    """Time limit of a run, which fails after it."""
    title: str = ""
    source: Path | None = None
    """The file of the specification."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The source of the specification, without parts that cannot be written down."""
    foreign: Foreign | None = None
    """The allowed names, if the specification came from somebody else."""

    def count_runs(self) -> int:
        """Returns the largest number of runs, before any point is excluded."""
        return self.axes.count() * self.seeds.most


def read_file(path: str | PathLike[str]) -> Spec:
    """Returns the campaign that a TOML file describes."""
    path = Path(path)
    document = _files.read_toml(path, "a campaign's file")
    for key in document:
        if key not in KEYS:
            raise mistake(
                f"unknown key `{key}`",
                suggestion=_nearest(key),
                expected=f"one of {', '.join(KEYS)}",
                file=path,
                key=key,
            )
    try:
        return read(document, base=path.parent, source=path)
    except ScenarioError as error:
        raise placed(error, path) from None


def _nearest(key: str) -> str | None:
    message = _names.unknown("key", key, KEYS)
    return message.split("'")[-2] if "did you mean" in message else None


def read(
    document: Mapping[str, Any],
    *,
    base: Path | None = None,
    source: Path | None = None,
    foreign: Foreign | None = None,
) -> Spec:
    """Returns the campaign of a document with the keys of a campaign's file. Its paths start at
    `base`.

    `foreign` limits the names in a document from somebody else.
    """
    base = base or Path()
    try:
        _files.check_depth(document)
    except RecursionError:
        raise mistake(f"the campaign: {_files.TOO_DEEP}") from None
    if SCENARIO not in document and SCENARIO not in document.get("grid", {}):
        raise mistake("the campaign has no scenario", expected='scenario = "FILE.toml"')
    grid = {key: _list(key, values) for key, values in _table(document, "grid").items()}
    files = grid.pop(SCENARIO, None) or document[SCENARIO]
    scenarios = _scenarios(files, base, foreign)
    if len(scenarios) > 1:
        grid = {SCENARIO: list(scenarios), **grid}
    zipped = {key: _list(key, values) for key, values in _table(document, "zip").items()}
    if len({len(values) for values in zipped.values()}) > 1:
        lengths = ", ".join(f"{key} {len(values)}" for key, values in zipped.items())
        raise mistake(f"the lists of `zip` have different lengths: {lengths}")
    points = document.get("point", [])
    if not _is_list(points) or not all(isinstance(each, Mapping) for each in points):
        raise mistake(
            "`point` is not a list of tables", expected=("[[point]] with one value for each key")
        )
    rules = document.get("exclude", [])
    if isinstance(rules, str | Mapping):
        rules = [rules]
    if not _is_list(rules) or not all(isinstance(rule, str | Mapping) for rule in rules):
        raise mistake(
            "`exclude` is not a list of rules", expected="SQL expressions, or values by key"
        )
    axes = Axes(
        grid=grid,
        zip=zipped,
        points=[_flat(point) for point in points],
        sample=_sample(_table(document, "sample")),
        exclude=list(rules),
    )
    _no_key_twice(axes)
    timeout = document.get("run-timeout")
    tables = document.get("tables", ())
    if not _is_list(tables) or not all(isinstance(table, str) for table in tables):
        raise mistake("`tables` is not a list of names", expected='tables = ["throughput"]')
    recorded = [name for name, each in table_docs().items() if not each["always"]]
    for table in tables:
        if table not in recorded:
            raise mistake(f"tables: {_names.unknown('table over time', table, recorded)}")
    metrics = read_metrics(document.get("metrics"), base, foreign)
    seeds = read_seeds(document.get("seeds", 1))
    if seeds.metric is not None and seeds.metric not in {metric.name for metric in metrics}:
        metrics = (*metrics, *read_metrics([seeds.metric], base, foreign))
        seeds = replace(seeds, metric=metrics[-1].name)
    return Spec(
        scenarios=scenarios,
        axes=axes,
        set=_flat(_table(document, "set")),
        seeds=seeds,
        metrics=metrics,
        tables=tuple(tables),
        controls=_controls(document, "congestion-controls", base, OPTION, foreign),
        policies=_controls(document, "handover-policies", base, POLICY_OPTION, foreign),
        run_timeout_s=None if timeout is None else _timeout(timeout),
        title=str(document.get("title", "")),
        source=source,
        document=_written(document),
        foreign=foreign,
    )


def _is_list(given: Any) -> bool:  # noqa: ANN401 - whatever the file has
    """True if `given` has items one after the other and is no text."""
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def _timeout(given: Any) -> float:  # noqa: ANN401 - whatever the file has
    try:
        return seconds(given)
    except (TypeError, ValueError):
        raise mistake(
            f"cannot read `run-timeout` = {given!r}", expected="a time such as '10 min'"
        ) from None


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        raise mistake(f"`{key}` is not a table", expected=f"[{key}] with a line for each key")
    return table


def _flat(table: Mapping[str, Any]) -> dict[str, Value]:
    """Returns values by key. A key is dotted and quoted, so a dict is a value."""
    return dict(table)


def _list(key: str, values: Any) -> Sequence[Value]:  # noqa: ANN401 - whatever the file has
    if isinstance(values, str):
        values = parse_values(values)
    if isinstance(values, Mapping):
        raise mistake(
            f"`{key}` is a table, not a list of values",
            expected=f'dotted keys in quotes, as "{key}.{next(iter(values), "key")}" = [...]',
        )
    if isinstance(values, bool | int | float):
        values = [values]
    if not isinstance(values, Sequence):
        try:
            # For example an array of numpy.
            values = list(values)
        except TypeError:
            raise mistake(
                f"cannot read `{key}` = {values!r}", expected="a list of values"
            ) from None
    if len(values) == 0:
        raise mistake(f"`{key}` has no values", expected="a list with at least one value")
    return values


def _scenarios(
    given: Any,  # noqa: ANN401 - whatever the file has
    base: Path,
    foreign: Foreign | None,
) -> dict[str, ScenarioText]:
    sources: Sequence[Source] = (
        given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    )
    if len(sources) == 0:
        raise mistake("the campaign has no scenario", expected='scenario = "FILE.toml"')
    found: dict[str, ScenarioText] = {}
    for source in sources:
        if foreign is not None:
            path = base / foreign.check_file("its scenario", source)
            foreign.check_scenario(_files.read_text(path, "a scenario"))
            each = read_source(path)
        elif isinstance(source, ScenarioText):
            each = source
        elif isinstance(source, str) and "\n" not in source and "=" not in source:
            each = read_source(base / source)
        else:
            each = read_source(source)
            each = ScenarioText(each.text, each.name, each.base_dir or str(base))
        name = each.name if each.name in ("<dict>", "<string>") else Path(each.name).stem
        while name in found:
            name += "+"
        found[name] = each
    return found


def _sample(table: Mapping[str, Any]) -> Sample | None:
    if not table:
        return None
    given = dict(table)
    points, method = given.pop("points", None), given.pop("method", "sobol")
    seed = given.pop("seed", 1)
    if type(points) is not int or points < 1:
        raise mistake(
            f"cannot read `points` of the sample = {points!r}",
            expected=("the number of points to draw"),
        )
    if method not in METHODS:
        raise mistake(_names.unknown("method", method, METHODS))
    if type(seed) is not int or seed < 0:
        raise mistake(f"cannot read `seed` of the sample = {seed!r}", expected="a whole number")
    for key, distribution in given.items():
        check_distribution(key, distribution)
    if not given:
        raise mistake("the sample has no key", expected='"link.rate" = { uniform = [1, 2] }')
    return Sample(points, method, seed, given)


def _no_key_twice(axes: Axes) -> None:
    keys = [
        *axes.grid,
        *axes.zip,
        *{key for point in axes.points for key in point},
        *(axes.sample.distributions if axes.sample else ()),
    ]
    for key in keys:
        if keys.count(key) > 1:
            raise mistake(f"`{key}` is varied in two places", expected="each key in one place")


def _controls(
    document: Mapping[str, Any], key: str, base: Path, option: str, foreign: Foreign | None
) -> dict[str, Control]:
    controls: dict[str, Control] = {}
    for name, what in _table(document, key).items():
        if "=" in name:
            raise mistake(f"{key}: `{name}` has an equals sign", expected="another name")
        if isinstance(what, str):
            path, _, cls = what.rpartition(":")
            if foreign is not None:
                foreign.check_code(f"`{name}` of its {key}", path)
            what = f"{base / path}:{cls}"
            load_classes([f"{name}={what}"], option)
        controls[name] = what
    return controls


def _written(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document in the form of JSON. Classes, functions and other objects are
    left out.
    """

    def plain(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, Mapping):
            return {str(key): plain(each) for key, each in value.items()}
        if isinstance(value, ScenarioText | PathLike):
            return str(value.name) if isinstance(value, ScenarioText) else str(value)
        if callable(value):
            return f"<{getattr(value, '__qualname__', 'function')}>"
        if isinstance(value, Seeds):
            return value.data()
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [plain(each) for each in value] if len(value) < 10_000 else repr(value)
        scalar = getattr(value, "item", None)
        return scalar() if callable(scalar) else value

    return json.loads(json.dumps(plain(document), default=str))
