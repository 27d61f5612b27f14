"""Studies: questions that many runs of one scenario answer, with a report.

A study is a package in `fadeout.studies`. Its docstring states the question. The package has the
scenario (`scenario.toml`), the settings of the runs (`study.toml`), the page (`report.md`) and the
assumptions (`README.md`). A study that repeats an experiment also has the published numbers
(`published.toml`). Its Python code computes the numbers of the page.

This package has the parts that all studies share: effort, runs, changes of assumptions, estimates,
tables with published numbers, verdicts, figures and reports.
"""

from fadeout.statistics import (
    Bounded,
    Estimate,
    Spread,
    estimate,
    exactly,
    number_text,
    paired_difference,
    paired_ratio,
)
from fadeout.study.batch import CountCallback
from fadeout.study.changes import UNCHANGED, Change, Choice, combined
from fadeout.study.claims import (
    Check,
    Claim,
    Outcome,
    Tolerance,
    Verdict,
    claims_section,
    judged,
    sign,
)
from fadeout.study.data import Data
from fadeout.study.found import Found, FoundInPlaces, name_of
from fadeout.study.grid import At, Grid
from fadeout.study.job import QUIET, QUIET_CELL, Job, Values, overrides
from fadeout.study.numbers import OfSeeds, difference, gain_pct, mean, means, pivot, series, values
from fadeout.study.page import Page
from fadeout.study.places import (
    IN_SIGHT,
    OTHER_LAWS,
    OUT_OF_SIGHT,
    SIGHTS,
    Law,
    Places,
    jackknife,
    mean_over_places,
    mixed,
    ratio_over_places,
    share_in_sight,
    side_by_side,
)
from fadeout.study.published import claims_of, published
from fadeout.study.report import Report, Section, Table
from fadeout.study.runner import Runner, ThreadRunner
from fadeout.study.runs import Effort, Numbers, Options, Runs, spread
from fadeout.study.store import Store
from fadeout.study.study import Study, run_study, studies, unfinished_runs
from fadeout.study.tables import Tables

__all__ = [
    "IN_SIGHT",
    "OTHER_LAWS",
    "OUT_OF_SIGHT",
    "QUIET",
    "QUIET_CELL",
    "SIGHTS",
    "UNCHANGED",
    "At",
    "Bounded",
    "Change",
    "Check",
    "Choice",
    "Claim",
    "CountCallback",
    "Data",
    "Effort",
    "Estimate",
    "Found",
    "FoundInPlaces",
    "Grid",
    "Job",
    "Law",
    "Numbers",
    "OfSeeds",
    "Options",
    "Outcome",
    "Page",
    "Places",
    "Report",
    "Runner",
    "Runs",
    "Section",
    "Spread",
    "Store",
    "Study",
    "Table",
    "Tables",
    "ThreadRunner",
    "Tolerance",
    "Values",
    "Verdict",
    "claims_of",
    "claims_section",
    "combined",
    "difference",
    "estimate",
    "exactly",
    "gain_pct",
    "jackknife",
    "judged",
    "mean",
    "mean_over_places",
    "means",
    "mixed",
    "name_of",
    "number_text",
    "overrides",
    "paired_difference",
    "paired_ratio",
    "pivot",
    "published",
    "ratio_over_places",
    "run_study",
    "series",
    "share_in_sight",
    "side_by_side",
    "sign",
    "spread",
    "studies",
    "unfinished_runs",
    "values",
]
