"""Folders and sources of campaigns."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import LOSSY
from fadeout import Campaign, ResultError, sweep
from fadeout._run import read_source
from fadeout.campaign import parts, seal
from fadeout.campaign.engine import Engine


def test_a_folder_of_something_else_is_not_touched(lossy: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years")
    with pytest.raises(ResultError, match="not the folder of a campaign"):
        sweep(lossy, out=other)
    with pytest.raises(ResultError, match=r"campaign\.json is missing"):
        Campaign.open(other)


def write_document(out: Path, document: dict[str, Any]) -> None:
    """Replaces the document of a campaign's folder."""
    text = json.dumps({**document, seal.KEY: seal.BLANK})
    (out / "campaign.json").write_bytes(seal.seal(text.encode()))


def test_a_folder_of_another_version_is_refused(lossy: Path, tmp_path: Path):
    out = tmp_path / "c"
    sweep(lossy, out=out)
    document = json.loads((out / "campaign.json").read_text())
    write_document(out, {**document, "format": 99, "version": "9.9"})
    with pytest.raises(ResultError, match=r"written by fadeout 9\.9 in format 99"):
        Campaign.open(out)
    with pytest.raises(ResultError, match="format 99"):
        sweep(lossy, out=out)


def test_runs_of_another_build_are_used_only_if_they_come_out_the_same(lossy: Path, tmp_path: Path):
    out = tmp_path / "c"
    sweep(lossy, seeds=2, out=out)
    path = out / "campaign.json"
    document = json.loads(path.read_text())
    write_document(out, {**document, "build": "another"})
    assert Campaign({"scenario": str(lossy), "seeds": 3}, out=out).run().done_now == 1
    for part in (out / "runs").iterdir():
        changed = pl.read_parquet(part).with_columns(fingerprint=pl.lit("0"))
        part.write_bytes(seal.parquet(changed))
    write_document(out, {**document, "build": "another"})
    with pytest.raises(ResultError, match="has other results here"):
        Campaign({"scenario": str(lossy), "seeds": 4}, out=out).run()


def test_a_full_disk_fails_loudly_and_keeps_the_rest(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "c"
    sweep(lossy, seeds=3, out=out)
    real = parts.os.fsync

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    campaign = Campaign({"scenario": str(lossy), "seeds": 6}, out=out)
    begin = Engine.begin

    def begin_then_fill(engine: Engine) -> None:
        begin(engine)
        monkeypatch.setattr(parts.os, "fsync", full)

    monkeypatch.setattr(Engine, "begin", begin_then_fill)
    with pytest.raises(ResultError, match="the disk is full"):
        campaign.run()
    monkeypatch.setattr(Engine, "begin", begin)
    monkeypatch.setattr(parts.os, "fsync", real)
    assert not list(out.rglob("*.tmp"))
    finished = Campaign({"scenario": str(lossy), "seeds": 6}, out=out).run()
    assert (finished.done_before, finished.status.done) == (3, 6)


def test_seeds_that_change_nothing_are_warned_of(scenario: Path, lossy: Path, tmp_path: Path):
    same = sweep(scenario, seeds=5, out=tmp_path / "same")
    assert any("these scenarios have nothing random" in each for each in same.warnings())
    few = sweep(lossy, seeds=3, out=tmp_path / "few")
    assert any("3 seeds a point give no interval" in each for each in few.warnings())
    assert sweep(lossy, seeds=5, out=tmp_path / "enough").warnings() == []


def test_a_scenario_as_a_dict_or_text_is_a_source_too(tmp_path: Path, lossy: Path):
    texts = [read_source(lossy).text, LOSSY.replace("10 Mbit/s", "20 Mbit/s")]
    campaign = sweep(texts, seeds=1, out=tmp_path / "c")
    assert campaign.frame().height == 2
    assert campaign.keys == ["scenario"]
