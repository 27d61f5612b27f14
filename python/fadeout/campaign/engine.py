"""The missing runs of a campaign, their order, and the writing of their results."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol

import polars as pl

from fadeout.campaign import seal
from fadeout.campaign.jobs import Job, Planner, Point
from fadeout.campaign.parts import FAILED, KEPT, Parts, write_whole
from fadeout.campaign.queue import JobQueue
from fadeout.campaign.seeds import Seeds
from fadeout.campaign.work import Context, Outcome

FLUSH_S = 1.0
"""Longest time until a finished run is on disk, in seconds."""

TICK_S = 0.2
"""Time between two checks for finished runs, in seconds."""

AGAIN = ("timeout", "worker")
"""Kinds of failures that depend on the machine, so that another try may succeed."""


class Work(Protocol):
    """The missing runs, for an executor."""

    @property
    def context(self) -> Any:  # noqa: ANN401 - what a worker needs, and can be sent
        """A function `do(job, may_go_on)` that does a run. It returns an `Outcome`, or None if it
        was stopped.
        """
        ...

    @property
    def is_finished(self) -> bool: ...  # noqa: D102 - as in `Engine`
    def take(self) -> Any: ...  # noqa: ANN401, D102
    def take_some(self, budget_s: float, most: int) -> list[Any]: ...  # noqa: D102
    def give(self, outcomes: Iterable[Outcome]) -> None: ...  # noqa: D102
    def give_back(self, jobs: Iterable[Any]) -> None: ...  # noqa: D102
    def give_up(self, error: BaseException) -> None: ...  # noqa: D102
    def wait(self, timeout_s: float) -> None: ...  # noqa: D102
    def wait_until_finished(self, timeout_s: float) -> bool: ...  # noqa: D102


class Executor(Protocol):
    """An executor, which does runs until none is left: here, or on other machines."""

    def drive(self, work: Work, tick: Callable[[], None]) -> None:
        """Takes jobs and returns outcomes.

        Call `tick` when the jobs are in progress, and a few times a second.
        """
        ...


@dataclass
class Engine(JobQueue[Job]):
    """The runs of a campaign: finished, in progress, and missing.

    The results do not depend on the order of the runs, or on the worker of each. A run is a
    function of its name. The runs of a point decide its number of seeds, in the order of the seeds.
    """

    planner: Planner
    seeds: Seeds
    context: Context
    runs: Parts
    failures: Parts
    tables: Path
    is_second: bool = False
    """True if another campaign works on the same folder. This one then starts at the other end."""

    done: dict[str, float | None] = field(default_factory=dict)
    """Finished runs, with the value of the metric that decides the number of seeds."""
    failed: dict[str, str] = field(default_factory=dict)
    """Failed runs, with the kind of failure."""
    total: int = 0
    """Number of runs, as far as known."""
    finished: int = 0
    """Number of runs that are finished or failed."""
    began_with: int = 0
    """Number of runs that were finished at the start."""
    own: int = 0
    """Number of runs that this engine did."""
    cost_s: float = 0.0
    """Processor time of the runs that this engine did, in seconds."""
    names: dict[int, list[Job]] = field(default_factory=dict)
    """The runs of each point, in the order of their seeds."""

    def __post_init__(self) -> None:
        super().__init__()
        self._points_of: dict[str, set[int]] = {}
        self._open: dict[int, set[str]] = {}
        self._fresh: list[Outcome] = []
        self._costs: dict[str, tuple[float, int]] = {}
        self._flushed_at = time.monotonic()

    # --- planning -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Finds the missing runs."""
        self.runs.begin()
        self.failures.begin()
        self._take_note(self.runs.frame())
        self._take_note_of_failures(self.failures.frame())
        points = self.planner.points
        for point in points:
            self._extend(point, self.seeds.first())
        for point in points:
            self._look(point)
        self.began_with = self.finished
        self._sort()

    def _extend(self, point: Point, count: int) -> None:
        """Adds runs so that the point has the first `count` seeds."""
        before = self.names.get(point.index, [])
        added = self.planner.jobs(point, self.seeds.of(count)[len(before) :])
        self.names[point.index] = [*before, *added]
        is_open = self._open.setdefault(point.index, set())
        for job in added:
            # Two points may share a run, which is then done once.
            is_new = job.run not in self._points_of
            points = self._points_of.setdefault(job.run, set())
            points.add(point.index)
            is_finished = job.run in self.done or job.run in self.failed
            if is_new:
                self.total += 1
                self.finished += is_finished
            if not is_finished:
                is_open.add(job.run)
                if is_new:
                    self._queue.append(job)

    def _look(self, point: Point) -> None:
        """Checks whether the point, whose runs are all finished, needs more seeds."""
        while not self._open[point.index]:
            jobs = self.names[point.index]
            values = [self.done[job.run] for job in jobs if job.run in self.done]
            known = [value for value in values if value is not None]
            wanted = self.seeds.next(len(jobs), known)
            if wanted <= len(jobs):
                return
            self._extend(point, wanted)

    def _sort(self) -> None:
        """Sorts the queue: the longest runs first if costs are known, else some runs of every
        point.
        """
        jobs = sorted(self._queue, key=lambda job: (-self.estimate(job), job.seed))
        self._queue = deque(reversed(jobs) if self.is_second else jobs)

    def estimate(self, job: Job) -> float:
        """Returns the mean processor time of the point's runs in seconds. 0 while
        nothing is known.
        """
        total, count = self._costs.get(job.point, (0.0, 0))
        if count == 0:
            total, count = self._costs.get("", (0.0, 0))
        return total / count if count else 0.0

    # --- for executors --------------------------------------------------------------------------

    def has_all(self) -> bool:
        """Returns True if no run is missing or in progress."""
        return self.finished == self.total

    def is_wanted(self, job: Job) -> bool:
        """Returns False if another campaign has finished the run meanwhile."""
        return job.run not in self.done and job.run not in self.failed

    def give(self, outcomes: Iterable[Outcome]) -> None:
        """Records the outcomes of runs."""
        with self._changed:
            for outcome in outcomes:
                self._fresh.append(outcome)
                self._count(outcome.job.point, outcome.cost_s)
                self.cost_s += outcome.cost_s
                self.own += outcome.job.run not in self.done
                if outcome.row is None:
                    self._close(outcome.job.run, failed=outcome.kind)
                else:
                    self._close(outcome.job.run, value=self._value(outcome.row))
            self._wake()

    def _close(self, run: str, *, value: float | None = None, failed: str | None = None) -> None:
        if run in self.done or run in self.failed:
            return
        if failed is None:
            self.done[run] = value
        else:
            self.failed[run] = failed
        points = self._points_of.get(run, ())
        self.finished += bool(points)
        for index in tuple(points):
            self._open[index].discard(run)
            if not self._open[index]:
                self._look(self.planner.points[index])

    def _count(self, point: str, cost_s: float) -> None:
        for key in (point, ""):
            total, count = self._costs.get(key, (0.0, 0))
            self._costs[key] = (total + cost_s, count + 1)

    def _value(self, row: Mapping[str, Any]) -> float | None:
        return None if self.seeds.metric is None else row.get(self.seeds.metric)

    # --- the disk -------------------------------------------------------------------------------

    def flush(self, *, is_last: bool = False) -> None:
        """Writes finished runs that waited long enough, and reads the runs of other campaigns."""
        now = time.monotonic()
        if not is_last and now - self._flushed_at < FLUSH_S:
            return
        self._flushed_at = now
        with self._changed:
            fresh, self._fresh = self._fresh, []
        # A run may have two outcomes, if its worker was taken for dead. One of them is written.
        rows = list({each.job.run: each.row for each in fresh if each.row is not None}.values())
        failures = [each.failure() for each in fresh if each.row is None]
        for each in fresh:
            for table, stream in each.tables.items():
                self._write_table(table, each, stream)
        if rows:
            types = KEPT | {metric.name: pl.Float64 for metric in self.context.extra}
            self.runs.write(rows, types)
        if failures:
            identity = {"metrics": self.context.identity}
            self.failures.write(
                [row | identity for row in failures], FAILED | {"metrics": pl.String}
            )
        for frame in self.runs.new():
            with self._changed:
                self._take_note(frame)
                self._wake()

    def _write_table(self, table: str, outcome: Outcome, stream: bytes) -> None:
        from io import BytesIO

        job = outcome.job
        folder = self.tables / table / f"point={job.point}"
        folder.mkdir(parents=True, exist_ok=True)
        frame = pl.read_ipc_stream(BytesIO(stream)).with_columns(
            pl.lit(job.run).alias("run"), pl.lit(job.seed, pl.Int64).alias("seed")
        )
        write_whole(folder / f"{job.run}.parquet", seal.parquet(frame))

    def _take_note(self, frame: pl.DataFrame) -> None:
        """Records the finished runs of a part that have every requested metric."""
        if "metrics" not in frame.columns:
            return
        wanted = set(filter(None, self.context.identity.split("\n")))
        metric = self.seeds.metric
        values = frame[metric] if metric in frame.columns else [None] * len(frame)
        has_all = {
            text: wanted <= set((text or "").split("\n")) for text in frame["metrics"].unique()
        }
        columns = (frame["run"], frame["point"], frame["cost_s"], frame["metrics"], values)
        for run, point, cost_s, has, value in zip(*columns, strict=True):
            if has_all[has] and run not in self.done:
                self._count(point, cost_s)
                self._close(run, value=value)

    def _take_note_of_failures(self, frame: pl.DataFrame) -> None:
        for row in frame.iter_rows(named=True):
            is_of_metric = row["kind"] == "metric" and row["metrics"] != self.context.identity
            if row["kind"] not in AGAIN and not is_of_metric and row["run"] not in self.done:
                self.failed[row["run"]] = row["kind"]


def held(executor: Executor | None) -> AbstractContextManager[Any]:
    """Keeps the executor's own workers, if it has any, for several calls of `drive`."""
    return executor if isinstance(executor, AbstractContextManager) else nullcontext()


class Threads:
    """Executor with threads of this process. The native module releases Python's lock
    during a run.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def drive(self, work: Work, tick: Callable[[], None]) -> None:
        """Runs everything."""
        engine = work
        stop = Event()
        threads = [
            Thread(
                target=self._work, args=(engine, stop), name=f"fadeout-run-{number}", daemon=True
            )
            for number in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            tick()
            while not engine.wait_until_finished(TICK_S):
                tick()
        finally:
            # After Ctrl-C, an error or the end, runs in progress stop at their next report of
            # progress.
            stop.set()
            for thread in threads:
                thread.join()

    @staticmethod
    def _work(engine: Work, stop: Event) -> None:
        def may_go_on() -> bool:
            return not stop.is_set()

        try:
            while not stop.is_set() and not engine.is_finished:
                job = engine.take()
                if job is None:
                    engine.wait(0.5)
                    continue
                outcome = engine.context.do(job, may_go_on)
                if outcome is None:
                    engine.give_back([job])
                else:
                    engine.give([outcome])
        except BaseException as error:  # noqa: BLE001 - it is raised again where the driver is
            engine.give_up(error)
