"""Campaigns on a disk that changes bits, and those of versions that wrote no checksums."""

import json
import os
import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import SCENARIO
from fadeout import Campaign, ResultError
from fadeout.campaign import seal
from fadeout.study.store import Store

FLIPS = int(os.environ.get("FADEOUT_FLIPS", "80"))
"""Number of bits that are flipped, one at a time."""

RAISING = """
def odd(results):
    if results.manifest["seed"] == 3:
        raise ValueError("an odd one")
    return 1.0
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Returns a campaign with tables over time, failures, and a target for intervals."""
    folder = tmp_path_factory.mktemp("damage")
    lossy = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')
    (folder / "lossy.toml").write_text(lossy)
    (folder / "own.py").write_text(RAISING)
    (folder / "campaign.toml").write_text(
        'scenario = "lossy.toml"\ntables = ["throughput"]\nset = { duration = "0.5 s" }\n'
        'seeds = { metric = "goodput_mbps", half-width = "9 %", min = 5, max = 10 }\n'
        'metrics = ["goodput_mbps", "odd=own.py:odd"]\n'
        '[grid]\n"flow.congestion-control" = ["cubic", "newreno"]\n'
    )
    found = Campaign(folder / "campaign.toml", out=folder / "c")
    found.run()
    return found


def files_of(folder: Path) -> list[Path]:
    """Returns the files that a campaign is read from."""
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (".parquet", ".json")]


def results_of(folder: Path) -> list[Any]:
    """Returns everything that is read from a campaign's folder."""
    found = Campaign.open(folder)
    frames = [found.frame(with_cost=True), found.table("throughput"), found.failures, found.points]
    shown = [found.means("goodput_mbps"), found.document, found.status(), found.seeds]
    return [*(frame.write_json() for frame in frames), *map(str, shown)]


@contextmanager
def flipped(path: Path, bit: int) -> Iterator[None]:
    """Context in which the file has one bit changed."""
    content = path.read_bytes()
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    path.write_bytes(changed)
    try:
        yield
    finally:
        path.write_bytes(content)


def test_a_flipped_bit_is_an_error_that_names_the_file(campaign: Campaign):
    folder = campaign.folder
    before = results_of(folder)
    assert campaign.status().failed == 2
    files = files_of(folder)
    names = {path.name.partition("-")[0] for path in files}
    assert {"campaign.json", "plan.parquet", "points.parquet", "part"} < names
    moments = random.Random(int(os.environ.get("FADEOUT_SEED", "1")))
    found = 0
    for number in range(FLIPS):
        # Each file in turn, as most bits are in the files of tables.
        path = files[number % len(files)]
        with flipped(path, moments.randrange(8 * path.stat().st_size)):
            try:
                assert results_of(folder) == before, f"{path} changed results"
            except ResultError as error:
                assert str(path) in str(error)
                found += 1
    assert found == FLIPS
    assert results_of(folder) == before


def test_a_campaign_does_not_go_on_with_a_damaged_part(campaign: Campaign):
    part = sorted((campaign.folder / "runs").glob("part-*.parquet"))[-1]
    with flipped(part, 8 * 200), pytest.raises(ResultError, match=part.name):
        campaign.run()
    assert campaign.run().done_now == 0


def test_a_file_of_another_campaign_or_without_checksum_is_an_error(
    campaign: Campaign, tmp_path: Path
):
    path = campaign.folder / "plan.parquet"
    content = path.read_bytes()
    for changed in (
        content[: len(content) // 2],
        b"",
        bytes(len(content)),
        content.replace(seal.PREFIX.encode(), b"fadeout-blake2c-"),
        content.replace(seal.PREFIX.encode(), b"x" * len(seal.PREFIX)),
    ):
        path.write_bytes(changed)
        try:
            with pytest.raises(ResultError, match=r"plan\.parquet"):
                results_of(campaign.folder)
        finally:
            path.write_bytes(content)


def test_a_seal_is_of_every_byte_and_other_tools_read_the_file(tmp_path: Path):
    # A column also has text that looks like the place of the digest.
    frame = pl.DataFrame({seal.BLANK: [seal.BLANK, seal.PREFIX], "x": [1.5, None]})
    path = tmp_path / "a.parquet"
    path.write_bytes(seal.parquet(frame))
    assert seal.read_parquet(path).equals(frame)
    assert pl.read_parquet(path).equals(frame)
    assert seal.parquet(frame) == path.read_bytes()
    content = path.read_bytes()
    for at in range(len(content)):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        with pytest.raises(ResultError, match="checksum"):
            seal.check(changed, path)


def without_checksums(folder: Path) -> None:
    """Turns a campaign's folder into one of the earlier format."""
    for path in files_of(folder):
        if path.suffix == ".parquet":
            pl.read_parquet(path).write_parquet(path)
    path = folder / "campaign.json"
    document = json.loads(path.read_text())
    del document[seal.KEY]
    path.write_text(json.dumps({**document, "format": 1}))


def test_an_old_folder_is_read_with_one_warning_and_gets_checksums_when_it_goes_on(
    campaign: Campaign, tmp_path: Path
):
    before = results_of(campaign.folder)
    old = tmp_path / "old"
    shutil.copytree(campaign.folder, old)
    without_checksums(old)
    (old / "frame.parquet").write_bytes(exported := (old / "plan.parquet").read_bytes())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert results_of(old) == before
    assert [str(each.message) for each in said] == [
        f"{old}: an older version wrote its files without checksums, so damage may go unnoticed; "
        "fadeout campaign run adds them"
    ]
    # There is no warning, as the folder gets its checksums. No run is repeated.
    went_on = Campaign(campaign.folder.parent / "campaign.toml", out=old)
    assert went_on.run().done_now == 0
    assert results_of(old) == before
    for path in files_of(old):
        if path.name != "frame.parquet":
            seal.check(path.read_bytes(), path)
    # Exported files in the folder belong to the user.
    assert (old / "frame.parquet").read_bytes() == exported


def test_an_old_folder_with_a_broken_part_is_not_gone_on_with(campaign: Campaign, tmp_path: Path):
    old = tmp_path / "old"
    shutil.copytree(campaign.folder, old)
    without_checksums(old)
    part = sorted((old / "runs").glob("part-*.parquet"))[-1]
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(ResultError, match=part.name):
        Campaign(campaign.folder.parent / "campaign.toml", out=old).run()


def test_runs_of_a_study_that_were_damaged_are_done_again(tmp_path: Path):
    store = Store(tmp_path / "s", "build")
    store.keep("one", {"x": 1})
    store.close()
    (part,) = (tmp_path / "s").iterdir()
    assert Store(tmp_path / "s", "build")["one"] == {"x": 1}
    with flipped(part, 8 * 100):
        assert "one" not in Store(tmp_path / "s", "build")
