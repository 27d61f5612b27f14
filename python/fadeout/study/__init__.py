"""Studies: questions that many runs of one scenario answer, with a report.

A study is a package in `fadeout.studies` with a `STUDY`, the scenario (`scenario.toml`), the
assumptions (`README.md`) and, when it repeats an experiment, the published numbers
(`published.toml`).
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fadeout.study.batch import Batch, CountCallback, Job
from fadeout.study.claims import Verdict, claims_section
from fadeout.study.folder import new_folder
from fadeout.study.report import Report, Section, Table
from fadeout.study.statistics import Estimate, estimate, paired_difference, paired_ratio

__all__ = [
    "Batch",
    "CountCallback",
    "Estimate",
    "Job",
    "Options",
    "Report",
    "Section",
    "Study",
    "Table",
    "Verdict",
    "claims_section",
    "estimate",
    "paired_difference",
    "paired_ratio",
    "run_study",
    "studies",
]


@dataclass(frozen=True)
class Options:
    """How much effort a study may spend."""

    quick: bool = False
    """Fewer seeds and shorter runs."""
    seeds: int | None = None
    """Seeds for each point of the main tables; the study's own number when None."""
    jobs: int | None = None
    """Runs at a time; one for each processor when None."""


@dataclass(frozen=True)
class Study:
    """A question, and the runs that answer it."""

    name: str
    summary: str
    """The question it answers, in one sentence."""
    folder: Path
    """Where its scenario lies, and the published numbers if there are any."""
    run: Callable[[Batch, Options], Report]


@cache
def studies() -> dict[str, Study]:
    """Every study by name."""
    package = importlib.import_module("fadeout.studies")
    modules = (
        importlib.import_module(f"{package.__name__}.{entry.name}")
        for entry in pkgutil.iter_modules(package.__path__)
        if entry.ispkg
    )
    found: list[Study] = [module.STUDY for module in modules]
    return {study.name: study for study in sorted(found, key=lambda study: study.name)}


def run_study(
    study: Study,
    folder: Path,
    options: Options,
    *,
    force: bool = False,
    progress: CountCallback | None = None,
) -> Report:
    """Run `study` and write its report, tables and figures to `folder`.

    Where the study can do with fewer runs, Ctrl-C ends the runs and the report is of what was
    done; its `is_whole` is False then.
    """
    with new_folder(folder, force=force) as partial:
        batch = Batch(study.folder / "scenario.toml", workers=options.jobs, progress=progress)
        report = study.run(batch, options)
        report.write(partial)
    return report
