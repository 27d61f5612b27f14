"""Runs of the matrix's cases on both sides. Finished runs are kept, so a stopped matrix
continues.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from threading import Lock
from time import monotonic
from typing import Any

from fadeout import FadeoutError, __version__
from fadeout.kernel import Kernel, find
from fadeout.results import Results
from fadeout.study.batch import CountCallback, run_all
from fadeout.study.job import MayGoOn
from fadeout.validate.kernel.cases import Case, cases
from fadeout.validate.kernel.compared import JUDGED, Compared, Verdict
from fadeout.validate.kernel.measured import Values, measured
from fadeout.validate.kernel.runs import run_side
from fadeout.validate.kernel.scenario import Sides

FILE = "runs.jsonl"
"""File with one line of JSON for each run: case, side, seed, key and quantities by flow."""

SIDES = KERNEL, OURS = "kernel", "ours"


@dataclass(frozen=True)
class _Run:
    case: Case
    pair: Sides
    side: str
    seed: int
    key: str
    """Digest of everything that the run depends on."""


class Runs:
    """The runs on disk, and their file."""

    def __init__(self, folder: Path) -> None:
        """Reads the runs in `folder`, which need not exist yet."""
        self.path = folder / FILE
        self.found: dict[str, dict[str, Any]] = {}
        self.planned: list[_Run] = []
        """All requested runs, finished or not."""
        self.failures: list[str] = []
        """Descriptions of the runs of this call that ended with an error."""
        self.whole: dict[tuple[str, str], Results] = {}
        """Complete results of the first seed by case and side, for runs of this call."""
        self._lock = Lock()
        if self.path.is_file():
            text = self.path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                # The process was killed while it wrote the last line, which is removed.
                self.path.write_text(whole, encoding="utf-8")
            for line in whole.splitlines():
                one = json.loads(line)
                self.found[one["key"]] = one

    def keep(self, one: dict[str, Any]) -> None:
        """Adds a run."""
        with self._lock:
            self.found[one["key"]] = one
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")


def chosen(*, quick: bool = False, only: Sequence[str] = ()) -> list[Case]:
    """Returns the cases of the matrix, or only quick ones, or only those with a word in their name.

    Raises:
        FadeoutError: no case has one of the words of `only`.
    """
    found = [case for case in cases() if case.is_quick or not quick]
    if only:
        found = [case for case in found if any(word in case.name for word in only)]
    if not found:
        groups = ", ".join(dict.fromkeys(case.group for case in cases()))
        raise FadeoutError(f"no case has {' or '.join(only)} in its name; groups are {groups}")
    return found


def run_matrix(
    wanted: Sequence[Case],
    folder: Path,
    *,
    kernel: str = "6.12",
    seeds: int | None = None,
    jobs: int | None = None,
    progress: CountCallback | None = None,
    keeps_first: bool = False,
) -> Runs:
    """Does the runs of the matrix that are not in `folder` yet. All cases of a seed come first.

    Args:
        wanted: the cases.
        folder: the folder of the runs.
        kernel: the version, of which the newest built release is used.
        seeds: number of seeds for each side, in place of the case's own number.
        jobs: number of parallel runs. Default: one for each processor.
        progress: a callback, called with the numbers of finished and of all runs.
        keeps_first: True to keep the complete results of the first seed in memory.
    """
    runs = Runs(folder)
    runs.planned = list(_planned(wanted, find(kernel), seeds))
    left = [one for one in runs.planned if one.key not in runs.found]
    done = len(runs.planned) - len(left)

    def tick(count: int, _total: int) -> None:
        if progress is not None:
            progress(done + count, len(runs.planned))

    run_all([partial(_call, one, runs, keeps_first) for one in left], workers=jobs, progress=tick)
    return runs


def _planned(wanted: Sequence[Case], kernel: Kernel, seeds: int | None) -> Iterator[_Run]:
    pairs = {case.name: case.sides(kernel.release) for case in wanted}
    for seed in range(1, max(seeds or len(case.seeds) for case in wanted) + 1):
        for case in wanted:
            if seed > (seeds or len(case.seeds)):
                continue
            pair = pairs[case.name]
            for side in (KERNEL, OURS):
                yield _Run(case, pair, side, seed, _key(pair, side, seed, kernel))


def _key(pair: Sides, side: str, seed: int, kernel: Kernel) -> str:
    text = pair.kernel if side == KERNEL else pair.ours
    built = kernel.folder.name if side == KERNEL else ""
    whole = json.dumps([__version__, built, text.text, pair.settings(seed), seed])
    return hashlib.sha256(whole.encode()).hexdigest()[:20]


def _call(one: _Run, runs: Runs, keeps_first: bool, may_go_on: MayGoOn) -> None:
    text = one.pair.kernel if one.side == KERNEL else one.pair.ours
    began = monotonic()
    stopped = False

    def go_on(state: dict[str, Any]) -> bool:
        nonlocal stopped
        stopped |= not may_go_on(state)
        return not stopped

    try:
        results = run_side(one.pair, text, one.seed, go_on)
        values = measured(results, one.pair, is_told=one.side == KERNEL)
    except FadeoutError as error:
        # The results of the other runs are still useful.
        runs.failures.append(f"{one.case.name}, {one.side}, seed {one.seed}: {error}")
        return
    if stopped:
        return
    if keeps_first and one.seed == 1:
        runs.whole[one.case.name, one.side] = results
    runs.keep(
        {
            "case": one.case.name,
            "side": one.side,
            "seed": one.seed,
            "key": one.key,
            "wall_s": round(monotonic() - began, 3),
            "flows": values,
        }
    )


def compared_by_case(runs: Runs) -> Iterator[tuple[Case, dict[str, Compared]]]:
    """Yields each case with its results by flow, over the seeds that both sides have.

    Cases without a common seed are left out.
    """
    found: dict[str, dict[int, dict[str, dict[str, Values]]]] = {}
    planned: dict[str, _Run] = {}
    for one in runs.planned:
        planned.setdefault(one.case.name, one)
        if (kept := runs.found.get(one.key)) is not None:
            found.setdefault(one.case.name, {}).setdefault(one.seed, {})[one.side] = kept["flows"]
    for one in planned.values():
        case = one.case
        both = [by for by in found.get(case.name, {}).values() if len(by) == 2]
        if not both:
            continue
        flows = list(both[0][KERNEL])
        rows = {}
        for flow in flows:
            name = case.name if len(flows) == 1 else f"{case.name}, {flow}"
            theirs, ours = (tuple(by[side][flow] for by in both) for side in SIDES)
            rows[flow] = Compared(name, theirs, ours, case.is_chaotic)
        yield case, rows


def compared(runs: Runs) -> list[Compared]:
    """Returns the results of the flows of all cases, as `compared_by_case`."""
    return [row for _, rows in compared_by_case(runs) for row in rows.values()]


IN_TABLE = (*JUDGED, "max_cwnd_segments")
"""The quantities with columns in the table."""

TABLE = (
    "case",
    "seeds",
    "goodput Linux",
    "ours",
    "error",
    "sRTT ms Linux",
    "ours",
    "error",
    "retransmitted Linux",
    "ours",
    "error",
    "largest cwnd Linux",
    "ours",
    "error",
)


def cells(row: Compared) -> list[str]:
    """Returns a row of the table: medians of both sides, and the error, with a cross if
    too large.
    """
    line = [row.name, str(len(row.kernel))]
    found = {judged.quantity.key: judged for judged in row.rows()}
    for key in IN_TABLE:
        judged = found.get(key)
        if judged is None:
            line += [""] * 3
            continue
        form = judged.quantity.form
        mark = " ✗" if judged.verdict == Verdict.MISSED else ""
        theirs, ours = median(judged.kernel), median(judged.ours)
        error = f"{judged.error:+.1%}" if theirs else f"{ours:+.0f}"
        line += [f"{theirs:{form}}", f"{ours:{form}}", error + mark]
    return line


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def markdown(rows: Sequence[Compared]) -> str:
    """Returns the table in Markdown."""
    return markdown_table(TABLE, map(cells, rows))


def markdown_by_quantity(rows: Sequence[Compared], kernel: str) -> str:
    """Returns a table in Markdown with one row for each quantity and its spread, for few cases."""
    head = ("case", "quantity", f"Linux {kernel}", "fadeout", "error", "")
    lines = [
        ["" if number else row.name, *judged.cells()]
        for row in rows
        for number, judged in enumerate(row.rows())
    ]
    return markdown_table(head, lines)


def headline(rows: Sequence[Compared]) -> str:
    """Returns a sentence with the number of rows within the tolerances."""
    missed = [row for row in rows if row.misses()]
    return f"{len(rows) - len(missed)} of {len(rows)} rows lie within the tolerances"
