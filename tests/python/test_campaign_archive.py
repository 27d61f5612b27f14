"""Archives of campaigns: one file that can be run again elsewhere."""

import io
import json
import re
import resource
import tempfile
import time
import warnings
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from conftest import SCENARIO
from fadeout import Campaign, ResultError, ScenarioError, sweep
from fadeout.campaign.archive import archive
from fadeout.campaign.repeat import repeat
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
    found = repeat(path, tmp_path / "again", allow_code=True)
    assert (found.same, found.is_same) == (6, True)
    gone = Campaign.open(tmp_path / "gone/c").frame()
    # The names of the runs are equal too, as the archive has everything that they depend on.
    assert found.campaign.frame().equals(gone.select(found.campaign.frame().columns))


Content = dict[str, bytes]
"""The files of an archive by name."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """Returns the files of an archive without user-written code."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "rate.trace").write_text("1\n2\n3\n5\n8\n")
    lossy = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')
    lossy = lossy.replace('"10 Mbit/s"', '{ trace = "rate.trace" }')
    (folder / "lossy.toml").write_text(lossy)
    found = sweep(folder / "lossy.toml", seeds=2, out=folder / "c")
    with zipfile.ZipFile(archive(found, folder / "a.zip")) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path: Path, content: Content, *, sums: str | None = None) -> Path:
    """Writes an archive of `content` with matching checksums, or with `sums`."""
    files = {name: each for name, each in content.items() if name != "SHA256SUMS"}
    if sums is None:
        sums = "".join(f"{sha256(each).hexdigest()}  {name}\n" for name, each in files.items())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, each in {**files, "SHA256SUMS": sums.encode()}.items():
            file.writestr(name, each)
    return path


def with_document(content: Content, **keys: Any) -> Content:
    """Returns the archive with other keys of the campaign."""
    stored = json.loads(content["campaign.json"])
    stored["document"] |= keys
    return {**content, "campaign.json": json.dumps(stored).encode()}


def refusal(path: Path, **options: Any) -> str:
    """Returns the reason why an archive is refused before any of its runs is done."""
    out = path.parent / "again"
    with pytest.raises(ResultError) as error:
        repeat(path, out, **options)
    assert not out.exists()
    # No unpacked file remains.
    assert not list(Path(tempfile.gettempdir()).glob("*/campaign.json"))
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))


def test_an_archive_without_code_needs_no_leave(plain: Content, tmp_path: Path):
    found = repeat(write(tmp_path / "a.zip", plain), tmp_path / "again")
    assert (found.same, found.different, found.missing, found.added) == (2, 0, 0, 0)


def test_code_of_an_archive_runs_only_where_it_is_allowed(campaign: Campaign, tmp_path: Path):
    path = archive(campaign, tmp_path / "a.zip")
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    assert b"repeat a.zip --allow-code\n" in content["README.md"]
    mark = tmp_path / "it-ran"
    content["files/own/own.py"] += f"\nopen({str(mark)!r}, 'w').close()\n".encode()
    hostile = write(tmp_path / "b.zip", content)
    assert "files/own/own.py, which would run" in refusal(hostile)
    assert "--allow-code" in refusal(hostile)
    # Code in other keys than `metrics` is found as well.
    for keys in (
        {"metrics": ["goodput_mbps"]},
        {"metrics": [], "congestion-controls": {}, "handover-policies": {"x": "own.py:Mine"}},
        {
            "metrics": [],
            "congestion-controls": {},
            "seeds": {"metric": "files/own/own.py:half", "half-width": 1.0},
        },
    ):
        assert "--allow-code" in refusal(write(tmp_path / "c.zip", with_document(content, **keys)))
    assert not mark.exists()
    assert repeat(hostile, tmp_path / "again", allow_code=True).is_same
    assert mark.exists()


@pytest.mark.parametrize("name", ["{outside}/own.py", "../../own.py", "files/../../own.py"])
def test_an_archive_names_no_code_outside_itself(plain: Content, tmp_path: Path, name: str):
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'it-ran')!r}, 'w').close()\n{OWN}")
    path = name.format(outside=tmp_path)
    for keys in (
        {"metrics": [f"half={path}:half"]},
        {"congestion-controls": {"mine": f"{path}:Mine"}},
        {"congestion-controls": {f"mine={tmp_path}/own.py:Mine": "files/own.py:Mine"}},
    ):
        hostile = write(tmp_path / "a.zip", with_document(plain, **keys))
        with pytest.raises((ResultError, ScenarioError), match=r"below the archive|equals sign"):
            repeat(hostile, tmp_path / "again", allow_code=True)
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize(
    "name", ["{outside}/lossy.toml", "../../lossy.toml", "files/../../lossy.toml", 'a = "b"', 7]
)
def test_an_archive_names_no_scenario_outside_itself(plain: Content, tmp_path: Path, name: Any):
    (tmp_path / "lossy.toml").write_bytes(plain["files/lossy.toml"])
    path = name.format(outside=tmp_path) if isinstance(name, str) else name
    for keys in ({"scenario": [path]}, {"scenario": path}, {"grid": {"scenario": [path]}}):
        hostile = write(tmp_path / "a.zip", with_document(plain, **keys))
        assert re.search("below the archive's folder|No such file", refusal(hostile))


def test_a_scenario_of_an_archive_reads_no_file_outside_it(plain: Content, tmp_path: Path):
    (tmp_path / "rate.trace").write_bytes(plain["files/rate.trace"])
    (tmp_path / "a.osm").write_text("<osm/>")
    text = plain["files/lossy.toml"].decode()
    town = f'\n[building.town]\nfile = "{tmp_path}/a.osm"\n'
    cars = '\n[vehicles.cars]\nroad = { file = "%s", format = "%s" }\n'
    for changed, keys, message in (
        (text.replace("rate.trace", f"{tmp_path}/rate.trace"), {}, "below the archive"),
        (text, {"set": {"link.access.rate": {"trace": f"{tmp_path}/rate.trace"}}}, "below the"),
        (text + town, {}, "below the archive"),
        (text + cars % ("../../a.parquet", "sumo-parquet"), {}, "below the archive"),
        (text + cars % ("a.sumocfg", "sumo"), {}, "runs SUMO"),
    ):
        content = with_document({**plain, "files/lossy.toml": changed.encode()}, **keys)
        hostile = write(tmp_path / "a.zip", content)
        with pytest.raises(ResultError, match=message):
            repeat(hostile, tmp_path / "again")
        assert not (tmp_path / "again").exists() or not list((tmp_path / "again").glob("runs/*"))


def test_checksums_list_exactly_the_files_of_an_archive(plain: Content, tmp_path: Path):
    path = tmp_path / "a.zip"
    lines = plain["SHA256SUMS"].decode().splitlines(keepends=True)
    without = "".join(line for line in lines if "rate.trace" not in line)
    more = f"{'0' * 64}  files/more.trace\n"
    changed = {**plain, "files/rate.trace": b"1\n9\n"}
    for content, sums, message in (
        (changed, "".join(lines), "files/rate.trace does not match its checksum"),
        (changed, without, "'files/rate.trace' is not in SHA256SUMS"),
        (plain, "".join(lines) + more, "'files/more.trace' is missing"),
        (plain, "".join(lines) + lines[0], "stands twice in SHA256SUMS"),
        (plain, "no sums\n", "line 1 of SHA256SUMS is not a checksum"),
        (plain, "", "is not in SHA256SUMS"),
    ):
        assert message in refusal(write(path, content, sums=sums))
    with zipfile.ZipFile(path, "w") as file:
        for name, each in plain.items():
            if name != "SHA256SUMS":
                file.writestr(name, each)
    assert "SHA256SUMS is missing" in refusal(path)
    (tmp_path / "c.zip").write_text("no zip")
    assert "not an archive of a campaign" in refusal(tmp_path / "c.zip")


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "C:/a", "a\\..\\b", "./a", "a//b"])
def test_names_of_files_stay_below_the_archive(plain: Content, tmp_path: Path, name: str):
    assert "below the archive's folder" in refusal(write(tmp_path / "a.zip", {**plain, name: b""}))
    assert not (tmp_path / "scratch/a").exists()


def test_an_archive_of_twins_encrypted_or_odd_files_is_refused(plain: Content, tmp_path: Path):
    path = tmp_path / "a.zip"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(path, plain)
        with zipfile.ZipFile(path, "a") as file:
            file.writestr("frame.csv", b"another")
    assert "'frame.csv' is in it twice" in refusal(path)
    write(path, {**plain, "a": b"", "a/b": b""})
    with pytest.raises((ResultError, OSError), match="a"):
        repeat(path, tmp_path / "again")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("SHA256SUMS", b"")
    assert "another way" in refusal(path)
    write(path, plain)
    data = bytearray(path.read_bytes())
    for header, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(header) + flags] |= 1
    path.write_bytes(data)
    assert "is encrypted" in refusal(path)


def test_an_archive_that_unpacks_to_gigabytes_is_refused_at_once(plain: Content, tmp_path: Path):
    bomb = tmp_path / "bomb.zip"
    write(bomb, plain)
    # The compressed form of one million bytes, which is written many times.
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    with zipfile.ZipFile(bomb, "a") as file:
        file.writestr("frame.bin", piece * 4000 + packer.flush())
    data = bytearray(bomb.read_bytes())
    entry, member = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x03\x04")
    for at, size in ((entry + 10, entry + 24), (member + 8, member + 22)):
        data[at : at + 2] = zipfile.ZIP_DEFLATED.to_bytes(2, "little")
        data[size : size + 4] = (4_000_000_000).to_bytes(4, "little")
    bomb.write_bytes(data)
    assert len(data) < 5_000_000
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "its files have 4,000," in refusal(bomb)
    assert time.monotonic() - began < 2
    # A member that states too small a size is not read beyond that size.
    lying = tmp_path / "lying.zip"
    data[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    lying.write_bytes(data)
    assert re.search("frame.bin|not an archive", refusal(lying))
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 64 << 10
    # A lower limit than the default applies as well.
    assert "and 1,000 are allowed" in refusal(write(tmp_path / "a.zip", plain), largest=1000)


def test_a_nested_or_broken_document_is_refused_before_anything_runs(
    plain: Content, tmp_path: Path
):
    path = tmp_path / "a.zip"
    for text, message in (
        (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "campaign.json: its lists and tables lie"),
        (b"[" * 200_000, "campaign.json: its lists and tables lie"),
        (b'{"a": [' * 100 + b"]}" * 100, "campaign.json: its lists and tables lie"),
        (b"[]", "campaign.json: expected an object"),
        (b"{", "campaign.json: "),
        (b"\xff", "campaign.json: "),
        (b"{}", "another format"),
        (b'{"format": 1}', "campaign.json has no campaign"),
        (b'{"format": 1, "document": []}', "campaign.json has no campaign"),
    ):
        assert message in refusal(write(path, {**plain, "campaign.json": text}))
    missing = {name: each for name, each in plain.items() if name != "campaign.json"}
    assert "campaign.json is missing" in refusal(write(path, missing))


def test_a_broken_table_is_refused_before_anything_runs(plain: Content, tmp_path: Path):
    path, table = tmp_path / "a.zip", plain["frame.parquet"]
    frame = pl.read_parquet(table)
    flipped = bytearray(table)
    flipped[-20] ^= 0xFF

    def parquet(frame: pl.DataFrame) -> bytes:
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()

    for content, message in (
        (b"", ""),
        (table[:-100], ""),
        (b"PAR1" + bytes(100) + b"PAR1", ""),
        (bytes(flipped), ""),
        (parquet(frame.drop("fingerprint")), "fingerprint"),
        (parquet(frame.with_columns(pl.lit(None, pl.String).alias("fingerprint"))), "expected a"),
        (parquet(frame.with_columns(pl.col("seed").cast(pl.String))), "expected a point, a seed"),
        (parquet(pl.concat([frame, frame])), "more rows than the campaign has runs, 2"),
        (parquet(pl.concat([frame[:1], frame[:1]])), "has a run twice"),
    ):
        said = refusal(write(path, {**plain, "frame.parquet": content}))
        assert "frame.parquet" in said
        assert message in said
    missing = {name: each for name, each in plain.items() if name != "frame.parquet"}
    assert "frame.parquet is missing" in refusal(write(path, missing))


def test_runs_that_an_archive_leaves_out_are_counted(plain: Content, tmp_path: Path):
    buffer = io.BytesIO()
    pl.read_parquet(plain["frame.parquet"])[:1].write_parquet(buffer)
    path = write(tmp_path / "a.zip", {**plain, "frame.parquet": buffer.getvalue()})
    found = repeat(path, tmp_path / "again")
    assert (found.same, found.added, found.is_same) == (1, 1, False)


def test_what_is_of_a_program_cannot_be_archived(tmp_path: Path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    found = sweep(path, out=tmp_path / "c", metrics={"one": lambda results: 1.0})
    with pytest.raises(ScenarioError, match="metric `one` is defined in a program, not in a file"):
        archive(found, tmp_path / "a.zip")


def test_the_commands_archive_and_repeat(cli: CliRunner, campaign: Campaign):
    for words, printed in (
        (["archive", str(campaign.folder), "a.zip"], "archive: a.zip"),
        (["repeat", "a.zip", "--out", "again", "--allow-code"], "6 runs have the same results"),
    ):
        result = cli.invoke(app, ["campaign", *words])
        assert result.exit_code == 0, result.output
        assert printed in result.output
