"""Archives of campaigns: one file that can be run again elsewhere."""

import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import SCENARIO
from fadeout import Campaign, ResultError, ScenarioError, sweep
from fadeout.campaign.archive import archive, repeat
from fadeout.cli.app import app

OWN = """
class Mine:
    def on_ack(self, window, ack):
        window.cwnd += 0.1
    def on_congestion(self, window, event):
        window.ssthresh = max(2, window.cwnd / 2)

def half(results):
    return results.flows["goodput_mbps"][0] / 2
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    here = tmp_path / "here"
    here.mkdir()
    (here / "rate.trace").write_text("1\n2\n3\n5\n8\n")
    (here / "own.py").write_text(OWN)
    lossy = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')
    (here / "lossy.toml").write_text(lossy.replace('"10 Mbit/s"', '{ trace = "rate.trace" }'))
    (here / "campaign.toml").write_text(
        'title = "A test"\nscenario = "lossy.toml"\nseeds = 3\n'
        'metrics = ["half=own.py:half", "dropped_packets:sum"]\n'
        '[grid]\n"flow.congestion-control" = ["cubic", "mine"]\n'
        '[congestion-controls]\nmine = "own.py:Mine"\n'
    )
    found = Campaign(here / "campaign.toml", out=here / "c")
    found.run()
    return found


def test_an_archive_is_run_again_from_nothing_but_itself(campaign: Campaign, tmp_path: Path):
    path = archive(campaign, tmp_path / "a.zip", author="A. Name")
    assert archive(Campaign.open(campaign.folder), tmp_path / "b.zip", author="A. Name")
    names = zipfile.ZipFile(path).namelist()
    assert {"files/rate.trace", "files/own/own.py", "CITATION.cff", "SHA256SUMS"} <= set(names)
    (tmp_path / "here").rename(tmp_path / "gone")
    found = repeat(path, tmp_path / "again")
    assert (found.same, found.is_same) == (6, True)
    gone = Campaign.open(tmp_path / "gone/c").frame()
    # Their names, too: what a run depends on is all in the archive.
    assert found.campaign.frame().equals(gone.select(found.campaign.frame().columns))


def test_an_archive_that_was_changed_is_refused(campaign: Campaign, tmp_path: Path):
    path = archive(campaign, tmp_path / "a.zip")
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    content["files/rate.trace"] = b"1\n9\n"
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
        for name, each in content.items():
            file.writestr(name, each)
    with pytest.raises(ResultError, match=r"rate\.trace is not what its checksum says"):
        repeat(tmp_path / "b.zip", tmp_path / "again")
    (tmp_path / "c.zip").write_text("no zip")
    with pytest.raises(ResultError, match="no archive of a campaign"):
        repeat(tmp_path / "c.zip", tmp_path / "again")


def test_what_is_of_a_program_cannot_be_archived(tmp_path: Path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    found = sweep(path, out=tmp_path / "c", metrics={"one": lambda results: 1.0})
    with pytest.raises(ScenarioError, match="metric `one` is of a program"):
        archive(found, tmp_path / "a.zip")


def test_the_commands_archive_and_repeat(cli: CliRunner, campaign: Campaign):
    for words, printed in (
        (["archive", str(campaign.folder), "a.zip"], "archive: a.zip"),
        (["repeat", "a.zip", "--out", "again"], "6 runs came out the same"),
    ):
        result = cli.invoke(app, ["campaign", *words])
        assert result.exit_code == 0, result.output
        assert printed in result.output
