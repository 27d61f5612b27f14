"""The results of a campaign: frames of its folder, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import _names
from fadeout._native import ResultError, ScenarioError
from fadeout.campaign import seal
from fadeout.campaign.metrics import default_columns
from fadeout.campaign.mistakes import mistake
from fadeout.campaign.parts import KEPT, Parts, write_whole
from fadeout.campaign.seeds import Seeds
from fadeout.statistics import Estimate, estimate, interval_text, too_few

SHOWN = ("goodput_mbps", "mean_rtt_s", "retransmitted_segments")
"""Metrics that are shown by default."""


def mean_text(row: Mapping[str, Any], metric: str) -> str:
    """Returns a metric's mean with its interval, from a row of `means`."""
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    return interval_text(row[f"{metric}_mean"], None if low is None else (high - low) / 2)


@dataclass(frozen=True)
class Status:
    """The progress of a campaign."""

    points: int
    runs: int
    """Number of runs, as far as known. A campaign with a target for intervals may need more."""
    done: int
    failed: int
    wide: int
    """Number of points with the largest number of seeds and an interval that is still too wide."""
    cost_s: float
    """Processor time of the finished runs, in seconds."""
    other: int
    """Number of finished runs in the folder that the campaign does not ask for now."""

    @property
    def left(self) -> int:
        """Number of runs that are neither finished nor failed."""
        return self.runs - self.done - self.failed


class Found:
    """The finished runs of a campaign's folder."""

    folder: Path
    """The campaign's folder."""

    @property
    def seeds(self) -> Seeds:
        """The seeds of each point."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The campaign's title."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Returns the table of means for a notebook."""
        try:
            status, means = self.status(), self.means()
        except (ResultError, ScenarioError) as error:
            return f"<p>{escape(repr(self))}: {escape(str(error))}</p>"
        about = f"{status.points:,} points, {status.done:,} of {status.runs:,} runs done"
        failed = f", {status.failed:,} failed" if status.failed else ""
        notes = "".join(f"<p>{escape(warning)}</p>" for warning in self.warnings())
        heading = f"<b>{escape(self.title or str(self.folder))}</b>"
        return f"<p>{heading}: {about}{failed}</p>{means._repr_html_()}{notes}"

    @property
    def _asked(self) -> list[str]:
        """The requested metrics."""
        raise NotImplementedError

    @cached_property
    def _is_sealed(self) -> bool:
        """True if every file of the folder has a checksum."""
        raise NotImplementedError

    @property
    def _identity(self) -> str:
        """The columns that a run needs in addition to the default metrics."""
        raise NotImplementedError

    @property
    def points(self) -> pl.DataFrame:
        """The points: their name, and a column for each value that varies.

        Quantities of one unit also have a column of numbers, `link.radio.delay (ms)`.
        """
        return self._parquet("points")

    @property
    def keys(self) -> list[str]:
        """The keys whose values vary."""
        points = self.points
        names = [name for name in points.columns if name not in ("point", "index")]
        return [name for name in names if name.rpartition(" (")[0] not in names]

    def frame(self, *, with_cost: bool = False) -> pl.DataFrame:
        """Returns a row for each finished run: the values of its point, seed, fingerprint and
        metrics.

        Rows are sorted by point and seed. They are equal bit by bit for any distribution of the
        runs.
        """
        plan = self._parquet("plan")
        runs = self._runs.drop("point", "seed", "metrics", strict=False)
        if not with_cost:
            runs = runs.drop("cost_s", strict=False)
        values = self.points.drop("point")
        frame = plan.join(runs, on="run", how="inner", maintain_order="left")
        frame = frame.join(values, on="index", how="left", maintain_order="left")
        first = [name for name in values.columns if name != "index"]
        rest = [name for name in frame.columns if name not in (*first, "index", "point", "seed")]
        return frame.sort("index", "seed").select("point", *first, "seed", *rest)

    def table(self, name: str) -> pl.DataFrame:
        """Returns a table over time of every finished run, with the values of its point and its
        seed.
        """
        folder = self.folder / "tables" / name
        if not folder.is_dir():
            kept = self.folder / "tables"
            names = sorted(path.name for path in kept.iterdir()) if kept.is_dir() else []
            raise ResultError(
                _names.unknown("table of the campaign", name, names)
                if names
                else f"the campaign kept no tables: name '{name}' in its `tables`"
            )
        frame = self.frame().select("run", "point", *self.keys, "seed")
        parts = []
        for run, *values in frame.iter_rows():
            path = folder / f"point={values[0]}" / f"{run}.parquet"
            if path.is_file():
                row = dict(zip(frame.columns[1:], values, strict=True))
                table = self._read(path).drop("run", "seed")
                parts.append(table.select(*(pl.lit(v).alias(k) for k, v in row.items()), pl.all()))
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    @property
    def failures(self) -> pl.DataFrame:
        """The runs that failed, with their reason."""
        failed = self._parts("failures").frame()
        if "kind" not in failed.columns:
            return pl.DataFrame(schema={"run": pl.String, "kind": pl.String, "reason": pl.String})
        plan = self._parquet("plan").select("run", "index", "seed")
        failed = failed.unique("run", keep="last", maintain_order=True)
        failed = failed.filter(~pl.col("run").is_in(self._runs["run"].implode()))
        found = plan.join(failed.select("run", "kind", "reason"), on="run", how="inner")
        values = self.points.select("index", *self.keys)
        return found.join(values, on="index").sort("index", "seed").drop("index")

    def status(self) -> Status:
        """Returns the progress of the campaign."""
        plan = self._parquet("plan")
        runs = self._runs
        is_done = plan["run"].is_in(runs["run"].implode())
        cost = runs.filter(pl.col("run").is_in(plan["run"].implode()))
        return Status(
            points=len(self.points),
            runs=len(plan),
            done=int(is_done.sum()),
            failed=len(self.failures),
            wide=len(self.wide_points()),
            cost_s=float(cost["cost_s"].sum()) if "cost_s" in cost.columns else 0.0,
            other=len(runs) - cost["run"].n_unique(),
        )

    def wide_points(self) -> list[str]:
        """Returns the points with the largest number of seeds and an interval that is still too
        wide.
        """
        seeds = self.seeds
        if seeds.metric is None:
            return []
        wide = []
        for (point,), rows in self.frame().group_by("point", maintain_order=True):
            values = rows[seeds.metric].drop_nulls().to_list()
            if len(rows) >= seeds.max and not seeds.is_narrow(values):
                wide.append(str(point))
        return wide

    def warnings(self) -> list[str]:
        """Returns warnings about the meaning of the results."""
        frame = self.frame()
        if frame.is_empty():
            return []
        found: list[str] = []
        points = frame.group_by("point", maintain_order=True)
        counts = points.agg(pl.len(), pl.col("fingerprint").n_unique().alias("prints"))
        fewest = int(counts["len"].min())  # pyright: ignore[reportArgumentType]
        same = counts.filter((pl.col("len") > 1) & (pl.col("prints") == 1))
        if len(same) == len(counts):
            found.append("these scenarios have nothing random: every seed gives the same run")
        elif (few := too_few(fewest)) is not None:
            found.append(few)
        wide = len(self.wide_points())
        if wide:
            found.append(
                f"{wide} of {len(counts)} points have all {self.seeds.max} seeds, and their "
                "interval is still wider than requested"
            )
        empty = [name for name in self.metrics() if frame[name].null_count() == len(frame)]
        if empty:
            found.append(f"no run has a value of {', '.join(empty)}")
        return found

    def metrics(self) -> list[str]:
        """Returns the requested metrics, or the default ones."""
        asked = self._asked
        if asked:
            return asked
        columns = self.frame().columns
        found = [name for name in SHOWN if name in columns]
        return (
            found
            or [name for name in columns if name.partition("[")[0] == SHOWN[0]][:6]
            or [name for name in columns if name.startswith(SHOWN[0])]
        )

    def means(
        self, *metrics: str, confidence: float = 0.95, by: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Returns a row for each point: mean, interval and number of runs of each metric.

        `by` gives keys to group by, in place of whole points.
        """
        frame = self.frame()
        names = self.known(frame, metrics or self.metrics())
        groups = list(by) if by is not None else self.keys
        rows = []
        keys = groups if by is not None else ["point"]
        grouped = frame.group_by(keys, maintain_order=True) if keys else [((), frame)]
        for _, part in grouped:
            row: dict[str, Any] = {key: part[key][0] for key in groups}
            for name in names:
                found = self._interval(part[name].drop_nulls().to_list(), name, confidence)
                row |= {
                    f"{name}_mean": found.mean,
                    f"{name}_low": found.low if found.is_known else None,
                    f"{name}_high": found.high if found.is_known else None,
                    f"{name}_n": found.count,
                }
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def _interval(self, values: list[float], name: str, confidence: float) -> Estimate:
        # The interval has the confidence level of the examinations, which decided the number of
        # seeds.
        if name == self.seeds.metric and confidence == self.seeds.confidence:
            confidence = self.seeds.confidence_of_a_look
        return estimate(values, confidence)

    @staticmethod
    def known(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
        """Returns the names, all of which are metrics of the frame."""
        for name in names:
            if name not in frame.columns:
                raise mistake(_names.unknown("metric", name, frame.columns))
        return list(names)

    def export(self, path: str | PathLike[str]) -> Path:
        """Writes the frame as one Parquet or CSV file, depending on the suffix of `path`."""
        path = Path(path)
        frame = self.frame()
        if path.suffix == ".csv":
            content = frame.write_csv().encode()
        elif path.suffix == ".parquet":
            import io

            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            content = buffer.getvalue()
        else:
            raise mistake(f"{path} is neither CSV nor Parquet", expected="a file .csv or .parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        return path

    @cached_property
    def _runs(self) -> pl.DataFrame:
        """The finished runs of the folder, each once, with every metric that is asked for."""
        frame = self._parts("runs").frame()
        if "metrics" not in frame.columns:
            return pl.DataFrame(schema=KEPT)
        identity = self._identity
        wanted = set(filter(None, identity.split("\n")))
        texts = [t for t in frame["metrics"].unique() if wanted <= set((t or "").split("\n"))]
        frame = frame.filter(pl.col("metrics").is_in(texts)).sort("run", "metrics")
        frame = frame.unique("run", keep="first", maintain_order=True)
        default = [name for name in frame.columns if name not in KEPT]
        asked = [line.partition("=")[0] for line in wanted if not line.startswith("table ")]
        # Metrics of earlier requests exist for some runs only, so they are left out.
        stray = [name for name in default if name not in asked and not self._is_default(name)]
        columns = [*KEPT, *sorted(name for name in default if name not in stray)]
        return frame.select(columns)

    @staticmethod
    def _is_default(name: str) -> bool:
        base, bracket, _ = name.partition("[")
        base, colon, how = base.partition(":")
        return base in default_columns() and (bool(bracket) or not colon or how in ("sum", "mean"))

    def _parquet(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise ResultError(f"{self.folder}: the campaign was not run yet")
        return self._read(path)

    def _parts(self, name: str) -> Parts:
        return Parts(self.folder / name, must_be_sealed=self._is_sealed)

    def _read(self, path: Path) -> pl.DataFrame:
        return seal.read_parquet(path, must_be_sealed=self._is_sealed)
