"""Definition of a study, and the function that runs it."""

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, Generic

from fadeout.campaign.engine import held
from fadeout.study.batch import CountCallback
from fadeout.study.data import Data
from fadeout.study.folder import may_replace, new_folder
from fadeout.study.page import Page
from fadeout.study.report import Report, Section
from fadeout.study.runner import Runner, ThreadRunner
from fadeout.study.runs import AnyEffort, Options, Runs, effort_of
from fadeout.study.store import Store, results_version

EFFORT = "effort.json"
"""File with the number of runs in the report, the number done for it, and the time they took."""


@dataclass(frozen=True)
class Study(Generic[AnyEffort]):
    """A question, and the runs that answer it."""

    name: str
    folder: Path
    """Folder of the scenario and of the published numbers, if there are any."""
    title: str
    introduction: str
    """Introduction of the report."""
    full: AnyEffort
    quick: AnyEffort
    sections: Callable[[Runs[AnyEffort]], Iterator[Section]]
    """Yields the sections of the report. After Ctrl-C the report has the sections until then."""
    other_scenarios: Mapping[str, str] = field(default_factory=dict)
    """Descriptions and file names of further scenarios that the report names."""
    order: Mapping[str, int] = field(default_factory=dict)
    """Places of the sections in the report, by name. Without it they are in their own order."""

    @classmethod
    def of(
        cls,
        data: Data,
        page: Page,
        effort: type[AnyEffort],
        sections: Callable[[Runs[AnyEffort]], Iterator[Section]],
    ) -> "Study[AnyEffort]":
        """Returns the study of a folder with a page and data.

        The data have the efforts in the tables `full` and `quick`, and may name further scenarios
        in the table `scenarios`. The name of the study is that of its folder.
        """
        folder = page.file.parent
        return cls(
            name=folder.resolve().name.replace("_", "-"),
            folder=folder,
            title=page.title,
            introduction=page.introduce(),
            full=data.one("full", effort),
            quick=data.one("quick", effort),
            sections=sections,
            other_scenarios=data.document.get("scenarios", {}),
            order=page.order,
        )

    def report(self, runner: Runner, effort: AnyEffort) -> Report:
        """Does the runs. Raises KeyboardInterrupt if they were stopped before the first section."""
        runner.expect(effort.runs)
        runs = Runs(runner, effort)
        sections: list[Section] = []
        is_stopped = False
        try:
            for section in self.sections(runs):
                sections.append(section)
        except KeyboardInterrupt:
            is_stopped = True
            if not sections:
                raise
        facts: dict[str, Any] = {"seeds": effort.seeds}
        if effort.duration_s is not None:
            seconds = effort.duration_s
            facts["simulated_seconds_a_run"] = int(seconds) if seconds == int(seconds) else seconds
        scenarios = {"scenario": "scenario.toml", **self.other_scenarios}
        files = {
            key: f"fadeout/studies/{self.folder.name}/{file}" for key, file in scenarios.items()
        }
        return Report(
            title=self.title,
            introduction=self.introduction.strip(),
            sections=sorted(sections, key=lambda each: self.order.get(each.name, 0)),
            facts={**facts, "runs": runs.count, **runs.facts, **files},
            records=runs.records,
            is_whole=runner.is_whole and not is_stopped,
        )


@cache
def studies() -> dict[str, Study[Any]]:
    """Returns all studies by name."""
    package = importlib.import_module("fadeout.studies")
    modules = (
        importlib.import_module(f"{package.__name__}.{entry.name}")
        for entry in pkgutil.iter_modules(package.__path__)
        if entry.ispkg
    )
    found: list[Study[Any]] = [module.STUDY for module in modules]
    return {study.name: study for study in sorted(found, key=lambda study: study.name)}


def unfinished_runs(study: Study[Any], folder: Path, options: Options) -> Store:
    """Returns the store for finished runs of an incomplete study, in a folder beside `folder`."""
    quick = ["quick"] if options.quick else []
    seeds = [] if options.seeds is None else [f"seeds-{options.seeds}"]
    name = "-".join(["study", study.name, *quick, *seeds])
    return Store(folder.parent / f"{name}.unfinished", results_version(study.folder))


def run_study(
    study: Study[Any],
    folder: Path,
    options: Options,
    *,
    force: bool = False,
    progress: CountCallback | None = None,
    runner: Runner | None = None,
) -> Report:
    """Runs `study` and writes its report, tables and figures to `folder`.

    `runner` does the runs. If it is None, threads of this process do them.

    Ctrl-C ends the runs. The report then has the sections that were finished, and its `is_whole` is
    False. Whenever a study ends early, its finished runs are kept beside `folder`, and the same
    study with the same options continues from there. `effort.json` in the folder records the time
    taken, and is the only file that differs each time.
    """
    may_replace(folder, force=force)
    store = unfinished_runs(study, folder, options)
    own = ThreadRunner(
        workers=options.jobs, progress=progress, store=store, executor=options.executor
    )
    began = monotonic()
    try:
        with held(options.executor):
            report = study.report(runner or own, effort_of(study.full, study.quick, options))
        with new_folder(folder, force=force) as partial:
            report.write(partial)
            if runner is None:
                effort = {
                    "runs": report.facts["runs"],
                    "done_now": own.read,
                    "processor_s": own.cost_s,
                    "wall_s": monotonic() - began,
                }
                (partial / EFFORT).write_text(json.dumps(effort, indent=2) + "\n")
        if report.is_whole and not options.keeps_runs:
            store.remove()
    finally:
        store.close()
    return report
