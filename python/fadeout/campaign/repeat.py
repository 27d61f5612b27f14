"""Repeating the campaign of an archive, which may come from anybody."""

import os
import subprocess
import sys
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from fadeout import _files
from fadeout._native import ResultError
from fadeout.campaign import frame_reader
from fadeout.campaign import spec as spec_module
from fadeout.campaign.archive import FORMAT
from fadeout.campaign.campaign import MOST, Campaign
from fadeout.campaign.engine import Executor
from fadeout.campaign.spec import Spec
from fadeout.campaign.trust import Foreign
from fadeout.campaign.unpack import LARGEST, unpacked

READER_BYTES = 4 << 30
"""Address space for reading the table of runs, in bytes: libraries, and a table of few rows."""

READER_ROW_BYTES = 1000
"""Additional address space for each possible row, in bytes."""


@dataclass(frozen=True)
class Repeated:
    """The outcome of repeating an archive."""

    campaign: Campaign
    same: int
    """Number of runs with the fingerprint of the archive."""
    different: int
    missing: int
    """Number of runs of the archive that are missing, as their content has another name here."""
    added: int
    """Number of runs that were done here and are not in the archive."""

    @property
    def is_same(self) -> bool:
        """True if every run has the results of the archive, and there are no others."""
        return self.different == self.missing == self.added == 0


def repeat(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    allow_code: bool = False,
    largest: int = LARGEST,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Any = None,  # noqa: ANN401 - as in `Campaign.run`
) -> Repeated:
    """Runs the campaign of an archive in `out`, and compares every run with the archive.

    Args:
        path: the archive, which may come from anybody.
        out: the folder of the campaign.
        allow_code: run the Python files of the archive: its metrics, congestion controls and
            handover policies. They have the rights of this process.
        largest: the largest size of the archive's files together, in bytes.
        jobs, executor, progress: as in `Campaign.run`.

    Raises:
        ResultError: the file is not an archive, is larger than `largest`, or does not match its
            checksums. It names files outside itself, or has code without `allow_code`. Nothing
            was run then.
    """
    path = Path(path)
    with unpacked(path, largest=largest) as folder:
        spec = _spec(path, folder, Foreign(path, allow_code), largest)
        before = _runs(path, folder / "frame.parquet", spec)
        campaign = Campaign(spec, out)
        campaign.run(jobs=jobs, executor=executor, progress=progress, may_be_large=True)
    keys = ["index", "seed"]
    before = before.with_columns(index=pl.col("point").rle_id()).select(*keys, "fingerprint")
    after = campaign.frame().with_columns(index=pl.col("point").rle_id())
    after = after.select(*keys, pl.col("fingerprint").alias("again"))
    both = before.join(after, on=keys, how="full", coalesce=True)
    same = int((both["fingerprint"] == both["again"]).sum())
    missing, added = both["again"].null_count(), both["fingerprint"].null_count()
    return Repeated(campaign, same, len(both) - same - missing - added, missing, added)


def _spec(path: Path, folder: Path, foreign: Foreign, largest: int) -> Spec:
    """Returns the campaign of an archive that was unpacked into `folder`."""
    name = "campaign.json"
    if not (folder / name).is_file():
        raise ResultError(f"{path} is not an archive of a campaign: {name} is missing")
    try:
        stored = _files.read_json(folder / name, "a campaign", largest=largest)
    except ResultError as error:
        raise ResultError(f"{path}: {str(error).replace(str(folder / name), name)}") from None
    if stored.get("format") != FORMAT:
        raise ResultError(f"{path} was written by fadeout {stored.get('version')}: another format")
    document = stored.get("document")
    if not isinstance(document, dict):
        raise ResultError(f"{path}: {name} has no campaign")
    try:
        return spec_module.read(document, base=folder, foreign=foreign)
    except OSError as error:
        missing = str(error.filename).removeprefix(f"{folder}{os.sep}")
        raise ResultError(f"{path}: {error.strerror}: {missing}") from None


def _runs(path: Path, frame: Path, spec: Spec) -> pl.DataFrame:
    """Returns the runs of the archive, as listed in its table."""
    if not frame.is_file():
        raise ResultError(f"{path} is not an archive of a campaign: {frame.name} is missing")
    most = min(spec.count_runs(), MOST)
    space = READER_BYTES + most * READER_ROW_BYTES
    # With -P, modules in the user's folder cannot replace those of libraries.
    program = [sys.executable, "-P", frame_reader.__file__, str(frame), str(most), str(space)]
    one_thread = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(program, capture_output=True, check=False, env=one_thread)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if done.returncode == 1 and said else "it is broken"
        raise ResultError(f"{path}: {frame.name} is not a table of the campaign's runs: {reason}")
    point, seed, fingerprint = frame_reader.COLUMNS
    schema = {point: pl.String, seed: pl.Int64, fingerprint: pl.String}
    found = pl.read_csv(done.stdout, schema=schema)
    if found.select("point", "seed").is_duplicated().any():
        raise ResultError(f"{path}: {frame.name} has a run twice")
    return found
