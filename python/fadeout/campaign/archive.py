"""A campaign in one file: what it ran, what it found, and what it takes to run it again.

The file is a zip with the scenarios and every file that they name, the classes and functions of
the user's, the results, the versions of everything, checksums and a citation. The same campaign
gives the same bytes, but for the environment it was made in.
"""

import contextlib
import datetime
import hashlib
import importlib.metadata
import io
import json
import platform
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from fadeout import _native
from fadeout._native import ResultError, ScenarioError
from fadeout._version import __version__
from fadeout.campaign import spec as spec_module
from fadeout.campaign.campaign import Campaign
from fadeout.campaign.engine import Executor
from fadeout.campaign.jobs import Planner
from fadeout.campaign.parts import write_whole
from fadeout.campaign.spec import SCENARIO

FORMAT = 1

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that equal content has equal bytes."""

PACKAGES = ("fadeout", "numpy", "polars", "scipy")
"""Whose versions are written down."""

README = """# {title}

A campaign of fadeout {version}: {points} points, {runs} runs. `frame.parquet` (and `frame.csv`) has
a row a run, `campaign.json` what was run, `files/` the scenarios and what they read,
`environment.json` where.

To see whether it comes out the same elsewhere:

    pip install fadeout=={version}
    fadeout campaign repeat {name}

`sha256sum --check SHA256SUMS` checks the files. Please cite it as `CITATION.cff` says.
"""


def archive(campaign: Campaign, path: str | PathLike[str], *, author: str = "") -> Path:
    """Write the campaign to one zip file, and return its path.

    Raises:
        ScenarioError: the campaign uses classes or functions of a program, which are no files.
        ResultError: the campaign is not finished, or the file cannot be written.
    """
    path = Path(path)
    status = campaign.status()
    if status.left:
        raise ResultError(f"{campaign.folder}: {status.left:,} runs are not done yet")
    frame = campaign.frame()
    files = dict(_files(campaign))
    title = campaign.spec.title or f"Campaign {campaign.folder.name}"
    files |= {
        "README.md": README.format(
            title=title,
            version=__version__,
            points=status.points,
            runs=status.done,
            name=path.name,
        ),
        "CITATION.cff": _citation(title, author),
        "environment.json": _json(_environment()),
        "frame.parquet": _parquet(frame),
        "frame.csv": frame.write_csv(),
        "points.parquet": _parquet(campaign.points),
        "failures.csv": campaign.failures.write_csv(),
    }
    content = {name: c.encode() if isinstance(c, str) else c for name, c in files.items()}
    sums = (f"{hashlib.sha256(content[name]).hexdigest()}  {name}\n" for name in sorted(content))
    content["SHA256SUMS"] = "".join(sums).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(content):
            file.writestr(zipfile.ZipInfo(name, EARLIEST), content[name], zipfile.ZIP_DEFLATED)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())
    return path


def _files(campaign: Campaign) -> Iterator[tuple[str, str | bytes]]:
    """What the runs read, and the campaign's document with its paths in the archive."""
    spec = campaign.spec
    document = dict(spec.document)
    scenarios = []
    for name, source in spec.scenarios.items():
        stem = name.strip("<>")
        scenarios.append(f"files/{stem}.toml")
        yield scenarios[-1], source.text
    taken: dict[str, bytes] = {}
    for base, written in Planner(spec).files_named():
        inside = PurePosixPath(written)
        if inside.is_absolute() or ".." in inside.parts:
            raise ScenarioError(
                f"the scenario reads {written}: an archive takes files below the scenario's folder"
            )
        content = (Path(base or ".") / written).read_bytes()
        if taken.setdefault(f"files/{inside}", content) != content:
            raise ScenarioError(f"two scenarios read files of one name, {written}")
    yield from taken.items()
    own: dict[str, bytes] = {}
    controls = {
        name: _own(f"control `{name}`", place, own) for name, place in spec.controls.items()
    }
    policies = {name: _own(f"policy `{name}`", place, own) for name, place in spec.policies.items()}
    metrics = {
        metric.name: _own(f"metric `{metric.name}`", metric.function, own)
        if metric.function is not None
        else (metric.source or metric.name)
        for metric in spec.metrics
    }
    yield from own.items()
    document |= {
        SCENARIO: scenarios,
        "congestion-controls": controls,
        "handover-policies": policies,
        "metrics": metrics,
    }
    document["grid"] = {k: v for k, v in document.get("grid", {}).items() if k != SCENARIO}
    yield "campaign.json", _json({"format": FORMAT, "version": __version__, "document": document})


def _own(what: str, place: Any, own: dict[str, bytes]) -> str:  # noqa: ANN401 - a path, or a class
    """Where the user's file is in the archive, as FILE.py:NAME."""
    if not isinstance(place, str):
        raise ScenarioError(f"{what} is of a program, not of a file: name it FILE.py:NAME")
    path, _, name = place.rpartition(":")
    content = Path(path).read_bytes()
    inside = f"files/own/{Path(path).name}"
    if own.setdefault(inside, content) != content:
        raise ScenarioError(f"{what}: there is another file called {Path(path).name}")
    return f"{inside}:{name}"


@dataclass(frozen=True)
class Repeated:
    """What came of running an archive again."""

    campaign: Campaign
    same: int
    """Runs with the fingerprint of the archive."""
    different: int
    missing: int
    """Runs of the archive that were not found again: their content has another name here."""

    @property
    def is_same(self) -> bool:
        """Whether every run came out as it was."""
        return self.different == 0 and self.missing == 0


def repeat(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Any = None,  # noqa: ANN401 - as in `Campaign.run`
) -> Repeated:
    """Run the campaign of an archive in `out`, and compare every run with the archive's.

    Raises:
        ResultError: the file is no archive, or its checksums do not fit.
    """
    with _unpacked(Path(path)) as folder:
        stored = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
        if stored.get("format") != FORMAT:
            raise ResultError(
                f"{path} was written by fadeout {stored.get('version')}: another format"
            )
        campaign = Campaign(spec_module.read(stored["document"], base=folder), out)
        campaign.run(jobs=jobs, executor=executor, progress=progress, may_be_large=True)
        before = pl.read_parquet((folder / "frame.parquet").read_bytes())
    keys = ["index", "seed"]
    before = before.with_columns(index=pl.col("point").rle_id()).select(*keys, "fingerprint")
    after = campaign.frame().with_columns(index=pl.col("point").rle_id())
    after = after.select(*keys, pl.col("fingerprint").alias("again"))
    both = before.join(after, on=keys, how="left")
    same = int((both["fingerprint"] == both["again"]).sum())
    missing = both["again"].null_count()
    return Repeated(campaign, same, len(both) - same - missing, missing)


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """The archive's files in a folder for a while, after their checksums were checked."""
    try:
        with zipfile.ZipFile(path) as file, tempfile.TemporaryDirectory() as folder:
            content = {name: file.read(name) for name in file.namelist()}
            for line in content.get("SHA256SUMS", b"").decode().splitlines():
                digest, _, name = line.partition("  ")
                if hashlib.sha256(content.get(name, b"")).hexdigest() != digest:
                    raise ResultError(f"{path}: {name} is not what its checksum says")
            if "campaign.json" not in content:
                raise ResultError(f"{path} is no archive of a campaign: campaign.json is missing")
            # Names that lead out of the folder are made harmless by `extract`.
            file.extractall(folder)
            yield Path(folder)
    except zipfile.BadZipFile as error:
        raise ResultError(f"{path} is no archive of a campaign: {error}") from None


def _citation(title: str, author: str) -> str:
    name = json.dumps(author or "unknown")
    return (
        "cff-version: 1.2.0\n"
        "message: If you use these results, please cite them, and fadeout.\n"
        "type: dataset\n"
        f"title: {json.dumps(title)}\n"
        f"authors:\n  - name: {name}\n"
        "references:\n"
        "  - type: software\n"
        "    title: fadeout\n"
        f"    version: {__version__}\n"
        "    authors:\n      - name: The fadeout authors\n"
        "    repository-code: https://github.com/fadeout-sim/fadeout\n"
    )


def _environment() -> Mapping[str, Any]:
    return {
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "build": _native.build_info(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def _json(document: Any) -> str:  # noqa: ANN401 - whatever JSON has
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
