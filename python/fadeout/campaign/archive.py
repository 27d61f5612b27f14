"""A campaign in one file, with all that is needed to run it again.

The zip file has the scenarios and their files, user-written classes and functions, the results,
checksums and a citation. It also records the versions of all software. The same campaign gives the
same bytes, except for the description of the environment.
"""

import datetime
import hashlib
import importlib.metadata
import io
import json
import platform
import zipfile
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from fadeout import _native
from fadeout._native import ResultError, ScenarioError
from fadeout._version import __version__
from fadeout.campaign.campaign import Campaign
from fadeout.campaign.jobs import Planner
from fadeout.campaign.parts import write_whole
from fadeout.campaign.spec import SCENARIO
from fadeout.campaign.unpack import LARGEST, SUMS

FORMAT = 1

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that equal content has equal bytes."""

PACKAGES = ("fadeout", "numpy", "polars", "scipy")
"""The packages whose versions are recorded."""

README = """# {title}

A campaign of fadeout {version}: {points} points, {runs} runs. `frame.parquet` (and `frame.csv`) has
a row a run, `campaign.json` what was run, `files/` the scenarios and what they read,
`environment.json` where.

To see whether it comes out the same elsewhere:

    pip install fadeout=={version}
    fadeout campaign repeat {name}{options}

{remark}`sha256sum --check SHA256SUMS` checks the files. Please cite it as `CITATION.cff` says.
"""


CODE_REMARK = "The Python files in `files/own/` then run with your rights. Read them first."

OWN = "files/own/"
"""Folder of the user's Python files in the archive."""

SPARE = 1 << 20
"""Bytes for README and checksums."""


def archive(campaign: Campaign, path: str | PathLike[str], *, author: str = "") -> Path:
    """Writes the campaign to one zip file, and returns its path.

    Raises:
        ScenarioError: the campaign uses classes or functions of a program, which are not in files.
        ResultError: the campaign is not finished, or the file cannot be written.
    """
    path = Path(path)
    status = campaign.status()
    if status.left:
        raise ResultError(f"{campaign.folder}: {status.left:,} runs are missing")
    frame = campaign.frame()
    files = dict(_content(campaign))
    title = campaign.spec.title or f"Campaign {campaign.folder.name}"
    files |= {
        "CITATION.cff": _citation(title, author),
        "environment.json": _json(_environment()),
        "frame.parquet": _parquet(frame),
        "frame.csv": frame.write_csv(),
        "points.parquet": _parquet(campaign.points),
        "failures.csv": campaign.failures.write_csv(),
    }
    content = {name: c.encode() if isinstance(c, str) else c for name, c in files.items()}
    has_code = any(name.startswith(OWN) for name in content)
    size = sum(map(len, content.values()))
    options = " --allow-code" * has_code
    # `SPARE` leaves space for the README and the checksums, which are written below.
    options += f" --largest {size // 10**9 + 1}GB" * (size > LARGEST - SPARE)
    content["README.md"] = README.format(
        title=title,
        version=__version__,
        points=status.points,
        runs=status.done,
        name=path.name,
        options=options,
        remark=CODE_REMARK * has_code,
    ).encode()
    sums = (f"{hashlib.sha256(content[name]).hexdigest()}  {name}\n" for name in sorted(content))
    content[SUMS] = "".join(sums).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(content):
            file.writestr(zipfile.ZipInfo(name, EARLIEST), content[name], zipfile.ZIP_DEFLATED)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())
    return path


def _content(campaign: Campaign) -> Iterator[tuple[str, str | bytes]]:
    """Yields the files that the runs read, and the campaign's document with paths in the
    archive.
    """
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
                f"the scenario reads {written}: an archive takes only files below the "
                "scenario's folder"
            )
        content = (Path(base or ".") / written).read_bytes()
        if taken.setdefault(f"files/{inside}", content) != content:
            raise ScenarioError(f"two scenarios read different files with the same name {written}")
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
    """Returns the place of a user's file in the archive, as FILE.py:NAME."""
    if not isinstance(place, str):
        raise ScenarioError(f"{what} is defined in a program, not in a file: name it FILE.py:NAME")
    path, _, name = place.rpartition(":")
    content = Path(path).read_bytes()
    inside = f"{OWN}{Path(path).name}"
    if own.setdefault(inside, content) != content:
        raise ScenarioError(f"{what}: another file has the name {Path(path).name}")
    return f"{inside}:{name}"


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
