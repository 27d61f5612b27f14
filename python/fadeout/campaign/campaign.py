"""A campaign: many runs, resumable, with its results as frames."""

import contextlib
import json
import os
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fadeout import _files, _names, _native
from fadeout._native import ResultError
from fadeout._run import ScenarioText, Source, with_traces
from fadeout._version import __version__
from fadeout.campaign import seal
from fadeout.campaign import spec as spec_module
from fadeout.campaign.axes import numbers_of, quantity, values_frame
from fadeout.campaign.engine import Engine, Executor, Threads
from fadeout.campaign.found import Found, Status
from fadeout.campaign.jobs import Planner
from fadeout.campaign.mistakes import mistake
from fadeout.campaign.parts import MERGED_ABOVE, Parts, remove_left, write_whole
from fadeout.campaign.seeds import Seeds, read_seeds
from fadeout.campaign.spec import SCENARIO, Spec
from fadeout.campaign.work import Context

if TYPE_CHECKING:
    # Loaded at its first use, as matplotlib takes a while.
    from fadeout.campaign.plots import CampaignPlots

FORMAT = 2
"""Version of the folder's format. It rises when older versions could no longer continue
a folder.
"""

UNSEALED = 1
"""The format of folders whose files have no checksums."""

WRITTEN = ("*s/part-*.parquet", "tables/*/*/*.parquet", "points.parquet", "plan.parquet")
"""Files that a campaign writes beside `campaign.json`, as patterns below its folder."""

MANY = 100_000
"""Number of runs above which the user must confirm a campaign."""

MOST = 10_000_000
"""Largest number of runs of a campaign. Each run takes about 1 kB of memory."""

LARGEST = 1 << 30
"""Size limit of `campaign.json` in bytes. The file has the text of every scenario."""

CountCallback = Callable[[int, int], None]


@dataclass(frozen=True)
class Finished:
    """The outcome of `Campaign.run`."""

    done_before: int
    done_now: int
    cost_s: float
    """Processor time of the runs that this call did, in seconds."""
    wall_s: float
    campaign: "Campaign"

    @cached_property
    def status(self) -> Status:
        """The progress of the campaign."""
        return self.campaign.status()


class Campaign(Found):
    """Runs of many points over many seeds in a folder, where finished runs are not repeated::

        campaign = fadeout.Campaign("campaign.toml", out="c/")
        campaign.run()                      # continues after a stop or a kill
        campaign.frame()                    # a row for each run: values, seed, metrics
        campaign.means("goodput_mbps")      # a row for each point, with intervals
        campaign.plot.metric("goodput_mbps")  # a figure: the metric by a key, with intervals

    Args:
        source: a campaign's file (TOML), or its content as a dict.
        out: the folder. Default: `out/campaign-NAME` for a file. A dict needs it.
    """

    def __init__(
        self,
        source: str | PathLike[str] | Mapping[str, Any] | Spec,
        out: str | PathLike[str] | None = None,
    ) -> None:
        if isinstance(source, Spec):
            spec = source
        elif isinstance(source, Mapping):
            spec = spec_module.read(source)
        else:
            spec = spec_module.read_file(source)
        if out is None:
            if spec.source is None:
                raise mistake("a campaign needs a folder: `out`", expected="out='c/'")
            out = Path("out") / f"campaign-{spec.source.stem}"
        self.folder = Path(out)
        """The campaign's folder."""
        self._spec: Spec | None = spec

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Campaign":
        """Returns the campaign of a folder, to read or to continue it."""
        campaign = cls.__new__(cls)
        campaign.folder = Path(folder)
        campaign._spec = None
        campaign._stored()
        return campaign

    # --- running --------------------------------------------------------------------------------

    @cached_property
    def spec(self) -> Spec:
        """The campaign's specification."""
        return self._spec or self._read_spec()

    def run(
        self,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        progress: CountCallback | None = None,
        retry: bool = False,
        may_be_large: bool = False,
    ) -> Finished:
        """Does the missing runs, and returns the outcome.

        Args:
            jobs: number of parallel runs. Default: one for each processor. Results do not depend on
            it.
            executor: the executor of the runs. Default: threads of this process. See
                `fadeout.campaign.Cluster` for several machines.
            progress: a callback, called with the numbers of finished and of all runs.
            retry: repeat failed runs.
            may_be_large: allow more than 100,000 runs.

        Raises:
            ScenarioError: a scenario or a value is wrong. Nothing was run then.
            ResultError: the folder cannot be written. Finished runs are kept.
            KeyboardInterrupt: Ctrl-C. Finished runs are kept, and the same call continues.
        """
        spec = self.spec
        self._check_size(spec, may_be_large=may_be_large)
        planner = Planner(spec)
        self._may_use_folder()
        began = time.monotonic()
        context = Context(
            spec.scenarios,
            spec.metrics,
            spec.tables,
            spec.controls,
            spec.policies,
            spec.run_timeout_s,
        )
        engine = Engine(
            planner,
            spec.seeds,
            context,
            Parts(self.folder / "runs"),
            Parts(self.folder / "failures"),
            self.folder / "tables",
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_left(self.folder)
        if retry:
            engine.failures.remove()
        self._store(spec)
        with _alone(self.folder) as is_alone:
            engine.is_second = not is_alone
            engine.begin()
            self._check_build(engine)
            before = engine.began_with
            if progress is not None:
                progress(before, engine.total)
            planned = 0

            def write_plan() -> None:
                # Points may get more seeds during the run, which makes the plan longer.
                nonlocal planned
                if planned < engine.total:
                    planned = engine.total
                    self._write_plan(engine)

            def tick() -> None:
                # The plan is written after the first runs have started, as writing it takes a
                # while.
                if planned == 0:
                    write_plan()
                engine.flush()
                if progress is not None:
                    progress(engine.finished, engine.total)

            try:
                (executor or Threads(jobs or os.cpu_count() or 1)).drive(engine, tick)
            finally:
                engine.flush(is_last=True)
                write_plan()
            if progress is not None:
                progress(engine.finished, engine.total)
            if engine.error is not None:
                raise engine.error
            if is_alone and len(engine.runs.names()) > MERGED_ABOVE:
                engine.runs.merge()
        self.__dict__.pop("_runs", None)
        wall_s = time.monotonic() - began
        return Finished(before, engine.own, engine.cost_s, wall_s, self)

    def _check_size(self, spec: Spec, *, may_be_large: bool) -> None:
        points, runs = spec.axes.count(), spec.count_runs()
        if runs <= MANY or (may_be_large and runs <= MOST):
            return
        each_s, workers = self._cost_of_one(spec), os.cpu_count() or 1
        raise mistake(
            f"{points:,} points with {spec.seeds.describe()}: {runs:,} runs. One of them took "
            f"{1e3 * each_s:.3g} ms, so all take about {_duration(runs * each_s / workers)} on "
            f"{workers} processors",
            expected="--yes to confirm"
            if runs <= MOST
            else (
                f"fewer values or seeds, or several campaigns: one campaign has at most {MOST:,} "
                "runs with --yes, each of which takes 1 kB of memory"
            ),
        )

    @staticmethod
    def _cost_of_one(spec: Spec) -> float:
        source = next(iter(spec.scenarios.values()))
        began = time.thread_time()
        _native.run(
            source.text,
            source_name=source.name,
            base_dir=source.base_dir,
            overrides=with_traces(*source, []),
            tables=False,
            advice=False,
            threads=1,
        )
        return time.thread_time() - began

    def _check_build(self, engine: Engine) -> None:
        """Refuses runs of another build, unless one of them has the same results here."""
        frame = engine.runs.frame(["run", "fingerprint"])
        mine = build_name()
        stored = self._stored_document.get("build")
        if stored in (None, mine) or not engine.done:
            return
        from fadeout.campaign.work import do

        prints = dict(zip(frame["run"], frame["fingerprint"], strict=True))
        kept = (job for jobs in engine.names.values() for job in jobs if job.run in prints)
        job = min(kept, key=engine.estimate, default=None)
        if job is None:
            return
        outcome = do(engine.context, job, lambda: True)
        if outcome is None or outcome.row is None or outcome.row["fingerprint"] != prints[job.run]:
            raise ResultError(
                f"{self.folder} has runs of another build of fadeout ({stored}), and a run of them "
                "has other results here: use another folder, or that build"
            )

    # --- reading --------------------------------------------------------------------------------

    @property
    def seeds(self) -> Seeds:
        """The seeds of each point."""
        return self._spec.seeds if self._spec else read_seeds(self._stored_document["seeds"])

    @property
    def title(self) -> str:
        """The campaign's title."""
        return str(self._spec.title if self._spec else self._stored_document.get("title") or "")

    @cached_property
    def plot(self) -> "CampaignPlots":
        """The figures of the campaign."""
        from fadeout.campaign.plots import CampaignPlots

        return CampaignPlots(self)

    def compare(
        self,
        key: str,
        baseline: Any,  # noqa: ANN401 - a value of the key
        *metrics: str,
        confidence: float = 0.95,
    ) -> pl.DataFrame:
        """Returns the difference of each value of `key` from `baseline`, paired by seed, with
        intervals.

        `fadeout.campaign.comparison.compare_values` describes the columns.
        """
        from fadeout.campaign.comparison import compare_values

        return compare_values(self, key, baseline, metrics, confidence=confidence)

    @property
    def document(self) -> dict[str, Any]:
        """The campaign's specification, with the content of each scenario."""
        stored = self._stored()
        scenarios = {
            name: tomllib.loads(each["text"]) for name, each in stored["scenarios"].items()
        }
        only = next(iter(scenarios.values()))
        return {**stored["document"], SCENARIO: scenarios if len(scenarios) > 1 else only}

    @property
    def _asked(self) -> list[str]:
        if self._spec is None:
            return list(self._stored_document["metrics"])
        return [metric.name for metric in self._spec.metrics]

    def __repr__(self) -> str:
        return f"<Campaign in {self.folder}>"

    # --- the folder -----------------------------------------------------------------------------

    @property
    def _identity(self) -> str:
        if self._spec is None:
            return str(self._stored_document["identity"])
        return Context(self._spec.scenarios, self._spec.metrics, self._spec.tables).identity

    def _may_use_folder(self) -> None:
        """Raises unless the folder is new, empty or a campaign's."""
        if not self.folder.exists():
            return
        if not self.folder.is_dir() or (
            any(self.folder.iterdir()) and not (self.folder / "campaign.json").is_file()
        ):
            raise ResultError(f"{self.folder} exists and is not the folder of a campaign")
        if (self.folder / "campaign.json").is_file():
            self._stored()

    def _stored(self) -> dict[str, Any]:
        path = self.folder / "campaign.json"
        try:
            content = _files.read_bytes(path, "a campaign", largest=LARGEST)
        except FileNotFoundError:
            raise ResultError(
                f"{self.folder} is not the folder of a campaign: {path.name} is missing"
            ) from None
        if seal.is_sealed(content):
            seal.check(content, path)
        document = _files.parse_json(content, path)
        written = document.get("format")
        if written not in (UNSEALED, FORMAT):
            raise ResultError(
                f"{self.folder} was written by fadeout {document.get('version')} in format "
                f"{written}; this is {__version__}, which reads formats {UNSEALED} and {FORMAT}"
            )
        if written != UNSEALED:
            seal.check(content, path)
        return document

    @cached_property
    def _is_sealed(self) -> bool:
        if not (self.folder / "campaign.json").is_file():
            return True
        if self._stored_document.get("format") != UNSEALED:
            return True
        warnings.warn(
            f"{self.folder}: an older version wrote its files without checksums, so damage may go "
            "unnoticed; fadeout campaign run adds them",
            stacklevel=2,
        )
        return False

    @cached_property
    def _stored_document(self) -> dict[str, Any]:
        return self._stored()

    def _store(self, spec: Spec) -> None:
        path = self.folder / "campaign.json"
        if path.is_file():
            # The build of the stored runs is needed after the file has been replaced.
            self.__dict__["_stored_document"] = self._stored()
            self._seal()
        else:
            self.__dict__["_stored_document"] = {}
        document = {
            "format": FORMAT,
            "version": __version__,
            "results": _native.build_info()["results"],
            "build": build_name(),
            "title": spec.title,
            "seeds": spec.seeds.data(),
            "metrics": [metric.name for metric in spec.metrics],
            "identity": self._identity_of(spec),
            "base": str((spec.source.parent if spec.source else Path()).resolve()),
            "scenarios": {
                name: {"text": each.text, "name": each.name, "base_dir": _absolute(each.base_dir)}
                for name, each in spec.scenarios.items()
            },
            "document": spec.document,
            # The checksum is last, so that no text of the user comes after it.
            seal.KEY: seal.BLANK,
        }
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        write_whole(path, seal.seal(text.encode()))

    def _seal(self) -> None:
        """Gives the files of a folder their checksums, if an older version wrote them without."""
        if self._stored_document["format"] == UNSEALED:
            written = [self.folder.glob(each) for each in WRITTEN]
            for path in sorted(path for paths in written for path in paths):
                if (content := seal.seal_parquet(path)) is not None:
                    write_whole(path, content)
        self.__dict__["_is_sealed"] = True

    @staticmethod
    def _identity_of(spec: Spec) -> str:
        return Context(spec.scenarios, spec.metrics, spec.tables).identity

    def _read_spec(self) -> Spec:
        """Returns the specification of the campaign in the folder."""
        stored = self._stored()
        document = dict(stored["document"])
        texts = [
            ScenarioText(each["text"], each["name"], each["base_dir"])
            for each in stored["scenarios"].values()
        ]
        document["grid"] = {k: v for k, v in document.get("grid", {}).items() if k != SCENARIO}
        written = json.dumps(document)
        if '"<' in written:
            raise ResultError(
                f"{self.folder}: its campaign uses classes or functions of a program; run it "
                "from that program"
            )
        return spec_module.read({**document, SCENARIO: texts}, base=Path(stored["base"]))

    def _write_plan(self, engine: Engine) -> None:
        points = engine.planner.points
        frame = values_frame([point.values for point in points])
        frame = frame.with_columns(
            numbers_of(frame[name]).alias(f"{name} ({unit})")
            for name, unit in ((name, _unit(frame[name])) for name in frame.columns)
            if unit
        )
        index = pl.DataFrame(
            {"point": [p.name for p in points], "index": [p.index for p in points]}
        )
        self._write("points", pl.concat([index, frame], how="horizontal"))
        rows = [
            (job.run, points[at].name, at, job.seed)
            for at, jobs in engine.names.items()
            for job in jobs
        ]
        schema = {"run": pl.String, "point": pl.String, "index": pl.Int64, "seed": pl.Int64}
        self._write("plan", pl.DataFrame(rows, schema=schema, orient="row"))

    def _write(self, name: str, frame: pl.DataFrame) -> None:
        write_whole(self.folder / f"{name}.parquet", seal.parquet(frame))


def sweep(
    scenario: Source | Sequence[Source],
    grid: Mapping[str, Sequence[Any] | str] | None = None,
    *,
    seeds: Any = 1,  # noqa: ANN401 - a number, a list, a text or a dict
    out: str | PathLike[str],
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: CountCallback | None = None,
    may_be_large: bool = False,
    **more: Any,  # noqa: ANN401 - keys of a campaign's file
) -> Campaign:
    """Runs a scenario over a grid of values and seeds, and returns the campaign::

        campaign = fadeout.sweep(
            "scenario.toml",
            {"flow.congestion-control": ["cubic", "bbr3"], "link.radio.delay": "5 ms,20 ms"},
            seeds=20,
            out="c/",
        )
        campaign.frame()

    Args:
        scenario: a scenario as for `fadeout.run`, or a list of scenarios.
        grid: values by key. Every value is combined with every value of the other keys.
        seeds: a number, a list, or `{"min": 5, "max": 100, "metric": ..., "half-width": "2 %"}`.
        out: the folder. Finished runs in it are not repeated.
        jobs, executor, progress, may_be_large: as in `Campaign.run`.
        more: other keys of a campaign's file, with underscores: `metrics`, `zip`, `exclude`, ...
    """
    document = {key.replace("_", "-"): value for key, value in more.items() if value is not None}
    for key in document:
        if key not in spec_module.KEYS:
            raise TypeError(_names.unknown("argument", key, spec_module.KEYS))
    document |= {SCENARIO: scenario, "grid": dict(grid or {}), "seeds": seeds}
    campaign = Campaign(spec_module.read(document), out)
    campaign.run(jobs=jobs, executor=executor, progress=progress, may_be_large=may_be_large)
    return campaign


def build_name() -> str:
    """Returns a name of the build. Another compiled module is another build."""
    info = _native.build_info()
    about = Path(_native.__file__).stat()
    file = f"{about.st_size}-{about.st_mtime_ns}"
    return " ".join(filter(None, (info["version"], info.get("commit"), info["profile"], file)))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Yields True if no other campaign works on the folder. It is only a hint."""
    try:
        import fcntl

        with (folder / ".working").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True
    except ImportError:
        yield True


def _unit(column: pl.Series) -> str:
    """Returns the common unit of a column of texts. Empty if there is none."""
    if column.dtype != pl.String:
        return ""
    units = {found[1] if (found := quantity(value)) else "" for value in column}
    return units.pop() if len(units) == 1 else ""


def _absolute(folder: str | None) -> str | None:
    return None if folder is None else str(Path(folder).resolve())


def _duration(seconds: float) -> str:
    for unit, length in (("years", 365.25 * 86_400), ("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds / 60:,.3g} minutes"
