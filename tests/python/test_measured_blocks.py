"""Large measured tables: rows that are read in blocks give the same results as in one block."""

import gzip
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fadeout.measured import source
from fadeout.measured.errors import MeasuredError
from fadeout.measured.inspect import Report, inspect_table
from fadeout.measured.summaries import StepSummary
from fadeout.measured.table import open_measurement

LOG = "timestamp,rate_mbps,note,cell,x_m,y_m,speed_mps\n" + "".join(
    f"2026-03-01 10:{n // 60:02}:{n % 60:02},{n % 7},"
    f'"a ""b""\nc {n}",c{n // 20},{9 * n},{n % 3},9\n'
    for n in range(90)
)


def described(folder: Path, text: str | bytes, block: int, monkeypatch) -> Report:
    file = folder / "log.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.setattr(source, "BLOCK", block)
    return inspect_table(file)


@pytest.mark.parametrize(
    "text",
    [
        LOG,
        LOG.replace("\n2026", '\n# a comment with one quote: 5"\n2026'),
        LOG.encode("utf-16"),
        gzip.compress(LOG.encode()),
        b"\xef\xbb\xbf" + LOG.replace("\n", "\r\n").encode(),
        LOG.replace("a ", "ä ").encode("cp1252"),
        # Two rows are out of order, and one time occurs twice.
        LOG + "2026-03-01 10:00:05,3,,c0,40,0,9\n2026-03-01 10:00:03,3,,c0,30,0,9\n",
        LOG.replace(",4,", ",much,"),
    ],
    ids=["plain", "comments", "utf-16", "gzip", "bom", "cp1252", "disordered", "wrong"],
)
def test_a_table_in_many_blocks_has_the_description_of_one_block(
    tmp_path: Path, monkeypatch, text: str | bytes
):
    whole = described(tmp_path, text, 1 << 23, monkeypatch)
    assert whole.rows in (90, 92)
    # Blocks begin in all parts of a row, since its length is no multiple of these numbers.
    for block in (101, 1000):
        assert asdict(described(tmp_path, text, block, monkeypatch)) == asdict(whole)


def test_a_parquet_file_in_many_blocks_has_the_same_rows(tmp_path: Path, monkeypatch):
    file = tmp_path / "log.parquet"
    pl.DataFrame({"time_s": range(100), "rate_mbps": range(100)}).write_parquet(file)
    whole = asdict(inspect_table(file))
    monkeypatch.setattr(source, "BLOCK_ROWS", 7)
    assert asdict(inspect_table(file)) == whole
    assert open_measurement(file).rows(["rate"])["rate"].to_list() == list(range(100))


def test_rows_in_many_blocks_are_those_of_one_block(tmp_path: Path, monkeypatch):
    file = tmp_path / "log.csv"
    file.write_text(LOG)
    whole = open_measurement(file).rows(["rate", "x"])
    monkeypatch.setattr(source, "BLOCK", 50)
    assert open_measurement(file).rows(["rate", "x"]).equals(whole)


def test_an_ordered_table_is_read_once(tmp_path: Path, monkeypatch):
    file = tmp_path / "log.csv"
    file.write_text(LOG)
    blocks, calls, read = source.Source.blocks, [], []

    def counted(self, numbers, on_read=None):
        calls.append(numbers)
        return blocks(self, numbers, on_read)

    monkeypatch.setattr(source.Source, "blocks", counted)
    monkeypatch.setattr(source, "BLOCK", 1000)
    inspect_table(file, on_read=lambda done, total: read.append((done, total)))
    assert len(calls) == 1
    size = file.stat().st_size
    assert read == sorted(read)
    assert read[-1] == (size, size)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOG.replace(",c1,", ",c1,1,"), "line 42: 8 cells; expected 7"),
        (LOG.replace("2026-03-01 10:00:50", "noon"), 'line 102: "noon" as a time'),
        (gzip.compress(LOG.encode())[:-9], "expected a complete"),
        (LOG + '2026-03-01 10:02:00,1,"never closed' + "x" * 500, "that each quote is closed"),
    ],
)
def test_a_mistake_in_a_later_block_is_refused(
    tmp_path: Path, monkeypatch, text: str | bytes, message: str
):
    monkeypatch.setattr(source, "LONGEST_RECORD", 200)
    with pytest.raises(MeasuredError) as caught:
        described(tmp_path, text, 97, monkeypatch)
    assert message in str(caught.value)


def test_a_name_of_a_time_zone_may_not_change_in_a_later_block(tmp_path: Path, monkeypatch):
    rows = [f"Wed Dec 15 16:04:{n:02} {'CET' if n < 40 else 'CEST'} 2021,{n}" for n in range(60)]
    with pytest.raises(MeasuredError, match=r"line 42: .* is not in the zone CET of the first row"):
        described(tmp_path, "time,rate_mbps\n" + "\n".join(rows), 97, monkeypatch)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=60), st.integers(1, 20))
@settings(max_examples=200, deadline=None)
def test_steps_in_blocks_are_the_steps_of_the_whole(steps: list[int], size: int):
    at = pl.Series([0, *steps]).cum_sum().to_numpy()
    found = StepSummary(3)
    for begin in range(0, len(at), size):
        found.add(at[begin : begin + size])
    assert (found.rows, found.first_ns, found.last_ns) == (len(at), 0, at[-1])
    assert [step.lasts_ns for step in found.longest] == sorted(steps, reverse=True)[:3]
    # Steps are counted with four significant digits.
    assert found.usual_ns == pytest.approx(float(np.median(steps)), rel=5.01e-4)
    assert found.steps_above(max(steps) * 1.01) == 0
    assert found.steps_above(min(steps) * 0.99) == len(steps)
