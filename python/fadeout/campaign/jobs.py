"""The runs of a campaign, each named by its content."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fadeout import _native, _toml, congestion, handover_policy
from fadeout._native import ScenarioError
from fadeout._own import OPTION, POLICY_OPTION, load_classes
from fadeout._run import ScenarioText, with_traces
from fadeout.campaign.axes import Value, Values, toml_text
from fadeout.campaign.metrics import file_digest, source_digest
from fadeout.campaign.mistakes import mistake, placed
from fadeout.campaign.spec import SCENARIO, Control, Spec


class Job(NamedTuple):
    """A run to do."""

    run: str
    """Name of the run: a digest of everything that its results depend on."""
    point: str
    """Name of the run's point, which runs with other seeds share."""
    scenario: str
    overrides: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class Point:
    """A point: values of a scenario that several runs with different seeds have in common."""

    name: str
    index: int
    scenario: str
    values: Values
    overrides: tuple[str, ...]
    content: str
    """A digest of everything that the results depend on, except the seed."""

    def label(self, keys: Iterable[str] | None = None) -> str:
        """Returns the values of the point in short form."""
        shown = self.values if keys is None else {key: self.values.get(key) for key in keys}
        return ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in shown.items())


class Planner:
    """Assigns names to points and runs."""

    def __init__(self, spec: Spec) -> None:
        self._scenarios = spec.scenarios
        self._foreign = spec.foreign
        self._makers = congestion.makers(load_controls(spec.controls))
        self._policy_makers = handover_policy.makers(load_controls(spec.policies, POLICY_OPTION))
        self._controls, self._policies = (
            {
                name: file_digest(what) if isinstance(what, str) else source_digest(what)
                for name, what in classes.items()
            }
            for classes in (spec.controls, spec.policies)
        )
        self._files: dict[tuple[str, int, int], str] = {}
        self._named: dict[tuple[str | None, str], None] = {}
        self._used: set[str] = set()
        try:
            self.points = list(self._points(spec))
        except ScenarioError as error:
            raise placed(error, spec.source) from None
        for name in sorted(set(self._controls) - self._used):
            warnings.warn(f"no point uses the congestion control '{name}'", stacklevel=2)
        for name in sorted(set(self._policies) - self._used):
            warnings.warn(f"no point uses the handover policy '{name}'", stacklevel=2)

    def _points(self, spec: Spec) -> Iterable[Point]:
        only = next(iter(spec.scenarios))
        seen: set[str] = set()
        first = spec.seeds.of(1)[0]
        all_values = spec.axes.all()
        if not all_values:
            raise mistake("every point of the campaign is excluded")
        for values in all_values:
            scenario = str(values.get(SCENARIO, only))
            if scenario not in self._scenarios:
                raise mistake(f"there is no scenario {scenario}")
            overrides = override_texts(spec.set, values)
            content = digest(self._resolve(scenario, overrides, first))
            name = digest([content, _toml.value(values)])[:16]
            if name not in seen:
                seen.add(name)
                yield Point(name, len(seen) - 1, scenario, values, overrides, content)

    def job(self, point: Point, seed: int) -> Job:
        """Returns the run of a point with this seed."""
        run = digest([point.content, seed])
        return Job(run, point.name, point.scenario, point.overrides, seed)

    def jobs(self, point: Point, seeds: Iterable[int]) -> list[Job]:
        """Returns the runs of a point with these seeds."""
        return [self.job(point, seed) for seed in seeds]

    def _resolve(self, scenario: str, overrides: Sequence[str], seed: int) -> dict[str, Any]:
        """Returns everything that the results of a run depend on, except its seed."""
        source = self._scenarios[scenario]
        if self._foreign is not None:
            self._foreign.check_scenario(source.text, overrides)
        found = json.loads(
            _native.resolve(
                source.text,
                source_name=source.name,
                base_dir=source.base_dir,
                overrides=with_traces(*source, [*overrides, f"seed={seed}"]),
                congestion_controls=self._makers,
                handover_policies=self._policy_makers,
            )
        )
        resolved = found["scenario"]
        # The results do not depend on the title. The seed is added to the name later.
        del resolved["title"], resolved["seed"]
        content: dict[str, Any] = {
            "scenario": resolved,
            "results": _native.build_info()["results"],
        }
        if found["files"]:
            content["files"] = {path: self._file(source, path) for path in found["files"]}
        if self._controls:
            used = {_control_of(flow) for flow in resolved["flow"].values()}
            self._used |= used
            controls = {name: self._controls[name] for name in sorted(used & set(self._controls))}
            content |= {"congestion-controls": controls} if controls else {}
        if self._policies:
            policy = _policy_of(resolved)
            self._used.add(policy)
            if policy in self._policies:
                content["handover-policies"] = {policy: self._policies[policy]}
        return content

    def files_named(self) -> list[tuple[str | None, str]]:
        """Returns the files that the scenarios read: their folder, and their path as written."""
        return list(self._named)

    def _file(self, source: ScenarioText, path: str) -> str:
        """Returns the digest of a file's content. A changed file is read again."""
        if self._foreign is not None:
            self._foreign.check_file("the scenario", path)
        self._named[source.base_dir, path] = None
        full = Path(source.base_dir or ".") / path
        about = full.stat()
        key = (str(full), about.st_mtime_ns, about.st_size)
        if key not in self._files:
            self._files[key] = hashlib.blake2b(full.read_bytes(), digest_size=16).hexdigest()
        return self._files[key]


def _control_of(flow: Mapping[str, Any]) -> str:
    control = flow.get("congestion-control")
    return str(control.get("name")) if isinstance(control, Mapping) else str(control)


def _policy_of(resolved: Mapping[str, Any]) -> str:
    policy = resolved.get("mobility-management", {}).get("policy")
    return str(policy.get("name")) if isinstance(policy, Mapping) else str(policy)


def override_texts(*given: Mapping[str, Value]) -> tuple[str, ...]:
    """Returns values in the form of overrides. Later ones replace earlier ones."""
    merged = {key: value for values in given for key, value in values.items() if key != SCENARIO}
    return tuple(f"{key}={toml_text(key, value)}" for key, value in merged.items())


def load_controls(controls: Mapping[str, Control], option: str = OPTION) -> dict[str, Any]:
    """Returns the user-written congestion controls, or other classes that `option` names."""
    classes: dict[str, Any] = {}
    for name, what in controls.items():
        loaded = load_classes([f"{name}={what}"], option) if isinstance(what, str) else {name: what}
        classes |= loaded
    return classes


def digest(content: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Returns the digest of a value that JSON can represent.

    The order of keys matters, as links and flows are simulated in their order.
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
